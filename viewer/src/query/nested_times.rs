//! Total time and self time of nested states.
//!
//! *Total* time of a value: the time during which at least one state of the value is open. A nested
//! state of the same value (recursion) adds nothing. *Self* time of a value: the time during which
//! a state of the value is the innermost open state of its container and state type. Self times of
//! a container and type never overlap. Their sum is the time during which any state is open.
//!
//! Both are integrals over time. The times of two adjacent time ranges therefore add up exactly.
//! [`Checkpoints`] (running sums at some timestamps) answer queries for any time range: only the
//! states between its edges and the nearest checkpoints are read.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, PajeTypeKind, TypeId, ValueId};

use super::lane_merge::{self, InstantStates};
use super::{ContainerInfo, EntityList, QueryError, StateEntity, StateLaneId, TypeModel};

/// The minimum distance between two checkpoints, in states.
const MIN_STRIDE: usize = 1 << 10;
/// States per checkpoint and value. A checkpoint has 16 bytes per value, so this is one byte per
/// state.
const STATES_PER_VALUE: usize = 16;
/// Up to this number of states there are no checkpoints: reading the states is cheap.
pub(crate) const NEEDS_CHECKPOINTS: u64 = 1 << 12;

/// Total and self time of a value, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestedTime {
    /// The value of the states.
    pub value: ValueId,
    /// Time during which a state of the value is open.
    pub total: i128,
    /// Time during which a state of the value is the innermost one.
    pub self_time: i128,
}

/// Running sums of one value.
#[derive(Clone, Copy, Debug, Default)]
struct NestingSum {
    value: u32,
    total: i64,
    self_time: i64,
    /// The number of open states of the value, and the start of the outermost one.
    depth: u32,
    outer_start: i64,
}

/// Total and self time of a value up to a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SummedTimes {
    value: u32,
    total: i64,
    self_time: i64,
}

/// A state with its timestamps and the number of its value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NestedState {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) value: u32,
}

/// Sums up states in order of their start. At equal starts, the outer state comes first.
#[derive(Debug, Default)]
pub(crate) struct NestingSums {
    sums: Vec<NestingSum>,
    places: FxHashMap<u32, u32>,
    /// End and position of each open state, outermost first.
    stack: Vec<(i64, u32)>,
    time: i64,
}

impl NestingSums {
    /// Sums of the time from `first` on.
    pub(crate) fn from(first: i64) -> Self {
        Self { time: first, ..Self::default() }
    }

    /// Adds a state. States without duration take no time.
    pub(crate) fn push(&mut self, start: i64, end: i64, value: u32) {
        if start >= end {
            return;
        }
        self.advance(start);
        let next = self.sums.len() as u32;
        let place = *self.places.entry(value).or_insert(next);
        if place == next {
            self.sums.push(NestingSum { value, ..NestingSum::default() });
        }
        let sum = &mut self.sums[place as usize];
        if sum.depth == 0 {
            sum.outer_start = start;
        }
        sum.depth += 1;
        let outer = self.stack.last().map_or(i64::MAX, |top| top.0);
        self.stack.push((end.min(outer), place));
    }

    /// Ends the states that end by `time`, and sums up the time until then.
    pub(crate) fn advance(&mut self, time: i64) {
        while let Some(&(end, place)) = self.stack.last() {
            let until = end.min(time);
            let sum = &mut self.sums[place as usize];
            sum.self_time = sum.self_time.wrapping_add(until.wrapping_sub(self.time).max(0));
            self.time = self.time.max(until);
            if end > time {
                break;
            }
            sum.depth -= 1;
            if sum.depth == 0 {
                sum.total = sum.total.wrapping_add(end.wrapping_sub(sum.outer_start));
            }
            self.stack.pop();
        }
        self.time = self.time.max(time);
    }

    /// The times of all values up to the time of the last [`Self::advance`], in the order in which
    /// the values first occur.
    pub(crate) fn sums(&self) -> impl Iterator<Item = SummedTimes> {
        let open = |sum: &NestingSum| if sum.depth > 0 { self.time.wrapping_sub(sum.outer_start) } else { 0 };
        let times = move |sum: &NestingSum| SummedTimes {
            value: sum.value,
            total: sum.total.wrapping_add(open(sum)),
            self_time: sum.self_time,
        };
        self.sums.iter().map(times)
    }

    /// The maximum number of states before the next checkpoint.
    fn stride(&self) -> usize {
        MIN_STRIDE.max(STATES_PER_VALUE * self.sums.len())
    }
}

/// The lanes of one state type in one container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NestedLaneGroup {
    /// The container.
    pub container: ContainerId,
    /// The state type.
    pub ty: TypeId,
    /// Number of nesting depths, at least 1.
    pub depths: u32,
}

