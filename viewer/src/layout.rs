//! From the container tree to rows: which container stands where, and what is drawn in its row.
//!
//! An [`Outline`] says what each container holds; it depends on the trace alone and is made once. A [`Layout`] is a pure
//! function of an outline and [`Options`]; it does not depend on time, so that zooming never moves a row.

mod arrange;
pub mod scale;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::query::{
    ContainerId, ContainerInfo, QueryError, TimelineSource, TypeId, TypeKind, ValueId, types_in, weight,
};
use crate::style::sizes;
use crate::style::theme::ThemeKind;

pub use arrange::Arrangement;

/// What the containers of a trace hold, and which lie within which.
#[derive(Debug)]
pub struct Outline {
    /// By depth-first position.
    nodes: Vec<Node>,
    /// Depth-first position of each container.
    positions: Vec<usize>,
    /// The positions of the containers that have entities of each type.
    by_type: FxHashMap<TypeId, Vec<u32>>,
    /// By which factor the strip of each type differs from the usual height.
    factors: Vec<f32>,
}

/// A container with what is drawn in it.
#[derive(Debug)]
struct Node {
    info: ContainerInfo,
    /// First position after the subtree.
    end: usize,
    /// State types with the number of nesting depths, and of how many containers at once their states are: more than 1 for a group.
    states: Vec<(TypeId, u32, usize)>,
    events: Vec<TypeId>,
    /// Variable types with the least and largest value of their axes.
    variables: Vec<(TypeId, Option<(f64, f64)>)>,
}

/// Which containers are folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    /// Containers at this depth of the drawn tree are folded, unless toggled; `None` folds nothing.
    pub level: Option<u32>,
    /// Containers that differ from what `level` says.
    pub toggled: BTreeSet<ContainerId>,
}

/// What a user can choose about a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Which containers are folded.
    pub folds: Folds,
    /// Which rows stand where.
    pub arrangement: Arrangement,
    /// Types that are not drawn.
    pub hidden: BTreeSet<TypeId>,
    /// Variables that are drawn as gradients: the larger, the stronger the colour.
    pub gradients: BTreeSet<TypeId>,
    /// Values that are drawn in grey, so that the others stand out.
    pub dimmed: BTreeSet<ValueId>,
    /// Light or dark.
    pub theme: ThemeKind,
    /// Factor on the heights of all rows.
    pub row_scale: f32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            folds: Folds::default(),
            arrangement: Arrangement::default(),
            hidden: BTreeSet::new(),
            gradients: BTreeSet::new(),
            dimmed: BTreeSet::new(),
            theme: ThemeKind::Light,
            row_scale: 1.0,
        }
    }
}

/// The rows of a picture, from top to bottom.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The rows, by `y`.
    pub rows: Vec<Row>,
    /// Height of them all.
    pub height: f32,
    /// Height of the pinned rows, which come first; 0 without any.
    pub pinned: f32,
    /// For each container, the row in which it is seen: its own, or that of a folded ancestor.
    row_of: Vec<Option<u32>>,
}

/// A container's row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The container.
    pub container: ContainerId,
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Levels below the first that is drawn.
    pub depth: u32,
    /// Whether it has rows below it, or would have.
    pub expandable: bool,
    /// Whether those are folded into it.
    pub folded: bool,
    /// Whether it is pinned, by itself or with a container above it.
    pub pinned: bool,
    /// Top of the row.
    pub y: f32,
    /// Height of the row, with its margins.
    pub height: f32,
    /// What is drawn, from top to bottom.
    pub strips: Vec<Strip>,
}

/// A horizontal band of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// What is drawn.
    pub kind: StripKind,
    /// Its type, or the first of several.
    pub ty: TypeId,
    /// Top, in the coordinates of the rows.
    pub y: f32,
    /// Height.
    pub height: f32,
}

/// What a strip shows.
#[derive(Clone, Debug, PartialEq)]
pub enum StripKind {
    /// States of one type in one container, nested so deep.
    States {
        /// Number of nesting depths.
        depths: u32,
    },
    /// Mean mixture of the states of one type over the containers folded into the row.
    Summary {
        /// Containers with such states, each with its number of depths.
        members: Vec<(ContainerId, u32)>,
    },
    /// Point events of these types.
    Events {
        /// The types.
        types: Vec<TypeId>,
    },
    /// A variable.
    Variable {
        /// Least and largest value of its axis; none when it has no finite value.
        bounds: Option<(f64, f64)>,
    },
    /// A variable as a gradient.
    Gradient {
        /// The values of the palest and the strongest colour.
        bounds: Option<(f64, f64)>,
    },
}

