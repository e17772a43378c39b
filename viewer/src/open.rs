//! [`open`]: from a path to a source, whatever is there.

pub mod progressive;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::index::self_repair::{Mending, Rebuilt};
use crate::index::{self, Index, IndexError, Key, Lookup, Target};
use crate::input::options::{OpenError, OpenOptions};
use crate::input::trace::Input;
use crate::query::{Summary, TimelineSource};
use crate::sim::Simulation;

/// Opens a trace. A folder is a run, a file one process of a run or Pajé text.
///
/// A small one is read or converted, simulated, and kept in memory. Of a large one that is done once, into an [`Index`]; after
/// that, opening takes the same short time whatever its size.
///
/// # Errors
/// When there is nothing there, or nothing that is a trace. What is wrong *inside* a trace is in its summary's remarks.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Arc<dyn TimelineSource>, OpenError> {
    let io_error = |source| OpenError::Io { path: path.to_owned(), source };
    let Some(lookup) = Lookup::new(path, options).map_err(io_error)? else {
        return in_memory(Input::find(path, options)?, options, None);
    };
    let mut remark = None;
    for place in &lookup.target.newest_first() {
        match Index::open_up_to(place, lookup.key, options.read_up_to) {
            Ok(index) => return Ok(Arc::new(Mending::new(index, lookup.key, path, options, anew))),
            Err(IndexError::Foreign) if matches!(lookup.target, Target::Given(_)) => {
                return Err(OpenError::NoIndex { path: place.clone() });
            }
            Err(IndexError::Io(_)) => {}
            Err(why) => remark = Some(format!("the index {} is made anew: {why}", place.display())),
        }
    }
    let input = Input::find(path, options)?;
    if lookup.is_small && matches!(lookup.target, Target::Usual(_)) {
        return in_memory(input, options, None);
    }
    match writable(&lookup.target) {
        Ok(place) => {
            index::build(input, options, &lookup, &place)?;
            let cannot = |error: IndexError| OpenError::Index { path: place.clone(), source: io::Error::other(error) };
            let index = Index::open_up_to(&place, lookup.key, options.read_up_to).map_err(cannot)?;
            Ok(Arc::new(Mending::new(index.remarking(remark), lookup.key, path, options, anew)))
        }
        Err((place, source)) if matches!(lookup.target, Target::Given(_)) => {
            Err(OpenError::Index { path: place, source })
        }
        Err((place, why)) => {
            let place = place.display();
            let remark = format!("the trace is kept in memory, as no index can be written ({place}: {why})");
            in_memory(input, options, Some(remark))
        }
    }
}

/// The index of a trace made anew, as the one that there is was found to be damaged while it was read; where none can be written any more, the trace
/// in memory.
fn anew(path: &Path, options: &OpenOptions, key: Key) -> Rebuilt {
    let io_error = |source| OpenError::Io { path: path.to_owned(), source };
    let lookup = Lookup::new(path, options).map_err(io_error)?.filter(|lookup| lookup.key == key);
    let lookup = lookup.ok_or_else(|| io_error(io::Error::other("the trace is another one by now")))?;
    let input = Input::find(path, options)?;
    let Ok(place) = writable(&lookup.target) else {
        let remark = "the index was damaged, and none can be written: the trace is kept in memory";
        return in_memory(input, options, Some(remark.to_owned())).map(Err);
    };
    index::build(input, options, &lookup, &place)?;
    let cannot = |error: IndexError| OpenError::Index { path: place.clone(), source: io::Error::other(error) };
    Index::open_up_to(&place, lookup.key, options.read_up_to).map_err(cannot).map(Ok)
}

/// The index that [`make_index`] made or found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Indexed {
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it was there before, and still right.
    pub was_there: bool,
    /// What is known of the trace.
    pub summary: Summary,
}

