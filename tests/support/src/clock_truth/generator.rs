//! Writes the run with these parameters.

use std::path::Path;

use tracer_format::entries::{ClockAnchor, SyncSample};

use super::halo;
use super::random::SplitMix;
use super::run_parameters::{BurstSchedule, ClockRunParameters, START, SampleFault};
use super::simulated_clock::SimulatedClock;
use crate::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, peer};

const SPEC: &str = r#"
trace truth;
level COM {
    event send { rank_: u32, key: u64, truth: i64 }
    event receive { rank_: u32, key: u64, truth: i64, moment: date }
    event passing { rank_: u32, truth: i64 }
}
paje {
    container program "Program" {
        container process[rank_: u32] "Rank {rank_}" { event moment }
        link message "Message" from process to process
    }
}
rule send -> start message key (key) from process[rank_] with { truth };
rule receive -> end message key (key) to process[rank_] AT with { truth };
rule passing -> mark moment = "passing" on process[rank_] with { truth };
"#;

/// Numbers of the events in [`SPEC`].
const SEND: u16 = 0;
const RECEIVE: u16 = 1;
const PASSING: u16 = 2;

/// A record of one endpoint of a link, or of a point event.
#[derive(Clone, Copy)]
struct LinkEvent {
    /// The time at which it is recorded.
    recorded: f64,
    /// The time of a perfect clock at which it happens, in seconds.
    true_time: f64,
    /// Number of the event in the spec.
    kind: u16,
    /// Key of the link.
    key: u64,
}

/// The network and the clocks.
struct RunGenerator<'s> {
    parameters: &'s ClockRunParameters,
    clocks: Vec<SimulatedClock>,
    /// Smallest latency from node to node.
    base: Vec<Vec<f64>>,
    /// Additional latency of messages.
    slow: Vec<Vec<f64>>,
    random: SplitMix,
}

impl<'s> RunGenerator<'s> {
    fn new(parameters: &'s ClockRunParameters) -> Self {
        let mut random = SplitMix(parameters.seed);
        let clocks = (0..parameters.nodes).map(|node| SimulatedClock::new(parameters, node, &mut random)).collect();
        let mut base = vec![vec![300.0; parameters.nodes]; parameters.nodes];
        let pairs = (0..parameters.nodes).flat_map(|a| (0..a).map(move |b| (a, b)));
        for (a, b) in pairs {
            let latency = 1000.0 + 4000.0 * random.unit();
            base[a][b] = latency * (1.0 + 0.05 * random.signed());
            base[b][a] = latency * (1.0 + 0.05 * random.signed());
        }
        let mut slow = vec![vec![0.0; parameters.nodes]; parameters.nodes];
        if parameters.slow > 0.0 {
            slow.iter_mut().flatten().for_each(|slow| *slow = parameters.slow * random.unit());
        }
        Self { parameters, clocks, base, slow, random }
    }

    fn ticks(&self, node: usize, truth: f64) -> u64 {
        self.counted(self.clocks[node].shows(truth))
    }

    /// The ticks of a process's clock at a true time.
    fn process_ticks(&self, rank: usize, truth: f64) -> u64 {
        let more = if rank % 2 == 1 { self.parameters.disagree_nanos } else { 0.0 };
        self.counted(self.clocks[rank / self.parameters.per_node].shows(truth) + more)
    }

    /// Converts nanoseconds of a clock to ticks.
    fn counted(&self, nanos: f64) -> u64 {
        let quantum = self.parameters.quantum;
        let nanos = if quantum > 0.0 { (nanos / quantum).floor() * quantum } else { nanos };
        (nanos * self.parameters.hz * 1e-9).floor() as u64
    }

    /// The smallest latency, some noise, and a long wait in one of ten cases.
    fn latency(&mut self, from: usize, to: usize) -> f64 {
        let tail = if self.random.unit() < 0.1 { (2000.0 / self.random.unit()).min(1e6) } else { 0.0 };
        self.base[from][to] + 300.0 * self.random.exponential() + tail
    }

    /// A partner of a process, on the same node or a power of two away.
    fn partner(&mut self, from: usize) -> usize {
        let ClockRunParameters { nodes, per_node, one_way, open, split, .. } = *self.parameters;
        let processes = nodes * per_node;
        if one_way && open && from + per_node >= processes {
            return from - from % per_node + (from + 1) % per_node;
        }
        if one_way {
            return (from + per_node) % processes;
        }
        let (first, last) = match (split, from < processes / 2) {
            (false, _) => (0, processes),
            (true, true) => (0, processes / 2),
            (true, false) => (processes / 2, processes),
        };
        let size = last - first;
        let distance = 1usize << self.random.below(size.ilog2().max(1) as usize);
        let distance = if self.random.bits() & 1 == 0 { distance } else { size - distance % size };
        first + (from - first + distance) % size
    }

