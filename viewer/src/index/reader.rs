//! [`Index`]: the queries, answered from an image.

pub(crate) mod entity_lookup;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, TypeId, ValueId};

use super::format::{Key, LaneRecord, Place, Refused};
use super::image::{Image, ImageError, touched};
use super::links::{self, LinkTable};
use super::marks::MarkLane;
use super::mixture_few_values::FewWalk;
use super::mixture_many_values::Walk;
use super::model::Whole;
use super::overview::Overview;
use super::states::{Accumulator, DENSE_VALUES, StateLane};
use super::variables::VariableLane;
use crate::parallel::in_parts;
use crate::query::details::{self, LookUp};
use crate::query::nested::{self, Checkpoints};
use crate::query::{
    Cell, CellWriter, Cells, ContainerInfo, EntityId, EventCount, Facts, GlobalNanos, Interval, Lane, Link,
    LinkVisitor, Listed, Mark, Model, NestedTime, QueryError, Sample, SeriesColumn, State, Summary, TimelineSource,
};

/// Cells that are worth a thread.
const CELLS_PER_THREAD: usize = 1 << 13;
/// What a lane costs beside its cells, in cells: its sums are found anew, which may be of thousands of values.
const CELLS_PER_LANE: usize = 1 << 6;

/// Lanes of so few values have their sums at hand in half the room.
const FEWER: usize = DENSE_VALUES / 2;

/// A trace in an index file.
#[derive(Debug)]
pub struct Index {
    image: Image,
    summary: Summary,
    model: Arc<Model>,
    containers: Arc<Vec<ContainerInfo>>,
    /// Position in `containers` by id; `u32::MAX` where there is no such container.
    positions: Vec<u32>,
    /// Rows of extra fields by container id.
    container_details: Vec<u32>,
    /// Least and largest value of each variable type that has any: read when one is asked for.
    ranges: OnceLock<FxHashMap<TypeId, (f64, f64)>>,
}

impl Index {
    /// Opens the index of what `key` stands for. Files beyond `read_up_to` bytes are mapped, and checked as they are read.
    pub(crate) fn open(path: &Path, key: Key, read_up_to: u64) -> Result<Self, ImageError> {
        let image = Image::open(path, key, read_up_to)?;
        let Place { at, len } = image.header.model;
        let whole = usize::try_from(len).ok().and_then(|len| Whole::decode(image.bytes(at, len)));
        let Whole { summary, model, containers, details } = whole.ok_or(Refused::Damaged)?;
        let mut positions = vec![u32::MAX; details.len()];
        for (position, container) in containers.iter().enumerate() {
            positions[container.id.index()] = position as u32;
        }
        Ok(Self {
            image,
            summary,
            model: Arc::new(model),
            containers: Arc::new(containers),
            positions,
            container_details: details,
            ranges: OnceLock::new(),
        })
    }

    /// Whether something that was asked for was not as it was written: then answers since the last question are worth nothing.
    pub(crate) fn is_damaged(&self) -> bool {
        self.image.is_damaged()
    }

    /// Whether all of the file is as it was written. Reads all of it.
    pub(crate) fn is_whole(&self) -> bool {
        self.image.is_whole()
    }

    /// Adds a sentence about this opening.
    pub(crate) fn remarking(mut self, remark: Option<String>) -> Self {
        self.summary.remarks.extend(remark);
        self
    }

    /// How many blocks and sums this thread has looked into so far, in all indexes: what queries cost, whatever the machine.
    /// Cells of many lanes are left to other threads.
    #[must_use]
    pub fn touched(&self) -> u64 {
        touched()
    }

    /// The answer, unless what it was made of is damaged.
    fn sound<T>(&self, answer: T) -> Result<T, QueryError> {
        if self.image.is_damaged() { Err(QueryError::Damaged) } else { Ok(answer) }
    }

    fn record(&self, directory: Place, at: u64) -> LaneRecord {
        let bytes = LaneRecord::BYTES;
        LaneRecord::decode(self.image.bytes(directory.at.saturating_add(at * bytes as u64), bytes))
    }

