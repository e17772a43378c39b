//! Runs with known true timestamps, and a judge of the timestamps of a conversion. It shares no
//! code with clock correction.
//!
//! Processes on nodes send messages. The clock of each node has an offset, a drift and a wandering
//! frequency. Each direction between two nodes has its own latency, and some messages are late.
//! Besides the time of its clock, a record contains the time of the *reference* clock (the clock of
//! the first node). Correction has to find this time.

#![allow(
    dead_code,
    unreachable_pub,
    missing_debug_implementations,
    reason = "part of each test, which uses some of it"
)]

use std::path::Path;

use tracer_format::entries::{ClockAnchor, SyncSample};
use tumit_converter::clock::CorrectionMethod;
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ExtraValue, PajeEvent, PajeSink};

use super::synthetic::{About, File, Records, peer};

#[path = "halo.rs"]
mod halo;

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

/// True nanoseconds at which the first message is sent.
pub const START: f64 = 5e9;

/// The bursts of sync samples of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bursts {
    Both,
    First,
    None,
    /// This many bursts. The first is before the first message, and the last is after the last
    /// message.
    Many(u32),
}

/// Errors of the answers of the second node in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// All answers have timestamps that are too late by this many ticks.
    Later(i64),
    /// The same in the burst in the middle only.
    Once(i64),
    /// The same in the first burst only.
    First(i64),
    /// The same in the last burst only.
    Last(i64),
    /// The same in the second half of the bursts.
    Late(i64),
    /// The same in the middle third of the bursts.
    Middle(i64),
    /// Correct timestamps, but answers arrive late by this many nanoseconds in the middle third of
    /// the bursts.
    Slow(u32),
    /// The same in the first burst only.
    SlowFirst(u32),
    /// The same in the last burst only.
    SlowLast(u32),
    /// Timestamps that are too late by this many ticks, in every third exchange.
    Some(i64),
    /// All answers have this timestamp in ticks.
    Always(u64),
    /// The answers arrive this many ticks before the requests are sent.
    Before(u64),
}

/// The parameters of a run.
#[derive(Clone, Debug)]
pub struct Scene {
    pub nodes: usize,
    pub per_node: usize,
    pub seconds: f64,
    pub links: usize,
    pub bursts: Bursts,
    /// Clocks differ by up to twice this many seconds.
    pub offset_seconds: f64,
    /// Maximum drift of the clocks.
    pub drift_ppm: f64,
    /// Wander of the clocks per square root of a second.
    pub wander: f64,
    /// Ticks per second.
    pub hz: f64,
    /// Clocks stand still for this many nanoseconds of their own. 0: they do not stand still.
    pub quantum: f64,
    /// Messages go to the next node only, never back.
    pub one_way: bool,
    /// The last node sends nothing to the first.
    pub open: bool,
    /// No messages between nodes of the first half and those of the second half.
    pub split: bool,
    /// Receptions are recorded up to this many nanoseconds late, and their rule gives the true
    /// moment.
    pub told_later: f64,
    /// The clock of every second process of a node is ahead by this many nanoseconds, but has the
    /// same name.
    pub disagree_nanos: f64,
    /// The last node begins in the middle of the run.
    pub late: bool,
    /// Range of the run in which messages are sent, from 0 to 1.
    pub window: (f64, f64),
    /// Maximum additional latency of each direction between two nodes, nanoseconds. Not for sync
    /// samples.
    pub slow: f64,
    /// A bulk-synchronous program: all processes compute, then exchange with both neighbours in a
    /// ring. The value is the standard deviation of the computation time, relative to its mean.
    pub halo: Option<f64>,
    /// Messages of the second node go to the first node only. The second node receives no messages
    /// of other nodes.
    pub mute: bool,
    /// Additional records of each process, evenly distributed over the run.
    pub moments: usize,
    pub lie: Option<Lie>,
    /// The clock of the second node jumps by this many nanoseconds in the middle of the run.
    pub step_nanos: f64,
    /// Each process reads its clock together with the system's once a second.
    pub readings: bool,
    /// The clocks are the real-time clock of their node. A clock step changes both.
    pub real_time: bool,
    /// Every minute the rate of each clock except the first changes by up to this many ppm, as NTP
    /// does.
    pub slewed_ppm: f64,
    /// The queues between nodes have this length at the start, in nanoseconds, and are empty at the
    /// end. The delay shrinks evenly.
    pub draining: f64,
    pub seed: u64,
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            nodes: 8,
            per_node: 4,
            seconds: 60.0,
            links: 20_000,
            bursts: Bursts::Both,
            offset_seconds: 2.0,
            drift_ppm: 50.0,
            wander: 1e-9,
            hz: 1e9,
            quantum: 0.0,
            one_way: false,
            open: false,
            split: false,
            told_later: 0.0,
            disagree_nanos: 0.0,
            late: false,
            window: (0.0, 1.0),
            slow: 0.0,
            halo: None,
            mute: false,
            moments: 0,
            lie: None,
            step_nanos: 0.0,
            readings: false,
            real_time: false,
            slewed_ppm: 0.0,
            draining: 0.0,
            seed: 1,
        }
    }
}

