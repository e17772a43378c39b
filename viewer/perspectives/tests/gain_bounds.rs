//! The predicted gain is an upper bound: programs are simulated with and without shorter states.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use tumit_perspectives::analysis::collectives::CollectiveSet;
use tumit_perspectives::analysis::critical_path::{CriticalPath, PathSegment};
use tumit_perspectives::analysis::gain::{AssumedChange, GainModel};
use tumit_perspectives::analysis::path_shares::PathShares;
use tumit_perspectives::execution::{Execution, ExecutionSettings};
use tumit_viewer::store::TraceStore;

const SECOND: i64 = 1_000_000_000;

/// An operation of a unit. Durations are seconds, multiples of 100.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Compute(&'static str, i64),
    /// A send that ends before the message arrives.
    Send(usize),
    /// A send that waits for its receiver.
    SynchronousSend(usize),
    Receive(usize),
    Barrier,
    /// A state while the unit holds a lock. The holders of a lock have the order of their tickets.
    Locked {
        lock: usize,
        ticket: usize,
        value: &'static str,
        nanos: i64,
    },
}

/// The values of waits for locks, and of holds.
const LOCKS: [(&str, &str); 2] = [("wait for lock 0", "holds lock 0"), ("wait for lock 1", "holds lock 1")];

/// The durations of communication.
#[derive(Clone, Copy, Debug, Default)]
struct Network {
    send: i64,
    latency: i64,
    receive: i64,
    handshake: i64,
    transfer: i64,
    barrier: i64,
    /// From the release of a lock until the next unit wakes.
    wake: i64,
    /// The time of a hold after its inner state.
    release: i64,
}

/// A simulated execution.
#[derive(Debug, Default)]
struct Simulation {
    /// For each unit, the states: start, end, value.
    states: Vec<Vec<(i64, i64, &'static str)>>,
    /// Sender, timestamp of the send, receiver, timestamp of the receive.
    messages: Vec<(usize, i64, usize, i64)>,
}

#[derive(Clone, Copy)]
enum Pending {
    Sent { sent: i64, arrival: i64 },
    Waiting { sent: i64 },
}

struct Simulator<'a> {
    programs: &'a [Vec<Operation>],
    network: Network,
    receive_value: &'static str,
    /// The states that take less time, and the rest of their duration in percent.
    shorter: (&'static str, i64),
    result: Simulation,
    next: Vec<usize>,
    times: Vec<i64>,
    queues: BTreeMap<(usize, usize), VecDeque<Pending>>,
    /// For each lock, the tickets that are left, and the last release.
    locks: [(BTreeSet<usize>, i64); 2],
}

impl Simulator<'_> {
    fn nanos(&self, value: &str, nanos: i64) -> i64 {
        if value == self.shorter.0 { nanos * self.shorter.1 / 100 } else { nanos }
    }

    fn end_state(&mut self, unit: usize, value: &'static str, to: i64) {
        let from = self.times[unit];
        self.result.states[unit].push((from, to, value));
        self.times[unit] = to;
        self.next[unit] += 1;
    }