/// Makes the index of a trace ahead of its first opening, however small the trace is.
///
/// # Errors
/// As [`open()`]; and when the trace can have none, as it is still being written, for one.
pub fn make_index(path: &Path, options: &OpenOptions) -> Result<Indexed, OpenError> {
    let io_error = |source| OpenError::Io { path: path.to_owned(), source };
    let lookup = Lookup::new(path, options).map_err(io_error)?;
    // What is no trace says so better than a missing index.
    let input = Input::find(path, options)?;
    let lookup = lookup.ok_or_else(|| {
        io_error(io::Error::other(
            "a trace that is no file, or still grows, has no index beside it; for a pipe or a compressed file, name \
             the index with `-o PATH`",
        ))
    })?;
    let found = |place: &Path, was_there| -> Result<Indexed, IndexError> {
        let index = Index::open_up_to(place, lookup.key, options.read_up_to)?;
        // Who makes an index ahead wants to know.
        if was_there && !index.is_whole() {
            return Err(IndexError::Useless("it is damaged".to_owned()));
        }
        let summary = index.summary();
        Ok(Indexed { path: place.to_owned(), bytes: std::fs::metadata(place)?.len(), was_there, summary })
    };
    let mut remark = None;
    for place in &lookup.target.newest_first() {
        match found(place, true) {
            Ok(indexed) => return Ok(indexed),
            Err(IndexError::Foreign) if matches!(lookup.target, Target::Given(_)) => {
                return Err(OpenError::NoIndex { path: place.clone() });
            }
            Err(IndexError::Io(_)) => {}
            Err(why) => remark = Some(format!("the index {} is made anew: {why}", place.display())),
        }
    }
    let cannot = |(path, source)| OpenError::Index { path, source };
    let place = writable(&lookup.target).map_err(cannot)?;
    index::build(input, options, &lookup, &place)?;
    let mut made = found(&place, false).map_err(|error| cannot((place.clone(), io::Error::other(error))))?;
    made.summary.remarks.extend(remark);
    Ok(made)
}

fn in_memory(
    input: Input,
    options: &OpenOptions,
    remark: Option<String>,
) -> Result<Arc<dyn TimelineSource>, OpenError> {
    let mut simulation = Simulation::new(&input.title(options));
    let told = input.feed_shown(options, &mut simulation)?;
    simulation.fault(told.faults);
    simulation.remark(told.remarks.into_iter().chain(remark));
    simulation.set_wall_clock(told.wall_clock);
    Ok(Arc::new(simulation.into_store()))
}

/// The first place in which files can be made; else the first place, and why not.
fn writable(target: &Target) -> Result<PathBuf, (PathBuf, io::Error)> {
    let mut why = None;
    for (at, place) in target.places().iter().enumerate() {
        let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The cache folder may not be there yet.
        let made = if at > 0 { std::fs::create_dir_all(folder) } else { Ok(()) };
        match made.and_then(|()| tempfile::tempfile_in(folder)) {
            Ok(_) => return Ok(place.clone()),
            Err(error) => why = why.or(Some((place.clone(), error))),
        }
    }
    Err(why.unwrap_or_else(|| (PathBuf::new(), io::ErrorKind::NotFound.into())))
}

#[cfg(test)]
mod tests {
    use super::{OpenError, OpenOptions, make_index, open};
    use crate::input::options::IndexChoice;

