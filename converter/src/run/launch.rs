//! The launches of a run folder and their selection.

use std::num::NonZeroUsize;

/// Selects launches of a run folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LaunchSelection {
    /// The launch that starts last.
    #[default]
    Latest,
    /// One launch by its number. Numbers count from 1 in order of time.
    Number(NonZeroUsize),
    /// All launches, as one run.
    All,
}

impl std::str::FromStr for LaunchSelection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("all") {
            return Ok(Self::All);
        }
        let wrong = |_| format!("`{text}` is not a launch: write a number from 1 that `tumit info` lists, or `all`");
        text.parse().map(Self::Number).map_err(wrong)
    }
}

/// A range of real time, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RealTimeRange {
    /// The first time.
    pub start: i64,
    /// The last time.
    pub end: i64,
}

/// A launch of a run folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// Its number, from 1, in order of time.
    pub number: usize,
    /// Its time by the real-time clocks of its hosts. `None` if no process read such a clock.
    pub time: Option<RealTimeRange>,
    /// Number of processes.
    pub processes: usize,
    /// Whether the selection includes it.
    pub is_read: bool,
}
