//! What a program, or the environment, chooses.

use std::path::PathBuf;
use std::time::Duration;

use crate::diagnostics::report;
use crate::levels::overflow_policy::{self, Policy};
use crate::live_file::Buffers;
use crate::process::start_dir;

/// The most exchanges with a peer in a burst: they are one block.
pub(crate) const MOST_EXCHANGES: u32 = 1000;

/// What [`crate::start`] may be told. Everything has a default, from the environment where it names one.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// The run folder; else that of a forked child's parent, `TUMIT_TRACE`, `./PROGRAM-JOB.tmt` where a launcher says what it launched, or
    /// `./PROGRAM-DATE-PID.tmt`. What is not given here is meant from where the program began. Processes may share one.
    pub folder: Option<PathBuf>,
    /// Memory for records that are not yet in the file, in bytes; else `TUMIT_MEMORY`, else 16 MiB.
    pub memory_bytes: Option<usize>,
    /// Where records wait until they are in the file; else `TUMIT_BUFFERS=mapped|private`, else in a live file, which
    /// survives the process.
    pub buffers: Option<Buffers>,
    /// Where the live file goes; else `TUMIT_LIVE`, else the run folder, or `/dev/shm` when that is on a network.
    pub live_folder: Option<PathBuf>,
    /// What becomes of records that find the buffers full, by names of levels as in [`crate::set_level`], the last one that fits first;
    /// before them, what `TUMIT_POLICY=LEVEL=block|drop|overwrite,…` says.
    pub policies: Vec<(String, Policy)>,
    /// Processes with equal text read one clock. For a clock given by [`crate::set_clock`] alone; the machine's own is known.
    pub clock_domain: Option<String>,
    /// Exchanges with each peer when clocks are compared ([`crate::clock_sync`](mod@crate::clock_sync)), 1000 at most; else `TUMIT_SYNC_EXCHANGES`, else 300. With 0
    /// none are made.
    pub sync_exchanges: Option<u32>,
    /// How far apart in time samples are that are taken by [`crate::clock_sync::Group::sync_point`]; else `TUMIT_SYNC_SECONDS`, else a minute.
    /// With 0 none are taken there.
    pub sync_interval: Option<Duration>,
}

impl Config {
    /// The environment's choices: `TUMIT_TRACE`, `TUMIT_MEMORY` (bytes, or with `K`, `M`, `G`), `TUMIT_BUFFERS`,
    /// `TUMIT_LIVE`, `TUMIT_POLICY`, `TUMIT_SYNC_EXCHANGES` and `TUMIT_SYNC_SECONDS`. Programs with rights that who calls them has not (set-user-id) do not take folders from it.
    #[must_use]
    pub fn from_env() -> Self {
        let memory_bytes = std::env::var("TUMIT_MEMORY").ok().and_then(|text| {
            let bytes = parse_bytes(&text).filter(|bytes| *bytes > 0);
            if bytes.is_none() {
                report(&format!("TUMIT_MEMORY: `{text}` is not understood: write a number of bytes, or 64M"));
            }
            bytes
        });
        let buffers = std::env::var("TUMIT_BUFFERS").ok().and_then(|text| match text.trim() {
            "" => None,
            "mapped" => Some(Buffers::Mapped),
            "private" => Some(Buffers::Private),
            other => {
                report(&format!("TUMIT_BUFFERS: `{other}` is not understood: write `mapped` or `private`"));
                None
            }
        });
        let (folder, live_folder) = (start_dir::folder_of("TUMIT_TRACE"), start_dir::folder_of("TUMIT_LIVE"));
        let policies = overflow_policy::from_environment(|entry| {
            report(&format!(
                "TUMIT_POLICY: `{entry}` is not understood: write LEVEL=block, LEVEL=drop or LEVEL=overwrite, separated by commas"
            ));
        });
        let sync_exchanges = number_of("TUMIT_SYNC_EXCHANGES", "0 to 1000").map(|number| number.min(MOST_EXCHANGES));
        let sync_interval = number_of("TUMIT_SYNC_SECONDS", "60").map(|seconds| Duration::from_secs(seconds.into()));
        Self { folder, memory_bytes, buffers, live_folder, policies, clock_domain: None, sync_exchanges, sync_interval }
    }

    /// These choices, and where there is none, those of the environment.
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

/// A whole number in the environment.
fn number_of(variable: &str, example: &str) -> Option<u32> {
    let text = std::env::var(variable).ok().filter(|text| !text.trim().is_empty())?;
    let number = text.trim().parse().ok();
    if number.is_none() {
        report(&format!("{variable}: `{text}` is not understood: write a whole number, as {example}"));
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
    fn sizes_are_parsed() {
        assert_eq!(parse_bytes("64M"), Some(64 << 20));
        assert_eq!(parse_bytes(" 3 k"), Some(3072));
        assert_eq!(parse_bytes("100"), Some(100));
        for bad in ["", "M", "1.5M", "-1", "99999999999999G"] {
            assert_eq!(parse_bytes(bad), None, "{bad}");
        }
    }
}
