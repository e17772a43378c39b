//! Converts the container tree to rows: the position and contents of each container's row.
//!
//! An [`ContainerOutline`] describes the contents of each container. It depends only on the trace and is
//! built once. A [`RowLayout`] is a pure function of an outline and [`LayoutOptions`]. It does not depend on
//! time, so that zooming never moves a row.

mod arrange;
pub mod scale;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::query::{
    ContainerId, ContainerInfo, PajeTypeKind, QueryError, TimelineSource, TypeId, ValueId, types_in, weight,
};
use crate::style::sizes;
use crate::style::theme::ThemeKind;

pub use arrange::RowArrangement;

/// The contents of the containers of a trace, and their tree.
#[derive(Debug)]
pub struct ContainerOutline {
    /// The containers by depth-first position.
    nodes: Vec<LayoutNode>,
    /// Depth-first position of each container.
    positions: Vec<usize>,
    /// The positions of the containers with entities of each type.
    by_type: FxHashMap<TypeId, Vec<u32>>,
    /// For each type, the factor of its strip's height relative to the usual height.
    factors: Vec<f32>,
}

/// A container and its contents.
#[derive(Debug)]
struct LayoutNode {
    info: ContainerInfo,
    /// First position after its subtree.
    end: usize,
    /// State types with their number of nesting depths, and the maximum number of containers with
    /// states at the same time. The latter is above 1 for a group.
    states: Vec<(TypeId, u32, usize)>,
    events: Vec<TypeId>,
    /// Variable types with the smallest and largest value of their axes.
    variables: Vec<(TypeId, Option<(f64, f64)>)>,
}

/// The selection of folded containers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedContainers {
    /// Containers at this depth of the drawn tree are folded, unless toggled. `None` folds none.
    pub level: Option<u32>,
    /// Containers for which the effect of `level` is inverted.
    pub toggled: BTreeSet<ContainerId>,
}

/// The user's choices for an image.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutOptions {
    /// The selection of folded containers.
    pub folds: FoldedContainers,
    /// The order of the rows.
    pub arrangement: RowArrangement,
    /// Hidden types.
    pub hidden: BTreeSet<TypeId>,
    /// Variables that are drawn as gradients, with stronger colour for larger values.
    pub gradients: BTreeSet<TypeId>,
    /// Values that are drawn in grey, so that the others stand out.
    pub dimmed: BTreeSet<ValueId>,
    /// Light or dark.
    pub theme: ThemeKind,
    /// Factor on the heights of all rows.
    pub row_scale: f32,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self {
            folds: FoldedContainers::default(),
            arrangement: RowArrangement::default(),
            hidden: BTreeSet::new(),
            gradients: BTreeSet::new(),
            dimmed: BTreeSet::new(),
            theme: ThemeKind::Light,
            row_scale: 1.0,
        }
    }
}

/// The rows of an image, from top to bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct RowLayout {
    /// The rows, by `y`.
    pub rows: Vec<LayoutRow>,
    /// Total height of the rows.
    pub height: f32,
    /// Height of the pinned rows, which come first; 0 if there are none.
    pub pinned: f32,
    /// For each container, the row that shows it: its own row, or the row of a folded ancestor.
    row_of: Vec<Option<u32>>,
}

/// A container's row.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutRow {
    /// The container.
    pub container: ContainerId,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Number of levels below the first drawn level.
    pub depth: u32,
    /// Whether it has rows below it, or would have when unfolded.
    pub expandable: bool,
    /// Whether the rows below it are folded into it.
    pub folded: bool,
    /// Whether it or a container above it is pinned.
    pub pinned: bool,
    /// Top of the row.
    pub y: f32,
    /// Height of the row, including margins.
    pub height: f32,
    /// The contents, from top to bottom.
    pub strips: Vec<RowStrip>,
}

/// A horizontal strip of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowStrip {
    /// The contents.
    pub kind: StripKind,
    /// Its type, or the first of its types.
    pub ty: TypeId,
    /// Top, in the coordinates of the rows.
    pub y: f32,
    /// Height.
    pub height: f32,
}