/// The groups of lanes that exist. `types_in` are the types to try in a container, `None` for all.
pub(crate) fn lane_groups(
    model: &TypeModel,
    containers: &[ContainerInfo],
    types_in: impl Fn(ContainerId) -> Option<Vec<TypeId>>,
    depths: impl Fn(ContainerId, TypeId) -> u32,
) -> Vec<NestedLaneGroup> {
    let is_state = |ty: TypeId| model.types.get(ty.index()).is_some_and(|info| info.kind == PajeTypeKind::State);
    let all: Vec<TypeId> = model.types.iter().map(|info| info.id).collect();
    let mut groups = Vec::new();
    for container in containers.iter().map(|info| info.id) {
        let types = types_in(container);
        let states = types.as_ref().unwrap_or(&all).iter().copied().filter(|ty| is_state(*ty));
        let group = |ty| NestedLaneGroup { container, ty, depths: depths(container, ty) };
        groups.extend(states.map(group).filter(|group| group.depths > 0));
    }
    groups
}

/// Computes total and self time in a time range from the states of all depths. The cost is
/// proportional to their number.
pub(crate) fn sweep(
    list: impl Fn(StateLaneId, TimeRange, usize) -> Result<EntityList<StateEntity>, QueryError>,
    group: NestedLaneGroup,
    time_range: TimeRange,
) -> Result<Vec<NestedTime>, QueryError> {
    if time_range.from >= time_range.to {
        return Ok(Vec::new());
    }
    let NestedLaneGroup { container, ty, depths } = group;
    let lanes = (0..depths).map(|depth| (StateLaneId { container, ty, depth }, time_range));
    let mut sums = NestingSums::from(time_range.from.0);
    lane_merge::visit_lanes(list, lanes, InstantStates::Excluded, |state, _| {
        let TimeRange { from, to } = state.life;
        sums.push(from.0.max(time_range.from.0), to.0.min(time_range.to.0), state.value.0);
        Ok(())
    })?;
    sums.advance(time_range.to.0);
    let time = |SummedTimes { value, total, self_time }| NestedTime {
        value: ValueId(value),
        total: total.into(),
        self_time: self_time.into(),
    };
    Ok(sums.sums().map(time).collect())
}

/// The times of states that are not nested. Total and self time are equal.
pub(crate) fn unnested_times(times: Vec<(ValueId, i64)>) -> Vec<NestedTime> {
    let time = |(value, nanos): (ValueId, i64)| NestedTime { value, total: nanos.into(), self_time: nanos.into() };
    times.into_iter().map(time).collect()
}

/// Sums of the times of several containers or time ranges.
#[derive(Debug, Default)]
pub(crate) struct NestedTotals(BTreeMap<ValueId, NestedTime>);

impl NestedTotals {
    pub(crate) fn add(&mut self, times: impl IntoIterator<Item = NestedTime>) {
        for time in times {
            let none = NestedTime { value: time.value, total: 0, self_time: 0 };
            let sum = self.0.entry(time.value).or_insert(none);
            sum.total += time.total;
            sum.self_time += time.self_time;
        }
    }

    /// The times by value. Only values with any time are listed.
    pub(crate) fn finish(self) -> Vec<NestedTime> {
        self.0.into_values().filter(|time| time.total > 0).collect()
    }
}

/// Builds [`Checkpoints`].
#[derive(Debug)]
pub(crate) struct CheckpointWriter {
    sums: NestingSums,
    /// Timestamp of each checkpoint, and the number of words in the rows before it.
    directory: Vec<u64>,
    words: u64,
    /// States since the last checkpoint.
    states: usize,
    last: i64,
}

impl CheckpointWriter {
    pub(crate) fn new(first: i64) -> Self {
        Self { sums: NestingSums::from(first), directory: Vec::new(), words: 0, states: usize::MAX, last: first }
    }

    /// Adds the next state by start. If a checkpoint is due before it, passes the words of its row
    /// to `write`.
    pub(crate) fn push<E>(
        &mut self,
        NestedState { start, end, value }: NestedState,
        write: impl FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.states >= self.sums.stride() {
            self.states = 0;
            self.checkpoint(start, write)?;
        }
        self.states += 1;
        self.last = self.last.max(end);
        self.sums.push(start, end, value);
        Ok(())
    }

    fn checkpoint<E>(&mut self, time: i64, mut write: impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
        self.sums.advance(time);
        self.directory.extend([time.cast_unsigned(), self.words]);
        for SummedTimes { total, self_time, .. } in self.sums.sums() {
            self.words += 2;
            write(total.cast_unsigned())?;
            write(self_time.cast_unsigned())?;
        }
        Ok(())
    }

