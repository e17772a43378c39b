//! [`StoreParts`]: the data that the simulation collected, and their conversion to a finished
//! [`TraceStore`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, DrawStyle, PajeTypeKind, RgbColor, TraceDiagnostic, TypeId, ValueId};

use super::container_order::{OrderedContainers, depth_first};
use super::details::DetailTable;
use super::links::StoreLinks;
use super::marks::{RawMarks, StoreMarkLane};
use super::relations::{LinkEndIndex, OperationPartIndex, StateReferences};
use super::states::{RawLane, StoreStateLane};
use super::trace_store::{NestedCheckpoints, TraceStore};
use super::variables::{RawVariable, StoreVariableLane};
use crate::query::nested_times::{CheckpointWriter, NEEDS_CHECKPOINTS, NestedState};
use crate::query::{
    ContainerInfo, GlobalNanos, LinkRow, OpenLinkRow, RawValue, TimeRange, TimestampExtent, TraceSummary, TypeInfo,
    TypeModel, ValueInfo, ValueRange, effective_end, nanos_range,
};
use crate::style::palette;

/// All lanes of a state type in a container, outermost depth first.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct RawStates {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) lanes: Vec<RawLane>,
}

/// The data that the simulation collects.
#[derive(Debug, Default)]
pub(crate) struct StoreParts {
    pub(crate) name: String,
    pub(crate) types: Vec<TypeInfo>,
    pub(crate) values: Vec<RawValue>,
    pub(crate) containers: Vec<ContainerInfo>,
    /// Rows of `details` by container id.
    pub(crate) container_details: Vec<u32>,
    pub(crate) states: Vec<RawStates>,
    pub(crate) marks: Vec<RawMarks>,
    pub(crate) variables: Vec<RawVariable>,
    pub(crate) links: Vec<(TypeId, Vec<LinkRow>)>,
    /// The links that never end.
    pub(crate) open_links: Vec<OpenLinkRow>,
    pub(crate) details: DetailTable,
    /// First and last timestamp of the trace.
    pub(crate) extent: TimestampExtent,
    pub(crate) diagnostics: Vec<TraceDiagnostic>,
    /// See [`TraceSummary::wall_clock`].
    pub(crate) wall_clock: Option<i64>,
}

/// Assigns numbers to the entities of one kind, lane by lane.
struct EntityNumbers(u32);

impl EntityNumbers {
    fn allocate(&mut self, count: usize) -> u32 {
        let base = self.0;
        // The simulation rejects entities after the last number.
        self.0 = self.0.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        base
    }
}

impl StoreParts {
    /// Sorts and sums the data, and makes the store.
    pub(crate) fn seal(mut self) -> TraceStore {
        let model = Arc::new(model(std::mem::take(&mut self.types), std::mem::take(&mut self.values)));
        let OrderedContainers { containers, positions } = depth_first(std::mem::take(&mut self.containers));
        let states = seal_states(std::mem::take(&mut self.states));
        let nested_checkpoints = nested_sums(&states);
        let marks = seal_marks(std::mem::take(&mut self.marks));
        let variables = seal_variables(std::mem::take(&mut self.variables));
        let links = seal_links(std::mem::take(&mut self.links), &model);
        let mut open_links = std::mem::take(&mut self.open_links);
        open_links.retain(|row| row.ty.index() < model.types.len());
        // The order of the index.
        open_links.sort_by_key(|row| (row.ty, row.start_time, row.key, row.value, row.start, row.holder));
        self.details.seal();
        let references = StateReferences::new(&states, &self.details);
        let ends = LinkEndIndex::new(&links);
        let parts = OperationPartIndex::new(&states, &self.details, &model.collective_values);
        let mut extent = self.visible_extent(&states, &marks, &variables, &links);
        let last_open = open_links.iter().map(|row| effective_end(row.start_time, row.start_time)).max();
        extent.to = extent.to.max(GlobalNanos(last_open.unwrap_or(extent.to.0)));
        let summary = TraceSummary {
            name: self.name,
            extent,
            containers: containers.len().saturating_sub(1) as u64,
            states: states.iter().map(|lane| lane.len() as u64).sum(),
            events: marks.iter().map(|lane| lane.len() as u64).sum(),
            links: links.iter().map(|table| table.rows.len() as u64).sum(),
            samples: variables.iter().map(|lane| lane.len() as u64).sum(),
            diagnostics: self.diagnostics,
            wall_clock: self.wall_clock,
            generation: 1,
        };
        TraceStore {
            summary,
            model,
            containers: Arc::new(containers),
            positions,
            states,
            nested_checkpoints,
            marks,
            ranges: ranges_by_type(&variables),
            variables,
            links,
            open_links,
            details: self.details,
            container_details: self.container_details,
            references,
            ends,
            parts,
        }
    }

