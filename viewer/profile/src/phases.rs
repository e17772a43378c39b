//! [`PhaseList`]: the occurrences of a value, such as the iterations of a program.

use rustc_hash::FxHashMap;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::entity_walk;
use tumit_viewer::query::{ContainerId, GlobalNanos, QueryError, StateEntity, TimeRange, TimelineSource, TypeId};

use crate::profile::containers_with;

/// Durations that differ from the median by more than this multiple of the median deviation are
/// outliers. For a normal distribution, this is about 1 in 250.
const OUTLIER_DEVIATIONS: f64 = 3.0;
/// The standard deviation of a normal distribution in units of its median deviation.
const DEVIATION_SCALE: f64 = 1.4826;
/// Fewer phases have no outliers.
const MIN_PHASES_FOR_OUTLIERS: usize = 5;
/// A smaller change, as a share of the median, is no outlier. A regular program has almost equal
/// durations.
const MIN_OUTLIER_CHANGE: f64 = 0.05;

/// A phase: the n-th occurrence of a value in each container.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Phase {
    /// The name of the value.
    pub name: String,
    /// The number of the occurrence in its container, from 1.
    pub number: usize,
    /// From the earliest start to the latest end.
    pub time_range: TimeRange,
    /// The number of containers with this occurrence.
    pub containers: usize,
    /// The mean duration over these containers, in nanoseconds.
    pub mean: f64,
    /// The longest duration, in nanoseconds.
    pub max: i64,
    /// The container with the longest duration. The first one if several have it.
    pub longest: ContainerId,
    /// The mean self time over these containers, in nanoseconds.
    pub mean_self: f64,
    /// Whether the longest duration is unusual among the phases of the same name.
    pub is_outlier: bool,
}

impl Phase {
    /// The longest duration divided by the mean: 1 if all containers take the same time.
    pub fn imbalance(&self) -> f64 {
        if self.mean > 0.0 { self.max as f64 / self.mean } else { 1.0 }
    }
}

/// An occurrence in one container.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    time_range: TimeRange,
    self_time: i64,
}

/// The phases of a trace, by start.
///
/// ```
/// use tumit_profile::phases::PhaseList;
/// use tumit_viewer::filter::NamePattern;
/// use tumit_viewer::query::{TimelineSource, TypeId};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S step \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n11 3 t S w\n14 7 t S\n7 8 T t\n";
/// # let trace = format!("{header}{body}");
/// # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let phases = PhaseList::new(&store, &[TypeId(2)], store.extent(), &NamePattern::new("step"))?;
/// let durations: Vec<i64> = phases.phases.iter().map(|phase| phase.max / 1_000_000_000).collect();
/// assert_eq!(durations, [2, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PhaseList {
    /// The phases, by start.
    pub phases: Vec<Phase>,
}

impl PhaseList {
    /// Finds the occurrences of the values that match a pattern and begin in the time range.
    /// Nested occurrences of the same value are parts of the outer one. Reads each state of the
    /// types once.
    ///
    /// # Errors
    /// As [`TimelineSource::states`].
    pub fn new(
        source: &dyn TimelineSource,
        types: &[TypeId],
        time_range: TimeRange,
        pattern: &NamePattern,
    ) -> Result<Self, QueryError> {
        let model = source.model();
        let is_phase: Vec<bool> = model.values.iter().map(|value| pattern.fits(&value.name)).collect();
        let mut by_number: FxHashMap<(&str, usize), Vec<(ContainerId, Occurrence)>> = FxHashMap::default();
        for &ty in types {
            if !model.values.iter().any(|value| value.ty == ty && is_phase[value.id.index()]) {
                continue;
            }
            for container in containers_with(source, ty) {
                for (value, occurrences) in occurrences(source, (container, ty), time_range, &is_phase)? {
                    let name = model.values.get(value).map_or("", |value| value.name.as_str());
                    for (index, occurrence) in occurrences.into_iter().enumerate() {
                        by_number.entry((name, index + 1)).or_default().push((container, occurrence));
                    }
                }
            }
        }
        let mut phases: Vec<Phase> =
            by_number.into_iter().map(|((name, number), occurrences)| phase(name, number, &occurrences)).collect();
        phases.sort_by(|a, b| (a.time_range.from, &a.name, a.number).cmp(&(b.time_range.from, &b.name, b.number)));
        mark_outliers(&mut phases);
        Ok(Self { phases })
    }
}

fn phase(name: &str, number: usize, occurrences: &[(ContainerId, Occurrence)]) -> Phase {
    let durations = || occurrences.iter().map(|(container, occurrence)| (occurrence.duration(), *container));
    let (max, longest) = durations()
        .max_by_key(|&(nanos, container)| (nanos, std::cmp::Reverse(container)))
        .unwrap_or((0, ContainerId(0)));
    let count = occurrences.len().max(1) as f64;
    let from = occurrences.iter().map(|(_, occurrence)| occurrence.time_range.from).min().unwrap_or(GlobalNanos(0));
    let to = occurrences.iter().map(|(_, occurrence)| occurrence.time_range.to).max().unwrap_or(from);
    Phase {
        name: name.to_owned(),
        number,
        time_range: TimeRange { from, to },
        containers: occurrences.len(),
        mean: durations().map(|(nanos, _)| nanos as f64).sum::<f64>() / count,
        max,
        longest,
        mean_self: occurrences.iter().map(|(_, occurrence)| occurrence.self_time as f64).sum::<f64>() / count,
        is_outlier: false,
    }
}

