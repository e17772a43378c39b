//! [`ContainerOutline`]: the containers of a trace with the types of their entities.

use rustc_hash::{FxHashMap, FxHashSet};

use super::row_strip::{StripKind, SummaryMember, natural_height};
use crate::query::{
    ContainerId, ContainerInfo, GlobalNanos, PajeTypeKind, QueryError, TimeRange, TimelineSource, TypeId, TypeModel,
    ValueRange, types_in, weight,
};
use crate::style::size_factors;

/// The contents of the containers of a trace, and their tree.
#[derive(Debug)]
pub struct ContainerOutline {
    /// The containers by depth-first position.
    pub(super) nodes: Vec<LayoutNode>,
    /// Depth-first position of each container.
    pub(super) positions: Vec<usize>,
    /// The positions of the containers with entities of each type.
    pub(super) by_type: FxHashMap<TypeId, Vec<u32>>,
    /// For each type, the factor of its strip's height relative to the usual height.
    pub(super) factors: Vec<f32>,
}

/// A container and its contents.
#[derive(Debug)]
pub(super) struct LayoutNode {
    pub(super) info: ContainerInfo,
    /// First position after its subtree.
    pub(super) end: usize,
    pub(super) states: Vec<NodeStates>,
    pub(super) events: Vec<TypeId>,
    pub(super) variables: Vec<NodeVariable>,
}

/// The states of one type in a container.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeStates {
    pub(super) ty: TypeId,
    /// Number of nesting depths.
    pub(super) depths: u32,
    /// Maximum number of containers with states at the same time. It is above 1 for a group.
    pub(super) weight: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NodeVariable {
    pub(super) ty: TypeId,
    /// The smallest and largest value of its axis. `None` if it has no finite value.
    pub(super) bounds: Option<ValueRange>,
}

impl ContainerOutline {
    /// Scans the containers of a source. Makes some queries per container.
    ///
    /// # Errors
    /// If the source is inconsistent.
    pub fn new(source: &dyn TimelineSource) -> Result<Self, QueryError> {
        let (model, containers, extent) = (source.model(), source.containers(), source.extent());
        let mut positions = vec![usize::MAX; containers.iter().map(|c| c.id.index() + 1).max().unwrap_or(0)];
        let mut contents = ContentsScan { source, model: &model, extent, axes: FxHashMap::default() };
        let mut nodes = Vec::with_capacity(containers.len());
        for (position, info) in containers.iter().enumerate() {
            positions[info.id.index()] = position;
            nodes.push(contents.node(info, position)?);
        }
        // The containers that enclose the current one. The list is depth first.
        let mut open: Vec<usize> = Vec::new();
        for position in 0..nodes.len() {
            while let Some(last) = open.pop_if(|&mut last| nodes[last].info.depth >= nodes[position].info.depth) {
                nodes[last].end = position;
            }
            open.push(position);
        }
        let end = nodes.len();
        open.into_iter().for_each(|last| nodes[last].end = end);
        let by_type = positions_by_type(&nodes);
        Ok(Self { nodes, positions, by_type, factors: size_factors::factors(&model) })
    }

    /// The nodes with entities of a type, in order.
    fn nodes_with(&self, ty: TypeId) -> &[u32] {
        self.by_type.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// The containers with states of a type within a container, including itself.
    #[must_use]
    pub fn states_in_subtree(&self, container: ContainerId, ty: TypeId) -> Vec<SummaryMember> {
        let Some(start) = self.position(container) else { return Vec::new() };
        let (all, end) = (self.nodes_with(ty), self.nodes[start].end);
        let from = all.partition_point(|&position| (position as usize) < start);
        let members = all[from..].iter().map(|&position| position as usize).take_while(|&position| position < end);
        let of_type = |position: usize| {
            let node = &self.nodes[position];
            let index = node.states.binary_search_by_key(&ty, |states| states.ty).ok()?;
            Some(SummaryMember { container: node.info.id, depths: node.states[index].depths })
        };
        members.filter_map(of_type).collect()
    }

    /// The height of a strip: the usual height, multiplied by the factor of its type or event
    /// types.
    pub(super) fn height(&self, kind: &StripKind, ty: TypeId, scale: f32) -> f32 {
        match kind {
            StripKind::Events { types } => {
                size_factors::event_strip_height(size_factors::event_strip_factor(&self.factors, types), scale)
            }
            _ => natural_height(kind) * self.factors.get(ty.index()).copied().unwrap_or(1.0) * scale,
        }
    }

    /// The state types that occur within a container, in order of appearance.
    pub(crate) fn state_types_in_subtree(&self, container: ContainerId) -> Vec<TypeId> {
        let Some(start) = self.position(container) else { return Vec::new() };
        let nodes = &self.nodes[start..self.nodes[start].end];
        let mut distinct = FxHashSet::default();
        nodes.iter().flat_map(|node| &node.states).map(|states| states.ty).filter(|&ty| distinct.insert(ty)).collect()
    }

    /// Containers in which the trace has events of a type.
    pub fn with_events(&self, ty: TypeId) -> impl Iterator<Item = ContainerId> + '_ {
        let nodes = self.nodes_with(ty).iter().map(|&position| &self.nodes[position as usize]);
        nodes.filter(move |node| node.events.binary_search(&ty).is_ok()).map(|node| node.info.id)
    }