/// Natural heights.
const STATE_HEIGHT: f32 = 19.0;
const NESTING_HEIGHT: f32 = 5.0;
const DEEP_HEIGHT: f32 = 13.0;
const VARIABLE_HEIGHT: f32 = 40.0;
/// A variable that counts to a few.
const COUNT_HEIGHT: f32 = 22.0;
const GRADIENT_HEIGHT: f32 = 16.0;
const SUMMARY_HEIGHT: f32 = 28.0;
const HEADING_HEIGHT: f32 = 24.0;
const MARGIN: f32 = 2.0;
const GAP: f32 = 2.0;
const GROUP_GAP: f32 = 8.0;
/// Between the pinned rows and the others.
const PINNED_GAP: f32 = 6.0;

/// Nestings up to this many depths are drawn as boxes in boxes; deeper ones as one line below the other.
const BOXED_DEPTHS: u32 = 4;

impl Outline {
    /// Looks through the containers of a source. Costs some queries per container.
    ///
    /// # Errors
    /// When the source contradicts itself.
    pub fn new(source: &dyn TimelineSource) -> Result<Self, QueryError> {
        let (model, containers, extent) = (source.model(), source.containers(), source.extent());
        let mut positions = vec![usize::MAX; containers.iter().map(|c| c.id.index() + 1).max().unwrap_or(0)];
        let mut nodes = Vec::with_capacity(containers.len());
        let mut axes = FxHashMap::default();
        for (position, info) in containers.iter().enumerate() {
            positions[info.id.index()] = position;
            let mut node = Node {
                info: info.clone(),
                end: position + 1,
                states: Vec::new(),
                events: Vec::new(),
                variables: Vec::new(),
            };
            // A group may hold containers of several types.
            let mixed = !source.members(info.id).is_empty();
            let types = types_in(source, &model, info.id).into_iter();
            for ty in types.filter(|ty| (mixed || ty.parent == info.ty) && ty.id != TypeId::ROOT) {
                match ty.kind {
                    TypeKind::State => {
                        let depths = source.depths(info.id, ty.id);
                        node.states.extend((depths > 0).then(|| (ty.id, depths, weight(source, info.id, ty.id))));
                    }
                    // An event on the last date would lie outside of the half-open extent.
                    TypeKind::Event => {
                        let whole = crate::query::Interval {
                            from: extent.from,
                            to: crate::query::GlobalNanos(extent.to.0.saturating_add(1)),
                        };
                        node.events.extend((source.events(info.id, ty.id, whole, 1)?.total > 0).then_some(ty.id));
                    }
                    TypeKind::Variable => {
                        let any = extent.from < extent.to && source.samples(info.id, ty.id, extent, 1)?.total > 0;
                        if any {
                            let axis = *axes.entry(ty.id).or_insert_with(|| axis(source.range(ty.id)));
                            node.variables.push((ty.id, axis));
                        }
                    }
                    TypeKind::Container | TypeKind::Link { .. } => {}
                }
            }
            nodes.push(node);
        }
        // The containers that hold the present one: they come depth first.
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

    /// The nodes that have entities of a type, in order.
    fn nodes_with(&self, ty: TypeId) -> &[u32] {
        self.by_type.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// The containers with states of a type within a container (itself included), with their numbers of depths.
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

    /// The height of a strip: the usual one, but as the sizes of its type, or of several types of events, ask for.
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

    /// Whether a variable type occurs anywhere.
    #[must_use]
    pub fn has_variable(&self, ty: TypeId) -> bool {
        let mut nodes = self.nodes_with(ty).iter().map(|&at| &self.nodes[at as usize]);
        nodes.any(|node| node.variables.binary_search_by_key(&ty, |variable| variable.0).is_ok())
    }
}

impl Folds {
    /// Whether a container at this depth of the drawn tree is folded.
    #[must_use]
    pub fn contains(&self, container: ContainerId, depth: u32) -> bool {
        (self.level == Some(depth)) != self.toggled.contains(&container)
    }
}

impl Layout {
    /// Lays out the rows of all containers.
    #[must_use]
    pub fn new(outline: &Outline, options: &Options) -> Self {
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
                // What is pinned has its row already, and keeps it.
                let row = &mut layout.row_of[member.info.id.index()];
                *row = row.or(index);
                position += 1;
            }
        }
        layout
    }

    /// The deepest level of containers that, folded, leave rows no higher than this; `None` where even the highest does not. Costs
    /// a few layouts.
    #[must_use]
    pub fn level_that_fits(outline: &Outline, options: &Options, height: f32) -> Option<u32> {
        let fits = |level: u32| {
            let folds = Folds { level: Some(level), ..options.folds.clone() };
            Self::new(outline, &Options { folds, ..options.clone() }).height <= height
        };
        let levels: Vec<u32> = (0..outline.nodes.iter().map(|node| node.info.depth).max().unwrap_or(0)).collect();
        // The deeper what is folded, the higher the rows.
        levels.partition_point(|&level| fits(level)).checked_sub(1).and_then(|at| levels.get(at).copied())
    }