impl Occurrence {
    fn duration(self) -> i64 {
        self.time_range.to.0.saturating_sub(self.time_range.from.0)
    }
}

/// The occurrences of each value in a container, by the index of the value.
fn occurrences(
    source: &dyn TimelineSource,
    (container, ty): (ContainerId, TypeId),
    time_range: TimeRange,
    is_phase: &[bool],
) -> Result<Vec<(usize, Vec<Occurrence>)>, QueryError> {
    let mut by_value: FxHashMap<usize, Vec<Occurrence>> = FxHashMap::default();
    // The end of each open state, and the position of its occurrence if it is one.
    let mut stack: Vec<(i64, Option<(usize, usize)>)> = Vec::new();
    let mut add = |state: &StateEntity| {
        let (start, end) = (state.life.from.0, state.life.to.0);
        while stack.last().is_some_and(|open| open.0 <= start) {
            stack.pop();
        }
        if let Some((_, Some((value, index)))) = stack.last()
            && let Some(caller) = by_value.get_mut(value).and_then(|list| list.get_mut(*index))
        {
            caller.self_time -= end.saturating_sub(start);
        }
        let value = state.value.index();
        let is_nested = stack.iter().any(|(_, open)| open.is_some_and(|(outer, _)| outer == value));
        let is_phase = is_phase.get(value).copied().unwrap_or(false);
        let mut position = None;
        if is_phase && !is_nested && state.life.from >= time_range.from {
            let list = by_value.entry(value).or_default();
            list.push(Occurrence { time_range: state.life, self_time: end.saturating_sub(start) });
            position = Some((value, list.len() - 1));
        }
        if start < end {
            stack.push((end, position));
        }
        Ok(())
    };
    entity_walk::nested_states_and_instants(source, (container, ty), time_range, &mut add)?;
    let mut by_value: Vec<(usize, Vec<Occurrence>)> = by_value.into_iter().collect();
    by_value.sort_unstable_by_key(|entry| entry.0);
    Ok(by_value)
}

/// Marks phases with an unusual longest duration, compared with phases of the same name.
fn mark_outliers(phases: &mut [Phase]) {
    let mut by_name: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (index, phase) in phases.iter().enumerate() {
        by_name.entry(phase.name.clone()).or_default().push(index);
    }
    let by_name: std::collections::BTreeMap<_, _> = by_name.into_iter().collect();
    for indexes in by_name.into_values().filter(|indexes| indexes.len() >= MIN_PHASES_FOR_OUTLIERS) {
        let median = median(indexes.iter().map(|&index| phases[index].max as f64));
        let deviation = self::median(indexes.iter().map(|&index| (phases[index].max as f64 - median).abs()));
        let limit = (OUTLIER_DEVIATIONS * DEVIATION_SCALE * deviation).max(MIN_OUTLIER_CHANGE * median);
        for index in indexes {
            phases[index].is_outlier = (phases[index].max as f64 - median).abs() > limit;
        }
    }
}

/// The lower median; 0 of no numbers.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use tumit_viewer::filter::NamePattern;
    use tumit_viewer::query::TimelineSource as _;
    use tumit_viewer::store::TraceStore;

    use super::PhaseList;
    use crate::profile::state_types;

    /// Two threads with six steps of 1 s. In the second one, the fourth step takes 5 s, and the
    /// first one contains 400 ms of `send`.
    fn store() -> TraceStore {
        let mut text = include_str!("../../tests/header.paje").to_owned();
        text.push_str("0 T 0 Thread\n2 S T Activity\n5 p S step \"0 1 0\"\n5 s S send \"0 0 1\"\n");
        text.push_str("6 0 a 0 T a\n6 0 b 0 T b\n");
        let mut lines = Vec::new();
        for (thread, slow) in [("a", 9), ("b", 3)] {
            let mut time = 0.0_f64;
            for step in 0..6 {
                lines.push((time, format!("12 {time} {thread} S p")));
                if step == 0 && thread == "b" {
                    lines.push((time + 0.2, format!("12 {} {thread} S s", time + 0.2)));
                    lines.push((time + 0.6, format!("13 {} {thread} S", time + 0.6)));
                }
                time += if step == slow { 5.0 } else { 1.0 };
                lines.push((time, format!("13 {time} {thread} S")));
            }
        }
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        lines.iter().for_each(|(_, line)| text.push_str(&format!("{line}\n")));
        text.push_str("7 20 T a\n7 20 T b\n");
        TraceStore::from_paje("steps", text.as_bytes()).expect("the text is valid")
    }

    #[test]
    fn the_nth_occurrences_of_all_containers_are_a_phase() {
        let store = store();
        let list = PhaseList::new(&store, &state_types(&store), store.extent(), &NamePattern::new("st*"))
            .expect("the store answers all queries");
        let seconds: Vec<_> = list.phases.iter().map(|phase| (phase.number, phase.max as f64 / 1e9)).collect();
        assert_eq!(seconds, [(1, 1.0), (2, 1.0), (3, 1.0), (4, 5.0), (5, 1.0), (6, 1.0)]);
        assert!((list.phases[3].imbalance() - 5.0 / 3.0).abs() < 1e-9);
        assert!((list.phases[0].mean_self - 0.8e9).abs() < 1.0, "{}", list.phases[0].mean_self);
        let outliers: Vec<usize> =
            list.phases.iter().filter(|phase| phase.is_outlier).map(|phase| phase.number).collect();
        assert_eq!(outliers, [4]);
    }
}
