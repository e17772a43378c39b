//! From what the simulation gathered to a sealed [`Store`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::{Color, ContainerId, Look, TypeId, TypeKind, ValueId};

use super::details::Details;
use super::links::LinkTable;
use super::marks::{MarkLane, RawMarks};
use super::order::depth_first;
use super::related::{LinkEnds, References};
use super::states::{RawLane, StateLane};
use super::variables::{RawVariable, VariableLane};
use super::{Store, life};
use crate::query::nested::{CheckpointWriter, NEEDS_CHECKPOINTS};
use crate::query::{ContainerInfo, Model, Summary, TypeInfo, ValueInfo};
use crate::query::{LinkRow, RawValue, effective_end};
use crate::style::palette;

/// All lanes of a state type in a container, outermost depth first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawStates {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) lanes: Vec<RawLane>,
}

/// What the simulation gathers.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) name: String,
    pub(crate) types: Vec<TypeInfo>,
    pub(crate) values: Vec<RawValue>,
    pub(crate) containers: Vec<ContainerInfo>,
    /// Rows of `details` by container id.
    pub(crate) container_details: Vec<u32>,
    pub(crate) states: Vec<RawStates>,
    pub(crate) marks: Vec<(ContainerId, TypeId, RawMarks)>,
    /// With the date where the last sample ends.
    pub(crate) variables: Vec<(ContainerId, TypeId, RawVariable, i64)>,
    pub(crate) links: Vec<(TypeId, Vec<LinkRow>)>,
    pub(crate) details: Details,
    /// First and last date of the trace.
    pub(crate) extent: (i64, i64),
    pub(crate) remarks: Vec<String>,
    /// Whether none of them tells of a fault.
    pub(crate) intact: bool,
    /// As [`Summary::wall_clock`].
    pub(crate) wall_clock: Option<i64>,
}

/// Gives out numbers of one kind of entity, lane by lane.
struct Numbers(u32);

impl Numbers {
    fn take(&mut self, count: usize) -> u32 {
        let base = self.0;
        // The simulation refuses entities past the last number.
        self.0 = self.0.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        base
    }
}

impl Parts {
    /// Sorts, sums and seals.
    pub(crate) fn seal(mut self) -> Store {
        let model = Arc::new(model(std::mem::take(&mut self.types), std::mem::take(&mut self.values)));
        let (containers, positions) = depth_first(std::mem::take(&mut self.containers));
        let states = seal_states(std::mem::take(&mut self.states));
        let nested = nested_sums(&states);
        let marks = seal_marks(std::mem::take(&mut self.marks));
        let variables = seal_variables(std::mem::take(&mut self.variables));
        let links = seal_links(std::mem::take(&mut self.links), &model);
        self.details.seal();
        let references = References::new(&states, &self.details);
        let ends = LinkEnds::new(&links);
        let extent = self.visible_extent(&states, &marks, &variables, &links);
        let summary = Summary {
            name: self.name,
            extent: life(extent.0, extent.1),
            containers: containers.len().saturating_sub(1) as u64,
            states: states.iter().map(|lane| lane.len() as u64).sum(),
            events: marks.iter().map(|lane| lane.len() as u64).sum(),
            links: links.iter().map(|table| table.rows.len() as u64).sum(),
            samples: variables.iter().map(|lane| lane.len() as u64).sum(),
            remarks: self.remarks,
            intact: self.intact,
            wall_clock: self.wall_clock,
            generation: 1,
        };
        Store {
            summary,
            model,
            containers: Arc::new(containers),
            positions,
            states,
            nested,
            marks,
            ranges: ranges_by_type(&variables),
            variables,
            links,
            details: self.details,
            container_details: self.container_details,
            references,
            ends,
        }
    }

    /// The extent, 1 ns longer when something without duration is at its very end: an interval is half-open, and nothing
    /// must fall out of the whole.
    fn visible_extent(
        &self,
        states: &[StateLane],
        marks: &[MarkLane],
        variables: &[VariableLane],
        links: &[LinkTable],
    ) -> (i64, i64) {
        let (from, to) = self.extent;
        let last_state =
            states.iter().filter_map(|lane| lane.len().checked_sub(1).map(|at| (lane.start(at), lane.end(at))));
        let last_mark =
            marks.iter().filter_map(|lane| lane.len().checked_sub(1).map(|at| (lane.date(at), lane.date(at))));
        let last_sample =
            variables.iter().filter_map(|lane| lane.len().checked_sub(1).map(|at| (lane.start(at), lane.end(at))));
        let last_link = links.iter().filter_map(|table| table.rows.last().map(|row| (row.low(), row.low())));
        let ends = last_state
            .chain(last_mark)
            .chain(last_sample)
            .chain(last_link)
            .map(|(start, end)| effective_end(start, end));
        (from, ends.fold(effective_end(from, to), i64::max))
    }
}