    /// Number of records for which `is_before` holds; they are first. A directory cannot be longer than the file.
    fn partition(&self, directory: Place, is_before: impl Fn(&LaneRecord) -> bool) -> u64 {
        let len = directory.len.min(self.image.header.length);
        links::partition(len, |at| is_before(&self.record(directory, at)))
    }

    fn find_record(&self, directory: Place, key: (u32, u32, u32)) -> Option<LaneRecord> {
        let of = |record: &LaneRecord| (record.container, record.ty, record.depth);
        let at = self.partition(directory, |record| of(record) < key);
        (at < directory.len).then(|| self.record(directory, at)).filter(|record| of(record) == key)
    }

    /// The lane whose numbers include `number`, and the row.
    fn locate(&self, directory: Place, number: u32) -> Option<(LaneRecord, u64)> {
        let after = self.partition(directory, |record| record.base <= number);
        let record = self.record(directory, after.checked_sub(1)?);
        let row = u64::from(number.checked_sub(record.base)?);
        (row < record.table.rows).then_some((record, row))
    }

    /// All state lanes of a container, whatever their type.
    fn state_lanes(&self, container: ContainerId) -> impl Iterator<Item = StateLane<'_>> {
        let directory = self.image.header.states;
        let first = self.partition(directory, |record| record.container < container.0);
        self.records_from(directory, first)
            .take_while(move |record| record.container == container.0)
            .map(|record| StateLane::new(&self.image, record))
    }

    /// The records of a directory from a position on, as long as the file is sound.
    fn records_from(&self, directory: Place, first: u64) -> impl Iterator<Item = LaneRecord> {
        (first..directory.len).map(move |at| self.record(directory, at)).take_while(|_| !self.image.is_damaged())
    }

    fn state_lane(&self, lane: Lane) -> Option<StateLane<'_>> {
        let record = self.find_record(self.image.header.states, (lane.container.0, lane.ty.0, lane.depth))?;
        Some(StateLane::new(&self.image, record))
    }

    fn mark_lane(&self, container: ContainerId, ty: TypeId) -> Option<MarkLane<'_>> {
        let record = self.find_record(self.image.header.marks, (container.0, ty.0, 0))?;
        Some(MarkLane::new(&self.image, record))
    }

    fn variable(&self, container: ContainerId, ty: TypeId) -> Option<VariableLane<'_>> {
        let record = self.find_record(self.image.header.variables, (container.0, ty.0, 0))?;
        Some(VariableLane::new(&self.image, record))
    }

    fn link_table(&self, ty: TypeId) -> Option<LinkTable<'_>> {
        let record = self.find_record(self.image.header.links, (0, ty.0, 0))?;
        Some(LinkTable::new(&self.image, record))
    }

    fn check(&self, container: ContainerId, ty: TypeId, interval: Interval) -> Result<(), QueryError> {
        self.container(container)?;
        self.check_type(ty)?;
        check_interval(interval)
    }

    fn check_type(&self, ty: TypeId) -> Result<(), QueryError> {
        if ty.index() < self.model.types.len() { Ok(()) } else { Err(QueryError::Unknown { what: "type" }) }
    }

    fn value_name(&self, value: ValueId) -> String {
        self.model.values.get(value.index()).map(|value| value.name.clone()).unwrap_or_default()
    }

    /// The cells of some lanes, in a list with room for more.
    fn lane_cells(&self, lanes: &[Lane], (interval, columns, most): (Interval, u32, usize), room: usize) -> Vec<Cell> {
        let mut cells = CellWriter::new(room, self.model.values.len());
        let (mut times, mut blocks) = (Accumulator::default(), Vec::new());
        let (origin, count) = (self.summary.extent.from.0, columns as usize);
        let overview = Overview::new(&self.image, (interval, columns, most), origin);
        for &lane in lanes {
            let end = cells.len() + count;
            if let Some(lane) = self.state_lane(lane) {
                let number = lane.record.extra.checked_sub(1);
                if number.zip(overview.as_ref()).is_none_or(|(number, overview)| !overview.cells(number, &mut cells)) {
                    let columns = interval.columns(columns);
                    if let Some(walk) = FewWalk::<FEWER>::new(&lane) {
                        walk.cells(columns, most, &mut blocks, &mut cells);
                    } else if let Some(walk) = FewWalk::<DENSE_VALUES>::new(&lane) {
                        walk.cells(columns, most, &mut blocks, &mut cells);
                    } else {
                        Walk::new(&lane).cells(columns, most, &mut times, &mut cells);
                    }
                }
            }
            cells.fill(end);
        }
        cells.finish()
    }

    /// Adds the time of each value in some lanes.
    fn add_times(&self, lanes: &[Lane], interval: Interval, mut add: impl FnMut(u32, i64)) {
        let mut own = Vec::new();
        for lane in lanes.iter().filter_map(|&lane| self.state_lane(lane)) {
            match FewWalk::<DENSE_VALUES>::new(&lane) {
                Some(walk) => walk.add_times(interval, &mut add),
                None => Walk::new(&lane).add_times(interval, &mut own, &mut add),
            }
        }
    }

    fn check_lanes(&self, lanes: &[Lane], interval: Interval) -> Result<(), QueryError> {
        check_interval(interval)?;
        lanes.iter().try_for_each(|lane| self.check(lane.container, lane.ty, interval))
    }
}

