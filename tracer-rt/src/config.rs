//! Choices of the program and of the environment.

use std::path::PathBuf;
use std::time::Duration;

use crate::levels::overflow_policy::{self, OverflowPolicy};
use crate::live_file::SlotLocation;
use crate::process::start_dir;
use crate::user_messages::report;

/// Maximum number of exchanges with a peer in a burst, because a burst is one block.
pub(crate) const MAX_EXCHANGES: u32 = 1000;

/// Options of [`crate::start`].
/// Each one has a default. If the description names an environment variable, the variable comes
/// before the default.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecorderConfig {
    /// The run folder.
    /// Without it: the folder of a forked child's parent, then `TUMIT_TRACE`, then
    /// `./PROGRAM-JOB.tmt` if a launcher provides the job, then `./PROGRAM-DATE-PID.tmt`.
    /// The last three are relative to the working directory at the start of the program. Several
    /// processes may share a folder.
    pub folder: Option<PathBuf>,
    /// Memory for records that are not yet in the file, in bytes.
    /// Without it: `TUMIT_MEMORY`, then 16 MiB.
    pub memory_bytes: Option<usize>,
    /// The place of records that are not yet in the file.
    /// Without it: `TUMIT_BUFFERS=mapped|private`, then a live file, which survives the process.
    pub buffers: Option<SlotLocation>,
    /// The folder of the live file.
    /// Without it: `TUMIT_LIVE`, then the run folder, or `/dev/shm` if the run folder is on a
    /// network file system.
    pub live_folder: Option<PathBuf>,
    /// Overflow policies by names of levels as in [`crate::set_level`].
    /// The last entry that matches a level applies. `TUMIT_POLICY=LEVEL=block|drop|overwrite,…`
    /// adds entries before these.
    pub policies: Vec<(String, OverflowPolicy)>,
    /// Clock domain: processes with equal texts read one clock.
    /// Used only for a clock set by [`crate::set_clock`], because the recorder knows the domain of
    /// the machine's clock.
    pub clock_domain: Option<String>,
    /// Exchanges with each peer when clocks are compared
    /// ([`crate::clock_sync`](mod@crate::clock_sync)): 0 (none) to 1000. Without it:
    /// `TUMIT_SYNC_EXCHANGES`, then 300.
    pub sync_exchanges: Option<u32>,
    /// Minimum time between two samples taken by [`crate::clock_sync::SyncGroup::sync_point`].
    /// Without it: `TUMIT_SYNC_SECONDS`, then one minute. With 0 it takes no samples.
    pub sync_interval: Option<Duration>,
}

impl RecorderConfig {
    /// Reads the options from the environment:
    /// `TUMIT_TRACE`, `TUMIT_MEMORY` (bytes, or with `K`, `M`, `G`), `TUMIT_BUFFERS`, `TUMIT_LIVE`,
    /// `TUMIT_POLICY`, `TUMIT_SYNC_EXCHANGES` and `TUMIT_SYNC_SECONDS`.
    /// A program with more rights than its caller (set-user-id) ignores the folders of the
    /// environment.
    #[must_use]
    pub fn from_env() -> Self {
        let memory_bytes = std::env::var("TUMIT_MEMORY").ok().and_then(|text| {
            let bytes = parse_bytes(&text).filter(|bytes| *bytes > 0);
            if bytes.is_none() {
                report(&format!("TUMIT_MEMORY: `{text}` is not valid: write a number of bytes, or 64M"));
            }
            bytes
        });
        let buffers = std::env::var("TUMIT_BUFFERS").ok().and_then(|text| match text.trim() {
            "" => None,
            "mapped" => Some(SlotLocation::Mapped),
            "private" => Some(SlotLocation::Private),
            other => {
                report(&format!("TUMIT_BUFFERS: `{other}` is not valid: write `mapped` or `private`"));
                None
            }
        });
        let (folder, live_folder) = (start_dir::folder_of("TUMIT_TRACE"), start_dir::folder_of("TUMIT_LIVE"));
        let policies = overflow_policy::from_environment(|entry| {
            report(&format!(
                "TUMIT_POLICY: `{entry}` is not valid: write LEVEL=block, LEVEL=drop or LEVEL=overwrite, separated by commas"
            ));
        });
        let sync_exchanges = number_of("TUMIT_SYNC_EXCHANGES", "0 to 1000").map(|number| number.min(MAX_EXCHANGES));
        let sync_interval = number_of("TUMIT_SYNC_SECONDS", "60").map(|seconds| Duration::from_secs(seconds.into()));
        Self { folder, memory_bytes, buffers, live_folder, policies, clock_domain: None, sync_exchanges, sync_interval }
    }

    /// Completes these options with those of the environment.
    pub(crate) fn or_environment(self) -> Self {
        let environment = Self::from_env();
        Self {
            folder: self.folder.or(environment.folder),
            memory_bytes: self.memory_bytes.or(environment.memory_bytes),
            buffers: self.buffers.or(environment.buffers),
            live_folder: self.live_folder.or(environment.live_folder),
            policies: environment.policies.into_iter().chain(self.policies).collect(),
            clock_domain: self.clock_domain,
            sync_exchanges: self.sync_exchanges.or(environment.sync_exchanges),
            sync_interval: self.sync_interval.or(environment.sync_interval),
        }
    }
}

/// A whole number from an environment variable.
fn number_of(variable: &str, example: &str) -> Option<u32> {
    let text = std::env::var(variable).ok().filter(|text| !text.trim().is_empty())?;
    let number = text.trim().parse().ok();
    if number.is_none() {
        report(&format!("{variable}: `{text}` is not valid: write a whole number, as {example}"));
    }
    number
}

fn parse_bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let (digits, shift) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 10),
        b'm' | b'M' => (&text[..text.len() - 1], 20),
        b'g' | b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.trim().parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_invalid_ones_are_rejected() {
        assert_eq!(parse_bytes("64M"), Some(64 << 20));
        assert_eq!(parse_bytes(" 3 k"), Some(3072));
        assert_eq!(parse_bytes("100"), Some(100));
        for bad in ["", "M", "1.5M", "-1", "99999999999999G"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
    }
}