    /// A burst: in round k node i exchanges ten messages with node i XOR 2^k.
    fn burst(&mut self, number: u32, true_time: f64, files: &mut [SyntheticFile]) {
        let &ClockRunParameters { nodes, per_node, bursts: schedule, sample_fault, .. } = self.parameters;
        let mut round_start = true_time;
        let mut bit = 1;
        while bit < nodes {
            for a in (0..nodes).filter(|a| a & bit == 0 && a + bit < nodes) {
                let b = a + bit;
                let mut now = round_start;
                let mut samples = Vec::new();
                for exchange in 0..10 {
                    let t2 = now + self.latency(a, b);
                    let t3 = t2 + 200.0;
                    let is_third =
                        matches!(schedule, BurstSchedule::Many(bursts) if (bursts..2 * bursts).contains(&(3 * number)));
                    let is_last = matches!(schedule, BurstSchedule::Many(bursts) if number + 1 == bursts);
                    let late = match sample_fault.filter(|_| b == 1) {
                        Some(SampleFault::Slow(nanos)) if is_third => f64::from(nanos),
                        Some(SampleFault::SlowFirst(nanos)) if number == 0 => f64::from(nanos),
                        Some(SampleFault::SlowLast(nanos)) if is_last => f64::from(nanos),
                        _ => 0.0,
                    };
                    let t4 = t3 + self.latency(b, a) + late;
                    let is_late = matches!(schedule, BurstSchedule::Many(bursts) if 2 * number >= bursts);
                    let is_middle = matches!(schedule, BurstSchedule::Many(bursts) if number == bursts / 2);
                    let answer = |truth| {
                        let shifted = |ticks| self.ticks(b, truth).saturating_add_signed(ticks);
                        match sample_fault.filter(|_| b == 1) {
                            Some(SampleFault::Always(ticks)) => ticks,
                            Some(SampleFault::Later(ticks)) => shifted(ticks),
                            Some(SampleFault::Once(ticks)) if is_middle => shifted(ticks),
                            Some(SampleFault::First(ticks)) if number == 0 => shifted(ticks),
                            Some(SampleFault::Last(ticks)) if is_last => shifted(ticks),
                            Some(SampleFault::Late(ticks)) if is_late => shifted(ticks),
                            Some(SampleFault::Middle(ticks)) if is_third => shifted(ticks),
                            Some(SampleFault::EveryThird(ticks)) if exchange % 3 == 1 => shifted(ticks),
                            None | Some(_) => self.ticks(b, truth),
                        }
                    };
                    samples.push(SyncSample {
                        burst: number,
                        exchange,
                        peer: peer(100 + (b * per_node) as u64),
                        t1: self.ticks(a, now),
                        t2: answer(t2),
                        t3: answer(t3),
                        t4: match sample_fault {
                            Some(SampleFault::Before(ticks)) => self.ticks(a, now).saturating_sub(ticks),
                            _ => self.ticks(a, t4),
                        },
                    });
                    now = t4 + 100.0;
                }
                files[a * per_node].sync(&samples);
            }
            round_start += 2e6;
            bit *= 2;
        }
    }

    /// By process: its records of links.
    fn links(&mut self) -> Vec<Vec<LinkEvent>> {
        let parameters = self.parameters;
        let processes = parameters.nodes * parameters.per_node;
        let mut events: Vec<Vec<LinkEvent>> = vec![Vec::new(); processes];
        if let Some(imbalance) = parameters.halo {
            return self.halo(imbalance);
        }
        for key in 0..parameters.links as u64 {
            let place = (key as f64 + self.random.unit()) / parameters.links as f64;
            let place = parameters.message_range.0 + (parameters.message_range.1 - parameters.message_range.0) * place;
            let sent = START + place * parameters.seconds * 1e9;
            let from = self.random.below(processes);
            let to = self.partner(from);
            let (mute, node) = (parameters.mute, |process: usize| process / parameters.per_node);
            let (from, to) = if mute && node(from) == 1 && node(to) != 1 { (from, 0) } else { (from, to) };
            if mute && node(to) == 1 && node(from) != 1 {
                continue;
            }
            let last = parameters.nodes - 1;
            let is_late = from / parameters.per_node == last || to / parameters.per_node == last;
            if parameters.late && is_late && sent < START + parameters.seconds * 0.5e9 {
                continue;
            }
            let (from_node, to_node) = (from / parameters.per_node, to / parameters.per_node);
            let queued = if from_node == to_node { 0.0 } else { parameters.draining * (1.0 - place) };
            let received = sent + queued + self.slow[from_node][to_node] + self.latency(from_node, to_node);
            events[from].push(LinkEvent { recorded: sent, true_time: sent, kind: SEND, key });
            let recorded = received + parameters.record_delay * self.random.unit();
            events[to].push(LinkEvent { recorded, true_time: received, kind: RECEIVE, key });
        }
        events
    }