    /// Writes the row of the last checkpoint, after all states. Returns the words that precede all
    /// rows.
    pub(crate) fn finish<E>(mut self, write: impl FnMut(u64) -> Result<(), E>) -> Result<Vec<u64>, E> {
        self.checkpoint(self.last, write)?;
        let values = self.sums.sums().map(|sum| u64::from(sum.value)).collect::<Vec<_>>();
        let mut head = vec![self.directory.len() as u64 / 2, values.len() as u64];
        head.append(&mut self.directory);
        head.extend([0, self.words]);
        head.extend(values);
        Ok(head)
    }
}

/// Running sums at some timestamps, as words of 64 bits. The words are: the number of checkpoints
/// and of values; for each checkpoint its timestamp and the position of its row; 0 and the length
/// of all rows; the values in the order in which they first occur; the rows. A row has total and
/// self time of each value that occurs before its timestamp.
pub(crate) struct Checkpoints<F: Fn(u64) -> u64> {
    word: F,
    len: u64,
    values: u64,
}

impl<F: Fn(u64) -> u64> Checkpoints<F> {
    /// `word` reads a word by its number. `max_words` limits the numbers of checkpoints and values,
    /// in case the file is damaged.
    pub(crate) fn new(word: F, max_words: u64) -> Self {
        let (len, values) = (word(0).min(max_words), word(1).min(max_words));
        Self { word, len, values }
    }

    fn time(&self, checkpoint: u64) -> i64 {
        (self.word)(2 + 2 * checkpoint).cast_signed()
    }

    /// The times of a value before a checkpoint.
    fn sums(&self, checkpoint: u64, number: u64) -> SummedTimes {
        let value = (self.word)(4 + 2 * self.len + number) as u32;
        let (place, next) = ((self.word)(3 + 2 * checkpoint), (self.word)(5 + 2 * checkpoint));
        if next.saturating_sub(place) <= 2 * number {
            return SummedTimes { value, total: 0, self_time: 0 };
        }
        let first = (4 + 2 * self.len + self.values).saturating_add(place).saturating_add(2 * number);
        let word = |word_index: u64| (self.word)(word_index).cast_signed();
        SummedTimes { value, total: word(first), self_time: word(first.saturating_add(1)) }
    }
}

/// Total and self time in a time range: from checkpoints, and from a sweep over the states between
/// checkpoints and edges.
pub(crate) fn times_in_range(
    checkpoints: &Checkpoints<impl Fn(u64) -> u64>,
    time_range: TimeRange,
    sweep: impl Fn(TimeRange) -> Result<Vec<NestedTime>, QueryError>,
) -> Result<Vec<NestedTime>, QueryError> {
    let partition = |is_before: &dyn Fn(i64) -> bool| {
        let (mut low, mut high) = (0, checkpoints.len);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(checkpoints.time(middle)) { low = middle + 1 } else { high = middle }
        }
        low
    };
    let first = partition(&|time| time < time_range.from.0);
    let after = partition(&|time| time <= time_range.to.0);
    if first + 1 >= after {
        return sweep(time_range);
    }
    let last = after - 1;
    let mut totals = NestedTotals::default();
    let time_of = |checkpoint: u64| GlobalNanos(checkpoints.time(checkpoint));
    totals.add(sweep(TimeRange { from: time_range.from, to: time_of(first) })?);
    totals.add((0..checkpoints.values).map(|number| {
        let (low, high) = (checkpoints.sums(first, number), checkpoints.sums(last, number));
        let total = high.total.wrapping_sub(low.total);
        let self_time = high.self_time.wrapping_sub(low.self_time);
        NestedTime { value: ValueId(high.value), total: total.into(), self_time: self_time.into() }
    }));
    totals.add(sweep(TimeRange { from: time_of(last), to: time_range.to })?);
    Ok(totals.finish())
}

#[cfg(test)]
mod tests {
    use super::{NestingSums, SummedTimes};

    fn times(sums: &NestingSums) -> Vec<(u32, i64, i64)> {
        sums.sums().map(|SummedTimes { value, total, self_time }| (value, total, self_time)).collect()
    }

    #[test]
    fn recursion_counts_once_and_self_times_fill_the_time() {
        let (main, f) = (0, 1);
        let mut sums = NestingSums::from(0);
        for (start, end, value) in [(0, 10, main), (1, 6, f), (2, 5, f)] {
            sums.push(start, end, value);
        }
        sums.advance(4);
        assert_eq!(times(&sums), [(main, 4, 1), (f, 3, 3)]);
        sums.advance(20);
        assert_eq!(times(&sums), [(main, 10, 5), (f, 5, 5)]);
    }
}
