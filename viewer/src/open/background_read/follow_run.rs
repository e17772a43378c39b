//! Follows a run with processes that still record: converts it again whenever it has more data.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, UNIX_EPOCH};

use tumit_converter::run::OpenRun;
use tumit_paje::TraceDiagnostic;
use twox_hash::XxHash3_64;

use super::follower::{LOOK_EVERY, TraceFollower};
use crate::input::current_trace::TraceAvailability;
use crate::input::open_options::TraceOpenError;
use crate::input::trace::TraceInputFile;
use crate::query::{TimelineSource, TraceSummary};
use crate::sim::Simulation;

/// The pause between two conversions, as a multiple of the time that one took.
const PAUSE_FACTOR: u64 = 4;
/// Maximum bytes of a live file that are hashed to detect changes. This is more than any live file
/// has by default.
const MAX_LIVE: u64 = 64 << 20;

/// The visible properties of a run, to detect changes.
#[derive(Clone, PartialEq)]
struct RunObservation {
    summary: TraceSummary,
    availability: TraceAvailability,
}

impl TraceFollower {
    /// Follows a run until it is cancelled. Errors may be temporary, because the run is being
    /// written. They are retried.
    pub(crate) fn follow_run(&self) -> Result<(), TraceOpenError> {
        let mut live: BTreeSet<PathBuf> = BTreeSet::new();
        let mut previous = None;
        let mut last: Option<RunObservation> = None;
        let mut has_failed = false;
        while !self.is_cancelled() {
            let begin = Instant::now();
            let fingerprint = self.fingerprint(&live);
            if previous != Some(fingerprint) {
                previous = Some(fingerprint);
                match self.simulate(&mut live) {
                    Ok((source, availability)) => {
                        has_failed = false;
                        let observation =
                            RunObservation { summary: source.summary(), availability: availability.clone() };
                        if matches!(self.current_trace.snapshot().availability, TraceAvailability::Interrupted(_)) {
                            self.current_trace.set_availability(availability.clone());
                        }
                        if last.as_ref() != Some(&observation) {
                            self.current_trace.put(source, availability);
                            last = Some(observation);
                        }
                    }
                    // The previous image stays until there is a newer one.
                    Err(error) if is_passing(&error) => {
                        if last.is_none() {
                            self.current_trace
                                .set_availability(TraceAvailability::Awaited(format!("waiting: {error}")));
                        } else if has_failed {
                            self.current_trace.set_availability(TraceAvailability::Interrupted(format!("{error}")));
                        } else {
                            // A file may have no name for a moment.
                            (has_failed, previous) = (true, None);
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
            let took = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.pause(took.saturating_mul(PAUSE_FACTOR).max(LOOK_EVERY));
        }
        Ok(())
    }

    /// Reads the present state of the run. Adds its live files to `live`.
    fn simulate(
        &self,
        live: &mut BTreeSet<PathBuf>,
    ) -> Result<(Arc<dyn TimelineSource>, TraceAvailability), TraceOpenError> {
        let run = OpenRun::open_launches(&self.path, self.options.launches)?;
        let processes = run.processes.len();
        let running_processes = run.processes.iter().filter(|process| !process.has_ended).count();
        let open_processes = run.processes.iter().filter(|process| !process.has_ended);
        live.extend(open_processes.filter_map(|process| process.live_path.clone()));
        let mut simulation = Simulation::new(&run.name());
        let mut options = self.options.clone();
        options.convert.progress = None;
        let outcome = TraceInputFile::Run(Box::new(run)).feed(&options, &mut simulation)?;
        // Missing data of a running process is not damage.
        let is_running = running_processes > 0;
        let of_now = |finding: TraceDiagnostic| if is_running { finding.at_most_warning() } else { finding };
        simulation.report(outcome.diagnostics.into_iter().map(of_now));
        simulation.set_wall_clock(outcome.wall_clock);
        Ok((Arc::new(simulation.into_store()), TraceAvailability::Growing { running_processes, processes }))
    }

    /// A hash of the run's files. Records reach a live file through shared memory, which changes
    /// neither its modification time nor its length. So its bytes are hashed.
    fn fingerprint(&self, live: &BTreeSet<PathBuf>) -> u64 {
        let mut files: BTreeSet<PathBuf> = live.clone();
        if self.path.is_dir() {
            let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
            files.extend(
                entries
                    .map(|entry| entry.path())
                    .filter(|path| has_extension(path, "tmt") || has_extension(path, "live")),
            );
        } else {
            files.extend([self.path.clone(), self.path.with_extension("live")]);
        }
        let mut identity = Vec::new();
        for path in files {
            let Ok(about) = std::fs::metadata(&path) else { continue };
            let modification_time =
                about.modified().ok().and_then(|timestamp| timestamp.duration_since(UNIX_EPOCH).ok());
            identity.extend_from_slice(path.as_os_str().as_encoded_bytes());
            identity.extend_from_slice(&about.len().to_le_bytes());
            if has_extension(&path, "live") {
                identity.extend_from_slice(&contents(&path).to_le_bytes());
            } else {
                identity.extend_from_slice(&modification_time.map_or(0, |since| since.as_nanos()).to_le_bytes());
            }
        }
        XxHash3_64::oneshot(&identity)
    }
}

fn has_extension(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension == ending)
}

/// A hash of the bytes of a live file; 0 if the file has disappeared.
fn contents(path: &Path) -> u64 {
    let Ok(file) = File::open(path) else { return 0 };
    let (mut file, mut hash, mut bytes) = (file.take(MAX_LIVE), 0_u64, vec![0; 1 << 16]);
    while let Ok(read) = file.read(&mut bytes) {
        if read == 0 {
            break;
        }
        hash = XxHash3_64::oneshot_with_seed(hash, &bytes[..read]);
    }
    hash
}

/// Whether the error may be temporary: the file is incomplete, or has just been removed.
fn is_passing(error: &TraceOpenError) -> bool {
    use tumit_converter::convert::ConvertError;
    matches!(error, TraceOpenError::Run(_) | TraceOpenError::Io { .. } | TraceOpenError::Convert(ConvertError::Read(_)))
}
