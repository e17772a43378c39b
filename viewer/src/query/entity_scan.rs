//! Scans of all entities of a time range, regardless of their number. Several threads share a scan,
//! and the caller receives its progress.
//!
//! A scan computes results that stored sums cannot give: distributions of durations, communication
//! between containers, or matches of a search. Its memory does not grow with the number of
//! entities. Lists are divided into time columns. An entity belongs to the column in which it
//! begins.
//!
//! ```
//! use tumit_viewer::query::entity_scan::{self, ScanList};
//! use tumit_viewer::query::{ContainerId, StateLaneId, TimelineSource, TypeId};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let lane = StateLaneId { container: ContainerId(1), ty: TypeId(2), depth: 0 };
//! let jobs = entity_scan::jobs(&store, [ScanList::States(lane)], store.extent())?;
//! let mut longest = 0;
//! let of_job = |job: &entity_scan::ScanJob| {
//!     let mut longest = 0;
//!     job.visit(&store, |state| {
//!         longest = longest.max(state.nanos());
//!         Ok(())
//!     })?;
//!     Ok(longest)
//! };
//! entity_scan::run(jobs, of_job, |nanos, _share_done| longest = longest.max(nanos))?;
//! assert_eq!(longest, 2_000_000_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, TypeId, ValueId};

use crate::parallel_map::{MAX_THREADS, map_in_order};
use crate::query::entity_walk;
use crate::query::{EntityId, QueryError, StateLaneId, TimelineSource};

/// Approximate number of entities in a job. It is large enough to outweigh the cost of the queries,
/// and small enough that progress is visible.
const AT_ONCE: u64 = 1 << 18;
/// Maximum number of jobs per list.
const MAX_JOBS: u64 = 1 << 12;

/// A list of entities of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanList {
    /// One lane of states.
    States(StateLaneId),
    /// Point events of one type in one container.
    Events(ContainerId, TypeId),
    /// All links of one type, between any containers.
    Links(TypeId),
}

/// An entity in a scan.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ScanItemRef {
    /// For queries about the facts of the entity.
    pub id: EntityId,
    /// An id of the model of the source.
    pub value: ValueId,
    /// Start in nanoseconds. Without clock correction, a link may end before it starts.
    pub from: i64,
    /// End in nanoseconds.
    pub to: i64,
    /// The containers at both endpoints of a link.
    pub endpoints: Option<LinkEndpoints>,
}

/// The containers at the endpoints of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEndpoints {
    /// The container in which the link starts.
    pub start: ContainerId,
    /// The container in which the link ends.
    pub end: ContainerId,
}

impl ScanItemRef {
    /// Duration in nanoseconds. It is negative for a link that ends before it starts.
    pub fn nanos(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }

    /// Its earlier timestamp.
    pub fn begin(&self) -> i64 {
        self.from.min(self.to)
    }
}

/// A list in a time range: a part of a scan.
#[derive(Clone, Copy, Debug)]
pub struct ScanJob {
    /// The list to which all entities of the job belong.
    pub list: ScanList,
    pub(crate) time_range: TimeRange,
    /// Whether entities that began before the time range belong to it, too.
    pub(crate) is_first: bool,
    /// Approximate number of entities in the time range.
    weight: u64,
}

impl ScanList {
    /// Counts the entities of the list in a time range.
    pub fn count(self, source: &dyn TimelineSource, time_range: TimeRange) -> Result<u64, QueryError> {
        Ok(match self {
            Self::States(lane) => source.states(lane, time_range, 0)?.total,
            Self::Events(container, ty) => source.events(container, ty, time_range, 0)?.total,
            Self::Links(ty) => source.links(ty, time_range, 0)?.total,
        })
    }
}

impl ScanJob {
    /// Creates a job for a list in a time range. It counts as much as other jobs of this time
    /// range.
    pub fn of(list: ScanList, time_range: TimeRange, is_first: bool) -> Self {
        Self { list, time_range, is_first, weight: 1 }
    }

    /// Visits the entities of the job, by timestamp.
    pub fn visit(
        &self,
        source: &dyn TimelineSource,
        mut visit: impl FnMut(&ScanItemRef) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        let mut visit = |item: ScanItemRef| {
            if self.is_first || item.begin() >= self.time_range.from.0 { visit(&item) } else { Ok(()) }
        };
        match self.list {
            ScanList::States(lane) => entity_walk::states(source, lane, self.time_range, |state| {
                let (from, to) = (state.life.from.0, state.life.to.0);
                visit(ScanItemRef { id: state.id, value: state.value, from, to, endpoints: None })
            }),
            ScanList::Events(container, ty) => entity_walk::events(source, (container, ty), self.time_range, |mark| {
                visit(ScanItemRef {
                    id: mark.id,
                    value: mark.value,
                    from: mark.time.0,
                    to: mark.time.0,
                    endpoints: None,
                })
            }),
            ScanList::Links(ty) => entity_walk::links(source, ty, self.time_range, |link| {
                let (from, to) = (link.start_time.0, link.end_time.0);
                let endpoints = Some(LinkEndpoints { start: link.start, end: link.end });
                visit(ScanItemRef { id: link.id, value: link.value, from, to, endpoints })
            }),
        }
    }
}