fn seal_states(mut raw: Vec<RawStates>) -> Vec<StateLane> {
    raw.sort_unstable_by_key(|states| (states.container, states.ty));
    let mut numbers = Numbers(0);
    let mut sealed = Vec::new();
    for states in raw {
        for (depth, lane) in states.lanes.into_iter().enumerate() {
            let base = numbers.take(lane.starts.len());
            sealed.push(StateLane::new(states.container, states.ty, depth as u32, base, lane));
        }
    }
    sealed
}

/// Checkpoints of each container and type that has many nested states.
fn nested_sums(lanes: &[StateLane]) -> Vec<((ContainerId, TypeId), Vec<u64>)> {
    let mut all = Vec::new();
    for lanes in lanes.chunk_by(|a, b| (a.container, a.ty) == (b.container, b.ty)) {
        let states: usize = lanes.iter().map(StateLane::len).sum();
        if lanes.len() < 2 || (states as u64) < NEEDS_CHECKPOINTS {
            continue;
        }
        let mut next: BinaryHeap<Reverse<(i64, usize, usize)>> = (0..lanes.len())
            .filter(|&lane| lanes[lane].len() > 0)
            .map(|lane| Reverse((lanes[lane].start(0), lane, 0)))
            .collect();
        let mut writer = CheckpointWriter::new(next.peek().map_or(0, |first| first.0.0));
        let mut rows = Vec::new();
        let mut keep = |word| -> Result<(), Infallible> {
            rows.push(word);
            Ok(())
        };
        while let Some(Reverse((start, lane, at))) = next.pop() {
            let of = &lanes[lane];
            let Ok(()) = writer.push((start, of.end(at), of.value(at).0), &mut keep);
            if at + 1 < of.len() {
                next.push(Reverse((of.start(at + 1), lane, at + 1)));
            }
        }
        let Ok(mut words) = writer.finish(&mut keep);
        words.append(&mut rows);
        all.push(((lanes[0].container, lanes[0].ty), words));
    }
    all
}

fn seal_marks(mut raw: Vec<(ContainerId, TypeId, RawMarks)>) -> Vec<MarkLane> {
    raw.sort_unstable_by_key(|&(container, ty, _)| (container, ty));
    let mut numbers = Numbers(0);
    raw.into_iter()
        .map(|(container, ty, marks)| MarkLane::new(container, ty, numbers.take(marks.dates.len()), marks))
        .collect()
}

fn seal_variables(mut raw: Vec<(ContainerId, TypeId, RawVariable, i64)>) -> Vec<VariableLane> {
    raw.retain(|(_, _, samples, _)| !samples.dates.is_empty());
    raw.sort_unstable_by_key(|&(container, ty, ..)| (container, ty));
    let mut numbers = Numbers(0);
    raw.into_iter()
        .map(|(container, ty, samples, end)| {
            VariableLane::new(container, ty, numbers.take(samples.dates.len()), end, samples)
        })
        .collect()
}

/// Least and largest value of each variable type, all containers together.
fn ranges_by_type(variables: &[VariableLane]) -> FxHashMap<TypeId, (f64, f64)> {
    let mut ranges: FxHashMap<TypeId, (f64, f64)> = FxHashMap::default();
    for (ty, one) in variables.iter().filter_map(|lane| Some((lane.ty, lane.range()?))) {
        ranges.entry(ty).and_modify(|all| *all = (all.0.min(one.0), all.1.max(one.1))).or_insert(one);
    }
    ranges
}

fn seal_links(mut raw: Vec<(TypeId, Vec<LinkRow>)>, model: &Model) -> Vec<LinkTable> {
    raw.retain(|(ty, _)| ty.index() < model.types.len());
    raw.sort_unstable_by_key(|&(ty, _)| ty);
    let mut numbers = Numbers(0);
    raw.into_iter().map(|(ty, rows)| LinkTable::new(ty, numbers.take(rows.len()), rows)).collect()
}

/// The model with a colour for whatever the trace gave none, and shapes and sizes of types for values that have none of their own.
pub(crate) fn model(mut types: Vec<TypeInfo>, values: Vec<RawValue>) -> Model {
    let colors = palette::assign(&types, &values);
    let names: Vec<(TypeId, &str)> = types.iter().map(|ty| (TypeId::ROOT, ty.name.as_str())).collect();
    let given: Vec<Option<Color>> = types.iter().map(|ty| ty.color).collect();
    let type_colors = palette::distinct(&names, &given);
    for (ty, chosen) in types.iter_mut().zip(type_colors) {
        if !matches!(ty.kind, TypeKind::Container | TypeKind::State) {
            ty.color = ty.color.or(Some(chosen));
        }
    }
    let values = values
        .into_iter()
        .zip(colors)
        .enumerate()
        .map(|(at, (value, color))| {
            let look = value.look.or(types.get(value.ty.index()).map_or(Look::NONE, |ty| ty.look));
            ValueInfo { id: ValueId(at as u32), ty: value.ty, name: value.name, color, look }
        })
        .collect();
    Model { types, values }
}
