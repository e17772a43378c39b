//! [`open`]: opens any kind of trace at a path as a source.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tumit_paje::{DiagnosticKind, TraceDiagnostic};

use crate::index::self_repair::{RebuildResult, SelfRepairingIndex};
use crate::index::{self, IndexError, IndexKey, IndexLookup, IndexPath, IndexReader};
use crate::input::open_options::{OpenOptions, TraceOpenError};
use crate::input::trace::TraceInputFile;
use crate::query::{TimelineSource, TraceSummary};
use crate::sim::Simulation;

/// Opens a trace. A folder is a run. A file is a process of a run or Pajé text.
///
/// A small trace is read or converted, simulated, and kept in memory. A large one is simulated
/// once, into an [index](crate::index::IndexReader). After that, opening takes the same short time
/// for any size.
///
/// ```
/// use tumit_viewer::{OpenOptions, open};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("example.paje");
/// # std::fs::write(&path, format!("{header}{body}"))?;
/// let source = open(&path, &OpenOptions::default())?;
/// let summary = source.summary();
/// assert_eq!((summary.name.as_str(), summary.states), ("example", 1));
/// assert!(summary.is_intact());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no trace at the path. Problems *inside* a trace are diagnostics of its summary.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn TimelineSource>, TraceOpenError> {
    let io_error = |source| TraceOpenError::Io { path: path.to_owned(), source };
    let Some(lookup) = IndexLookup::new(path, options).map_err(io_error)? else {
        return in_memory(TraceInputFile::find(path, options)?, options, None);
    };
    let mut diagnostic = None;
    for index_path in &lookup.target.newest_first() {
        match IndexReader::open_up_to(index_path, lookup.key, options.read_up_to) {
            Ok(index) => return Ok(Arc::new(SelfRepairingIndex::new(index, lookup.key, path, options, rebuild_index))),
            Err(IndexError::Foreign) if matches!(lookup.target, IndexPath::Given(_)) => {
                return Err(TraceOpenError::NoIndex { path: index_path.clone() });
            }
            Err(IndexError::Io(_)) => {}
            Err(why) => diagnostic = Some(rebuild_note(index_path, &why)),
        }
    }
    let input = TraceInputFile::find(path, options)?;
    if lookup.is_small && matches!(lookup.target, IndexPath::Usual(_)) {
        return in_memory(input, options, None);
    }
    match find_writable(&lookup.target) {
        Ok(index_path) => {
            index::build(input, options, &lookup, &index_path)?;
            let cannot =
                |error: IndexError| TraceOpenError::Index { path: index_path.clone(), source: io::Error::other(error) };
            let index = IndexReader::open_up_to(&index_path, lookup.key, options.read_up_to).map_err(cannot)?;
            Ok(Arc::new(SelfRepairingIndex::new(
                index.with_diagnostic(diagnostic),
                lookup.key,
                path,
                options,
                rebuild_index,
            )))
        }
        Err(UnwritableIndex { path, source }) if matches!(lookup.target, IndexPath::Given(_)) => {
            Err(TraceOpenError::Index { path, source })
        }
        Err(UnwritableIndex { path, source }) => {
            let index_path = path.display();
            let text = format!("the trace is kept in memory, because no index can be written ({index_path}: {source})");
            in_memory(input, options, Some(TraceDiagnostic::warning(DiagnosticKind::Index, text)))
        }
    }
}

/// Rebuilds the index of a trace after it was found to be damaged. If no index can be written, the
/// trace is loaded into memory.
fn rebuild_index(path: &Path, options: &OpenOptions, key: IndexKey) -> RebuildResult {
    let io_error = |source| TraceOpenError::Io { path: path.to_owned(), source };
    let lookup = IndexLookup::new(path, options).map_err(io_error)?.filter(|lookup| lookup.key == key);
    let lookup = lookup.ok_or_else(|| io_error(io::Error::other("the trace has changed since it was opened")))?;
    let input = TraceInputFile::find(path, options)?;
    let Ok(index_path) = find_writable(&lookup.target) else {
        let text = "the index is damaged, and no new one can be written: the trace is kept in memory";
        return in_memory(input, options, Some(TraceDiagnostic::warning(DiagnosticKind::Index, text))).map(Err);
    };
    index::build(input, options, &lookup, &index_path)?;
    let cannot =
        |error: IndexError| TraceOpenError::Index { path: index_path.clone(), source: io::Error::other(error) };
    IndexReader::open_up_to(&index_path, lookup.key, options.read_up_to).map_err(cannot).map(Ok)
}

