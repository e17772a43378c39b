//! A trace that the page shows, after the filters of the request.
//!
//! The server keeps no state of a page: each request contains its filters. The filtered traces are
//! cached for later requests.

use std::collections::VecDeque;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use twox_hash::XxHash3_64;

use super::execution_cache::ExecutionCache;
use super::keyed_cache::KeyedCache;
use crate::cancellation::{CancelFlag, PendingAnswer};
use tumit_viewer::filter::{ChainEntry, FilterChain, FilterError, FilterExpr};
use tumit_viewer::input::current_trace::CurrentTrace;
use tumit_viewer::layout::ContainerOutline;
use tumit_viewer::query::{QueryError, TimelineSource};

/// Number of filtered traces in the cache: those of the open panes and of some earlier steps.
const CACHE_SIZE: usize = 12;
/// Number of modes of the diagram in the cache of a filtered trace: the latest ones.
const MODE_CACHE_SIZE: usize = 4;
/// Maximum number of filters of one request. Each is a layer that all queries pass through.
const MAX_FILTERS: usize = 100;
/// Maximum length of the filters' expressions in bytes. A request line holds 64 KiB.
const MAX_FILTER_BYTES: usize = 32 * 1024;

/// A trace to be served.
///
/// ```
/// use std::sync::Arc;
///
/// use tumit_server::ServedTrace;
/// use tumit_viewer::filter::FilterExpr;
/// use tumit_viewer::store::TraceStore;
///
/// let store = TraceStore::from_events("trace", []);
/// let filter: FilterExpr = "hide value idle".parse()?;
/// let filters = [filter].into_iter().collect();
/// let trace = ServedTrace { filters, ..ServedTrace::new(Arc::new(store)) };
/// assert_eq!(trace.filters.filters.len(), 1);
/// assert!(trace.path.is_none() && !trace.follows);
/// # Ok::<(), tumit_viewer::filter::FilterError>(())
/// ```
#[derive(Clone)]
pub struct ServedTrace {
    /// The trace itself, in its current generation.
    pub source: CurrentTrace,
    /// The path of the trace. Notes are stored next to it, and the page reports a change of it.
    pub path: Option<PathBuf>,
    /// The filters that are on when the page opens.
    pub filters: FilterChain,
    /// Folders that contain the source files that the trace names.
    pub folders: Vec<PathBuf>,
    /// Whether the server follows the trace. A change of its file is then not reported.
    pub follows: bool,
}

impl std::fmt::Debug for ServedTrace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServedTrace").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ServedTrace {
    /// A trace without a path, filters and source folders.
    #[must_use]
    pub fn new(source: Arc<dyn TimelineSource>) -> Self {
        Self { source: source.into(), path: None, filters: FilterChain::default(), folders: Vec::new(), follows: false }
    }
}

/// The subject of a request: the trace after some filters.
pub(crate) struct FilteredTrace {
    pub(crate) source: Arc<dyn TimelineSource>,
    pub(crate) outline: Arc<ContainerOutline>,
    /// The first timestamp of the unfiltered trace, in nanoseconds. It is the page's time 0, with
    /// any filters.
    pub(crate) origin: i64,
    /// Filters that could not be used, by their index in the request.
    pub(crate) problems: Vec<FilterProblem>,
    /// The trace prepared for the views of the dock.
    pub(crate) executions: Arc<ExecutionCache>,
    /// The trace in modes of the diagram.
    pub(crate) modes: Arc<KeyedCache<FilteredTrace>>,
}

impl FilteredTrace {
    /// A copy for one request. Its queries fail after the client has disconnected.
    pub(crate) fn with_cancellation(&self, cancel: &CancelFlag) -> Self {
        let source = Arc::new(PendingAnswer { source: Arc::clone(&self.source), cancel: cancel.clone() });
        Self {
            source,
            outline: Arc::clone(&self.outline),
            origin: self.origin,
            problems: self.problems.clone(),
            executions: Arc::clone(&self.executions),
            modes: Arc::clone(&self.modes),
        }
    }
}

/// A problem of a filter. It is no `TraceDiagnostic`: it refers to a position in a filter that the
/// user typed, and says nothing about the trace.
#[derive(Clone, Debug)]
pub(crate) struct FilterProblem {
    pub(crate) filter_index: usize,
    pub(crate) error: FilterError,
    pub(crate) filter_text: String,
}

/// A filtered trace, or the place for it while it is computed.
type CacheSlotCell = Arc<OnceLock<Result<Arc<FilteredTrace>, QueryError>>>;

