use std::collections::BTreeMap;

use proptest::prelude::*;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::GlobalNanos;

use crate::chart::{ChartPaint, ChartPanel, NetworkChart, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::messages::{BYTES, MESSAGES};
use crate::gallery;
use crate::network::topology::Topology;
use crate::view::TimeMode;
use crate::views::test_traces::{
    TestMessage, TestTrace, chart, message, numbers, range, request, texts, traces, traces_with_unreceived,
};

/// Three messages among four ranks in 100 ns, and one within a rank.
fn example() -> TestTrace {
    TestTrace {
        units: 4,
        end: 100,
        has_sizes: true,
        states: vec![(0, 0, 50, "work"), (1, 0, 100, "wait"), (2, 20, 80, "send")],
        messages: vec![
            message(0, 1, 10, 50, 100),
            message(0, 1, 20, 40, 300),
            message(2, 3, 30, 100, 50),
            message(3, 3, 5, 95, 7),
            message(1, 2, 90, 80, 8),
        ],
        ..TestTrace::default()
    }
}

fn network(chart: &ViewChart) -> &NetworkChart {
    match &chart.panels[0].panel {
        ChartPanel::Network(network) => network,
        other => panic!("a network instead of {other:?}"),
    }
}

fn edges(chart: &ViewChart) -> Vec<(u32, u32, f64)> {
    network(chart).edges.iter().map(|edge| (edge.from, edge.to, edge.value)).collect()
}

#[test]
fn traffic_has_means_and_extremes_of_each_column() {
    let execution = example().execution();
    let all = chart(&execution, "traffic", &request(TimeMode::Range, 0, 100, &[("measure", "messages")]));
    assert_eq!(numbers(&all.table, "mean"), [0, 1, 2, 3, 2, 1, 1, 1, 1, 1].map(|n| Some(f64::from(n))));
    let bytes = chart(&execution, "traffic", &request(TimeMode::Range, 0, 50, &[]));
    assert_eq!(
        numbers(&bytes.table, "largest"),
        [0, 0, 100, 100, 400, 400, 450, 450, 150, 150].map(|n| Some(f64::from(n)))
    );
    let options = [("unit", "rank 3"), ("direction", "incoming"), ("measure", "messages")];
    let selection = chart(&execution, "traffic", &request(TimeMode::Range, 0, 100, &options));
    assert_eq!(numbers(&selection.table, "mean")[2..5], [Some(0.0), Some(1.0), Some(1.0)]);
    let options = [("unit", "rank 3"), ("direction", "outgoing"), ("measure", "messages")];
    let none = chart(&execution, "traffic", &request(TimeMode::Range, 0, 100, &options));
    assert!(numbers(&none.table, "largest").iter().all(|value| *value == Some(0.0)));
    assert_eq!(all.notes.len(), 2, "one message within a unit, one backward: {:?}", all.notes);
}

#[test]
fn queues_have_values_now_and_their_maxima_so_far() {
    let execution = example().execution();
    let cells = |time| {
        let chart = chart(&execution, "message-queues", &request(TimeMode::At, time, 100, &[]));
        (numbers(&chart.table, "messages"), numbers(&chart.table, "maximum bytes"))
    };
    let some = |list: [i32; 4]| list.map(|n| Some(f64::from(n))).to_vec();
    assert_eq!(cells(5), (some([0, 0, 0, 0]), some([0, 0, 0, 0])));
    assert_eq!(cells(20), (some([0, 2, 0, 0]), some([0, 400, 0, 0])));
    assert_eq!(cells(45), (some([0, 1, 0, 1]), some([0, 400, 0, 50])));
    assert_eq!(cells(1_000).0, some([0, 0, 0, 0]));
    let whole = chart(&execution, "message-queues", &request(TimeMode::Range, 0, 100, &[]));
    assert_eq!(numbers(&whole.table, "messages"), [Some(0.0), Some(0.6), Some(0.0), Some(0.7)]);
}

#[test]
fn messages_that_are_never_received_are_pending_until_the_end() {
    let mut trace = example();
    trace.unreceived_messages = vec![
        (message(0, 3, 60, i64::MAX, 1000), true),
        (message(2, 0, 70, i64::MAX, 2000), false),
        (message(1, 1, 80, i64::MAX, 4000), true),
    ];
    let execution = trace.execution();
    let chart_at = |time| chart(&execution, "message-queues", &request(TimeMode::At, time, 100, &[]));
    let queues = |time| numbers(&chart_at(time).table, "messages").into_iter().map(Option::unwrap_or_default).collect();
    let some = |list: [i32; 5]| list.map(f64::from).to_vec();
    let (before, sent, end): (Vec<f64>, Vec<f64>, Vec<f64>) = (queues(59), queues(70), queues(100));
    assert_eq!([before, sent, end], [some([0, 0, 0, 1, 0]), some([0, 0, 0, 2, 1]), some([0, 0, 0, 1, 1])]);
    let last = chart_at(100);
    assert_eq!(texts(&last.table, "unit")[4], "unknown receiver");
    assert_eq!(numbers(&last.table, "bytes")[3..], [Some(1000.0), Some(2000.0)]);
    assert!(last.notes.iter().any(|note| note.starts_with("2 messages are never received.")), "{:?}", last.notes);
    assert!(last.notes.iter().any(|note| note.contains("an unknown receiver")), "{:?}", last.notes);
    let ChartPanel::Bars(bars) = &last.panels[0].panel else { panic!("bars") };
    assert_eq!((bars.bars.len(), bars.unit_lists.len()), (5, 5));
    // The matrix has the receiver now, and no message of a time range that was not received.
    let now = chart(&execution, "communication-matrix", &request(TimeMode::At, 99, 100, &[]));
    assert_eq!(numbers(&now.table, "bytes"), [Some(1000.0), Some(50.0)]);
    let sent = chart(&execution, "communication-matrix", &request(TimeMode::Range, 0, 100, &[]));
    assert_eq!(numbers(&sent.table, "bytes").iter().flatten().sum::<f64>(), 458.0);
    let options = [("unit", "rank 2"), ("direction", "outgoing"), ("measure", "messages")];
    let selection = chart(&execution, "traffic", &request(TimeMode::Range, 0, 100, &options));
    assert_eq!(numbers(&selection.table, "mean")[6..], [1, 2, 2, 2].map(|n| Some(f64::from(n))));
    // A trace with such messages only has views.
    trace.messages.clear();
    let execution = trace.execution();
    let only = chart(&execution, "traffic", &request(TimeMode::Range, 0, 100, &[]));
    assert_eq!(numbers(&only.table, "largest")[9], Some(3000.0));
    for view in gallery::views().filter(|view| view.info().required_data.contains("links between units")) {
        for mode in view.info().modes {
            let answer = view.chart(&execution, &request(*mode, 75, 100, &[]));
            assert!(answer.is_ok(), "{}: {:?}", view.info().name, answer.err());
        }
    }
}

#[test]
fn matrix_has_pending_messages_or_those_of_a_time_range() {
    let execution = example().execution();
    let now = chart(&execution, "communication-matrix", &request(TimeMode::At, 30, 100, &[]));
    assert_eq!(texts(&now.table, "from"), ["rank 0", "rank 2"]);
    assert_eq!(numbers(&now.table, "bytes"), [Some(400.0), Some(50.0)]);
    let sent = chart(&execution, "communication-matrix", &request(TimeMode::Range, 0, 100, &[("order", "gray")]));
    let ChartPanel::Matrix(matrix) = &sent.panels[0].panel else { panic!("a matrix") };
    assert_eq!(matrix.rows, ["rank 0", "rank 1", "rank 3", "rank 2"]);
    let cells: Vec<(u32, u32, f64)> = matrix.cells.iter().map(|cell| (cell.row, cell.column, cell.value)).collect();
    assert_eq!(cells, [(0, 1, 400.0), (1, 3, 8.0), (3, 2, 50.0)]);
}

#[test]
fn meter_is_in_percent_of_the_maximum() {
    let execution = example().execution();
    let bar = |time| {
        let chart = chart(&execution, "communication-meter", &request(TimeMode::At, time, 100, &[]));
        let [row] = &chart.table.rows[..] else { panic!("a row") };
        row.iter().map(|value| format!("{value:?}")).collect::<Vec<String>>().join(" ")
    };
    assert_eq!(bar(25), "Number(400.0) Number(400.0) Number(450.0) Number(88.88888888888889)");
    assert_eq!(bar(60), "Number(50.0) Number(450.0) Number(450.0) Number(11.11111111111111)");
}

#[test]
fn animation_has_the_status_of_units_and_pending_edges() {
    let execution = example().execution();
    let now = chart(&execution, "animation", &request(TimeMode::At, 30, 100, &[]));
    assert_eq!(edges(&now), [(0, 1, 2.0), (2, 3, 1.0)]);
    let paints: Vec<ChartPaint> = network(&now).nodes.iter().map(|node| node.paint).collect();
    let [busy, idle] = [ActivityCategory::Busy, ActivityCategory::Idle].map(ChartPaint::Category);
    let legend = now.legend.iter().find(|item| item.label == "sending").expect("a status");
    assert_eq!(paints, [busy, idle, legend.paint, idle]);
    let union = chart(&execution, "animation", &request(TimeMode::Range, 0, 100, &[]));
    assert_eq!(edges(&union), [(0, 1, 2.0), (1, 2, 1.0), (2, 3, 1.0)]);
}

#[test]
fn saved_layouts_place_the_named_units() {
    let folder = std::env::temp_dir().join(format!("tumit-layout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("layout.txt");
    std::fs::write(&path, "rank 0 0.25 0.75\n").expect("a file");
    let options = [("layout", path.to_str().expect("a path"))];
    let execution = example().execution();
    let placed = chart(&execution, "animation", &request(TimeMode::At, 30, 100, &options));
    let node = &network(&placed).nodes[0];
    assert_eq!((node.x, node.y), (0.25, 0.75));
    assert!(placed.notes.iter().any(|note| note.contains("3 units")), "{:?}", placed.notes);
    std::fs::remove_dir_all(&folder).expect("the folder exists");
    let view = gallery::view("animation").expect("a view");
    let gone = view.chart(&execution, &request(TimeMode::At, 30, 100, &options));
    assert!(matches!(gone, Err(PerspectiveError::File { .. })));
}

#[test]
fn hypercube_edges_of_one_bit_are_physical() {
    let mut trace = example();
    trace.messages.push(message(1, 2, 25, 60, 1));
    let execution = trace.execution();
    for layout in ["ring", "cube", "tree", "polytope"] {
        let now = chart(&execution, "hypercube", &request(TimeMode::At, 30, 100, &[("layout", layout)]));
        let edges: Vec<(u32, u32, bool)> =
            network(&now).edges.iter().map(|edge| (edge.from, edge.to, edge.is_dashed)).collect();
        assert_eq!(edges, [(0, 1, false), (1, 2, true), (2, 3, false)]);
        let paints = network(&now).edges.iter().map(|edge| edge.paint);
        assert!(paints.zip(&edges).all(|(paint, edge)| (paint == ChartPaint::Series(0)) != edge.2));
    }
}

#[test]
fn node_statistics_have_a_point_per_message() {
    let execution = example().execution();
    let points = |options: &[(&str, &str)]| {
        let chart = chart(&execution, "node-statistics", &request(TimeMode::Range, 0, 100, options));
        let of_panel = |panel: usize| match &chart.panels[panel].panel {
            ChartPanel::Scatter(scatter) => {
                scatter.points.iter().map(|point| (point.time, point.value)).collect::<Vec<(i64, f64)>>()
            }
            other => panic!("points instead of {other:?}"),
        };
        [of_panel(0), of_panel(1)]
    };
    assert_eq!(points(&[("unit", "rank 1"), ("quantity", "size")]), [vec![(40, 300.0), (50, 100.0)], vec![(90, 8.0)]]);
    assert_eq!(points(&[("unit", "rank 2"), ("quantity", "distance")]), [vec![(80, 2.0)], vec![(30, 1.0)]]);
    // The receive at the last timestamp of the trace.
    assert_eq!(points(&[("unit", "rank 3")]), [vec![(100, 0.0)], vec![]]);
}

#[test]
fn network_loads_are_those_of_the_routes() {
    let mut trace = example();
    trace.messages.push(message(0, 3, 25, 60, 1000));
    let execution = trace.execution();
    let loads = |topology: &str| {
        let options = [("topology", topology), ("measure", "bytes")];
        let now = chart(&execution, "network", &request(TimeMode::At, 30, 100, &options));
        let mut edges: Vec<(u32, u32, f64)> = edges(&now).into_iter().filter(|edge| edge.2 > 0.0).collect();
        edges.sort_by_key(|edge| (edge.0, edge.1));
        edges
    };
    assert_eq!(loads("hamming"), [(0, 1, 1400.0), (1, 3, 1000.0), (2, 3, 50.0)]);
    assert_eq!(loads("mesh1"), [(0, 1, 1400.0), (1, 2, 1000.0), (2, 3, 1050.0)]);
    assert_eq!(loads("torus1"), [(0, 1, 400.0), (0, 3, 1000.0), (2, 3, 50.0)]);
    assert_eq!(loads("binary-tree"), [(0, 1, 1450.0), (1, 3, 1050.0), (2, 0, 50.0)]);
    assert_eq!(loads("unit"), [(0, 1, 400.0), (0, 3, 1000.0), (2, 3, 50.0)]);
}

#[test]
fn subtitles_have_titles_of_option_values() {
    let execution = example().execution();
    let subtitle = |view: &str, mode: TimeMode, options: &[(&str, &str)]| {
        chart(&execution, view, &request(mode, 30, 100, options)).subtitle
    };
    assert!(subtitle("network", TimeMode::At, &[]).contains("topology: Hamming distance;"));
    let grid = subtitle("network", TimeMode::At, &[("topology", "mesh2:2x2")]);
    assert!(grid.contains("topology: 2D mesh of 2 × 2;"), "{grid}");
    assert!(subtitle("hypercube", TimeMode::At, &[]).contains("layout: ring in Gray order"));
    let points = subtitle("node-statistics", TimeMode::Range, &[("quantity", "distance"), ("order", "bytes-sent")]);
    assert!(points.contains("topology: Hamming distance; ordered by bytes sent, largest first"), "{points}");
    let statistics = subtitle("statistical-summary", TimeMode::Range, &[]);
    assert!(statistics.contains("topology of hops: Hamming distance"), "{statistics}");
}

#[test]
fn missing_data_is_an_error_with_a_remedy() {
    let trace = TestTrace { units: 2, end: 10, states: vec![(0, 0, 5, "work")], ..TestTrace::default() };
    let execution = trace.execution();
    for view in super::VIEWS {
        let info = view.info();
        let answer = view.chart(&execution, &request(info.modes[0], 0, 10, &[]));
        assert!(matches!(answer, Err(PerspectiveError::NoData { .. })), "{}", info.name);
    }
    let mut unsized_trace = example();
    unsized_trace.has_sizes = false;
    let answer = gallery::view("traffic")
        .expect("a view")
        .chart(&unsized_trace.execution(), &request(TimeMode::Range, 0, 100, &[("measure", "bytes")]));
    assert!(matches!(answer, Err(PerspectiveError::NoData { .. })));
}

#[test]
fn views_work_before_and_after_the_trace_and_in_empty_ranges() {
    let execution = example().execution();
    for view in super::VIEWS {
        let info = view.info();
        for mode in info.modes {
            for time in [i64::MIN, -50, 0, 100, 150, i64::MAX] {
                for end in [0, 100] {
                    let mut request = request(*mode, time, end, &[]);
                    request.options.width = Some(20);
                    chart(&execution, info.name, &request);
                }
            }
        }
    }
}

/// The number and bytes of messages by sender and receiver.
fn sums<'a>(messages: impl Iterator<Item = &'a TestMessage>) -> BTreeMap<(u32, u32), (f64, f64)> {
    let mut sums: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
    for message in messages {
        let sum = sums.entry((message.from, message.to)).or_default();
        sum.0 += 1.0;
        sum.1 += message.bytes as f64;
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn message_queries_equal_filters_of_all_messages(trace in traces(9), time in -5..110_i64, to in 0..110_i64) {
        let execution = trace.execution();
        let Ok(messages) = execution.messages() else { return Ok(()) };
        let all: Vec<&TestMessage> = trace.between_units().collect();
        prop_assert_eq!(messages.list().len(), all.len());
        prop_assert_eq!(messages.within_units as usize, trace.messages.len() - all.len());
        prop_assert_eq!(messages.backward_count as usize, all.iter().filter(|message| message.receive_time < message.send_time).count());
        let bytes = |message: &TestMessage| if trace.has_sizes { message.bytes } else { 0 };
        let total = |fits: &dyn Fn(&TestMessage) -> bool| -> [i64; 2] {
            let list = all.iter().filter(|message| fits(message));
            list.fold([0, 0], |sum, message| [sum[0] + 1, sum[1] + bytes(message)])
        };
        prop_assert_eq!(messages.pending().at(time), total(&|message| message.is_pending(time)));
        prop_assert_eq!(messages.pending_at(GlobalNanos(time)).count() as i64, total(&|message| message.is_pending(time))[0]);
        prop_assert_eq!(messages.sent_between(range(time, to)).len() as i64, total(&|message| time <= message.send_time && message.send_time < to)[0]);
        prop_assert_eq!(
            messages.received_between(range(time, to)).count() as i64,
            total(&|message| time <= message.receive_time && message.receive_time < to)[0]
        );
        prop_assert!(messages.by_receive().map(|message| message.receive_time).is_sorted());
        let by_unit = messages.by_unit();
        for component in [MESSAGES, BYTES] {
            let sum = |list: &[crate::execution::messages::PendingSteps]| list.iter().map(|steps| steps.at(time)[component]).sum::<i64>();
            prop_assert_eq!(sum(&by_unit.incoming_steps), messages.pending().at(time)[component]);
            prop_assert_eq!(sum(&by_unit.outgoing), messages.pending().at(time)[component]);
        }
    }

    #[test]
    fn unreceived_messages_equal_a_count_of_all_messages(
        trace in traces_with_unreceived(6),
        time in -5..110_i64,
        unit in 0..6_usize,
    ) {
        let execution = trace.execution();
        let Ok(messages) = execution.messages() else { return Ok(()) };
        let unit = unit % trace.units as usize;
        let bytes = |message: &TestMessage| if trace.has_sizes { message.bytes } else { 0 };
        // The receiver is `None` if it is unknown.
        let unreceived = trace.unreceived_messages.iter().map(|(message, is_addressed)| (message, is_addressed.then_some(message.to)));
        let all: Vec<(&TestMessage, Option<u32>)> = trace
            .between_units()
            .map(|message| (message, Some(message.to)))
            .chain(unreceived.filter(|(message, to)| *to != Some(message.from)))
            .collect();
        let total = |fits: &dyn Fn(u32, Option<u32>) -> bool| {
            let list = all.iter().filter(|(message, to)| message.is_pending(time) && fits(message.from, *to));
            list.fold([0, 0], |sum, (message, _)| [sum[0] + 1, sum[1] + bytes(message)])
        };
        let by_unit = messages.by_unit();
        prop_assert_eq!(messages.pending().at(time), total(&|_, _| true));
        prop_assert_eq!(by_unit.outgoing[unit].at(time), total(&|from, _| from as usize == unit));
        prop_assert_eq!(by_unit.incoming_steps[unit].at(time), total(&|_, to| to == u32::try_from(unit).ok()));
        prop_assert_eq!(by_unit.unaddressed_steps.at(time), total(&|_, to| to.is_none()));
        let incoming: i64 = by_unit.incoming_steps.iter().map(|steps| steps.at(time)[MESSAGES]).sum();
        prop_assert_eq!(incoming + by_unit.unaddressed_steps.at(time)[MESSAGES], messages.pending().at(time)[MESSAGES]);
        prop_assert_eq!(messages.pending_at(GlobalNanos(time)).count() as i64, total(&|_, to| to.is_some())[0]);
        prop_assert_eq!(messages.list().len(), trace.between_units().count());
        prop_assert_eq!(messages.sent_between(range(0, 101)).len(), messages.list().len());
    }

    #[test]
    fn matrix_equals_sums_of_all_messages(trace in traces(9), time in -5..110_i64, to in 0..=101_i64) {
        let execution = trace.execution();
        if execution.messages().is_err() {
            return Ok(());
        }
        let sent = |message: &&TestMessage| message.send_time < to;
        let expected = [
            (TimeMode::At, 100, sums(trace.between_units().filter(|message| message.is_pending(time)))),
            (TimeMode::Range, to, sums(trace.between_units().filter(sent))),
        ];
        for (mode, end, expected) in expected {
            let matrix = chart(&execution, "communication-matrix", &request(mode, time, end, &[("measure", "messages")]));
            let pairs: Vec<(String, String)> = expected.keys().map(|(a, b)| (format!("rank {a}"), format!("rank {b}"))).collect();
            let table: Vec<(String, String)> = texts(&matrix.table, "from").into_iter().zip(texts(&matrix.table, "to")).collect();
            prop_assert_eq!(table, pairs);
            let counts: Vec<Option<f64>> = expected.values().map(|sum| Some(sum.0)).collect();
            prop_assert_eq!(numbers(&matrix.table, "messages"), counts);
            if trace.has_sizes {
                let bytes: Vec<Option<f64>> = expected.values().map(|sum| Some(sum.1)).collect();
                prop_assert_eq!(numbers(&matrix.table, "bytes"), bytes);
            }
        }
    }

    #[test]
    fn queue_maxima_are_prefix_maxima(trace in traces(6), time in -5..110_i64) {
        let execution = trace.execution();
        if execution.messages().is_err() {
            return Ok(());
        }
        let queues = chart(&execution, "message-queues", &request(TimeMode::At, time, 100, &[]));
        let queue = |unit: u32, moment: i64| trace.between_units().filter(|message| message.to == unit && message.is_pending(moment)).count();
        for unit in 0..trace.units {
            let maximum = (0..=time.max(0)).map(|moment| queue(unit, moment)).max().unwrap_or(0).max(queue(unit, time));
            prop_assert_eq!(numbers(&queues.table, "messages")[unit as usize], Some(queue(unit, time) as f64));
            prop_assert_eq!(numbers(&queues.table, "maximum messages")[unit as usize], Some(maximum as f64), "unit {}", unit);
        }
    }

    #[test]
    fn link_loads_sum_to_hops(trace in traces(9), word in prop::sample::select(vec!["hamming", "unit", "mesh1", "torus1", "mesh2", "binary-tree", "quad-tree"])) {
        let execution = trace.execution();
        if execution.messages().is_err() {
            return Ok(());
        }
        let units = trace.units as usize;
        let topology = Topology::parse(word, units).unwrap();
        let hops: u32 = trace.between_units().map(|message| topology.distance(units, message.from as usize, message.to as usize)).sum();
        let options = [("topology", word), ("measure", "messages")];
        let loads = chart(&execution, "network", &request(TimeMode::Range, 0, execution.extent().to.0, &options));
        let sum: f64 = numbers(&loads.table, "messages").into_iter().flatten().sum();
        prop_assert_eq!(sum, f64::from(hops), "{}", word);
    }

    #[test]
    fn links_of_a_complete_network_are_the_pairs_of_the_matrix(trace in traces(9), order in prop::sample::select(vec!["natural", "gray", "sent"])) {
        let execution = trace.execution();
        if execution.messages().is_err() {
            return Ok(());
        }
        let options = [("topology", "unit"), ("measure", "messages"), ("order", order)];
        let range = |options| request(TimeMode::Range, 0, execution.extent().to.0, options);
        let rows = |chart: ViewChart| {
            let mut rows: Vec<String> = chart.table.rows.iter().map(|row| format!("{row:?}")).collect();
            rows.sort_unstable();
            rows
        };
        let network = rows(chart(&execution, "network", &range(&options)));
        prop_assert_eq!(network, rows(chart(&execution, "communication-matrix", &range(&options[1..2]))));
    }
}

#[test]
fn thousands_of_units_share_bars_rows_and_nodes() {
    let mut trace = TestTrace { units: 3_000, end: 1_000, has_sizes: true, ..TestTrace::default() };
    trace.messages = (0..3_000_u32)
        .map(|n| message(n, (n * 7 + 1) % 3_000, i64::from(n) / 4, 800 + i64::from(n) / 20, 64))
        .collect();
    let execution = trace.execution();
    for view in super::VIEWS {
        let info = view.info();
        for mode in info.modes {
            let chart = chart(&execution, info.name, &request(*mode, 700, 1_000, &[]));
            let sizes = match &chart.panels[0].panel {
                ChartPanel::Bars(bars) => bars.bars.len(),
                ChartPanel::Matrix(matrix) => matrix.rows.len(),
                ChartPanel::Network(network) => network.nodes.len(),
                _ => 0,
            };
            assert!(sizes <= 256, "{}: {sizes}", info.name);
            if sizes > 1 {
                assert!(chart.notes.iter().any(|note| note.contains("adjacent")), "{}: {:?}", info.name, chart.notes);
            }
        }
    }
    // Loads between nodes of a line are the loads of the links at their limits.
    for topology in ["mesh1", "torus1", "mesh2", "torus2:50x60", "quad-tree"] {
        chart(&execution, "network", &request(TimeMode::Range, 700, 1_000, &[("topology", topology)]));
    }
    let line = chart(
        &execution,
        "network",
        &request(TimeMode::Range, 0, 1_000, &[("topology", "mesh1"), ("measure", "messages")]),
    );
    // 3,000 units in nodes of 32: the first node ends after unit 31. The first row is the link from
    // it.
    let crossing = trace.between_units().filter(|message| message.from < 32 && message.to >= 32).count() as f64;
    assert_eq!(numbers(&line.table, "messages")[0], Some(crossing));
    assert_eq!(range(0, 1).to.0, 1);
}