/// The contents of a strip.
#[derive(Clone, Debug, PartialEq)]
pub enum StripKind {
    /// States of one type in one container.
    States {
        /// Number of nesting depths.
        depths: u32,
    },
    /// Mean mixture of the states of one type, over the containers folded into the row.
    Summary {
        /// Containers with such states, each with its number of nesting depths.
        members: Vec<(ContainerId, u32)>,
    },
    /// Point events of these types.
    Events {
        /// The types.
        types: Vec<TypeId>,
    },
    /// A variable.
    Variable {
        /// Smallest and largest value of its axis. `None` if it has no finite value.
        bounds: Option<(f64, f64)>,
    },
    /// A variable as a gradient.
    Gradient {
        /// The values with the palest and the strongest colour.
        bounds: Option<(f64, f64)>,
    },
}

/// Natural heights in units.
const STATE_HEIGHT: f32 = 19.0;
const NESTING_HEIGHT: f32 = 5.0;
const DEEP_HEIGHT: f32 = 13.0;
const VARIABLE_HEIGHT: f32 = 40.0;
/// For a variable with few integer values.
const COUNT_HEIGHT: f32 = 22.0;
const GRADIENT_HEIGHT: f32 = 16.0;
const SUMMARY_HEIGHT: f32 = 28.0;
const HEADING_HEIGHT: f32 = 24.0;
const MARGIN: f32 = 2.0;
const GAP: f32 = 2.0;
const GROUP_GAP: f32 = 8.0;
/// Gap between the pinned rows and the others.
const PINNED_GAP: f32 = 6.0;

/// Up to this number of depths, nested states are drawn as boxes in boxes. Deeper nestings are
/// drawn as one line per depth.
const BOXED_DEPTHS: u32 = 4;

