//! A trace that the page shows, behind the filters that the page asks for.
//!
//! The server keeps no state of a page: each question brings its filters with it. What they make of the trace is kept for the next question.

use std::collections::VecDeque;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use twox_hash::XxHash3_64;

use super::cancellation::{Awaited, Gone};
use tumit_viewer::filter::{Chain, Entry, Filter, FilterError};
use tumit_viewer::input::current::Current;
use tumit_viewer::layout::Outline;
use tumit_viewer::query::{QueryError, TimelineSource};

/// Filtered traces that are kept: those of the panes that are open, and of some steps back.
const KEPT: usize = 12;
/// Filters of one question.
const MOST_FILTERS: usize = 100;
/// Bytes of their expressions: a request line holds 64 KiB.
const MOST_BYTES: usize = 32 * 1024;

/// A trace to be served.
#[derive(Clone)]
pub struct Served {
    /// The trace itself, as it is now.
    pub source: Current,
    /// Where it lies: notes are kept beside it, and a change of it is told.
    pub path: Option<PathBuf>,
    /// Filters with which the page begins.
    pub filters: Chain,
    /// Folders in which the source files that the trace names are looked for.
    pub folders: Vec<PathBuf>,
    /// Whether it is followed, so that no change of its file needs to be told.
    pub follows: bool,
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Served {
    /// A trace without anything beside it.
    #[must_use]
    pub fn new(source: Arc<dyn TimelineSource>) -> Self {
        Self { source: source.into(), path: None, filters: Chain::default(), folders: Vec::new(), follows: false }
    }
}

/// What questions are asked about: the trace behind some filters.
pub(crate) struct Shown {
    pub(crate) source: Arc<dyn TimelineSource>,
    pub(crate) outline: Arc<Outline>,
    /// The first date of the trace itself, from which the page counts, whatever filters cut away.
    pub(crate) origin: i64,
    /// Filters that could not be used, by their place among those asked for.
    pub(crate) problems: Vec<Wrong>,
}

impl Shown {
    /// The same for one question, which ends when nobody waits for its answer.
    pub(crate) fn awaited(&self, gone: &Gone) -> Self {
        let source = Arc::new(Awaited { source: Arc::clone(&self.source), gone: gone.clone() });
        Self { source, outline: Arc::clone(&self.outline), origin: self.origin, problems: self.problems.clone() }
    }
}

/// What is wrong with a filter.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) error: FilterError,
    pub(crate) text: String,
}

/// A generation of the trace, and filters.
type Key = (u64, String);
type Slot = Arc<OnceLock<Result<Arc<Shown>, QueryError>>>;

/// A trace with what its filters made of it lately.
pub(crate) struct Trace {
    pub(crate) served: Served,
    /// What its file was like when it was opened.
    pub(crate) opened: Option<u64>,
    kept: Mutex<VecDeque<(Key, Slot)>>,
}

/// Why a question about filters cannot be answered.
#[derive(Debug)]
pub(crate) enum Refusal {
    TooMany,
    NoList,
    Query(QueryError),
}

impl Trace {
    pub(crate) fn new(served: Served) -> Self {
        let opened = served.path.as_deref().and_then(fingerprint);
        Self { served, opened, kept: Mutex::new(VecDeque::new()) }
    }

    /// The trace behind filters, a JSON list of expressions. Those that are wrong, or name what is not there, are left out.
    pub(crate) fn shown(&self, filters: &str) -> Result<Arc<Shown>, Refusal> {
        if filters.len() > MOST_BYTES {
            return Err(Refusal::TooMany);
        }
        let texts: Vec<String> = match filters {
            "" => Vec::new(),
            list => serde_json::from_str(list).map_err(|_not_a_list| Refusal::NoList)?,
        };
        if texts.len() > MOST_FILTERS {
            return Err(Refusal::TooMany);
        }
        let now = self.served.source.now();
        let slot = self.slot(now.generation, filters);
        // Several questions about the same filters wait for the first of them.
        slot.get_or_init(|| make(&now.source, &texts).map(Arc::new)).clone().map_err(Refusal::Query)
    }

    fn slot(&self, generation: u64, filters: &str) -> Slot {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Earlier pictures of the trace would only take room.
        kept.retain(|(key, _)| key.0 >= generation);
        let known = kept.iter().position(|(key, _)| key.0 == generation && key.1 == filters);
        let known = known.and_then(|at| kept.remove(at));
        let entry = known.unwrap_or_else(|| ((generation, filters.to_owned()), Slot::default()));
        kept.push_front(entry.clone());
        kept.truncate(KEPT);
        entry.1
    }
}

/// The source behind filters.
fn make(source: &Arc<dyn TimelineSource>, texts: &[String]) -> Result<Shown, QueryError> {
    let mut problems = Vec::new();
    let (mut chain, mut places) = (Chain::default(), Vec::new());
    for (at, text) in texts.iter().enumerate() {
        match text.parse::<Filter>() {
            Ok(filter) => {
                chain.filters.push(Entry::from(filter));
                places.push(at);
            }
            Err(error) => problems.push(Wrong { at, error, text: text.clone() }),
        }
    }
    let (filtered, left_out) = chain.apply_known(Arc::clone(source));
    for problem in left_out {
        let at = places.get(problem.at).copied().unwrap_or(problem.at);
        problems.push(Wrong { at, error: problem.error, text: texts.get(at).cloned().unwrap_or_default() });
    }
    let outline = Arc::new(Outline::new(filtered.as_ref())?);
    Ok(Shown { outline, source: filtered, origin: source.extent().from.0, problems })
}

/// Stands for the length and date of a file, or of the files of a run.
pub(crate) fn fingerprint(path: &Path) -> Option<u64> {
    let mut hasher = XxHash3_64::with_seed(0);
    let mut add = |path: &Path| -> Option<()> {
        let about = std::fs::metadata(path).ok()?;
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write_u64(about.len());
        let since = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        hasher.write_u128(since.as_nanos());
        Some(())
    };
    if !path.is_dir() {
        add(path)?;
        return Some(hasher.finish());
    }
    let entries = std::fs::read_dir(path).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "tmt")).collect();
    files.sort();
    for file in files {
        add(&file)?;
    }
    Some(hasher.finish())
}
