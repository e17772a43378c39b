//! A run whose processes still record: converted anew whenever it has more.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, UNIX_EPOCH};

use tumit_converter::run::Run;
use twox_hash::XxHash3_64;

use super::{Follower, LOOK_EVERY, Standing};
use crate::input::options::OpenError;
use crate::input::trace::Input;
use crate::query::{Summary, TimelineSource};
use crate::sim::Simulation;

/// For so many times as long as a picture took to make, none is made.
const REST: u64 = 4;
/// Bytes of a live file that tell whether there is more in it: more than any has by default.
const MOST_LIVE: u64 = 64 << 20;

/// What of a run is seen to have changed.
type Picture = (Summary, Standing);

impl Follower {
    /// Follows a run until it is cancelled. What is wrong with it may be so because it is being written: it is waited for.
    pub(crate) fn follow_run(&self) -> Result<(), OpenError> {
        let mut live: BTreeSet<PathBuf> = BTreeSet::new();
        let mut seen = None;
        let mut last: Option<Picture> = None;
        let mut failed = false;
        while !self.is_cancelled() {
            let begin = Instant::now();
            let looks = self.fingerprint(&live);
            if seen != Some(looks) {
                seen = Some(looks);
                match self.picture(&mut live) {
                    Ok((source, standing)) => {
                        failed = false;
                        let summary = source.summary();
                        if matches!(self.current.now().standing, Standing::Kept(_)) {
                            self.current.stand(standing.clone());
                        }
                        if last.as_ref() != Some(&(summary.clone(), standing.clone())) {
                            self.current.put(source, standing.clone());
                            last = Some((summary, standing));
                        }
                    }
                    // A picture that is there stays until there is a newer one.
                    Err(error) if is_passing(&error) => {
                        if last.is_none() {
                            self.current.stand(Standing::Awaited(format!("waiting: {error}")));
                        } else if failed {
                            self.current.stand(Standing::Kept(format!("{error}")));
                        } else {
                            // For a moment a file may be under no name.
                            (failed, seen) = (true, None);
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
            let took = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.pause(took.saturating_mul(REST).max(LOOK_EVERY));
        }
        Ok(())
    }

    /// What there is now, and which live files that is from.
    fn picture(&self, live: &mut BTreeSet<PathBuf>) -> Result<(Arc<dyn TimelineSource>, Standing), OpenError> {
        let run = Run::open_launches(&self.path, self.options.launches)?;
        let processes = run.processes.len();
        let open = run.processes.iter().filter(|process| !process.ended).count();
        let elsewhere = run.processes.iter().filter(|process| !process.ended);
        live.extend(elsewhere.filter_map(|process| process.live_path.clone()));
        let mut simulation = Simulation::new(&run.name());
        let mut options = self.options.clone();
        options.progress = None;
        let told = Input::Run(Box::new(run)).feed(&options, &mut simulation)?;
        // What is not there yet is no damage.
        if open > 0 {
            simulation.remark(told.faults);
        } else {
            simulation.fault(told.faults);
        }
        simulation.remark(told.remarks);
        simulation.set_wall_clock(told.wall_clock);
        Ok((Arc::new(simulation.into_store()), Standing::Growing { open, processes }))
    }

    /// Stands for what the run's files hold. Records reach a live file by memory, which changes neither its date nor its length:
    /// its bytes are looked at.
    fn fingerprint(&self, live: &BTreeSet<PathBuf>) -> u64 {
        let mut files: BTreeSet<PathBuf> = live.clone();
        if self.path.is_dir() {
            let entries = std::fs::read_dir(&self.path).into_iter().flatten().flatten();
            files.extend(entries.map(|entry| entry.path()).filter(|path| ending(path, "tmt") || ending(path, "live")));
        } else {
            files.extend([self.path.clone(), self.path.with_extension("live")]);
        }
        let mut all = Vec::new();
        for path in files {
            let Ok(about) = std::fs::metadata(&path) else { continue };
            let since = about.modified().ok().and_then(|date| date.duration_since(UNIX_EPOCH).ok());
            all.extend_from_slice(path.as_os_str().as_encoded_bytes());
            all.extend_from_slice(&about.len().to_le_bytes());
            if ending(&path, "live") {
                all.extend_from_slice(&contents(&path).to_le_bytes());
            } else {
                all.extend_from_slice(&since.map_or(0, |since| since.as_nanos()).to_le_bytes());
            }
        }
        XxHash3_64::oneshot(&all)
    }
}

fn ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// Stands for the bytes of a live file; 0 when it has just gone.
fn contents(path: &Path) -> u64 {
    let Ok(file) = File::open(path) else { return 0 };
    let (mut file, mut hash, mut bytes) = (file.take(MOST_LIVE), 0_u64, vec![0; 1 << 16]);
    while let Ok(read) = file.read(&mut bytes) {
        if read == 0 {
            break;
        }
        hash = XxHash3_64::oneshot_with_seed(hash, &bytes[..read]);
    }
    hash
}

/// Whether it may be better in a moment: a file that has only been begun, or has just been removed.
fn is_passing(error: &OpenError) -> bool {
    use tumit_converter::convert::ConvertError;
    matches!(error, OpenError::Run(_) | OpenError::Io { .. } | OpenError::Convert(ConvertError::Read(_)))
}