/// The index that [`make_index`] built or found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PreparedIndex {
    /// The path of the index.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Whether a valid index existed before.
    pub was_there: bool,
    /// Read from the index, not from the trace.
    pub summary: TraceSummary,
}

/// Builds the index of a trace before its first opening, for a trace of any size.
///
/// ```
/// use tumit_viewer::{OpenOptions, make_index};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("example.paje");
/// # std::fs::write(&path, format!("{header}{body}"))?;
/// let index = make_index(&path, &OpenOptions::default())?;
/// assert!(!index.was_there && index.path == folder.path().join("example.paje.tmtx"));
/// assert!(make_index(&path, &OpenOptions::default())?.was_there);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`open()`]. Also if the trace cannot have an index, for example because it is still being
/// written.
pub fn make_index(path: &Path, options: &OpenOptions) -> Result<PreparedIndex, TraceOpenError> {
    let io_error = |source| TraceOpenError::Io { path: path.to_owned(), source };
    let lookup = IndexLookup::new(path, options).map_err(io_error)?;
    // Checks the trace first, because its error is more helpful than that of a missing index.
    let input = TraceInputFile::find(path, options)?;
    let lookup = lookup.ok_or_else(|| {
        io_error(io::Error::other(
            "a trace that is not a regular file, or still grows, has no default index; for a pipe \
             or a compressed file, name the index with `-o PATH`",
        ))
    })?;
    let read_index = |index_path: &Path, was_there| -> Result<PreparedIndex, IndexError> {
        let index = IndexReader::open_up_to(index_path, lookup.key, options.read_up_to)?;
        // An index built in advance is verified as a whole.
        if was_there && !index.is_whole() {
            return Err(IndexError::Useless("it is damaged".to_owned()));
        }
        let summary = index.summary();
        Ok(PreparedIndex {
            path: index_path.to_owned(),
            bytes: std::fs::metadata(index_path)?.len(),
            was_there,
            summary,
        })
    };
    let mut diagnostic = None;
    for index_path in &lookup.target.newest_first() {
        match read_index(index_path, true) {
            Ok(indexed) => return Ok(indexed),
            Err(IndexError::Foreign) if matches!(lookup.target, IndexPath::Given(_)) => {
                return Err(TraceOpenError::NoIndex { path: index_path.clone() });
            }
            Err(IndexError::Io(_)) => {}
            Err(why) => diagnostic = Some(rebuild_note(index_path, &why)),
        }
    }
    let cannot = |UnwritableIndex { path, source }| TraceOpenError::Index { path, source };
    let index_path = find_writable(&lookup.target).map_err(cannot)?;
    index::build(input, options, &lookup, &index_path)?;
    let mut index = read_index(&index_path, false)
        .map_err(|error| cannot(UnwritableIndex { path: index_path.clone(), source: io::Error::other(error) }))?;
    index.summary.diagnostics.extend(diagnostic);
    Ok(index)
}

/// The path at which no index can be written, and the reason.
struct UnwritableIndex {
    path: PathBuf,
    source: io::Error,
}

/// A note about an index that could not be used.
fn rebuild_note(index_path: &Path, error: &IndexError) -> TraceDiagnostic {
    let text = format!("the index {} is rebuilt: {error}", index_path.display());
    TraceDiagnostic::note(DiagnosticKind::Index, text).in_file(index_path)
}

fn in_memory(
    input: TraceInputFile,
    options: &OpenOptions,
    diagnostic: Option<TraceDiagnostic>,
) -> Result<Arc<dyn TimelineSource>, TraceOpenError> {
    let mut simulation = Simulation::new(&input.title(options));
    let outcome = input.feed_shown(options, &mut simulation)?;
    simulation.report(outcome.diagnostics.into_iter().chain(diagnostic));
    simulation.set_wall_clock(outcome.wall_clock);
    Ok(Arc::new(simulation.into_store()))
}