/// Divides lists into jobs. Lists without entities in the time range have no jobs.
pub fn jobs(
    source: &dyn TimelineSource,
    lists: impl IntoIterator<Item = ScanList>,
    time_range: TimeRange,
) -> Result<Vec<ScanJob>, QueryError> {
    let mut jobs = Vec::new();
    let width = time_range.to.0.abs_diff(time_range.from.0);
    for list in lists {
        let total = list.count(source, time_range)?;
        if total == 0 {
            continue;
        }
        // A part is at least one nanosecond wide. Otherwise, parts would overlap.
        let parts = total.div_ceil(AT_ONCE).min(MAX_JOBS).min(width).max(1);
        let (count, weight) = (u32::try_from(parts).unwrap_or(u32::MAX), total.div_ceil(parts));
        jobs.extend((0..count).map(|column| ScanJob {
            list,
            time_range: time_range.column(column, count),
            is_first: column == 0,
            weight,
        }));
    }
    Ok(jobs)
}

/// Runs jobs, as many at a time as there are processors. Ends at the first error. `add_item`
/// receives the result of `compute` for each job, in order of completion, and the completed share
/// of all jobs.
pub fn run<A: Send>(
    jobs: Vec<ScanJob>,
    compute: impl Fn(&ScanJob) -> Result<A, QueryError> + Sync,
    add_item: impl FnMut(A, f64) + Send,
) -> Result<(), QueryError> {
    let all: u64 = jobs.iter().map(|job| job.weight).sum();
    let (sum, has_failed) = (Mutex::new((add_item, 0_u64)), AtomicBool::new(false));
    let results = map_in_order(jobs, MAX_THREADS, |job| {
        if has_failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let result = compute(&job).inspect_err(|_| has_failed.store(true, Ordering::Relaxed))?;
        let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        let (add_item, finished_weight) = &mut *sum;
        *finished_weight += job.weight;
        add_item(result, *finished_weight as f64 / all.max(1) as f64);
        Ok(())
    });
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{ScanJob, ScanList, jobs, run};
    use crate::query::{GlobalNanos, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource as _, TypeId};
    use crate::store::TraceStore;

    /// A trace with long links and states over short ones, so that columns share some.
    fn store() -> TraceStore {
        let mut text = include_str!("../../tests/header.paje").to_owned();
        text.push_str("0 T 0 Thread\n2 S T State\n4 M 0 T T Message\n5 w S work \"0 1 0\"\n6 0 t 0 T t\n");
        text.push_str("15 0 0 M t long a\n");
        for timestamp in 1..200 {
            let (key, end) = (timestamp, timestamp + timestamp % 7);
            text.push_str(&format!(
                "11 {timestamp} t S w\n15 {timestamp} 0 M t short k{key}\n16 {end} 0 M t short k{key}\n"
            ));
        }
        text.push_str("16 300 0 M t long a\n7 300 T t\n");
        TraceStore::from_paje("trace", text.as_bytes()).expect("the text is a valid Pajé file")
    }

    #[test]
    fn each_entity_is_in_one_job() {
        let store = store();
        let model = store.model();
        let ty = |link: bool| {
            let fits =
                |kind| if link { matches!(kind, PajeTypeKind::Link { .. }) } else { kind == PajeTypeKind::State };
            model.types.iter().find(|ty| fits(ty.kind)).expect("the trace defines it").id
        };
        let thread = store.containers().last().expect("one exists").id;
        let second = 1_000_000_000;
        let time_range = TimeRange { from: GlobalNanos(50 * second), to: GlobalNanos(150 * second) };
        for list in
            [ScanList::States(StateLaneId { container: thread, ty: ty(false), depth: 0 }), ScanList::Links(ty(true))]
        {
            let total = list.count(&store, time_range).expect("the query succeeds");
            assert!(total > 99, "{list:?}: {total}");
            for count in [1, 2, 7, 64, 333] {
                let parts =
                    (0..count).map(|column| ScanJob::of(list, time_range.column(column, count), column == 0)).collect();
                let mut ids_seen = Vec::new();
                let visit = |job: &ScanJob| {
                    let mut ids = Vec::new();
                    job.visit(&store, |item| {
                        ids.push(item.id);
                        Ok(())
                    })?;
                    Ok(ids)
                };
                let mut shares = Vec::new();
                run(parts, visit, |ids, share| {
                    ids_seen.extend(ids);
                    shares.push(share);
                })
                .expect("no query fails");
                assert_eq!(ids_seen.len() as u64, total, "{list:?} in {count}");
                ids_seen.sort_unstable();
                ids_seen.dedup();
                assert_eq!(ids_seen.len() as u64, total, "{list:?} in {count}");
                assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
            }
            let all_jobs = jobs(&store, [list], time_range).expect("the query succeeds");
            assert_eq!(all_jobs.len(), 1);
        }
        let none = jobs(
            &store,
            [ScanList::Links(ty(true))],
            TimeRange { from: GlobalNanos(400 * second), to: GlobalNanos(500 * second) },
        );
        assert!(none.expect("the query succeeds").is_empty());
    }

    #[test]
    fn an_error_ends_all_jobs() {
        let store = store();
        let thread = store.containers().last().expect("one exists").id;
        let list = ScanList::Events(thread, TypeId(0));
        let time_range = TimeRange { from: GlobalNanos(0), to: GlobalNanos(9) };
        let mut result_count = 0;
        let error = run(
            vec![ScanJob::of(list, time_range, true); 100],
            |_| Err::<(), _>(QueryError::Cancelled),
            |(), _| result_count += 1,
        );
        assert_eq!((error, result_count), (Err(QueryError::Cancelled), 0));
    }
}
