//! The queries that filters make to the inner source. They use sums if these suffice, and never
//! more than an image needs. The tests count queries and do not measure time.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tumit_paje::{DrawStyle, PajeEvent};
use tumit_viewer::filter::{FilterChain, FilterExpr, FilterLayer};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{
    ContainerId, ContainerInfo, EntityList, GlobalNanos, PajeTypeKind, QueryError, StateEntity, StateLaneId, TimeRange,
    TimelineSource, TypeId, ValueId, ValueRange,
};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::stats::{RowGrouping, table};
use tumit_viewer::store::TraceStore;

const STATES: u32 = 200_000;
const THREADS: u32 = 4;

/// Counts the listed states.
struct StateQueryCounter {
    inner: TraceStore,
    listed: Arc<AtomicU64>,
}

impl FilterLayer for StateQueryCounter {
    fn inner_source(&self) -> &dyn TimelineSource {
        &self.inner
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let listed = self.inner.states(lane, time_range, limit)?;
        self.listed.fetch_add(listed.items.len() as u64, Ordering::Relaxed);
        Ok(listed)
    }
}

fn trace() -> (Arc<dyn TimelineSource>, Arc<AtomicU64>) {
    let (thread, activity) = (TypeId(1), TypeId(2));
    let time = |n: u32| GlobalNanos(i64::from(n) * 10);
    let mut events = vec![
        PajeEvent::DefineType {
            ty: thread,
            kind: PajeTypeKind::Container,
            parent: TypeId::ROOT,
            name: "Thread",
            color: None,
            style: DrawStyle::NONE,
        },
        PajeEvent::DefineType {
            ty: activity,
            kind: PajeTypeKind::State,
            parent: thread,
            name: "Activity",
            color: None,
            style: DrawStyle::NONE,
        },
    ];
    let names = ["work", "wait", "idle"];
    events.extend((0..).zip(names).map(|(value, name)| PajeEvent::DefineValue {
        value: ValueId(value),
        ty: activity,
        name,
        color: None,
        style: DrawStyle::NONE,
        category: None,
    }));
    events.extend((1..=THREADS).map(|id| PajeEvent::CreateContainer {
        time: time(0),
        container: ContainerId(id),
        ty: thread,
        parent: ContainerId::ROOT,
        name: ["a", "b", "c", "d"][id as usize - 1],
        extra: &[],
    }));
    for n in 0..STATES / THREADS {
        events.extend((1..=THREADS).map(|id| PajeEvent::SetState {
            time: time(n),
            container: ContainerId(id),
            ty: activity,
            value: ValueId((n + id) % 3),
            extra: &[],
            source: None,
        }));
    }
    let listed = Arc::new(AtomicU64::new(0));
    (
        Arc::new(StateQueryCounter { inner: TraceStore::from_events("trace", events), listed: Arc::clone(&listed) }),
        listed,
    )
}

/// Number of states listed while an image of the whole trace is drawn. The heading's counts are
/// computed before, because they are cached.
fn states_listed_for_an_image(filters: &[&str]) -> u64 {
    let (trace, listed) = trace();
    let chain: FilterChain = filters.iter().map(|text| text.parse::<FilterExpr>().unwrap()).collect();
    let source = chain.apply(trace).unwrap();
    source.summary();
    listed.store(0, Ordering::Relaxed);
    let outline = ContainerOutline::new(source.as_ref()).unwrap();
    let options =
        DocumentOptions { time_range: source.extent(), width: 1000.0, height: None, resolution: 1.0, titles: false };
    document(source.as_ref(), &outline, &LayoutOptions::default(), options).unwrap();
    listed.load(Ordering::Relaxed)
}

#[test]
fn images_of_dense_lanes_come_from_sums() {
    for filters in [
        &[][..],
        &["hide value work"],
        &["only value idle of Activity", "hide container a"],
        &["group a, b into both"],
        &["cut 0.0001..0.0004", "hide value wait"],
        &["sort Thread by time wait descending", "bright work"],
        &["best 2 Thread by time idle"],
        &["reuse Thread", "hide value idle", "hide value wait"],
    ] {
        assert_eq!(states_listed_for_an_image(filters), 0, "{filters:?}");
    }
}

#[test]
fn durations_are_scanned_once_per_answer() {
    let listed = states_listed_for_an_image(&["only duration >= 5ns"]);
    // The cells of the rows and those of the legend.
    assert!(listed >= u64::from(STATES) && listed <= 3 * u64::from(STATES), "{listed}");
}

#[test]
fn reductions_are_computed_once() {
    let (trace, listed) = trace();
    let source = "count work of Activity per Thread into Busy".parse::<FilterExpr>().unwrap().apply(&trace).unwrap();
    let count = listed.swap(0, Ordering::Relaxed);
    assert!(count <= u64::from(STATES) + u64::from(STATES) / 100, "pages overlap a little: {count}");
    let busy = source.model().types.iter().find(|ty| ty.name == "Busy").unwrap().id;
    for id in 1..=THREADS {
        let series = source.series(ContainerId(id), busy, source.extent(), 100).unwrap();
        assert!(series.iter().all(|column| column.is_some_and(|column| (0.3..0.4).contains(&column.mean))));
    }
    assert_eq!(listed.load(Ordering::Relaxed), 0);
}

/// Counts the queries for all containers, and for all lanes of a type.
struct ListQueryCounter {
    inner: Arc<dyn TimelineSource>,
    lists: AtomicUsize,
    ranges: AtomicUsize,
}

impl FilterLayer for ListQueryCounter {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        self.lists.fetch_add(1, Ordering::Relaxed);
        self.inner.containers()
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        self.ranges.fetch_add(1, Ordering::Relaxed);
        self.inner.value_range(ty)
    }
}

#[test]
fn a_query_about_all_containers_is_answered_once() {
    let mut text = format!(
        "{}0 N 0 Node\n0 T N Thread\n2 S T Activity\n1 V T Load \"0 0 1\"\n5 w S work \"0 1 0\"\n",
        include_str!("header.paje")
    );
    for number in 0..300 {
        let node = number / 3;
        if number % 3 == 0 {
            writeln!(text, "6 0 n{node} 0 N \"node {node}\"").unwrap();
        }
        writeln!(text, "6 0 t{number} n{node} T main\n11 1 t{number} S w\n8 1 t{number} V {number}").unwrap();
    }
    text.push_str("13 2 t0 S\n");
    let inner = Arc::new(TraceStore::from_paje("t", text.as_bytes()).unwrap());
    let source = ListQueryCounter { inner, lists: AtomicUsize::new(0), ranges: AtomicUsize::new(0) };
    let time_range = source.inner.extent();
    let rows = table(&source, time_range, RowGrouping::Container, None).unwrap();
    let paths: Vec<&str> = rows.iter().filter_map(|row| row.container.as_deref()).collect();
    assert_eq!(paths.iter().filter(|path| **path == "node 77/main").count(), 6, "{paths:?}");
    assert_eq!(rows.len(), 600);
    let queries = source.lists.swap(0, Ordering::Relaxed);
    assert!(queries < 10, "{queries} queries for the list of containers");
    ContainerOutline::new(&source).unwrap();
    let queries = source.ranges.load(Ordering::Relaxed);
    assert_eq!(queries, 1, "{queries} queries for the range of a type of variables");
}