/// An entry of the cache, identified by a generation of the trace and its filters.
struct CacheEntry {
    generation: u64,
    /// A JSON list, as in the request.
    filters: String,
    slot: CacheSlotCell,
}

/// A trace and the cache of its filtered forms.
pub(crate) struct TraceCache {
    pub(crate) trace: ServedTrace,
    /// Fingerprint of the trace's file when it was opened.
    pub(crate) fingerprint: Option<u64>,
    entries: Mutex<VecDeque<CacheEntry>>,
}

/// The reason why a request with filters is rejected.
#[derive(Debug)]
pub(crate) enum FilterRefusal {
    TooMany,
    NoList,
    Query(QueryError),
}

impl TraceCache {
    pub(crate) fn new(trace: ServedTrace) -> Self {
        let opened = trace.path.as_deref().and_then(fingerprint);
        Self { trace, fingerprint: opened, entries: Mutex::new(VecDeque::new()) }
    }

    /// Returns the trace after `filters`, a JSON list of expressions. Filters that are wrong, or
    /// that name unknown entities, are left out.
    pub(crate) fn filtered_trace(&self, filters: &str) -> Result<Arc<FilteredTrace>, FilterRefusal> {
        if filters.len() > MAX_FILTER_BYTES {
            return Err(FilterRefusal::TooMany);
        }
        let texts: Vec<String> = match filters {
            "" => Vec::new(),
            list => serde_json::from_str(list).map_err(|_not_a_list| FilterRefusal::NoList)?,
        };
        if texts.len() > MAX_FILTERS {
            return Err(FilterRefusal::TooMany);
        }
        // The empty list and no list are the same filters.
        let filters = if texts.is_empty() { "" } else { filters };
        let snapshot = self.trace.source.snapshot();
        let slot = self.slot(snapshot.generation, filters);
        // Several requests with the same filters wait for the first of them.
        slot.get_or_init(|| apply_filters(&snapshot.source, &texts).map(Arc::new)).clone().map_err(FilterRefusal::Query)
    }

    fn slot(&self, generation: u64, filters: &str) -> CacheSlotCell {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        // Filtered traces of earlier generations are no longer needed.
        entries.retain(|entry| entry.generation >= generation);
        let position = entries.iter().position(|entry| entry.generation == generation && entry.filters == filters);
        let cached = position.and_then(|index| entries.remove(index));
        let entry = cached.unwrap_or_else(|| CacheEntry {
            generation,
            filters: filters.to_owned(),
            slot: CacheSlotCell::default(),
        });
        let slot = Arc::clone(&entry.slot);
        entries.push_front(entry);
        entries.truncate(CACHE_SIZE);
        slot
    }
}

fn apply_filters(source: &Arc<dyn TimelineSource>, texts: &[String]) -> Result<FilteredTrace, QueryError> {
    let mut problems = Vec::new();
    // `positions` contains the position in the request of each filter of the chain.
    let (mut chain, mut positions) = (FilterChain::default(), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        match text.parse::<FilterExpr>() {
            Ok(filter) => {
                chain.filters.push(ChainEntry::from(filter));
                positions.push(index);
            }
            Err(error) => {
                problems.push(FilterProblem { filter_index: index, error, filter_text: text.clone() });
            }
        }
    }
    let (filtered, left_out) = chain.apply_known(Arc::clone(source));
    for problem in left_out {
        let filter_index = positions.get(problem.filter_index).copied().unwrap_or(problem.filter_index);
        let filter_text = texts.get(filter_index).cloned().unwrap_or_default();
        problems.push(FilterProblem { filter_index, error: problem.error, filter_text });
    }
    let outline = Arc::new(ContainerOutline::new(filtered.as_ref())?);
    let executions = Arc::new(ExecutionCache::new(Arc::clone(&filtered)));
    let (origin, modes) = (source.extent().from.0, Arc::new(KeyedCache::new(MODE_CACHE_SIZE)));
    Ok(FilteredTrace { outline, source: filtered, origin, problems, executions, modes })
}

/// A hash of the length and the modification time of a file, or of the files of a run.
pub(crate) fn fingerprint(path: &Path) -> Option<u64> {
    let mut hasher = XxHash3_64::with_seed(0);
    let mut add_file = |path: &Path| -> Option<()> {
        let metadata = std::fs::metadata(path).ok()?;
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write_u64(metadata.len());
        let modified = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        hasher.write_u128(modified.as_nanos());
        Some(())
    };
    if !path.is_dir() {
        add_file(path)?;
        return Some(hasher.finish());
    }
    let entries = std::fs::read_dir(path).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "tmt")).collect();
    files.sort();
    for file in files {
        add_file(&file)?;
    }
    Some(hasher.finish())
}
