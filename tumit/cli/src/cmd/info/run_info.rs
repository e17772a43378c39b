//! The contents of the output of `tumit info`: the keys of its JSON object.

use serde::{Serialize, Serializer};
use tumit_paje::TraceDiagnostic;

/// The contents of the output.
#[derive(Debug, Serialize)]
pub(super) struct RunInfo {
    pub(super) run: String,
    pub(super) records: u64,
    pub(super) duration_ns: i64,
    pub(super) records_per_second: f64,
    pub(super) file_bytes: u64,
    /// Bytes per record in the files. `None` when the files have no records.
    pub(super) bytes_per_record: Option<f64>,
    pub(super) memory_bytes_per_record: f64,
    pub(super) undecodable_records: u64,
    pub(super) truncated_records: u64,
    /// Number of names with the length at which recorders truncate them.
    pub(super) long_names: usize,
    /// The wall-clock time of the first record, in UTC and in nanoseconds since 1970.
    pub(super) start: Option<String>,
    pub(super) start_ns: Option<i64>,
    pub(super) launches: Vec<LaunchInfo>,
    pub(super) processes: Vec<ProcessInfo>,
    pub(super) events: Vec<EventInfo>,
    pub(super) clocks: Vec<ClockInfo>,
    pub(super) dropped: Vec<DropInfo>,
    #[serde(serialize_with = "texts")]
    pub(super) losses: Vec<TraceDiagnostic>,
    /// The losses for the terminal. Of losses that many processes share, only some are
    /// included.
    #[serde(skip)]
    pub(super) loss_lines: Vec<TraceDiagnostic>,
    /// Other diagnostics.
    #[serde(serialize_with = "texts")]
    pub(super) diagnostics: Vec<TraceDiagnostic>,
}

/// Serialises the texts of diagnostics.
fn texts<S: Serializer>(diagnostics: &[TraceDiagnostic], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(|diagnostic| &diagnostic.text))
}

/// A launch of the folder. Launches that are not read are included.
#[derive(Debug, Serialize)]
pub(super) struct LaunchInfo {
    pub(super) number: usize,
    pub(super) start: Option<String>,
    pub(super) start_ns: Option<i64>,
    pub(super) duration_ns: Option<i64>,
    pub(super) processes: usize,
    /// Whether the launch is read. The other fields are then valid.
    pub(super) read: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct ProcessInfo {
    pub(super) file: String,
    /// The unique name of the process: `rank 3`, `rank 3/4711`, `pid 4711`.
    pub(super) name: String,
    pub(super) rank: Option<u64>,
    pub(super) pid: u64,
    pub(super) host: String,
    pub(super) command: String,
    pub(super) writer: String,
    pub(super) specs: Vec<String>,
    pub(super) records: u64,
    pub(super) dropped: u64,
    pub(super) missing_blocks: u64,
    pub(super) missing_records: u64,
    pub(super) missing_tables: u64,
    /// Whether an unknown number of records is missing: the contents of private buffers.
    pub(super) uncounted: bool,
    pub(super) damaged_bytes: u64,
    pub(super) ended: bool,
    /// `ended`, `repaired`, `running`, or `unfinished`: killed, or running on another machine.
    pub(super) state: &'static str,
    /// The kind of memory in which the recorder keeps records that are not in the file yet.
    pub(super) buffers: Option<&'static str>,
    pub(super) live: Option<LiveInfo>,
    pub(super) parent: Option<u64>,
    pub(super) job: String,
    /// Number of threads. Each has one or several streams of records.
    pub(super) thread_count: usize,
    pub(super) threads: Vec<ThreadInfo>,
}

#[derive(Debug, Serialize)]
pub(super) struct LiveInfo {
    pub(super) file: String,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) errors: Vec<String>,
}

/// A stream of a thread.
#[derive(Debug, Serialize)]
pub(super) struct ThreadInfo {
    pub(super) stream: u32,
    pub(super) tid: Option<u64>,
    /// Whether it contains the records of signal handlers that interrupted the recorder.
    pub(super) signal: bool,
    /// Whether newer records overwrote older ones.
    pub(super) overwrites: bool,
    /// The thread id, with an ordinal if earlier threads had the same id.
    #[serde(skip)]
    pub(super) key: String,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) records: u64,
    pub(super) dropped: u64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct EventInfo {
    pub(super) level: String,
    pub(super) event: String,
    pub(super) records: u64,
    pub(super) records_per_second: f64,
    pub(super) memory_bytes_per_record: f64,
}

/// The dropped records of a thread for one cause.
#[derive(Debug, Serialize)]
pub(super) struct DropInfo {
    pub(super) process: u64,
    /// The names of the process and the thread in the other tables.
    #[serde(skip)]
    pub(super) name: String,
    #[serde(skip)]
    pub(super) key: String,
    pub(super) tid: Option<u64>,
    pub(super) thread: String,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) causes: Vec<String>,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
}

#[derive(Debug, Serialize)]
pub(super) struct ClockInfo {
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) hz: u64,
    pub(super) processes: usize,
    pub(super) status: &'static str,
    pub(super) offset_ns: f64,
    pub(super) drift_ppm: f64,
    pub(super) bursts: usize,
    pub(super) residual_ns: f64,
}