/// If a trace has more values per requested lane than this, and few lanes are requested, times are
/// summed in a hash map instead of an array over all values.
const VALUES_PER_LANE: usize = 64;

/// Lanes that are worth a thread, of so many cells each.
fn lanes_per_thread(cells: u32) -> usize {
    CELLS_PER_THREAD.div_ceil((cells as usize).saturating_add(CELLS_PER_LANE))
}

fn check_interval(interval: Interval) -> Result<(), QueryError> {
    if interval.from < interval.to { Ok(()) } else { Err(QueryError::EmptyInterval) }
}

fn none<T>() -> Listed<T> {
    Listed { total: 0, items: Vec::new() }
}

fn life(from: i64, to: i64) -> Interval {
    Interval { from: GlobalNanos(from), to: GlobalNanos(to) }
}

impl TimelineSource for Index {
    fn summary(&self) -> Summary {
        self.summary.clone()
    }

    fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.containers)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        let directory = self.image.header.states;
        let first = self.partition(directory, |record| (record.container, record.ty) < (container.0, ty.0));
        let records = self.records_from(directory, first);
        let records = records.take_while(|record| (record.container, record.ty) == (container.0, ty.0));
        records.map(|record| record.depth.saturating_add(1)).max().unwrap_or(0)
    }

    fn types_in(&self, container: ContainerId) -> Option<Vec<TypeId>> {
        let header = &self.image.header;
        let mut types = Vec::new();
        for directory in [header.states, header.marks, header.variables] {
            let first = self.partition(directory, |record| record.container < container.0);
            let records = self.records_from(directory, first);
            types.extend(records.take_while(|record| record.container == container.0).map(|record| TypeId(record.ty)));
        }
        types.sort_unstable();
        types.dedup();
        Some(types)
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        self.largest(lanes, interval, columns, usize::MAX)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        self.check_lanes(lanes, interval)?;
        if columns == 0 {
            return Err(QueryError::EmptyInterval);
        }
        let all = lanes.len().saturating_mul(columns as usize);
        let mut parts = in_parts(lanes, lanes_per_thread(columns), |part, is_first| {
            let room = if is_first { all } else { part.len() * columns as usize };
            self.lane_cells(part, (interval, columns, most), room)
        })
        .into_iter();
        let mut cells = parts.next().unwrap_or_default();
        parts.for_each(|mut part| cells.append(&mut part));
        self.sound(Cells { columns, cells })
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        self.check_lanes(lanes, interval)?;
        let values = self.model.values.len();
        if lanes.len() < lanes_per_thread(0).min(values / VALUES_PER_LANE) {
            let mut times: FxHashMap<u32, i64> = FxHashMap::default();
            self.add_times(lanes, interval, |value, time| {
                let sum = times.entry(value).or_default();
                *sum = sum.wrapping_add(time);
            });
            let times = times.into_iter().filter(|time| (time.0 as usize) < values && time.1 > 0);
            let mut times: Vec<(ValueId, i64)> = times.map(|(value, time)| (ValueId(value), time)).collect();
            times.sort_unstable();
            return self.sound(times);
        }
        let parts = in_parts(lanes, lanes_per_thread(0), |part, _| {
            let mut times = vec![0_i64; values];
            self.add_times(part, interval, |value, time| {
                if let Some(sum) = times.get_mut(value as usize) {
                    *sum = sum.wrapping_add(time);
                }
            });
            times
        });
        let sum = |value: usize| parts.iter().fold(0_i64, |sum, times| sum.wrapping_add(times[value]));
        let times = (0_u32..).map(ValueId).zip((0..values).map(sum)).filter(|time| time.1 > 0);
        self.sound(times.collect())
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
    ) -> Result<Vec<NestedTime>, QueryError> {
        self.check(container, ty, interval)?;
        let place = (container, ty, self.depths(container, ty));
        if place.2 < 2 {
            return Ok(nested::flat(self.times(&[Lane { container, ty, depth: 0 }], interval)?));
        }
        let sweep =
            |part| nested::sweep(|lane, part, limit| TimelineSource::states(self, lane, part, limit), place, part);
        let Some(Place { at, len }) =
            self.find_record(self.image.header.nested, (container.0, ty.0, 0)).map(|record| record.sums)
        else {
            return sweep(interval);
        };
        let word = |number: u64| self.image.word(at.saturating_add(number.saturating_mul(8)));
        let most = len.min(self.image.header.length / 8);
        self.sound(nested::between(&Checkpoints::new(word, most), interval, sweep)?)
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        self.check(lane.container, lane.ty, interval)?;
        let Some(lane) = self.state_lane(lane) else { return self.sound(none()) };
        let rows = lane.overlapping(interval);
        self.sound(Listed { total: rows.end - rows.start, items: lane.list(rows, limit) })
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        self.check(container, ty, interval)?;
        let Some(lane) = self.mark_lane(container, ty) else { return self.sound(none()) };
        let rows = lane.within(interval);
        self.sound(Listed { total: rows.end - rows.start, items: lane.list(rows, limit) })
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        self.check_type(ty)?;
        check_interval(interval)?;
        let Some(table) = self.link_table(ty) else { return self.sound(none()) };
        self.sound(Listed { total: table.count(interval), items: table.list(interval, limit) })
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        self.check(container, ty, interval)?;
        if columns == 0 {
            return Err(QueryError::EmptyInterval);
        }
        let parts = interval.columns(columns);
        self.sound(match self.mark_lane(container, ty) {
            Some(lane) => lane.counts(parts, most, self.model.values.len()),
            None => vec![EventCount::default(); columns as usize],
        })
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        self.check_type(ty)?;
        check_interval(interval)?;
        let table = self.link_table(ty);
        let counted = table.map_or(Ok(()), |table| table.counts(interval, exponent.min(63), visit));
        self.sound(())?;
        counted
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        self.check(container, ty, interval)?;
        let Some(lane) = self.variable(container, ty) else { return self.sound(none()) };
        let rows = lane.overlapping(interval);
        self.sound(Listed { total: rows.end - rows.start, items: lane.list(rows, limit) })
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        self.check(container, ty, interval)?;
        if columns == 0 {
            return Err(QueryError::EmptyInterval);
        }
        let parts = interval.columns(columns);
        self.sound(match self.variable(container, ty) {
            Some(lane) => lane.columns(parts),
            None => vec![None; columns as usize],
        })
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        let ranges = self.ranges.get_or_init(|| {
            let mut ranges: FxHashMap<TypeId, (f64, f64)> = FxHashMap::default();
            for record in self.records_from(self.image.header.variables, 0) {
                let ty = TypeId(record.ty);
                let Some(one) = VariableLane::new(&self.image, record).range() else { continue };
                ranges.entry(ty).and_modify(|all| *all = (all.0.min(one.0), all.1.max(one.1))).or_insert(one);
            }
            ranges
        });
        ranges.get(&ty).copied().filter(|_| !self.image.is_damaged())
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        let facts = details::facts(self, id, true)?;
        self.sound(facts)
    }

    fn facts_without_paths(&self, id: EntityId) -> Result<Facts, QueryError> {
        let facts = details::facts(self, id, false)?;
        self.sound(facts)
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        let related = details::related(self, id, limit)?;
        self.sound(related)
    }
}