    /// The extent, 1 ns longer if an entity without duration is at its very end. Time ranges are
    /// half-open, and the whole extent must contain all entities.
    fn visible_extent(
        &self,
        states: &[StoreStateLane],
        marks: &[StoreMarkLane],
        variables: &[StoreVariableLane],
        links: &[StoreLinks],
    ) -> TimeRange {
        let TimestampExtent { first, last } = self.extent;
        let last_state =
            states.iter().filter_map(|lane| lane.len().checked_sub(1).map(|last| (lane.start(last), lane.end(last))));
        let last_mark = marks
            .iter()
            .filter_map(|lane| lane.len().checked_sub(1).map(|last| (lane.timestamp(last), lane.timestamp(last))));
        let last_sample = variables
            .iter()
            .filter_map(|lane| lane.len().checked_sub(1).map(|last| (lane.start(last), lane.end(last))));
        let last_link = links
            .iter()
            .filter_map(|table| table.rows.last().map(|row| (row.earlier_timestamp(), row.earlier_timestamp())));
        let ends = last_state
            .chain(last_mark)
            .chain(last_sample)
            .chain(last_link)
            .map(|(start, end)| effective_end(start, end));
        nanos_range(first, ends.fold(effective_end(first, last), i64::max))
    }
}

fn seal_states(mut raw: Vec<RawStates>) -> Vec<StoreStateLane> {
    raw.sort_unstable_by_key(|states| (states.container, states.ty));
    let mut numbers = EntityNumbers(0);
    let mut lanes = Vec::new();
    for states in raw {
        for (depth, lane) in states.lanes.into_iter().enumerate() {
            let base = numbers.allocate(lane.starts.len());
            lanes.push(StoreStateLane::new(states.container, states.ty, depth as u32, base, lane));
        }
    }
    lanes
}

/// Checkpoints of each container and type with many nested states.
fn nested_sums(lanes: &[StoreStateLane]) -> Vec<NestedCheckpoints> {
    let mut all = Vec::new();
    for lanes in lanes.chunk_by(|a, b| (a.container, a.ty) == (b.container, b.ty)) {
        let states: usize = lanes.iter().map(StoreStateLane::len).sum();
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
        while let Some(Reverse((start, lane, index))) = next.pop() {
            let of = &lanes[lane];
            let Ok(()) = writer.push(NestedState { start, end: of.end(index), value: of.value(index).0 }, &mut keep);
            if index + 1 < of.len() {
                next.push(Reverse((of.start(index + 1), lane, index + 1)));
            }
        }
        let Ok(mut words) = writer.finish(&mut keep);
        words.append(&mut rows);
        all.push(NestedCheckpoints { container: lanes[0].container, ty: lanes[0].ty, words });
    }
    all
}

fn seal_marks(mut raw: Vec<RawMarks>) -> Vec<StoreMarkLane> {
    raw.sort_unstable_by_key(|marks| (marks.container, marks.ty));
    let mut numbers = EntityNumbers(0);
    raw.into_iter().map(|marks| StoreMarkLane::new(numbers.allocate(marks.timestamps.len()), marks)).collect()
}

fn seal_variables(mut raw: Vec<RawVariable>) -> Vec<StoreVariableLane> {
    raw.retain(|variable| !variable.timestamps.is_empty());
    raw.sort_unstable_by_key(|variable| (variable.container, variable.ty));
    let mut numbers = EntityNumbers(0);
    raw.into_iter()
        .map(|variable| StoreVariableLane::new(numbers.allocate(variable.timestamps.len()), variable))
        .collect()
}

/// Least and largest value of each variable type, over all containers.
fn ranges_by_type(variables: &[StoreVariableLane]) -> FxHashMap<TypeId, ValueRange> {
    let mut ranges: FxHashMap<TypeId, ValueRange> = FxHashMap::default();
    for (ty, range) in variables.iter().filter_map(|lane| Some((lane.ty, lane.range()?))) {
        ranges.entry(ty).and_modify(|all| *all = all.join(range)).or_insert(range);
    }
    ranges
}

fn seal_links(mut raw: Vec<(TypeId, Vec<LinkRow>)>, model: &TypeModel) -> Vec<StoreLinks> {
    raw.retain(|(ty, _)| ty.index() < model.types.len());
    raw.sort_unstable_by_key(|&(ty, _)| ty);
    let mut numbers = EntityNumbers(0);
    raw.into_iter().map(|(ty, rows)| StoreLinks::new(ty, numbers.allocate(rows.len()), rows)).collect()
}

/// Completes the model: assigns colours if the trace gives none, and the shapes and sizes of a type
/// to its values without their own.
pub(crate) fn model(mut types: Vec<TypeInfo>, values: Vec<RawValue>) -> TypeModel {
    let colors = palette::assign(&types, &values);
    let names: Vec<(TypeId, &str)> = types.iter().map(|ty| (TypeId::ROOT, ty.name.as_str())).collect();
    let trace_colors: Vec<Option<RgbColor>> = types.iter().map(|ty| ty.color).collect();
    let type_colors = palette::assign_colors(&names, &trace_colors);
    for (ty, color) in types.iter_mut().zip(type_colors) {
        if !matches!(ty.kind, PajeTypeKind::Container | PajeTypeKind::State) {
            ty.color = ty.color.or(Some(color));
        }
    }
    let values_with_ids = values.iter().zip((0..).map(ValueId));
    let collective_values = values_with_ids.filter(|(value, _)| value.is_collective).map(|(_, id)| id).collect();
    let values = values
        .into_iter()
        .zip(colors)
        .enumerate()
        .map(|(index, (value, color))| {
            let style = value.style.or(types.get(value.ty.index()).map_or(DrawStyle::NONE, |ty| ty.style));
            let RawValue { ty, name, category, .. } = value;
            ValueInfo { id: ValueId(index as u32), ty, name, color, style, category }
        })
        .collect();
    TypeModel { types, values, collective_values }
}