impl ContainerOutline {
    /// Scans the containers of a source. Makes some queries per container.
    ///
    /// # Errors
    /// If the source is inconsistent.
    pub fn new(source: &dyn TimelineSource) -> Result<Self, QueryError> {
        let (model, containers, extent) = (source.model(), source.containers(), source.extent());
        let mut positions = vec![usize::MAX; containers.iter().map(|c| c.id.index() + 1).max().unwrap_or(0)];
        let mut nodes = Vec::with_capacity(containers.len());
        let mut axes = FxHashMap::default();
        for (position, info) in containers.iter().enumerate() {
            positions[info.id.index()] = position;
            let mut node = LayoutNode {
                info: info.clone(),
                end: position + 1,
                states: Vec::new(),
                events: Vec::new(),
                variables: Vec::new(),
            };
            // A group may have entities of several container types.
            let mixed = !source.members(info.id).is_empty();
            let types = types_in(source, &model, info.id).into_iter();
            for ty in types.filter(|ty| (mixed || ty.parent == info.ty) && ty.id != TypeId::ROOT) {
                match ty.kind {
                    PajeTypeKind::State => {
                        let depths = source.depths(info.id, ty.id);
                        node.states.extend((depths > 0).then(|| (ty.id, depths, weight(source, info.id, ty.id))));
                    }
                    // An event at the last timestamp lies outside of the half-open extent.
                    PajeTypeKind::Event => {
                        let whole = crate::query::TimeRange {
                            from: extent.from,
                            to: crate::query::GlobalNanos(extent.to.0.saturating_add(1)),
                        };
                        node.events.extend((source.events(info.id, ty.id, whole, 1)?.total > 0).then_some(ty.id));
                    }
                    PajeTypeKind::Variable => {
                        let any = extent.from < extent.to && source.samples(info.id, ty.id, extent, 1)?.total > 0;
                        if any {
                            let axis = *axes.entry(ty.id).or_insert_with(|| axis(source.range(ty.id)));
                            node.variables.push((ty.id, axis));
                        }
                    }
                    PajeTypeKind::Container | PajeTypeKind::Link { .. } => {}
                }
            }
            nodes.push(node);
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
        Ok(Self { nodes, positions, by_type, factors: sizes::factors(&model) })
    }

    /// The nodes with entities of a type, in order.
    fn nodes_with(&self, ty: TypeId) -> &[u32] {
        self.by_type.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// The containers with states of a type within a container, including itself, with their
    /// numbers of depths.
    #[must_use]
    pub fn states_within(&self, container: ContainerId, ty: TypeId) -> Vec<(ContainerId, u32)> {
        let Some(&start) = self.positions.get(container.index()).filter(|&&p| p != usize::MAX) else {
            return Vec::new();
        };
        let (all, end) = (self.nodes_with(ty), self.nodes[start].end);
        let from = all.partition_point(|&at| (at as usize) < start);
        let within = all[from..].iter().map(|&at| at as usize).take_while(|&at| at < end);
        let of_type = |at: usize| {
            let node = &self.nodes[at];
            let found = node.states.binary_search_by_key(&ty, |state| state.0).ok()?;
            Some((node.info.id, node.states[found].1))
        };
        within.filter_map(of_type).collect()
    }

    /// The height of a strip: the usual height, multiplied by the factor of its type or event
    /// types.
    fn height(&self, kind: &StripKind, ty: TypeId, scale: f32) -> f32 {
        match kind {
            StripKind::Events { types } => sizes::band(sizes::of_band(&self.factors, types), scale),
            _ => natural_height(kind) * self.factors.get(ty.index()).copied().unwrap_or(1.0) * scale,
        }
    }

    /// The state types that occur within a container, in order of appearance.
    #[must_use]
    pub fn state_types_within(&self, container: ContainerId) -> Vec<TypeId> {
        let Some(&start) = self.positions.get(container.index()).filter(|&&p| p != usize::MAX) else {
            return Vec::new();
        };
        let nodes = &self.nodes[start..self.nodes[start].end];
        let mut known = FxHashSet::default();
        nodes.iter().flat_map(|node| &node.states).map(|state| state.0).filter(|&ty| known.insert(ty)).collect()
    }

    /// The containers with events of a type.
    pub fn with_events(&self, ty: TypeId) -> impl Iterator<Item = ContainerId> + '_ {
        let nodes = self.nodes_with(ty).iter().map(|&at| &self.nodes[at as usize]);
        nodes.filter(move |node| node.events.binary_search(&ty).is_ok()).map(|node| node.info.id)
    }

    /// Whether any container has a variable of this type.
    #[must_use]
    pub fn has_variable(&self, ty: TypeId) -> bool {
        let mut nodes = self.nodes_with(ty).iter().map(|&at| &self.nodes[at as usize]);
        nodes.any(|node| node.variables.binary_search_by_key(&ty, |variable| variable.0).is_ok())
    }
}

impl FoldedContainers {
    /// Whether a container at this depth of the drawn tree is folded.
    #[must_use]
    pub fn contains(&self, container: ContainerId, depth: u32) -> bool {
        (self.level == Some(depth)) != self.toggled.contains(&container)
    }
}

impl RowLayout {
    /// Lays out the rows of all containers.
    #[must_use]
    pub fn new(outline: &ContainerOutline, options: &LayoutOptions) -> Self {
        let row_of = vec![None; outline.positions.len()];
        let mut layout = Self { rows: Vec::new(), height: 0.0, pinned: 0.0, row_of };
        for place in arrange::places(outline, options) {
            let node = &outline.nodes[place.position];
            let kinds = if place.folded { summary_of(outline, node, options) } else { strips_of(node, options) };
            layout.push((outline, node), &place, kinds, options.row_scale);
            let end = if place.folded { node.end } else { place.position + 1 };
            let index = u32::try_from(layout.rows.len() - 1).ok();
            let mut position = place.position;
            while position < end {
                let member = &outline.nodes[position];
                if options.arrangement.hidden.contains(&member.info.id) {
                    position = member.end;
                    continue;
                }
                // A pinned container already has its row, and keeps it.
                let row = &mut layout.row_of[member.info.id.index()];
                *row = row.or(index);
                position += 1;
            }
        }
        layout
    }

    /// The deepest level of containers that, when folded, limits the rows to this height. `None` if
    /// not even the top level does. Computes a few layouts.
    #[must_use]
    pub fn level_that_fits(outline: &ContainerOutline, options: &LayoutOptions, height: f32) -> Option<u32> {
        let fits = |level: u32| {
            let folds = FoldedContainers { level: Some(level), ..options.folds.clone() };
            Self::new(outline, &LayoutOptions { folds, ..options.clone() }).height <= height
        };
        let levels: Vec<u32> = (0..outline.nodes.iter().map(|node| node.info.depth).max().unwrap_or(0)).collect();
        // The deeper the folded level, the higher the rows.
        levels.partition_point(|&level| fits(level)).checked_sub(1).and_then(|at| levels.get(at).copied())
    }

