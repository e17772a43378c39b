//! Statistics of collective operations: by value, container and type, of a time range, and of
//! filtered traces.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::sync::Arc;

use tumit_viewer::filter::FilterExpr;
use tumit_viewer::query::{GlobalNanos, TimeRange, TimelineSource};
use tumit_viewer::stats::{RowGrouping, StatsRow, table, to_csv};
use tumit_viewer::store::TraceStore;

/// Three ranks. A barrier of all from 1, 2 and 4 s to 5 s; a broadcast of rank 1 to rank 0 on
/// communicator `half`, whose parts do not overlap; a reduction of all to rank 2.
const BODY: &str = "%EventDef PajePushState 40
% Time date
% Container string
% Type string
% Value string
% operation int
% is_root int
% collective string
% communicator string
% bytes int
%EndEventDef
%EventDef PajePushState 41
% Time date
% Container string
% Type string
% Value string
% operation int
% collective string
% communicator string
%EndEventDef
0 R 0 Rank
2 S R Calls
5 b S barrier \"1 0 0\"
5 c S bcast \"0 1 0\"
5 r S reduce \"0 0 1\"
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
6 0 r2 0 R \"rank 2\"
41 1 r0 S b 0 barrier world
41 2 r1 S b 0 barrier world
41 4 r2 S b 0 barrier world
13 5 r0 S
13 5 r1 S
13 5 r2 S
40 6 r1 S c 1 1 one-to-all half 100
13 6.5 r1 S
40 8 r0 S c 1 0 one-to-all half 100
13 9 r0 S
40 10 r2 S r 2 1 all-to-one world 0
40 11 r0 S r 2 0 all-to-one world 8
40 12 r1 S r 2 0 all-to-one world 8
13 13 r0 S
13 13 r1 S
13 14 r2 S
7 20 R r0
7 20 R r1
7 20 R r2
";

fn trace() -> Arc<dyn TimelineSource> {
    let text = [include_str!("header.paje"), BODY].concat();
    let store = TraceStore::from_paje("model", text.as_bytes()).unwrap();
    assert!(store.summary().diagnostics.is_empty(), "{:?}", store.summary().diagnostics);
    Arc::new(store)
}

fn seconds(from: i64, to: i64) -> TimeRange {
    TimeRange { from: GlobalNanos(from * 1_000_000_000), to: GlobalNanos(to * 1_000_000_000) }
}

fn collectives(source: &dyn TimelineSource, range: TimeRange, by: RowGrouping) -> Vec<StatsRow> {
    let rows = table(source, range, by, None).unwrap();
    rows.into_iter().filter(|row| row.kind == "collective").collect()
}

/// Kind, operations, parts, bytes, total wait and longest wait of a row.
type RowNumbers<'a> = (&'a str, u64, u64, Option<f64>, f64, f64);

fn numbers(rows: &[StatsRow]) -> Vec<RowNumbers<'_>> {
    let figures = |row: &StatsRow| {
        let kind = row.operation.unwrap();
        (kind, row.count.unwrap(), row.parts.unwrap(), row.size, row.wait.unwrap(), row.wait_max.unwrap())
    };
    rows.iter().map(figures).collect()
}

#[test]
fn rows_have_the_waits_of_each_kind_of_operation() {
    let rows = collectives(trace().as_ref(), seconds(0, 20), RowGrouping::Value);
    // In the barrier, rank 0 waits for 3 s and rank 1 for 2 s. The root of the reduction waits for
    // 2 s. The member of the broadcast enters after its root.
    let expected = [
        ("barrier", 1, 3, None, 5.0, 3.0),
        ("all-to-one", 1, 3, Some(16.0), 2.0, 2.0),
        ("one-to-all", 1, 2, Some(200.0), 0.0, 0.0),
    ];
    assert_eq!(numbers(&rows), expected);
    let barrier = &rows[0];
    assert_eq!((barrier.ty.as_str(), barrier.value.as_deref()), ("Calls", Some("barrier")));
    assert_eq!((barrier.communicator.as_deref(), barrier.wait_mean), (Some("world"), Some(5.0 / 3.0)));
    assert_eq!((barrier.max_at, barrier.max_in.as_deref()), (Some(1.0), Some("rank 0")));
    assert_eq!((rows[2].communicator.as_deref(), rows[2].max_at), (Some("half"), None));
    let csv = to_csv(&rows);
    assert!(csv.lines().next().unwrap().ends_with(",max_in,operation,communicator,parts,wait,wait_mean,wait_max"));
    assert!(csv.contains("all-to-one,world,3,2.0,0.6666666666666666,2.0"), "{csv}");
}

#[test]
fn rows_of_containers_have_their_parts_only() {
    let rows = collectives(trace().as_ref(), seconds(0, 20), RowGrouping::Container);
    let rows_of = |container: &str, kind: &str| -> Vec<StatsRow> {
        let fits = |row: &&StatsRow| row.container.as_deref() == Some(container) && row.operation == Some(kind);
        rows.iter().filter(fits).cloned().collect()
    };
    assert_eq!(rows.len(), 8);
    assert_eq!(numbers(&rows_of("rank 0", "barrier")), [("barrier", 1, 1, None, 3.0, 3.0)]);
    assert_eq!(numbers(&rows_of("rank 2", "barrier")), [("barrier", 1, 1, None, 0.0, 0.0)]);
    assert_eq!(numbers(&rows_of("rank 1", "one-to-all")), [("one-to-all", 1, 1, Some(100.0), 0.0, 0.0)]);
    assert!(rows_of("rank 2", "one-to-all").is_empty());
}

#[test]
fn an_operation_with_a_part_in_the_time_range_counts_with_all_its_parts() {
    let rows = |from, to| collectives(trace().as_ref(), seconds(from, to), RowGrouping::Type);
    // Only the part of the root is in the time range.
    assert_eq!(numbers(&rows(6, 7)), [("one-to-all", 1, 2, Some(200.0), 0.0, 0.0)]);
    assert_eq!(numbers(&rows(4, 5)), [("barrier", 1, 3, None, 5.0, 3.0)]);
    assert!(rows(7, 8).is_empty() && rows(15, 20).is_empty());
    assert_eq!(rows(0, 20)[0].value, None);
}

#[test]
fn filters_apply_to_operations() {
    let filtered = |filter: &str| {
        let source = filter.parse::<FilterExpr>().unwrap().apply(&trace()).unwrap();
        collectives(source.as_ref(), source.extent(), RowGrouping::Value)
    };
    // Without the last rank, rank 0 waits for rank 1.
    let rows = filtered("hide container \"rank 2\"");
    assert_eq!(
        numbers(&rows),
        [
            ("barrier", 1, 2, None, 1.0, 1.0),
            ("one-to-all", 1, 2, Some(200.0), 0.0, 0.0),
            ("all-to-one", 1, 2, Some(16.0), 0.0, 0.0)
        ]
    );
    assert_eq!(numbers(&filtered("only value bcast of Calls")), [("one-to-all", 1, 2, Some(200.0), 0.0, 0.0)]);
    // Entries before the cut count from its start.
    assert_eq!(numbers(&filtered("cut 2..5")), [("barrier", 1, 3, None, 4.0, 2.0)]);
    assert!(filtered("hide value * of Calls").is_empty());
}