    #[test]
    fn a_paje_file_is_opened_under_its_name_and_progress_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("small.paje");
        std::fs::write(&path, include_str!("../tests/header.paje")).expect("room for it");
        let told = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
        let mut options = OpenOptions::default();
        let teller = std::sync::Arc::clone(&told);
        options.progress =
            Some(std::sync::Arc::new(move |done, _| teller.store(done, std::sync::atomic::Ordering::Relaxed)));
        let source = open(&path, &options).expect("it is a Pajé file");
        assert_eq!(source.summary().name, "small");
        assert_eq!(
            told.load(std::sync::atomic::Ordering::Relaxed),
            std::fs::metadata(&path).expect("it is there").len()
        );
    }

    /// A Pajé file with one state, and the options that index it at a place.
    fn traced(folder: &std::path::Path) -> (std::path::PathBuf, OpenOptions) {
        let path = folder.join("small.paje");
        let body = "0 T 0 Thread\n2 S T State\n5 a S work \"0 1 0\"\n6 0 t 0 T t\n11 0 t S a\n7 2 T t\n";
        std::fs::write(&path, format!("{}{body}", include_str!("../tests/header.paje"))).expect("room for it");
        let index = IndexChoice::At(folder.join("small.tmtx"));
        (path, OpenOptions { index, ..OpenOptions::default() })
    }

    #[test]
    fn a_small_trace_leaves_no_index_unless_it_is_asked_for() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, options) = traced(folder.path());
        let files = || std::fs::read_dir(folder.path()).expect("the folder is there").count();
        open(&path, &OpenOptions::default()).expect("it is a Pajé file");
        assert_eq!(files(), 1);
        let made = make_index(&path, &OpenOptions::default()).expect("it is a Pajé file");
        assert_eq!((made.path, made.was_there), (folder.path().join("small.paje.tmtx"), false));
        assert!(make_index(&path, &options).is_ok_and(|made| !made.was_there && made.summary.states == 1));
        assert!(make_index(&path, &options).is_ok_and(|made| made.was_there));
        assert_eq!(files(), 3);
    }

    #[test]
    fn an_index_is_made_anew_when_it_must_be() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, options) = traced(folder.path());
        let remarks = || open(&path, &options).expect("it is a Pajé file").summary().remarks;
        assert!(remarks().is_empty() && remarks().is_empty());
        let index = folder.path().join("small.tmtx");
        let mut bytes = std::fs::read(&index).expect("it was made");
        bytes[5000] ^= 1;
        std::fs::write(&index, bytes).expect("room for it");
        assert!(remarks()[0].ends_with("small.tmtx is made anew: it is damaged"));
        let mut text = std::fs::read_to_string(&path).expect("it is there");
        text.push_str("6 3 u 0 T u\n");
        std::fs::write(&path, text).expect("room for it");
        assert!(remarks()[0].contains("the trace has changed"));
        assert!(remarks().is_empty());
        // What is something else is left alone when the user named it.
        std::fs::write(&index, "mine").expect("room for it");
        assert!(matches!(open(&path, &options), Err(OpenError::NoIndex { .. })));
        assert_eq!(std::fs::read(&index).expect("it is there"), b"mine");
    }

    /// All rows of a trace, as text.
    fn rows(source: &dyn crate::query::TimelineSource) -> Vec<u8> {
        let mut rows = Vec::new();
        crate::text::entity_rows::write(source, &mut rows).expect("there is room");
        rows
    }

    #[test]
    fn an_index_that_turns_out_to_be_damaged_is_made_anew_meanwhile() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, options) = traced(folder.path());
        let mut text = std::fs::read_to_string(&path).expect("it is there");
        for at in 0..700 {
            text.push_str(&format!("6 {at} c{at} 0 T c{at}\n11 {at} c{at} S a\n"));
        }
        std::fs::write(&path, text).expect("room for it");
        // Mapped, however small it is.
        let options = OpenOptions { read_up_to: 0, ..options };
        let expected = rows(open(&path, &options).expect("it is a Pajé file").as_ref());
        let place = folder.path().join("small.tmtx");
        let whole = std::fs::read(&place).expect("it was made");
        assert!(whole.len() > 12 * 4096, "{}", whole.len());
        let mut mended = 0;
        for at in (4096 + 7..whole.len()).step_by(4096) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            // As a file of its own: the one before is still mapped.
            std::fs::remove_file(&place).expect("it is there");
            std::fs::write(&place, bytes).expect("room for it");
            let source = open(&path, &options).expect("it is a Pajé file");
            assert!(rows(source.as_ref()) == expected, "byte {at}");
            mended += usize::from(source.summary().remarks.iter().any(|remark| remark.contains("made anew")));
            // What nobody asked for is found by who looks at all of it.
            let made = make_index(&path, &options).expect("it is a Pajé file");
            assert!(std::fs::read(&place).expect("it is there") == whole, "byte {at}");
            assert_eq!(made.summary.states, 701);
        }
        assert!(mended > 5, "{mended}");
        // Without the trace there is nothing to make it of.
        let mut bytes = whole.clone();
        bytes[4096..].fill(0);
        bytes[..4096].copy_from_slice(&whole[..4096]);
        std::fs::remove_file(&place).expect("it is there");
        std::fs::write(&place, bytes).expect("room for it");
        assert!(open(&path, &options).is_ok_and(|source| rows(source.as_ref()) == expected));
        let source = open(&path, &options).expect("it is a Pajé file");
        std::fs::remove_file(&path).expect("it is there");
        assert!(rows(source.as_ref()) == expected, "what is whole needs no trace");
    }

    #[test]
    fn what_is_cancelled_or_cannot_be_written_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (path, mut options) = traced(folder.path());
        options.cancel = Some(std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true)));
        assert!(matches!(open(&path, &options), Err(OpenError::Cancelled)));
        options.cancel = None;
        options.index = IndexChoice::At(folder.path().join("none").join("small.tmtx"));
        let why = open(&path, &options).err().map(|error| error.to_string());
        assert!(why.is_some_and(|why| why.contains("--index PATH")));
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder is there").count(), 1);
    }

    #[test]
    fn what_is_no_trace_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let missing = open(&folder.path().join("missing"), &OpenOptions::default()).err();
        assert!(matches!(missing, Some(OpenError::Io { .. })));
        let empty = open(folder.path(), &OpenOptions::default()).err().map(|error| error.to_string());
        assert!(empty.is_some_and(|text| text.contains("*.tmt")));
        let path = folder.path().join("data.json");
        std::fs::write(&path, "{}").expect("room for it");
        let json = open(&path, &OpenOptions::default()).err().map(|error| error.to_string());
        assert!(json.is_some_and(|text| text.contains("data.json") && text.contains("JSON")));
    }
}