    /// The natural layout, scaled to fill `height` within the limits of `factors`.
    #[must_use]
    pub fn filling(
        outline: &ContainerOutline,
        options: &LayoutOptions,
        height: f32,
        factors: RangeInclusive<f32>,
    ) -> Self {
        let natural = Self::new(outline, options);
        if natural.height <= 0.0 {
            return natural;
        }
        let factor = (height / natural.height).clamp(*factors.start(), *factors.end());
        if (factor - 1.0).abs() < 0.01 {
            return natural;
        }
        Self::new(outline, &LayoutOptions { row_scale: options.row_scale * factor, ..options.clone() })
    }

    /// The row that shows a container. `None` if it is not visible.
    #[must_use]
    pub fn row_of(&self, container: ContainerId) -> Option<&LayoutRow> {
        self.rows.get(self.index_of(container)?)
    }

    /// The index of the row that shows a container.
    #[must_use]
    pub fn index_of(&self, container: ContainerId) -> Option<usize> {
        (*self.row_of.get(container.index())?).map(|index| index as usize)
    }

    fn push(
        &mut self,
        (outline, node): (&ContainerOutline, &LayoutNode),
        place: &arrange::RowCandidate,
        kinds: Vec<(StripKind, TypeId)>,
        scale: f32,
    ) {
        let &arrange::RowCandidate { depth, expandable, folded, pinned, .. } = place;
        if pinned != self.rows.last().is_some_and(|last| last.pinned) && !self.rows.is_empty() {
            self.height += PINNED_GAP;
        }
        let apart = expandable && self.rows.last().is_some_and(|last| last.depth > depth && last.pinned == pinned);
        let top = self.height + if apart { GROUP_GAP * scale.min(1.0) } else { 0.0 };
        let mut y = top + MARGIN * scale.min(1.0);
        let mut strips = Vec::with_capacity(kinds.len());
        for (kind, ty) in kinds {
            let height = outline.height(&kind, ty, scale);
            strips.push(RowStrip { kind, ty, y, height });
            y += height + GAP * scale.min(1.0);
        }
        let height = if strips.is_empty() { HEADING_HEIGHT * scale } else { y - top };
        self.height = top + height;
        if pinned {
            self.pinned = self.height + PINNED_GAP;
        }
        self.rows.push(LayoutRow {
            container: node.info.id,
            name: node.info.name.clone(),
            ty: node.info.ty,
            depth,
            expandable,
            folded,
            pinned,
            y: top,
            height,
            strips,
        });
    }
}

impl LayoutNode {
    fn draws_anything(&self) -> bool {
        !(self.states.is_empty() && self.events.is_empty() && self.variables.is_empty())
    }
}

impl LayoutRow {
    /// The height at which arrows meet the row.
    #[must_use]
    pub fn anchor(&self) -> f32 {
        let states = |strip: &&RowStrip| matches!(strip.kind, StripKind::States { .. } | StripKind::Summary { .. });
        match self.strips.iter().find(states).or(self.strips.first()) {
            Some(strip) => strip.y + strip.height / 2.0,
            None => self.y + self.height / 2.0,
        }
    }
}

impl RowStrip {
    /// Top and height of the lane of a nesting depth.
    #[must_use]
    pub fn lane(&self, depth: u32, depths: u32) -> (f32, f32) {
        #[expect(clippy::cast_precision_loss, reason = "a nesting depth")]
        let (depth, depths) = (depth as f32, depths.max(1) as f32);
        if depths <= BOXED_DEPTHS as f32 {
            let natural = STATE_HEIGHT + NESTING_HEIGHT * (depths - 1.0);
            let inset = depth * NESTING_HEIGHT * self.height / natural;
            (self.y + inset, self.height - inset)
        } else {
            let each = self.height / depths;
            (self.y + each * depth, each)
        }
    }
}

/// The positions of the nodes with entities of each type.
fn positions_by_type(nodes: &[LayoutNode]) -> FxHashMap<TypeId, Vec<u32>> {
    let mut by_type: FxHashMap<TypeId, Vec<u32>> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        let variables = node.variables.iter().map(|variable| variable.0);
        for ty in node.states.iter().map(|state| state.0).chain(node.events.iter().copied()).chain(variables) {
            by_type.entry(ty).or_default().push(at as u32);
        }
    }
    by_type
}

