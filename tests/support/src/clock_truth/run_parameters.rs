//! The parameters of a run with known true timestamps.

/// True nanoseconds at which the first message is sent.
pub const START: f64 = 5e9;

/// The bursts of sync samples of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BurstSchedule {
    /// One before the first message, and one after the last message.
    Both,
    /// One before the first message.
    First,
    /// No bursts.
    None,
    /// This many bursts. The first is before the first message, and the last is after the last
    /// message.
    Many(u32),
}

/// Errors of the clock samples that the second node answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleFault {
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
    EveryThird(i64),
    /// All answers have this timestamp in ticks.
    Always(u64),
    /// The answers arrive this many ticks before the requests are sent.
    Before(u64),
}

/// Everything that determines a synthetic run and its clocks.
#[derive(Clone, Debug)]
pub struct ClockRunParameters {
    /// Number of nodes. Each has a clock.
    pub nodes: usize,
    /// Number of processes of a node.
    pub per_node: usize,
    /// Duration of the run.
    pub seconds: f64,
    /// Number of messages.
    pub links: usize,
    /// When processes take clock samples.
    pub bursts: BurstSchedule,
    /// Clocks differ by up to twice this many seconds.
    pub offset_seconds: f64,
    /// Maximum drift of the clocks.
    pub drift_ppm: f64,
    /// Wander of the clocks per square root of a second.
    pub wander: f64,
    /// Ticks per second.
    pub hz: f64,
    /// Clocks stand still for this many of their nanoseconds. 0: they do not stand still.
    pub quantum: f64,
    /// Messages go to the next node only, never back.
    pub one_way: bool,
    /// The last node sends nothing to the first.
    pub open: bool,
    /// No messages between nodes of the first half and those of the second half.
    pub split: bool,
    /// Receptions are recorded up to this many nanoseconds late, and their rule gives the true
    /// moment.
    pub record_delay: f64,
    /// The clock of every second process of a node is ahead by this many nanoseconds, but has the
    /// same name.
    pub disagree_nanos: f64,
    /// The last node begins in the middle of the run.
    pub late: bool,
    /// Range of the run in which messages are sent, from 0 to 1.
    pub message_range: (f64, f64),
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
    /// Errors of clock samples.
    pub sample_fault: Option<SampleFault>,
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
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for ClockRunParameters {
    fn default() -> Self {
        Self {
            nodes: 8,
            per_node: 4,
            seconds: 60.0,
            links: 20_000,
            bursts: BurstSchedule::Both,
            offset_seconds: 2.0,
            drift_ppm: 50.0,
            wander: 1e-9,
            hz: 1e9,
            quantum: 0.0,
            one_way: false,
            open: false,
            split: false,
            record_delay: 0.0,
            disagree_nanos: 0.0,
            late: false,
            message_range: (0.0, 1.0),
            slow: 0.0,
            halo: None,
            mute: false,
            moments: 0,
            sample_fault: None,
            step_nanos: 0.0,
            readings: false,
            real_time: false,
            slewed_ppm: 0.0,
            draining: 0.0,
            seed: 1,
        }
    }
}