/// A generator of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number in 0..1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in -1..1.
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Time between two frequency changes of a clock, in nanoseconds.
const STEP: f64 = 2e7;

/// A clock: a function of true time.
struct Clock {
    offset: f64,
    /// Gained nanoseconds at multiples of [`STEP`].
    gained: Vec<f64>,
    step_at: f64,
    step_nanos: f64,
}

impl Clock {
    fn new(scene: &Scene, node: usize, random: &mut Random) -> Self {
        let end = START + (scene.seconds + 2.0) * 1e9;
        let mut frequency = scene.drift_ppm * 1e-6 * random.signed();
        let mut gained = vec![0.0];
        let mut slewed = 0.0;
        while gained.len() as f64 * STEP < end + STEP {
            if node > 0 && scene.slewed_ppm > 0.0 && gained.len() % (6e10 / STEP) as usize == 0 {
                slewed = scene.slewed_ppm * 1e-6 * random.signed();
            }
            gained.push(gained[gained.len() - 1] + (frequency + slewed) * STEP);
            frequency += scene.wander * (STEP * 1e-9).sqrt() * random.normal();
        }
        let step_nanos = if node == 1 { scene.step_nanos } else { 0.0 };
        // The time of a clock must not be negative.
        let offset = (scene.offset_seconds * random.signed() + scene.offset_seconds) * 1e9;
        Self { offset, gained, step_at: START + scene.seconds * 0.5e9, step_nanos }
    }

    /// The time of the clock in nanoseconds.
    fn shows(&self, truth: f64) -> f64 {
        let at = ((truth / STEP) as usize).min(self.gained.len() - 2);
        let part = truth / STEP - at as f64;
        let gained = self.gained[at] + (self.gained[at + 1] - self.gained[at]) * part;
        self.offset + truth + gained + self.stepped(truth)
    }

    /// The sum of clock steps up to a true timestamp.
    fn stepped(&self, truth: f64) -> f64 {
        if truth >= self.step_at { self.step_nanos } else { 0.0 }
    }
}

/// The network and the clocks.
struct World<'s> {
    scene: &'s Scene,
    clocks: Vec<Clock>,
    /// Smallest latency from node to node.
    base: Vec<Vec<f64>>,
    /// Additional latency of messages.
    slow: Vec<Vec<f64>>,
    random: Random,
}

impl<'s> World<'s> {
    fn new(scene: &'s Scene) -> Self {
        let mut random = Random(scene.seed);
        let clocks = (0..scene.nodes).map(|node| Clock::new(scene, node, &mut random)).collect();
        let mut base = vec![vec![300.0; scene.nodes]; scene.nodes];
        let pairs = (0..scene.nodes).flat_map(|a| (0..a).map(move |b| (a, b)));
        for (a, b) in pairs {
            let latency = 1000.0 + 4000.0 * random.unit();
            base[a][b] = latency * (1.0 + 0.05 * random.signed());
            base[b][a] = latency * (1.0 + 0.05 * random.signed());
        }
        let mut slow = vec![vec![0.0; scene.nodes]; scene.nodes];
        if scene.slow > 0.0 {
            slow.iter_mut().flatten().for_each(|slow| *slow = scene.slow * random.unit());
        }
        Self { scene, clocks, base, slow, random }
    }