    /// Runs the next operation of a unit, if it can end.
    fn step(&mut self, unit: usize) -> bool {
        let Some(operation) = self.programs[unit].get(self.next[unit]).copied() else { return false };
        let time = self.times[unit];
        match operation {
            Operation::Compute(value, nanos) => {
                self.end_state(unit, value, time + self.nanos(value, nanos));
            }
            Operation::Send(to) => {
                let end = time + self.nanos("MPI_Send", self.network.send);
                let message = Pending::Sent { sent: time, arrival: end + self.network.latency };
                self.queues.entry((unit, to)).or_default().push_back(message);
                self.end_state(unit, "MPI_Send", end);
            }
            Operation::SynchronousSend(to) => {
                let queue = self.queues.entry((unit, to)).or_default();
                if !queue.iter().any(|pending| matches!(pending, Pending::Waiting { .. })) {
                    queue.push_back(Pending::Waiting { sent: time });
                    return true;
                }
                return false;
            }
            Operation::Receive(from) => {
                let Some(pending) = self.queues.entry((from, unit)).or_default().pop_front() else { return false };
                let receive = self.nanos(self.receive_value, self.network.receive);
                match pending {
                    Pending::Sent { sent, arrival } => {
                        let end = time.max(arrival) + receive;
                        self.result.messages.push((from, sent, unit, end));
                        self.end_state(unit, self.receive_value, end);
                    }
                    Pending::Waiting { sent } => {
                        let end = time.max(sent + self.network.handshake) + self.network.transfer;
                        self.result.messages.push((from, sent, unit, end + receive));
                        self.end_state(unit, self.receive_value, end + receive);
                        self.end_state(from, "MPI_Ssend", end);
                    }
                }
            }
            Operation::Barrier => {
                let is_waiting =
                    |unit: usize| matches!(self.programs[unit].get(self.next[unit]), Some(Operation::Barrier));
                if !(0..self.programs.len()).all(is_waiting) {
                    return false;
                }
                let end = self.times.iter().max().copied().unwrap_or(0) + self.network.barrier;
                (0..self.programs.len()).for_each(|unit| self.end_state(unit, "MPI_Barrier", end));
            }
            Operation::Locked { lock, ticket, value, nanos } => {
                return self.run_locked(unit, (lock, ticket), (value, nanos));
            }
        }
        true
    }

