//! Executions whose critical path, waits and efficiencies are known: ring, pipeline, master and
//! workers, and a barrier.

use std::fmt::Write as _;
use std::sync::Arc;

use tumit_perspectives::analysis::collectives::CollectiveSet;
use tumit_perspectives::analysis::critical_path::{CriticalPath, PathSegment};
use tumit_perspectives::analysis::efficiency::Efficiency;
use tumit_perspectives::analysis::wait_states::{WaitKind, wait_states};
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::store::TraceStore;

/// A state of a unit: start, end, value.
type StateSpec = (u32, u32, &'static str);
/// A message: sender, timestamp of the send, receiver, timestamp of the receive.
type MessageSpec = (usize, u32, usize, u32);

/// Makes an execution. Timestamps are seconds.
fn execution(units: &[Vec<StateSpec>], messages: &[MessageSpec]) -> Execution {
    execution_with_links(units, messages, "m")
}

/// Makes an execution whose links have a value: `m`, or `put`, which is ignored.
fn execution_with_links(units: &[Vec<StateSpec>], messages: &[MessageSpec], value: &str) -> Execution {
    let mut lines: Vec<(u32, u32, String)> = Vec::new();
    let end = units.iter().flatten().map(|state| state.1).max().unwrap_or(0);
    for (unit, states) in units.iter().enumerate() {
        lines.push((0, 0, format!("6 0 u{unit} 0 R rank{unit}")));
        for (from, to, value) in states {
            lines.push((*from, 2, format!("12 {from} u{unit} S {value}")));
            // A state without duration ends after its begin.
            let order = if from == to { 2 } else { 1 };
            lines.push((*to, order, format!("13 {to} u{unit} S")));
        }
        lines.push((end, 4, format!("7 {end} R u{unit}")));
    }
    for (key, (from, sent, to, received)) in messages.iter().enumerate() {
        lines.push((*sent, 3, format!("15 {sent} 0 L u{from} {value} {key}")));
        lines.push((*received, 3, format!("16 {received} 0 L u{to} {value} {key}")));
    }
    lines.sort_by_key(|line| (line.0, line.1));
    let mut text = include_str!("../../tests/header.paje").to_owned();
    text.push_str("0 R 0 Rank\n2 S R Activity\n4 L 0 R R Message\n");
    for value in ["compute", "send", "recv", "barrier", "isend", "sendrecv", "MPI_Finalize"] {
        _ = writeln!(text, "5 {value} S {value} \"0 1 0\"");
    }
    text.push_str("5 waits S \"waits for mutex\" \"1 0 0\"\n5 holds S \"holds mutex\" \"0 1 1\"\n");
    text.push_str("5 m L m \"0 0 1\"\n");
    text.push_str("%EventDef PajeDefineEntityValue 41\n% Alias string\n% Type string\n% Name string\n");
    text.push_str("% Category string\n%EndEventDef\n41 put L put ignored\n");
    lines.iter().for_each(|line| _ = writeln!(text, "{}", line.2));
    let store = TraceStore::from_paje("model", text.as_bytes()).expect("a valid model");
    Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a valid model")
}

const SECOND: i64 = 1_000_000_000;

/// The units and times of the path's parts, in seconds. Messages have no unit.
fn path(execution: &Execution) -> Vec<(Option<u32>, i64, i64)> {
    let collectives = CollectiveSet::new(execution).expect("a valid model");
    let path = CriticalPath::new(execution, &collectives, execution.extent()).expect("a valid model");
    let part = |segment: &PathSegment| match *segment {
        PathSegment::Unit { unit, from, to } => Some((Some(unit), from / SECOND, to / SECOND)),
        PathSegment::Message { from, to, .. } => Some((None, from / SECOND, to / SECOND)),
        PathSegment::Receiver { .. } | PathSegment::Collective { .. } | PathSegment::Lock { .. } => None,
    };
    path.segments.iter().filter_map(part).collect()
}

/// The parts of the path in units: unit, start and end in seconds. Adjacent parts are one.
fn path_in_units(execution: &Execution) -> Vec<(u32, i64, i64)> {
    let mut parts: Vec<(u32, i64, i64)> = Vec::new();
    for (unit, from, to) in path(execution) {
        let Some(unit) = unit else { continue };
        match parts.last_mut().filter(|last| last.0 == unit && last.2 == from) {
            Some(last) => last.2 = to,
            None => parts.push((unit, from, to)),
        }
    }
    parts
}

/// Kind, waiting unit, start, end and causing unit of all waits, in seconds.
fn waits(execution: &Execution) -> Vec<(WaitKind, u32, i64, i64, Option<u32>)> {
    let collectives = CollectiveSet::new(execution).expect("a valid model");
    let waits = wait_states(execution, &collectives, execution.extent()).expect("a valid model");
    waits.iter().map(|wait| (wait.kind, wait.unit, wait.from / SECOND, wait.to / SECOND, wait.cause)).collect()
}

fn efficiency(execution: &Execution) -> Efficiency {
    Efficiency::new(execution, execution.extent(), None).expect("a valid model").expect("a valid model")
}

/// Each unit computes for 10 s after it receives, and passes the message on: the path visits all.
#[test]
fn the_path_of_a_pipeline_visits_each_unit() {
    let pipeline = execution(
        &[
            vec![(0, 10, "compute"), (10, 11, "send"), (11, 36, "recv")],
            vec![(0, 12, "recv"), (12, 22, "compute"), (22, 23, "send"), (23, 36, "recv")],
            vec![(0, 24, "recv"), (24, 34, "compute"), (34, 36, "send")],
        ],
        &[(0, 10, 1, 12), (1, 22, 2, 24)],
    );
    let expected = [(Some(0), 0, 10), (None, 10, 12), (Some(1), 12, 22), (None, 22, 24), (Some(2), 24, 36)];
    assert_eq!(path(&pipeline), expected);
    let late = |unit, to, cause| (WaitKind::LateSender, unit, 0, to, Some(cause));
    assert_eq!(waits(&pipeline), [late(1, 10, 0), late(2, 22, 1)]);
    let Efficiency { parallel, load_balance, communication, .. } = efficiency(&pipeline);
    assert!((parallel - 10.0 / 36.0).abs() < 1e-12, "{parallel}");
    assert!((load_balance - 1.0).abs() < 1e-12 && (communication - 10.0 / 36.0).abs() < 1e-12);
}

/// The other units wait in `MPI_Finalize` for the one that enters it last.
#[test]
fn the_path_continues_at_the_last_unit_that_ends_mpi() {
    let last = |from| vec![(0, from, "compute"), (from, 20, "MPI_Finalize")];
    let model = execution(&[[last(5), vec![(20, 21, "compute")]].concat(), last(15), last(3)], &[]);
    assert_eq!(path(&model), [(Some(1), 0, 15), (Some(0), 15, 21)]);
    let waits_of = |unit, from| (WaitKind::Collective, unit, from, 15, Some(1));
    assert_eq!(waits(&model), [waits_of(2, 3), waits_of(0, 5)]);
    // A library that does not wait.
    let early = execution(&[vec![(0, 5, "compute"), (5, 6, "MPI_Finalize")], last(15)], &[]);
    assert!(waits(&early).is_empty() && path(&early) == [(Some(1), 0, 20)]);
    let collectives = CollectiveSet::new(&early).expect("a valid model");
    assert!(collectives.list.is_empty() && collectives.unmatched_values.is_empty());
}

/// A call that only starts a send does not wait for the receiver.
#[test]
fn a_nonblocking_send_has_no_late_receiver() {
    let receiver = || vec![(0, 12, "compute"), (12, 14, "recv"), (14, 30, "compute")];
    let sender = |call| vec![(0, 10, "compute"), (10, 13, call), (13, 30, "compute")];
    let messages = [(0, 10, 1, 14)];
    let late = (WaitKind::LateReceiver, 0, 10, 12, Some(1));
    assert_eq!(waits(&execution(&[sender("send"), receiver()], &messages)), [late]);
    assert!(waits(&execution(&[sender("isend"), receiver()], &messages)).is_empty());
}

/// Two processes with two workers each. The links connect the processes.
#[test]
fn the_path_of_a_unit_with_several_workers_has_the_state_of_the_busy_one() {
    let body = "0 P 0 Process\n0 W P Worker\n2 S W State\n4 L 0 P P Message\n5 gemm S gemm \"0 1 0\"\n\
                5 sleep S Sleeping \"1 0 0\"\n5 m L m \"0 0 1\"\n6 0 p0 0 P proc0\n6 0 p1 0 P proc1\n\
                6 0 a p0 W a\n6 0 b p0 W b\n6 0 c p1 W c\n6 0 d p1 W d\n\
                11 0 a S sleep\n11 0 b S gemm\n11 0 c S sleep\n11 0 d S gemm\n15 2 0 L p0 m k\n11 3 c S gemm\n11 3 d S sleep\n\
                16 4 0 L p1 m k\n11 5 a S gemm\n11 6 b S sleep\n7 7 W c\n7 7 W d\n7 9 W a\n7 9 W b\n7 9 P p0\n7 9 P p1\n";
    let text = [include_str!("../../tests/header.paje"), body].concat();
    let store = TraceStore::from_paje("model", text.as_bytes()).expect("a valid model");
    let model = Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a valid model");
    assert_eq!(model.units().count(), 2);
    assert!(waits(&model).iter().all(|wait| wait.0 != WaitKind::LateReceiver), "no worker sends");
    let collectives = CollectiveSet::new(&model).expect("a valid model");
    let path = CriticalPath::new(&model, &collectives, model.extent()).expect("a valid model");
    let times = path.times(&model).expect("a valid model");
    let named = |(value, nanos): (&Option<tumit_viewer::query::ValueId>, &i64)| {
        let name = value.map_or("", |value| model.model().values[value.index()].name.as_str()).to_owned();
        (name, nanos / SECOND)
    };
    let by_value: Vec<(String, i64)> = times.by_value.iter().map(named).collect();
    assert_eq!(by_value, [("gemm".to_owned(), 9)], "{path:?}");
    assert_eq!(times.by_category, [9 * SECOND, 0, 0]);
}

/// A unit writes to the memory of another one, which is in a receive at that time.
#[test]
fn units_do_not_wait_for_links_of_ignored_values() {
    let states = [vec![(0, 10, "compute"), (10, 12, "send")], vec![(0, 12, "recv")]];
    let links = [(0, 10, 1, 12)];
    assert_eq!(waits(&execution(&states, &links)), [(WaitKind::LateSender, 1, 0, 10, Some(0))]);
    let transfer = execution_with_links(&states, &links, "put");
    assert_eq!(waits(&transfer), []);
    assert!(path(&transfer).iter().all(|segment| segment.0.is_some()), "{:?}", path(&transfer));
}

/// A message that arrives before its receive begins does not change the path.
#[test]
fn a_message_that_waits_for_its_receiver_is_not_on_the_path() {
    let early = execution(
        &[vec![(0, 2, "compute"), (2, 3, "send")], vec![(0, 10, "compute"), (10, 11, "recv"), (11, 20, "compute")]],
        &[(0, 2, 1, 11)],
    );
    assert_eq!(path(&early), [(Some(1), 0, 20)]);
    assert_eq!(waits(&early), []);
}

/// The master distributes work; the slowest worker determines the end.
#[test]
fn the_path_of_a_master_and_workers_passes_the_slowest_worker() {
    let farm = execution(
        &[
            vec![(0, 5, "compute"), (5, 7, "send"), (7, 30, "recv"), (30, 32, "compute")],
            vec![(0, 6, "recv"), (6, 16, "compute"), (16, 17, "send")],
            vec![(0, 7, "recv"), (7, 28, "compute"), (28, 29, "send")],
        ],
        &[(0, 5, 1, 6), (0, 6, 2, 7), (1, 16, 0, 18), (2, 28, 0, 30)],
    );
    let expected = [(Some(0), 0, 6), (None, 6, 7), (Some(2), 7, 28), (None, 28, 30), (Some(0), 30, 32)];
    assert_eq!(path(&farm), expected);
    let late = |unit, from, to, cause| (WaitKind::LateSender, unit, from, to, Some(cause));
    assert_eq!(waits(&farm), [late(1, 0, 5, 0), late(2, 0, 6, 0), late(0, 7, 28, 2)]);
    let farm = efficiency(&farm);
    assert!((farm.load_balance - (7.0 + 10.0 + 21.0) / 3.0 / 21.0).abs() < 1e-12);
    assert_eq!(farm.busiest, 2);
}

/// Each unit waits for its neighbour: the path goes round the ring.
#[test]
fn the_path_of_a_ring_goes_round() {
    let ring = execution(
        &[
            vec![(0, 4, "compute"), (4, 5, "send"), (5, 21, "recv"), (21, 25, "compute")],
            vec![(0, 6, "recv"), (6, 12, "compute"), (12, 13, "send")],
            vec![(0, 14, "recv"), (14, 19, "compute"), (19, 20, "send")],
        ],
        &[(0, 4, 1, 6), (1, 12, 2, 14), (2, 19, 0, 21)],
    );
    let units: Vec<u32> = path(&ring).into_iter().filter_map(|part| part.0).collect();
    assert_eq!(units, [0, 1, 2, 0]);
    let length: i64 = path(&ring).iter().map(|part| part.2 - part.1).sum();
    assert_eq!(length, 25);
}

/// All units wait for the last one to enter the barrier.
#[test]
fn the_path_of_a_barrier_passes_the_last_unit() {
    let barrier = execution(
        &[
            vec![(0, 3, "compute"), (3, 11, "barrier"), (11, 20, "compute")],
            vec![(0, 10, "compute"), (10, 11, "barrier"), (11, 15, "compute")],
        ],
        &[],
    );
    assert_eq!(path(&barrier), [(Some(1), 0, 10), (Some(0), 10, 20)]);
    assert_eq!(waits(&barrier), [(WaitKind::Collective, 0, 3, 10, Some(1))]);
}

/// A sender that must wait for the receive.
#[test]
fn a_late_receiver_is_found() {
    let rendezvous =
        execution(&[vec![(0, 2, "compute"), (2, 9, "send")], vec![(0, 8, "compute"), (8, 9, "recv")]], &[(0, 2, 1, 9)]);
    assert_eq!(waits(&rendezvous), [(WaitKind::LateReceiver, 0, 2, 8, Some(1))]);
}

/// A unit that sends and receives in one call waits for both partners, but each time counts once.
#[test]
fn a_call_that_sends_and_receives_waits_once() {
    let late = vec![(0, 8, "compute"), (8, 9, "sendrecv")];
    let pair = execution(&[vec![(0, 2, "compute"), (2, 9, "sendrecv")], late.clone()], &[(0, 2, 1, 9), (1, 8, 0, 9)]);
    assert_eq!(waits(&pair), [(WaitKind::LateSender, 0, 2, 8, Some(1))]);
    // The partner that receives is later than the one that sends.
    let later = vec![(0, 6, "compute"), (6, 12, "recv")];
    let early = vec![(0, 4, "compute"), (4, 5, "send")];
    let chain =
        execution(&[vec![(0, 2, "compute"), (2, 12, "sendrecv")], early, later], &[(0, 2, 2, 12), (1, 4, 0, 12)]);
    let expected = [(WaitKind::LateSender, 0, 2, 4, Some(1)), (WaitKind::LateReceiver, 0, 4, 6, Some(2))];
    assert_eq!(waits(&chain), expected);
}

/// The second thread waits until the first one releases the lock.
#[test]
fn the_path_continues_in_the_holder_of_a_lock() {
    let threads = execution(
        &[
            vec![(0, 2, "compute"), (2, 10, "holds"), (10, 12, "compute")],
            vec![(0, 3, "compute"), (3, 10, "waits"), (10, 20, "holds"), (20, 25, "compute")],
        ],
        &[],
    );
    assert_eq!(path(&threads), [(Some(0), 0, 10), (Some(1), 10, 25)]);
    assert_eq!(waits(&threads), [(WaitKind::Lock, 1, 3, 10, Some(0))]);
}

/// The last holder before the end of a wait is on the path, not the one that held the lock longest.
#[test]
fn the_path_passes_a_chain_of_holders() {
    let chain = execution(
        &[
            vec![(0, 14, "holds"), (14, 15, "compute")],
            vec![(0, 1, "compute"), (1, 14, "waits"), (14, 20, "holds"), (20, 22, "compute")],
            // The thread wakes a second after the release.
            vec![(0, 2, "compute"), (2, 21, "waits"), (21, 30, "holds"), (30, 33, "compute")],
        ],
        &[],
    );
    assert_eq!(path(&chain), [(Some(0), 0, 14), (Some(1), 14, 20), (Some(2), 20, 33)]);
    assert_eq!(waits(&chain), [(WaitKind::Lock, 1, 1, 14, Some(0)), (WaitKind::Lock, 2, 2, 21, Some(0))]);
}

/// A lock that is released and acquired at the time at which the next wait ends.
#[test]
fn a_path_ends_although_locks_change_their_holders_at_one_time() {
    let at_once = execution(
        &[
            vec![(0, 10, "holds"), (10, 20, "waits"), (20, 21, "holds"), (21, 23, "compute")],
            vec![(0, 10, "waits"), (10, 20, "holds"), (20, 21, "compute")],
        ],
        &[],
    );
    assert_eq!(path(&at_once), [(Some(0), 0, 10), (Some(1), 10, 20), (Some(0), 20, 23)]);
}

/// The states of a lock name its owners, and a wait refers to the lock.
#[test]
fn the_states_of_a_lock_show_its_last_owner() {
    let text = format!(
        "{}%EventDef PajePushState 41\n% Time date\n% Container string\n% Type string\n% Value string\n\
         % WaitsForContainer string\n%EndEventDef\n%EventDef PajeSetState 42\n% Time date\n% Container string\n\
         % Type string\n% Value string\n% OwnedByContainer string\n%EndEventDef\n\
         0 R 0 Rank\n0 X 0 Mutex\n2 S R Activity\n2 O X Ownership\n6 0 a 0 R a\n6 0 b 0 R b\n6 0 c 0 R c\n\
         6 0 x 0 X x\n11 0 a S compute\n11 0 b S compute\n11 0 c S compute\n42 0 x O Owned a\n\
         41 1 b S Stalled x\n41 2 c S Stalled x\n11 8 x O Free\n13 8 b S\n42 8 x O Owned b\n\
         11 13 x O Free\n42 14 x O Owned c\n13 14 c S\n7 16 R a\n7 16 R b\n7 20 R c\n7 20 X x\n",
        include_str!("../../tests/header.paje")
    );
    let store = TraceStore::from_paje("lock", text.as_bytes()).expect("a valid model");
    let threads = Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a valid model");
    assert_eq!(path(&threads), [(Some(0), 0, 8), (Some(1), 8, 13), (Some(2), 13, 20)]);
}

/// Messages without latency: the path passes the same units as with latency.
#[test]
fn the_path_follows_messages_that_take_no_time() {
    // Three stages, of which the second one is the slowest. They process three items.
    let pipeline = execution(
        &[
            vec![(0, 1, "compute"), (1, 2, "compute"), (2, 3, "compute")],
            vec![(0, 1, "recv"), (1, 3, "compute"), (3, 5, "compute"), (5, 7, "compute")],
            vec![
                (0, 3, "recv"),
                (3, 4, "compute"),
                (4, 5, "recv"),
                (5, 6, "compute"),
                (6, 7, "recv"),
                (7, 8, "compute"),
            ],
        ],
        &[(0, 1, 1, 1), (0, 2, 1, 3), (0, 3, 1, 5), (1, 3, 2, 3), (1, 5, 2, 5), (1, 7, 2, 7)],
    );
    assert_eq!(path_in_units(&pipeline), [(0, 0, 1), (1, 1, 7), (2, 7, 8)]);
    let late = |unit, from, to, cause| (WaitKind::LateSender, unit, from, to, Some(cause));
    assert_eq!(waits(&pipeline), [late(1, 0, 1, 0), late(2, 0, 3, 1), late(2, 4, 5, 1), late(2, 6, 7, 1)]);
    let ring = execution(
        &[
            vec![(0, 4, "compute"), (4, 15, "recv"), (15, 17, "compute")],
            vec![(0, 4, "recv"), (4, 10, "compute")],
            vec![(0, 10, "recv"), (10, 15, "compute")],
        ],
        &[(0, 4, 1, 4), (1, 10, 2, 10), (2, 15, 0, 15)],
    );
    assert_eq!(path_in_units(&ring), [(0, 0, 4), (1, 4, 10), (2, 10, 15), (0, 15, 17)]);
    // A unit forwards a message at the time at which it receives it.
    let chain = execution(
        &[vec![(0, 5, "compute")], vec![(0, 5, "recv")], vec![(0, 5, "recv"), (5, 8, "compute")]],
        &[(0, 5, 1, 5), (1, 5, 2, 5)],
    );
    assert_eq!(path_in_units(&chain), [(0, 0, 5), (2, 5, 8)]);
}

/// Two units exchange several messages at one time: the path ends, and continues before them.
#[test]
fn the_path_ends_although_messages_form_a_cycle() {
    let exchange = execution(
        &[vec![(0, 5, "compute")], vec![(0, 5, "recv"), (5, 9, "compute")], vec![(0, 5, "recv")]],
        &[(0, 5, 1, 5), (1, 5, 2, 5), (2, 5, 1, 5), (1, 5, 2, 5)],
    );
    assert_eq!(path_in_units(&exchange), [(0, 0, 5), (1, 5, 9)]);
}

/// The last unit leaves the barrier as it enters it.
#[test]
fn the_path_passes_the_last_unit_of_a_barrier_that_takes_no_time() {
    let barrier = execution(
        &[
            vec![(0, 2, "compute"), (2, 9, "barrier"), (9, 12, "compute")],
            vec![(0, 9, "compute"), (9, 9, "barrier"), (9, 10, "compute")],
            vec![(0, 4, "compute"), (4, 9, "barrier"), (9, 10, "compute")],
        ],
        &[],
    );
    assert_eq!(path_in_units(&barrier), [(1, 0, 9), (0, 9, 12)]);
    let wait = |unit, from| (WaitKind::Collective, unit, from, 9, Some(1));
    assert_eq!(waits(&barrier), [wait(0, 2), wait(2, 4)]);
}

/// A message is received before it is sent, because the clocks are wrong: it takes no time.
#[test]
fn a_message_of_negative_latency_takes_no_time() {
    let wrong = execution(
        &[vec![(0, 3, "compute"), (3, 5, "compute")], vec![(0, 2, "recv"), (2, 10, "compute")]],
        &[(0, 3, 1, 2)],
    );
    assert_eq!(path(&wrong), [(Some(0), 0, 2), (None, 2, 2), (Some(1), 2, 10)]);
}