    fn ticks(&self, node: usize, truth: f64) -> u64 {
        self.counted(self.clocks[node].shows(truth))
    }

    /// The ticks of a process's clock at a true time.
    fn process_ticks(&self, rank: usize, truth: f64) -> u64 {
        let more = if rank % 2 == 1 { self.scene.disagree_nanos } else { 0.0 };
        self.counted(self.clocks[rank / self.scene.per_node].shows(truth) + more)
    }

    /// Converts nanoseconds of a clock to ticks.
    fn counted(&self, shown: f64) -> u64 {
        let quantum = self.scene.quantum;
        let shown = if quantum > 0.0 { (shown / quantum).floor() * quantum } else { shown };
        (shown * self.scene.hz * 1e-9).floor() as u64
    }

    /// The smallest latency, some noise, and a long wait in one of ten cases.
    fn latency(&mut self, from: usize, to: usize) -> f64 {
        let tail = if self.random.unit() < 0.1 { (2000.0 / self.random.unit()).min(1e6) } else { 0.0 };
        self.base[from][to] + 300.0 * self.random.exponential() + tail
    }

    /// A partner of a process: on its own node, or a power of two away.
    fn partner(&mut self, from: usize) -> usize {
        let Scene { nodes, per_node, one_way, open, split, .. } = *self.scene;
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
    fn burst(&mut self, number: u32, date: f64, files: &mut [File]) {
        let (nodes, per_node) = (self.scene.nodes, self.scene.per_node);
        let mut round_start = date;
        let mut bit = 1;
        while bit < nodes {
            for a in (0..nodes).filter(|a| a & bit == 0 && a + bit < nodes) {
                let b = a + bit;
                let mut now = round_start;
                let mut samples = Vec::new();
                for exchange in 0..10 {
                    let t2 = now + self.latency(a, b);
                    let t3 = t2 + 200.0;
                    let is_third = matches!(self.scene.bursts, Bursts::Many(bursts) if (bursts..2 * bursts).contains(&(3 * number)));
                    let is_last = matches!(self.scene.bursts, Bursts::Many(bursts) if number + 1 == bursts);
                    let late = match self.scene.lie.filter(|_| b == 1) {
                        Some(Lie::Slow(nanos)) if is_third => f64::from(nanos),
                        Some(Lie::SlowFirst(nanos)) if number == 0 => f64::from(nanos),
                        Some(Lie::SlowLast(nanos)) if is_last => f64::from(nanos),
                        _ => 0.0,
                    };
                    let t4 = t3 + self.latency(b, a) + late;
                    let is_late = matches!(self.scene.bursts, Bursts::Many(bursts) if 2 * number >= bursts);
                    let is_middle = matches!(self.scene.bursts, Bursts::Many(bursts) if number == bursts / 2);
                    let answer = |truth| match self.scene.lie.filter(|_| b == 1) {
                        Some(Lie::Always(ticks)) => ticks,
                        Some(Lie::Later(ticks)) => self.ticks(b, truth).saturating_add_signed(ticks),
                        Some(Lie::Once(ticks)) if is_middle => self.ticks(b, truth).saturating_add_signed(ticks),
                        Some(Lie::First(ticks)) if number == 0 => self.ticks(b, truth).saturating_add_signed(ticks),
                        Some(Lie::Last(ticks)) if is_last => self.ticks(b, truth).saturating_add_signed(ticks),
                        Some(Lie::Late(ticks)) if is_late => self.ticks(b, truth).saturating_add_signed(ticks),
                        Some(Lie::Middle(ticks)) if is_third => self.ticks(b, truth).saturating_add_signed(ticks),
                        Some(Lie::Some(ticks)) if exchange % 3 == 1 => {
                            self.ticks(b, truth).saturating_add_signed(ticks)
                        }
                        None | Some(_) => self.ticks(b, truth),
                    };
                    samples.push(SyncSample {
                        burst: number,
                        exchange,
                        peer: peer(100 + (b * per_node) as u64),
                        t1: self.ticks(a, now),
                        t2: answer(t2),
                        t3: answer(t3),
                        t4: match self.scene.lie {
                            Some(Lie::Before(ticks)) => self.ticks(a, now).saturating_sub(ticks),
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

    /// By process: its records of links. Each has the recorded time, the true time, the number of
    /// the event and the key of the link.
    fn links(&mut self) -> Vec<Vec<(f64, f64, u16, u64)>> {
        let scene = self.scene;
        let processes = scene.nodes * scene.per_node;
        let mut events: Vec<Vec<(f64, f64, u16, u64)>> = vec![Vec::new(); processes];
        if let Some(imbalance) = scene.halo {
            return self.halo(imbalance);
        }
        for key in 0..scene.links as u64 {
            let place = (key as f64 + self.random.unit()) / scene.links as f64;
            let place = scene.window.0 + (scene.window.1 - scene.window.0) * place;
            let sent = START + place * scene.seconds * 1e9;
            let from = self.random.below(processes);
            let to = self.partner(from);
            let (mute, node) = (scene.mute, |process: usize| process / scene.per_node);
            let (from, to) = if mute && node(from) == 1 && node(to) != 1 { (from, 0) } else { (from, to) };
            if mute && node(to) == 1 && node(from) != 1 {
                continue;
            }
            let last = scene.nodes - 1;
            let is_late = from / scene.per_node == last || to / scene.per_node == last;
            if scene.late && is_late && sent < START + scene.seconds * 0.5e9 {
                continue;
            }
            let (from_node, to_node) = (from / scene.per_node, to / scene.per_node);
            let queued = if from_node == to_node { 0.0 } else { scene.draining * (1.0 - place) };
            let received = sent + queued + self.slow[from_node][to_node] + self.latency(from_node, to_node);
            events[from].push((sent, sent, 0, key));
            let told = received + scene.told_later * self.random.unit();
            events[to].push((told, received, 1, key));
        }
        events
    }

    /// As [`Self::links`], for a bulk-synchronous program.
    fn halo(&mut self, imbalance: f64) -> Vec<Vec<(f64, f64, u16, u64)>> {
        let scene = self.scene;
        let mut events = vec![Vec::new(); scene.nodes * scene.per_node];
        let mut loads = Random(self.random.bits());
        let messages = halo::messages(scene, imbalance, &mut loads, |from, to| {
            self.latency(from / scene.per_node, to / scene.per_node)
        });
        for (key, message) in messages.into_iter().enumerate() {
            events[message.from].push((message.sent, message.sent, 0, key as u64));
            events[message.to].push((message.received, message.received, 1, key as u64));
        }
        events
    }

    /// Writes the records of a process to its file. See [`Self::links`].
    fn filled(&self, rank: usize, mut file: File, mut events: Vec<(f64, f64, u16, u64)>) -> File {
        events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.3.cmp(&b.3)));
        let mut last = 0;
        for (sequence, chunk) in events.chunks(2000).enumerate() {
            let mut block = Records::default();
            for &(told, date, kind, key) in chunk {
                let mut body = u32::try_from(rank).unwrap().to_le_bytes().to_vec();
                if kind < 2 {
                    body.extend(key.to_le_bytes());
                }
                // The time of the reference clock.
                let shown = self.clocks[0].shows(date) - self.clocks[0].offset;
                body.extend((shown.round() as i64).to_le_bytes());
                if kind == 1 {
                    body.extend(self.process_ticks(rank, date).to_le_bytes());
                }
                // If a clock goes back, recorders repeat the last timestamp.
                last = self.process_ticks(rank, told).max(last);
                block.record(kind, last, &body);
            }
            file.records(0, sequence as u64, &block);
        }
        file.end();
        file
    }
}

/// Writes the run of a scene. The same scene gives the same bytes.
pub fn write(scene: &Scene, folder: &Path) {
    let (spec, diagnostics) =
        tumit::compile_text("truth.tumit", &SPEC.replace("AT", if scene.told_later > 0.0 { "at moment" } else { "" }));
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    let mut world = World::new(scene);
    let processes = scene.nodes * scene.per_node;
    let mut files: Vec<File> = Vec::new();
    for rank in 0..processes {
        let node = rank / scene.per_node;
        let domain = format!("node {node}");
        let mut file = File::new(&About { hz: scene.hz as u64, domain, ..About::rank(rank as u64) }, &schema);
        file.thread(0, 1, "main");
        // The real-time clock is set by hand. Its error is several milliseconds.
        let wrong = 5e6 * world.random.signed();
        file.anchor(ClockAnchor {
            ticks: world.ticks(node, START - 2e7),
            monotonic_nanos: (START - 2e7) as u64,
            real_nanos: 1_700_000_000_000_000_000 + (START - 2e7 + wrong) as u64,
            ..ClockAnchor::default()
        });
        if scene.readings {
            for second in 0..(scene.seconds as u64 + 2) {
                let truth = START + second as f64 * 1e9;
                let set = if scene.real_time { world.clocks[node].stepped(truth) } else { 0.0 };
                let real_nanos = 1_700_000_000_000_000_000 + (truth + wrong + set) as u64;
                let ticks = world.ticks(node, truth);
                file.anchor(ClockAnchor { ticks, monotonic_nanos: truth as u64, real_nanos, bracket: 100 });
            }
        }
        files.push(file);
    }
    let end = START + scene.seconds * 1e9;
    let bursts = match scene.bursts {
        Bursts::None => 0,
        Bursts::First => 1,
        Bursts::Both => 2,
        Bursts::Many(bursts) => bursts,
    };
    for burst in 0..bursts {
        let place = if burst == 0 { 0.0 } else { f64::from(burst) / f64::from(bursts - 1) };
        let (first, last) = (START - 1e7, end + 2e7);
        world.burst(burst, first + (last - first) * place, &mut files);
    }
    let mut events = world.links();
    for (rank, own) in events.iter_mut().enumerate() {
        for moment in 0..scene.moments {
            let date = START + scene.seconds * 1e9 * (moment as f64 + 0.5) / scene.moments as f64;
            own.push((date, date, 2, rank as u64));
        }
    }
    for (rank, (file, events)) in files.into_iter().zip(events).enumerate() {
        world.filled(rank, file, events).save(folder, &format!("{rank:03}.tmt"));
    }
}

/// The accuracy of the timestamps of a conversion.
#[derive(Debug)]
pub struct Verdict {
    /// Median error of the timestamps of all clocks but the reference, nanoseconds.
    pub median: i64,
    pub max: i64,
    pub links: u64,
    /// Links that end before they start.
    pub reversed: u64,
    /// Records of a process with an earlier timestamp than the record before them.
    pub backward: u64,
    /// All errors, by process and true time.
    pub errors: Vec<i64>,
    /// The largest error of each process.
    pub worst: std::collections::BTreeMap<usize, i64>,
    pub report: ConversionReport,
}

impl Verdict {
    /// Panics when timestamps are less accurate than this, or out of order.
    pub fn check(&self, what: &str, median: i64, max: i64) {
        assert!(self.median <= median, "{what}: median error {} ns, allowed {median}", self.median);
        assert!(self.max <= max, "{what}: largest error {} ns, allowed {max}", self.max);
        self.check_order(what);
    }

    pub fn check_order(&self, what: &str) {
        assert_eq!((self.reversed, self.backward), (0, 0), "{what}: reversed links, records out of order");
        assert_eq!(self.report.counts.reversed_links, 0, "{what}: reversed links as the report counts them");
    }
}

/// Collects timestamps and true times.
#[derive(Default)]
struct Judge {
    /// Container, timestamp, and true time.
    dates: Vec<(u32, i64, i64)>,
    /// By key of the link: the timestamps of its endpoints.
    links: std::collections::BTreeMap<u64, [Option<i64>; 2]>,
    last: i64,
    /// Ranks by container.
    ranks: std::collections::BTreeMap<u32, usize>,
}

impl PajeSink for Judge {
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()> {
        let (time, extra, link, at) = match event {
            PajeEvent::StartLink { time, extra, key, start, .. } => (time.0, extra, Some((key.0, 0)), start.0),
            PajeEvent::EndLink { time, extra, key, end, .. } => (time.0, extra, Some((key.0, 1)), end.0),
            PajeEvent::NewEvent { time, extra, container, .. } => (time.0, extra, None, container.0),
            PajeEvent::CreateContainer { container, name, .. } => {
                if let Some(rank) = name.strip_prefix("Rank ") {
                    self.ranks.insert(container.0, rank.parse().unwrap());
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        assert!(time >= self.last, "operations are in order of date");
        self.last = time;
        let ExtraValue::Integer(truth) = extra[0].value else { panic!("a number") };
        self.dates.push((at, time, truth));
        if let Some((key, end)) = link {
            self.links.entry(key).or_default()[end] = Some(time);
        }
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> std::io::Result<()> {
        Ok(())
    }
}

/// Converts the run of a scene and compares the timestamps. The run is removed.
pub fn judge(scene: &Scene, options: &ConvertOptions) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    write(scene, folder.path());
    judge_run(folder.path(), options)
}

/// Converts a run of [`write`] and compares the timestamps.
pub fn judge_run(folder: &Path, options: &ConvertOptions) -> Verdict {
    let run = OpenRun::open(folder).unwrap();
    let mut judge = Judge::default();
    let report = convert(&run, options, &mut judge).unwrap();
    let Judge { mut dates, links, ranks, .. } = judge;
    let is_reference = |container: u32| report.clocks.domain_of[ranks[&container]] == 0;
    // The first rank is on the reference's node. Its timestamps are correct except for their zero,
    // and the causal pass may move some of them later.
    let errors: Vec<i64> = dates.iter().map(|(_, date, truth)| date - truth).collect();
    let reference = dates.iter().zip(&errors).filter(|((container, ..), _)| is_reference(*container));
    let origin = reference.map(|(_, error)| *error).min().unwrap();
    // The errors of the reference are negligible. They are used only if there is no other clock.
    let alone = report.clocks.domains.len() == 1;
    let judged = dates.iter().zip(&errors).filter(|((container, ..), _)| alone || !is_reference(*container));
    let mut sizes: Vec<i64> = judged.map(|(_, error)| (error - origin).abs()).collect();
    sizes.sort_unstable();
    dates.sort_by_key(|(container, _, truth)| (*container, *truth));
    let backward = dates.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 > pair[1].1).count() as u64;
    let ends = links.values().map(|[start, end]| (start.unwrap(), end.unwrap()));
    let reversed = ends.filter(|(start, end)| start > end).count() as u64;
    let errors = dates.iter().map(|(_, date, truth)| date - truth - origin).collect();
    let (median, max) = (sizes[sizes.len() / 2], sizes[sizes.len() - 1]);
    let mut worst = std::collections::BTreeMap::new();
    for (container, date, truth) in &dates {
        let most = worst.entry(ranks[container]).or_insert(0);
        *most = (date - truth - origin).abs().max(*most);
    }
    Verdict { median, max, links: links.len() as u64, reversed, backward, errors, worst, report }
}

/// The options of a method.
pub fn options(method: CorrectionMethod) -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.clock = method;
    options
}

/// The options of a method, without the causal pass.
pub fn clocks_alone(method: CorrectionMethod) -> ConvertOptions {
    let mut options = options(method);
    options.causal = false;
    options
}