    /// Whether any container has a variable of this type.
    pub(crate) fn has_variable(&self, ty: TypeId) -> bool {
        let mut nodes = self.nodes_with(ty).iter().map(|&position| &self.nodes[position as usize]);
        nodes.any(|node| node.variables.binary_search_by_key(&ty, |variable| variable.ty).is_ok())
    }

    /// Depth-first position of a container.
    pub(super) fn position(&self, container: ContainerId) -> Option<usize> {
        self.positions.get(container.index()).copied().filter(|&position| position != usize::MAX)
    }

    /// Position of the parent of a container. The root is its own parent.
    pub(super) fn parent(&self, position: usize) -> Option<usize> {
        self.position(self.nodes[position].info.parent)
    }

    /// The displayed name of a container. `None` if the outline does not have it.
    #[must_use]
    pub fn name(&self, container: ContainerId) -> Option<&str> {
        self.position(container).map(|position| self.nodes[position].info.name.as_str())
    }

    /// The containers above one, beginning with the first below the root.
    #[must_use]
    pub fn ancestors(&self, container: ContainerId) -> Vec<ContainerId> {
        let mut ancestors = Vec::new();
        let mut next = self.position(container);
        while let Some(position) = next.filter(|&position| position > 0) {
            let parent = self.parent(position);
            ancestors.extend(parent.filter(|&parent| parent > 0).map(|parent| self.nodes[parent].info.id));
            next = parent;
        }
        ancestors.reverse();
        ancestors
    }

    /// The containers of a subtree, beginning with its top. Empty if there is no such container.
    pub fn subtree(&self, container: ContainerId) -> impl Iterator<Item = ContainerId> + '_ {
        let range = self.position(container).map_or(0..0, |start| start..self.nodes[start].end);
        self.nodes[range].iter().map(|node| node.info.id)
    }
}

struct ContentsScan<'a> {
    source: &'a dyn TimelineSource,
    model: &'a TypeModel,
    extent: TimeRange,
    /// The axes of the variables so far.
    axes: FxHashMap<TypeId, Option<ValueRange>>,
}

impl ContentsScan<'_> {
    /// A container without children.
    fn node(&mut self, info: &ContainerInfo, position: usize) -> Result<LayoutNode, QueryError> {
        let (mut states, mut events, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        // A group may have entities of several container types.
        let mixed = !self.source.members(info.id).is_empty();
        let types = types_in(self.source, self.model, info.id).into_iter();
        for ty in types.filter(|ty| (mixed || ty.parent == info.ty) && ty.id != TypeId::ROOT) {
            match ty.kind {
                PajeTypeKind::State => states.extend(self.states(info.id, ty.id)),
                PajeTypeKind::Event => events.extend(self.has_events(info.id, ty.id)?.then_some(ty.id)),
                PajeTypeKind::Variable => variables.extend(self.variable(info.id, ty.id)?),
                PajeTypeKind::Container | PajeTypeKind::Link { .. } => {}
            }
        }
        Ok(LayoutNode { info: info.clone(), end: position + 1, states, events, variables })
    }

    fn states(&self, container: ContainerId, ty: TypeId) -> Option<NodeStates> {
        let depths = self.source.depths(container, ty);
        (depths > 0).then(|| NodeStates { ty, depths, weight: weight(self.source, container, ty) })
    }

    fn has_events(&self, container: ContainerId, ty: TypeId) -> Result<bool, QueryError> {
        // An event at the last timestamp lies outside of the half-open extent.
        let trace_range = TimeRange { to: GlobalNanos(self.extent.to.0.saturating_add(1)), ..self.extent };
        Ok(self.source.events(container, ty, trace_range, 1)?.total > 0)
    }

    fn variable(&mut self, container: ContainerId, ty: TypeId) -> Result<Option<NodeVariable>, QueryError> {
        let extent = self.extent;
        if extent.from >= extent.to || self.source.samples(container, ty, extent, 1)?.total == 0 {
            return Ok(None);
        }
        let bounds = *self.axes.entry(ty).or_insert_with(|| axis(self.source.value_range(ty)));
        Ok(Some(NodeVariable { ty, bounds }))
    }
}

impl LayoutNode {
    pub(super) fn draws_anything(&self) -> bool {
        !(self.states.is_empty() && self.events.is_empty() && self.variables.is_empty())
    }
}

/// The positions of the nodes with entities of each type.
pub(super) fn positions_by_type(nodes: &[LayoutNode]) -> FxHashMap<TypeId, Vec<u32>> {
    let mut by_type: FxHashMap<TypeId, Vec<u32>> = FxHashMap::default();
    for (position, node) in nodes.iter().enumerate() {
        let variables = node.variables.iter().map(|variable| variable.ty);
        for ty in node.states.iter().map(|states| states.ty).chain(node.events.iter().copied()).chain(variables) {
            by_type.entry(ty).or_default().push(position as u32);
        }
    }
    by_type
}

/// The axis of a variable with this range. It includes zero, unless that would flatten the curve.
pub(super) fn axis(range: Option<ValueRange>) -> Option<ValueRange> {
    let ValueRange { min, max } = range.filter(|range| range.min.is_finite() && range.max.is_finite())?;
    Some(if min < max {
        ValueRange { min: if min > 0.0 && min <= 0.5 * max { 0.0 } else { min }, max }
    } else if min == 0.0 {
        ValueRange { min: 0.0, max: 1.0 }
    } else {
        // A constant value is drawn relative to zero.
        ValueRange { min: min.min(0.0), max: min.max(0.0) }
    })
}