fn natural_height(kind: &StripKind) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a nesting depth")]
    match kind {
        StripKind::States { depths } if *depths <= BOXED_DEPTHS => {
            STATE_HEIGHT + NESTING_HEIGHT * (depths.saturating_sub(1)) as f32
        }
        StripKind::States { depths } => DEEP_HEIGHT * *depths as f32,
        StripKind::Summary { .. } => SUMMARY_HEIGHT,
        StripKind::Events { .. } => sizes::band(1.0, 1.0),
        StripKind::Variable { bounds: Some((low, high)) } if is_count(*low, *high) => COUNT_HEIGHT,
        StripKind::Variable { .. } => VARIABLE_HEIGHT,
        StripKind::Gradient { .. } => GRADIENT_HEIGHT,
    }
}

/// The axis of a variable with this range. It includes zero, unless that would flatten the curve.
fn axis(range: Option<(f64, f64)>) -> Option<(f64, f64)> {
    let (least, largest) = range.filter(|(a, b)| a.is_finite() && b.is_finite())?;
    Some(if least < largest {
        (if least > 0.0 && least <= 0.5 * largest { 0.0 } else { least }, largest)
    } else if least == 0.0 {
        (0.0, 1.0)
    } else {
        // A constant value is drawn relative to zero.
        (least.min(0.0), least.max(0.0))
    })
}

/// Whether an axis is that of a small count.
fn is_count(low: f64, high: f64) -> bool {
    low.fract() == 0.0 && high.fract() == 0.0 && high - low <= 16.0
}

/// The contents of a container's own row.
fn strips_of(node: &LayoutNode, options: &LayoutOptions) -> Vec<(StripKind, TypeId)> {
    let shown = |ty| !options.hidden.contains(&ty);
    let mut kinds = Vec::new();
    let types: Vec<TypeId> = node.events.iter().copied().filter(|&ty| shown(ty)).collect();
    if let Some(&first) = types.first() {
        kinds.push((StripKind::Events { types }, first));
    }
    let states = |depths, weight| match weight {
        // States of containers that exist at the same time overlap, so their mean mixture is drawn.
        2.. => StripKind::Summary { members: vec![(node.info.id, depths)] },
        _ => StripKind::States { depths },
    };
    kinds.extend(node.states.iter().filter(|s| shown(s.0)).map(|&(ty, depths, weight)| (states(depths, weight), ty)));
    kinds.extend(node.variables.iter().filter(|v| shown(v.0)).map(|&(ty, bounds)| (variable(options, ty, bounds), ty)));
    kinds
}

/// The contents of the row of a folded container.
fn summary_of(outline: &ContainerOutline, node: &LayoutNode, options: &LayoutOptions) -> Vec<(StripKind, TypeId)> {
    let types = outline.state_types_within(node.info.id);
    let gone: BTreeSet<ContainerId> =
        options.arrangement.hidden.iter().flat_map(|&container| outline.within(container)).collect();
    let members = |ty: TypeId| {
        let all = outline.states_within(node.info.id, ty).into_iter();
        all.filter(|member| !gone.contains(&member.0)).collect::<Vec<_>>()
    };
    let mut kinds: Vec<_> = types
        .into_iter()
        .filter(|ty| !options.hidden.contains(ty))
        .map(|ty| (StripKind::Summary { members: members(ty) }, ty))
        .filter(|(kind, _)| !matches!(kind, StripKind::Summary { members } if members.is_empty()))
        .collect();
    let variables = node.variables.iter().filter(|variable| !options.hidden.contains(&variable.0));
    kinds.extend(variables.map(|&(ty, bounds)| (variable(options, ty, bounds), ty)));
    kinds
}

fn variable(options: &LayoutOptions, ty: TypeId, bounds: Option<(f64, f64)>) -> StripKind {
    if options.gradients.contains(&ty) { StripKind::Gradient { bounds } } else { StripKind::Variable { bounds } }
}

#[cfg(test)]
mod tests;