/// The first path at which files can be created. Otherwise, the first path with the error.
fn find_writable(target: &IndexPath) -> Result<PathBuf, UnwritableIndex> {
    let mut reason = None;
    for (index, index_path) in target.places().iter().enumerate() {
        let folder = index_path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The cache folder may not exist yet.
        let creation = if index > 0 { std::fs::create_dir_all(folder) } else { Ok(()) };
        match creation.and_then(|()| tempfile::tempfile_in(folder)) {
            Ok(_) => return Ok(index_path.clone()),
            Err(error) => reason = reason.or(Some(UnwritableIndex { path: index_path.clone(), source: error })),
        }
    }
    let none = || UnwritableIndex { path: PathBuf::new(), source: io::ErrorKind::NotFound.into() };
    Err(reason.unwrap_or_else(none))
}

#[cfg(test)]
mod tests {
    use tumit_paje::diagnostic_texts;

    use super::{OpenOptions, TraceOpenError, make_index, open};
    use crate::input::open_options::IndexChoice;

    #[test]
    fn a_paje_file_is_opened_under_its_name_and_progress_is_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("small.paje");
        std::fs::write(&path, include_str!("../../tests/header.paje")).expect("the file can be written");
        let progress = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let mut options = OpenOptions::default();
        let sender = std::sync::Arc::clone(&progress);
        options.convert.progress = Some(std::sync::Arc::new(move |processed, _| {
            sender.store(processed, std::sync::atomic::Ordering::Relaxed);
        }));
        let source = open(&path, &options).expect("the file is a valid Pajé file");
        assert_eq!(source.summary().name, "small");
        assert_eq!(
            progress.load(std::sync::atomic::Ordering::Relaxed),
            std::fs::metadata(&path).expect("the file exists").len()
        );
    }

    /// A Pajé file with one state, and options that place its index at a path.
    fn write_trace(folder: &std::path::Path) -> (std::path::PathBuf, OpenOptions) {
        let path = folder.join("small.paje");
        let body = "0 T 0 Thread\n2 S T State\n5 a S work \"0 1 0\"\n6 0 t 0 T t\n11 0 t S a\n7 2 T t\n";
        std::fs::write(&path, format!("{}{body}", include_str!("../../tests/header.paje")))
            .expect("the file can be written");
        let index = IndexChoice::At(folder.join("small.tmtx"));
        (path, OpenOptions { index, ..OpenOptions::default() })
    }

    #[test]
    fn a_small_trace_has_no_index_unless_it_is_requested() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let (path, options) = write_trace(folder.path());
        let files = || std::fs::read_dir(folder.path()).expect("the folder exists").count();
        open(&path, &OpenOptions::default()).expect("the file is a valid Pajé file");
        assert_eq!(files(), 1);
        let prepared = make_index(&path, &OpenOptions::default()).expect("the file is a valid Pajé file");
        assert_eq!((prepared.path, prepared.was_there), (folder.path().join("small.paje.tmtx"), false));
        assert!(make_index(&path, &options).is_ok_and(|prepared| !prepared.was_there && prepared.summary.states == 1));
        assert!(make_index(&path, &options).is_ok_and(|prepared| prepared.was_there));
        assert_eq!(files(), 3);
    }

    #[test]
    fn an_invalid_index_is_rebuilt() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let (path, options) = write_trace(folder.path());
        let texts =
            || diagnostic_texts(&open(&path, &options).expect("the file is a valid Pajé file").summary().diagnostics);
        assert!(texts().is_empty() && texts().is_empty());
        let index = folder.path().join("small.tmtx");
        let mut bytes = std::fs::read(&index).expect("the index was built");
        bytes[5000] ^= 1;
        std::fs::write(&index, bytes).expect("the file can be written");
        assert!(texts()[0].ends_with("small.tmtx is rebuilt: it is damaged"));
        let mut text = std::fs::read_to_string(&path).expect("the file exists");
        text.push_str("6 3 u 0 T u\n");
        std::fs::write(&path, text).expect("the file can be written");
        assert!(texts()[0].contains("the trace has changed"));
        assert!(texts().is_empty());
        // Another file at the path that the user gave is left unchanged.
        std::fs::write(&index, "mine").expect("the file can be written");
        assert!(matches!(open(&path, &options), Err(TraceOpenError::NoIndex { .. })));
        assert_eq!(std::fs::read(&index).expect("the file exists"), b"mine");
    }

    /// All rows of a trace as text.
    fn rows(source: &dyn crate::query::TimelineSource) -> Vec<u8> {
        let mut rows = Vec::new();
        crate::text::entity_rows::write(source, &mut rows).expect("writing to memory cannot fail");
        rows
    }

    #[test]
    fn an_index_that_is_found_damaged_later_is_rebuilt() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let (path, options) = write_trace(folder.path());
        let mut text = std::fs::read_to_string(&path).expect("the file exists");
        for position in 0..700 {
            text.push_str(&format!("6 {position} c{position} 0 T c{position}\n11 {position} c{position} S a\n"));
        }
        std::fs::write(&path, text).expect("the file can be written");
        // The file is mapped, although it is small.
        let options = OpenOptions { read_up_to: 0, ..options };
        let expected = rows(open(&path, &options).expect("the file is a valid Pajé file").as_ref());
        let index_path = folder.path().join("small.tmtx");
        let intact_bytes = std::fs::read(&index_path).expect("the index was built");
        assert!(intact_bytes.len() > 12 * 4096, "{}", intact_bytes.len());
        let mut mended = 0;
        for position in (4096 + 7..intact_bytes.len()).step_by(4096) {
            let mut bytes = intact_bytes.clone();
            bytes[position] ^= 1;
            // A new file, because the previous one is still mapped.
            std::fs::remove_file(&index_path).expect("the file exists");
            std::fs::write(&index_path, bytes).expect("the file can be written");
            let source = open(&path, &options).expect("the file is a valid Pajé file");
            assert!(rows(source.as_ref()) == expected, "byte {position}");
            mended +=
                usize::from(source.summary().diagnostics.iter().any(|finding| finding.text.contains("is rebuilt")));
            // A scan of the whole file finds damage in parts that were not queried.
            let prepared = make_index(&path, &options).expect("the file is a valid Pajé file");
            assert!(std::fs::read(&index_path).expect("the file exists") == intact_bytes, "byte {position}");
            assert_eq!(prepared.summary.states, 701);
        }
        assert!(mended > 5, "{mended}");
        // Without the trace, the index cannot be rebuilt.
        let mut bytes = intact_bytes.clone();
        bytes[4096..].fill(0);
        bytes[..4096].copy_from_slice(&intact_bytes[..4096]);
        std::fs::remove_file(&index_path).expect("the file exists");
        std::fs::write(&index_path, bytes).expect("the file can be written");
        assert!(open(&path, &options).is_ok_and(|source| rows(source.as_ref()) == expected));
        let source = open(&path, &options).expect("the file is a valid Pajé file");
        std::fs::remove_file(&path).expect("the file exists");
        assert!(rows(source.as_ref()) == expected, "a complete index needs no trace");
    }

    #[test]
    fn a_cancelled_or_failed_build_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let (path, mut options) = write_trace(folder.path());
        options.cancel = Some(std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true)));
        assert!(matches!(open(&path, &options), Err(TraceOpenError::Cancelled)));
        options.cancel = None;
        options.index = IndexChoice::At(folder.path().join("none").join("small.tmtx"));
        let message = open(&path, &options).err().map(|error| error.to_string());
        assert!(message.is_some_and(|why| why.contains("--index PATH")));
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder exists").count(), 1);
    }

    #[test]
    fn errors_name_the_file_that_is_no_trace() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let missing = open(&folder.path().join("missing"), &OpenOptions::default()).err();
        assert!(matches!(missing, Some(TraceOpenError::Io { .. })));
        let empty = open(folder.path(), &OpenOptions::default()).err().map(|error| error.to_string());
        assert!(empty.is_some_and(|text| text.contains("*.tmt")));
        let path = folder.path().join("data.json");
        std::fs::write(&path, "{}").expect("the file can be written");
        let json = open(&path, &OpenOptions::default()).err().map(|error| error.to_string());
        assert!(json.is_some_and(|text| text.contains("data.json") && text.contains("JSON")));
    }
}