    /// The natural layout scaled so that it fills `height`, as far as `factors` allow.
    #[must_use]
    pub fn filling(outline: &Outline, options: &Options, height: f32, factors: RangeInclusive<f32>) -> Self {
        let natural = Self::new(outline, options);
        if natural.height <= 0.0 {
            return natural;
        }
        let factor = (height / natural.height).clamp(*factors.start(), *factors.end());
        if (factor - 1.0).abs() < 0.01 {
            return natural;
        }
        Self::new(outline, &Options { row_scale: options.row_scale * factor, ..options.clone() })
    }

    /// The row in which a container is seen; `None` when it is not.
    #[must_use]
    pub fn row_of(&self, container: ContainerId) -> Option<&Row> {
        self.rows.get(self.index_of(container)?)
    }

    /// The place of that row.
    #[must_use]
    pub fn index_of(&self, container: ContainerId) -> Option<usize> {
        (*self.row_of.get(container.index())?).map(|index| index as usize)
    }

    fn push(
        &mut self,
        (outline, node): (&Outline, &Node),
        place: &arrange::Place,
        kinds: Vec<(StripKind, TypeId)>,
        scale: f32,
    ) {
        let &arrange::Place { depth, expandable, folded, pinned, .. } = place;
        if pinned != self.rows.last().is_some_and(|last| last.pinned) && !self.rows.is_empty() {
            self.height += PINNED_GAP;
        }
        let apart = expandable && self.rows.last().is_some_and(|last| last.depth > depth && last.pinned == pinned);
        let top = self.height + if apart { GROUP_GAP * scale.min(1.0) } else { 0.0 };
        let mut y = top + MARGIN * scale.min(1.0);
        let mut strips = Vec::with_capacity(kinds.len());
        for (kind, ty) in kinds {
            let height = outline.height(&kind, ty, scale);
            strips.push(Strip { kind, ty, y, height });
            y += height + GAP * scale.min(1.0);
        }
        let height = if strips.is_empty() { HEADING_HEIGHT * scale } else { y - top };
        self.height = top + height;
        if pinned {
            self.pinned = self.height + PINNED_GAP;
        }
        self.rows.push(Row {
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

impl Node {
    fn draws_anything(&self) -> bool {
        !(self.states.is_empty() && self.events.is_empty() && self.variables.is_empty())
    }
}

impl Row {
    /// The height at which arrows reach the row.
    #[must_use]
    pub fn anchor(&self) -> f32 {
        let states = |strip: &&Strip| matches!(strip.kind, StripKind::States { .. } | StripKind::Summary { .. });
        match self.strips.iter().find(states).or(self.strips.first()) {
            Some(strip) => strip.y + strip.height / 2.0,
            None => self.y + self.height / 2.0,
        }
    }
}

impl Strip {
    /// Top and height of the box of a nesting depth.
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

/// The positions of the nodes that have entities of each type.
fn positions_by_type(nodes: &[Node]) -> FxHashMap<TypeId, Vec<u32>> {
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

/// The axis of a variable of this range: zero belongs to the picture unless that would flatten the curve.
fn axis(range: Option<(f64, f64)>) -> Option<(f64, f64)> {
    let (least, largest) = range.filter(|(a, b)| a.is_finite() && b.is_finite())?;
    Some(if least < largest {
        (if least > 0.0 && least <= 0.5 * largest { 0.0 } else { least }, largest)
    } else if least == 0.0 {
        (0.0, 1.0)
    } else {
        // A value that never changes is seen against zero.
        (least.min(0.0), least.max(0.0))
    })
}

/// Whether an axis is that of a small count.
fn is_count(low: f64, high: f64) -> bool {
    low.fract() == 0.0 && high.fract() == 0.0 && high - low <= 16.0
}

/// What a container's own row shows.
fn strips_of(node: &Node, options: &Options) -> Vec<(StripKind, TypeId)> {
    let shown = |ty| !options.hidden.contains(&ty);
    let mut kinds = Vec::new();
    let types: Vec<TypeId> = node.events.iter().copied().filter(|&ty| shown(ty)).collect();
    if let Some(&first) = types.first() {
        kinds.push((StripKind::Events { types }, first));
    }
    let states = |depths, weight| match weight {
        // The states of containers that live at once lie over each other: their mean mixture is shown.
        2.. => StripKind::Summary { members: vec![(node.info.id, depths)] },
        _ => StripKind::States { depths },
    };
    kinds.extend(node.states.iter().filter(|s| shown(s.0)).map(|&(ty, depths, weight)| (states(depths, weight), ty)));
    kinds.extend(node.variables.iter().filter(|v| shown(v.0)).map(|&(ty, bounds)| (variable(options, ty, bounds), ty)));
    kinds
}

/// What the row of a folded container shows.
fn summary_of(outline: &Outline, node: &Node, options: &Options) -> Vec<(StripKind, TypeId)> {
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

fn variable(options: &Options, ty: TypeId, bounds: Option<(f64, f64)>) -> StripKind {
    if options.gradients.contains(&ty) { StripKind::Gradient { bounds } } else { StripKind::Variable { bounds } }
}

#[cfg(test)]
mod tests;