    /// As [`Self::links`], for a bulk-synchronous program.
    fn halo(&mut self, imbalance: f64) -> Vec<Vec<LinkEvent>> {
        let parameters = self.parameters;
        let mut events = vec![Vec::new(); parameters.nodes * parameters.per_node];
        let mut loads = SplitMix(self.random.bits());
        let messages = halo::messages(parameters, imbalance, &mut loads, |from, to| {
            self.latency(from / parameters.per_node, to / parameters.per_node)
        });
        for (key, message) in messages.into_iter().enumerate() {
            let key = key as u64;
            events[message.from].push(LinkEvent { recorded: message.sent, true_time: message.sent, kind: SEND, key });
            let received = message.received;
            events[message.to].push(LinkEvent { recorded: received, true_time: received, kind: RECEIVE, key });
        }
        events
    }

    /// Writes the records of a process to its file. See [`Self::links`].
    fn filled(&self, rank: usize, mut file: SyntheticFile, mut events: Vec<LinkEvent>) -> SyntheticFile {
        events.sort_by(|a, b| a.recorded.total_cmp(&b.recorded).then(a.key.cmp(&b.key)));
        let mut last = 0;
        for (sequence, chunk) in events.chunks(2000).enumerate() {
            let mut block = SyntheticRecords::default();
            for &LinkEvent { recorded, true_time, kind, key } in chunk {
                let mut body = u32::try_from(rank).unwrap().to_le_bytes().to_vec();
                if kind != PASSING {
                    body.extend(key.to_le_bytes());
                }
                // The time of the reference clock.
                let clock_time = self.clocks[0].shows(true_time) - self.clocks[0].offset;
                body.extend((clock_time.round() as i64).to_le_bytes());
                if kind == RECEIVE {
                    body.extend(self.process_ticks(rank, true_time).to_le_bytes());
                }
                // If a clock goes back, recorders repeat the last timestamp.
                last = self.process_ticks(rank, recorded).max(last);
                block.record(kind, last, &body);
            }
            file.records(0, sequence as u64, &block);
        }
        file.end();
        file
    }
}

/// Writes the run with these parameters. The same parameters give the same bytes.
pub fn write(parameters: &ClockRunParameters, folder: &Path) {
    let (spec, diagnostics) = tumit::compile_text(
        "truth.tumit",
        &SPEC.replace("AT", if parameters.record_delay > 0.0 { "at moment" } else { "" }),
    );
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    let mut world = RunGenerator::new(parameters);
    let processes = parameters.nodes * parameters.per_node;
    let mut files: Vec<SyntheticFile> = Vec::new();
    for rank in 0..processes {
        let node = rank / parameters.per_node;
        let domain = format!("node {node}");
        let mut file = SyntheticFile::new(
            &SyntheticProcess { hz: parameters.hz as u64, domain, ..SyntheticProcess::rank(rank as u64) },
            &schema,
        );
        file.thread(0, 1, "main");
        // The real-time clock is set by hand. Its error is several milliseconds.
        let wrong = 5e6 * world.random.signed();
        file.anchor(ClockAnchor {
            ticks: world.ticks(node, START - 2e7),
            monotonic_nanos: (START - 2e7) as u64,
            real_nanos: 1_700_000_000_000_000_000 + (START - 2e7 + wrong) as u64,
            ..ClockAnchor::default()
        });
        if parameters.readings {
            for second in 0..(parameters.seconds as u64 + 2) {
                let truth = START + second as f64 * 1e9;
                let set = if parameters.real_time { world.clocks[node].stepped(truth) } else { 0.0 };
                let real_nanos = 1_700_000_000_000_000_000 + (truth + wrong + set) as u64;
                let ticks = world.ticks(node, truth);
                file.anchor(ClockAnchor { ticks, monotonic_nanos: truth as u64, real_nanos, bracket: 100 });
            }
        }
        files.push(file);
    }
    let end = START + parameters.seconds * 1e9;
    let bursts = match parameters.bursts {
        BurstSchedule::None => 0,
        BurstSchedule::First => 1,
        BurstSchedule::Both => 2,
        BurstSchedule::Many(bursts) => bursts,
    };
    for burst in 0..bursts {
        let place = if burst == 0 { 0.0 } else { f64::from(burst) / f64::from(bursts - 1) };
        let (first, last) = (START - 1e7, end + 2e7);
        world.burst(burst, first + (last - first) * place, &mut files);
    }
    let mut events = world.links();
    for (rank, own) in events.iter_mut().enumerate() {
        for moment in 0..parameters.moments {
            let true_time = START + parameters.seconds * 1e9 * (moment as f64 + 0.5) / parameters.moments as f64;
            own.push(LinkEvent { recorded: true_time, true_time, kind: PASSING, key: rank as u64 });
        }
    }
    for (rank, (file, events)) in files.into_iter().zip(events).enumerate() {
        world.filled(rank, file, events).save(folder, &format!("{rank:03}.tmt"));
    }
}