    /// Runs an activity with a lock, if it is the unit's turn.
    fn run_locked(&mut self, unit: usize, (lock, ticket): (usize, usize), (value, nanos): (&'static str, i64)) -> bool {
        let time = self.times[unit];
        let (tickets, released) = &mut self.locks[lock];
        if tickets.first() != Some(&ticket) {
            return false;
        }
        tickets.pop_first();
        let (released, (wait, hold)) = (*released, LOCKS[lock]);
        let acquired = if time < released { released + self.nanos(wait, self.network.wake) } else { time };
        let inner_end = acquired + self.nanos(value, nanos);
        let end = inner_end + self.nanos(hold, self.network.release);
        let states = &mut self.result.states[unit];
        states.extend([(time, acquired, wait), (acquired, end, hold), (acquired, inner_end, value)]);
        self.locks[lock].1 = end;
        self.times[unit] = end;
        self.next[unit] += 1;
        true
    }
}

fn simulate(
    programs: &[Vec<Operation>],
    network: Network,
    receive_value: &'static str,
    shorter: (&'static str, i64),
) -> Simulation {
    let units = programs.len();
    let result = Simulation { states: vec![Vec::new(); units], messages: Vec::new() };
    let (next, times, queues) = (vec![0; units], vec![0; units], BTreeMap::new());
    let mut locks = [(BTreeSet::new(), 0), (BTreeSet::new(), 0)];
    for operation in programs.iter().flatten() {
        if let Operation::Locked { lock, ticket, .. } = *operation {
            locks[lock].0.insert(ticket);
        }
    }
    let mut simulator = Simulator { programs, network, receive_value, shorter, result, next, times, queues, locks };
    while (0..units).any(|unit| simulator.step(unit)) {}
    for (unit, program) in programs.iter().enumerate() {
        assert_eq!(simulator.next[unit], program.len(), "the programs must not wait forever");
    }
    simulator.result
}

impl Simulation {
    fn end(&self) -> i64 {
        self.states.iter().flatten().map(|state| state.1).max().unwrap_or(0)
    }

    /// The trace of the simulation.
    fn execution(&self) -> Execution {
        let mut lines: Vec<(i64, u32, String)> = Vec::new();
        for (unit, states) in self.states.iter().enumerate() {
            lines.push((0, 0, format!("6 0 u{unit} 0 R rank{unit}")));
            for (from, to, value) in states.iter().filter(|state| state.0 < state.1) {
                let number = LOCKS.iter().position(|(wait, hold)| [wait, hold].contains(&value));
                let alias = match number {
                    Some(number) if *value == LOCKS[number].0 => format!("wait{number}"),
                    Some(number) => format!("hold{number}"),
                    None => (*value).to_owned(),
                };
                lines.push((*from, 2, format!("12 {from} u{unit} S {alias}")));
                lines.push((*to, 1, format!("13 {to} u{unit} S")));
            }
            lines.push((self.end(), 4, format!("7 {} R u{unit}", self.end())));
        }
        for (key, (from, sent, to, received)) in self.messages.iter().enumerate() {
            lines.push((*sent, 3, format!("15 {sent} 0 L u{from} m {key}")));
            lines.push((*received, 3, format!("16 {received} 0 L u{to} m {key}")));
        }
        lines.sort_by_key(|line| (line.0, line.1));
        let mut text = include_str!("../../tests/header.paje").to_owned();
        text.push_str("0 R 0 Rank\n2 S R Activity\n4 L 0 R R Message\n");
        for value in ["compute", "solve", "MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Wait", "MPI_Barrier"] {
            _ = writeln!(text, "5 {value} S {value} \"0 1 0\"");
        }
        for (number, (wait, hold)) in LOCKS.iter().enumerate() {
            _ = writeln!(text, "5 wait{number} S \"{wait}\" \"1 0 0\"\n5 hold{number} S \"{hold}\" \"1 1 0\"");
        }
        text.push_str("5 m L m \"0 0 1\"\n");
        lines.iter().for_each(|line| _ = writeln!(text, "{}", line.2));
        let store = TraceStore::from_paje("model", text.as_bytes()).expect("a valid model");
        Execution::new(Arc::new(store), ExecutionSettings::default()).expect("a valid model")
    }
}

/// The gain in seconds that the analysis predicts, and the gain if the waits of unknown cause keep
/// their duration.
fn predicted_bounds(execution: &Execution, value: &str, percent: f64) -> [f64; 2] {
    let collectives = CollectiveSet::new(execution).expect("a valid model");
    let path = CriticalPath::new(execution, &collectives, execution.extent()).expect("a valid model");
    let gains = GainModel::new(execution, &collectives, &path, execution.extent()).expect("a valid model");
    let values = execution.model().values.iter().filter(|info| info.name == value).map(|info| info.id).collect();
    let gain = gains.gains(&[AssumedChange { percent, values }]).expect("a valid model")[0];
    assert!(gain.with_fixed_waits <= gain.largest, "{gain:?}");
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let seconds = [gain.largest, gain.with_fixed_waits].map(|nanos| nanos as f64 / SECOND as f64);
    seconds
}

/// The largest gain in seconds that the analysis predicts.
fn predicted(execution: &Execution, value: &str, percent: f64) -> f64 {
    predicted_bounds(execution, value, percent)[0]
}

/// The receiver computes for 30 s. The sender waits for it from 10 s.
fn late_receiver() -> Simulation {
    let sender =
        vec![Operation::Compute("compute", 1000), Operation::SynchronousSend(1), Operation::Compute("compute", 900)];
    let receiver = vec![Operation::Compute("compute", 3000), Operation::Receive(0), Operation::Compute("compute", 900)];
    let network = Network { send: 100, latency: 100, receive: 0, handshake: 0, transfer: 100, ..Network::default() };
    simulate(&[sender, receiver], network, "MPI_Recv", ("", 100))
}

#[test]
fn the_path_goes_through_a_late_receiver() {
    let execution = late_receiver().execution();
    let collectives = CollectiveSet::new(&execution).expect("a valid model");
    let path = CriticalPath::new(&execution, &collectives, execution.extent()).expect("a valid model");
    let unit = |unit, from: i64, to: i64| PathSegment::Unit { unit, from: from * SECOND, to: to * SECOND };
    let [first, change, last] = path.segments[..] else { panic!("{path:?}") };
    assert_eq!((first, last), (unit(1, 0, 3000), unit(0, 3000, 4000)));
    assert!(matches!(change, PathSegment::Receiver { from_unit: 1, to_unit: 0, time, .. } if time == 3000 * SECOND));
    let times = path.times(&execution).expect("a valid model");
    // Without the wait, the send takes 100 s.
    assert_eq!(times.by_value.values().copied().max(), Some(3900 * SECOND));
    assert!((predicted(&execution, "compute", 10.0) - 390.0).abs() < 1e-6);
    assert!((predicted(&execution, "MPI_Ssend", 50.0) - 50.0).abs() < 1e-6);
}

/// The second unit needs the lock of the first one from 10 s.
#[test]
fn a_unit_that_waits_for_a_lock_gains_what_its_holder_gains() {
    let locked = |ticket, value, nanos| Operation::Locked { lock: 0, ticket, value, nanos };
    let programs = [
        vec![locked(0, "compute", 3000)],
        vec![Operation::Compute("solve", 1000), locked(1, "solve", 1000), Operation::Compute("compute", 500)],
    ];
    let execution = simulate(&programs, Network::default(), "MPI_Recv", ("", 100)).execution();
    // 3000 s of the holder and 500 s of the unit itself.
    assert!((predicted(&execution, "compute", 10.0) - 350.0).abs() < 1e-6);
    assert!((predicted(&execution, "solve", 10.0) - 100.0).abs() < 1e-6);
}

/// The message arrives while the receiver sends, so the end of the send determines the receive.
#[test]
fn a_receive_without_duration_may_depend_on_the_call_before_it() {
    let states =
        vec![vec![(0, 500, "solve"), (500, 600, "MPI_Send")], vec![(0, 1000, "MPI_Send"), (1000, 1100, "solve")]];
    let messages = vec![(0, 500, 1, 1000)];
    let execution = Simulation { states, messages }.execution();
    assert!(predicted(&execution, "MPI_Send", 10.0) >= 100.0);
    // A receive in a busy state is without duration, or its wait is not recorded.
    let states = vec![vec![(0, 1000, "solve")], vec![(0, 1100, "compute")]];
    let execution = Simulation { states, messages: vec![(0, 900, 1, 1000)] }.execution();
    assert!(predicted(&execution, "solve", 10.0) >= 90.0);
}

#[test]
fn a_gain_after_a_wait_of_unknown_cause_is_limited_by_the_time() {
    // The wait has no message.
    let states = vec![vec![(0, 100, "solve"), (100, 500, "MPI_Wait"), (500, 1000, "compute")]];
    let execution = Simulation { states, messages: Vec::new() }.execution();
    // The wait may become 10 % of the time until its end shorter.
    let [largest, with_fixed_waits] = predicted_bounds(&execution, "compute", 10.0);
    assert!((largest - 100.0).abs() < 1e-6 && (with_fixed_waits - 50.0).abs() < 1e-6, "{with_fixed_waits}");
    let [largest, with_fixed_waits] = predicted_bounds(&execution, "MPI_Wait", 10.0);
    assert!((largest - 50.0).abs() < 1e-6 && (with_fixed_waits - 40.0).abs() < 1e-6, "{with_fixed_waits}");
    // It may disappear.
    let states = vec![vec![(0, 900, "solve"), (900, 920, "MPI_Wait"), (920, 1000, "compute")]];
    let execution = Simulation { states, messages: Vec::new() }.execution();
    assert!((predicted(&execution, "compute", 10.0) - 28.0).abs() < 1e-6);
}

#[test]
fn the_table_of_the_path_has_its_parts() {
    let execution = late_receiver().execution();
    let shares = PathShares::of_range(&execution, execution.extent()).expect("a valid model");
    let table = shares.table();
    let text = tumit_perspectives::chart_text::csv(&table);
    let expected = "part,name,\"on the path, s\",\"share, %\",\"gain at most, if 10 % shorter, s\",\
                    \"gain with fixed waits, s\"\n\
                    path,,4000,100,,\nmessages,,0,0,,\nstate,compute,3900,97.5,390,390\n\
                    state,MPI_Ssend,100,2.5,10,10\nunit,rank1,3000,75,,\nunit,rank0,1000,25,,\n\
                    category,busy,3900,97.5,,\ncategory,overhead,100,2.5,,\n";
    assert_eq!(text, expected);
}

/// A round of all units.
#[derive(Clone, Debug)]
struct Round {
    kind: usize,
    computes: Vec<(bool, i64)>,
}

const UNITS: usize = 4;

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let computes = prop::collection::vec((any::<bool>(), 0_i64..20), UNITS);
    prop::collection::vec((0_usize..9, computes).prop_map(|(kind, computes)| Round { kind, computes }), 1..9)
}

/// The programs of the units: rings, pipelines, exchanges and barriers, with computations between
/// them.
fn programs(rounds: &[Round]) -> Vec<Vec<Operation>> {
    let mut programs = vec![Vec::new(); UNITS];
    for (number, Round { kind, computes }) in rounds.iter().enumerate() {
        for (unit, program) in programs.iter_mut().enumerate() {
            let (value, nanos) = computes[unit];
            program.push(Operation::Compute(if value { "compute" } else { "solve" }, nanos * 100));
            let (right, left) = ((unit + 1) % UNITS, (unit + UNITS - 1) % UNITS);
            let is_even = unit % 2 == 0;
            match kind {
                0 => program.extend([Operation::Send(right), Operation::Receive(left)]),
                1 if is_even => program.extend([Operation::SynchronousSend(right), Operation::Receive(left)]),
                1 => program.extend([Operation::Receive(left), Operation::SynchronousSend(right)]),
                2 | 3 => {
                    // A pipeline.
                    let send = if *kind == 2 { Operation::Send(right) } else { Operation::SynchronousSend(right) };
                    program.extend((unit > 0).then_some(Operation::Receive(left)));
                    program.extend((unit + 1 < UNITS).then_some(send));
                }
                4 if is_even => program.extend([Operation::SynchronousSend(right), Operation::Receive(right)]),
                4 => program.extend([Operation::Receive(left), Operation::SynchronousSend(left)]),
                5 => program.push(Operation::Barrier),
                6 | 7 => {
                    // One lock for all units, or one for each half of them.
                    let lock = if *kind == 6 { 0 } else { unit % 2 };
                    let ticket = number * UNITS + (unit + number) % UNITS;
                    let (value, nanos) = computes[right];
                    let value = if value { "compute" } else { "solve" };
                    program.push(Operation::Locked { lock, ticket, value, nanos: nanos * 100 });
                }
                _ => {
                    // The master collects from the workers.
                    if unit == 0 {
                        program.extend((1..UNITS).map(Operation::Receive));
                    } else {
                        program.push(Operation::Send(0));
                    }
                }
            }
        }
    }
    for (unit, program) in programs.iter_mut().enumerate() {
        let length = 100 + 100 * i64::try_from(unit).unwrap_or(0);
        program.push(Operation::Compute("compute", length));
    }
    programs
}

/// Messages and receives may take no time, but barriers do: without duration, they cannot be
/// distinguished from the wait before them.
fn network() -> impl Strategy<Value = Network> {
    (0_i64..4, 0_i64..6, 0_i64..4, 0_i64..3, 3_i64..6, 1_i64..4, 0_i64..3, 0_i64..3).prop_map(
        |(send, latency, receive, handshake, transfer, barrier, wake, release)| Network {
            send: send * 100,
            latency: latency * 100,
            receive: receive * 100,
            handshake: handshake * 100,
            transfer: transfer * 100,
            barrier: barrier * 100,
            wake: wake * 100,
            release: release * 100,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_simulated_gain_exceeds_the_prediction(rounds in rounds(), network in network(), waits in any::<bool>()) {
        let receive = if waits { "MPI_Wait" } else { "MPI_Recv" };
        let programs = programs(&rounds);
        let before = simulate(&programs, network, receive, ("", 100));
        let execution = before.execution();
        for value in ["compute", "solve", "MPI_Send", receive, "wait for lock 0", "holds lock 0"] {
            for percent in [10, 50, 100] {
                let after = simulate(&programs, network, receive, (value, 100 - percent));
                #[expect(clippy::cast_precision_loss, reason = "small numbers")]
                let (gain, end) = ((before.end() - after.end()) as f64, before.end() as f64);
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let predicted = predicted(&execution, value, percent as f64);
                prop_assert!(predicted >= gain - 1e-6, "{value} {percent} %: {predicted} < {gain}\n{before:#?}");
                #[expect(clippy::cast_precision_loss, reason = "a small number")]
                let limit = end * percent as f64 / 100.0;
                prop_assert!(predicted <= limit + 1e-6, "{value} {percent} %: {predicted} > {limit}");
            }
        }
    }
}
