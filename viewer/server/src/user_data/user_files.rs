//! Files that outlive a page: notes in a file next to their trace, and the style of each model in
//! the user's cache folder.
//!
//! Files are small, are read and written as a whole, and are replaced atomically. Errors in them
//! are reported or ignored, but never make the server fail.

use std::hash::Hasher as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use twox_hash::XxHash3_64;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::caches::filtered_cache::{TraceCache, fingerprint};
use crate::type_names::{ValuePath, type_path};
use tumit_viewer::filter::FilterExpr;
use tumit_viewer::generated_file::{FileKind, MAX_BYTES};
use tumit_viewer::query::{TypeId, TypeModel, ValueId};

/// Maximum number of notes of one trace, so that no page fills the disk.
const MAX_NOTES: usize = 1000;
/// Maximum length of a note in bytes. With [`MAX_NOTES`], the file has at most about 4 MiB.
const MAX_NOTE_BYTES: usize = 4096;
const NOTES: FileKind = FileKind {
    name: "file of notes",
    fits: |text| serde_json::from_str::<Value>(text).is_ok_and(|value| value["format"] == "tumit-notes"),
};

const STYLE: FileKind = FileKind {
    name: "file of styles",
    fits: |text| {
        serde_json::from_str::<Value>(text)
            .is_ok_and(|value| ["filters", "hidden", "dimmed"].iter().all(|field| value[*field].is_array()))
    },
};

/// A note on a time range and optionally an entity. A note without text is a bookmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageNote {
    /// An identifier that the page assigns.
    id: String,
    text: String,
    /// Nanoseconds after the trace's first timestamp.
    from: i64,
    to: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity: Option<String>,
    /// The selected rows, as in the address of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<String>,
}

/// A change of the notes that a page requests. Changes are single, so that two pages do not
/// overwrite each other's notes.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NoteEdit {
    /// Adds the note, or replaces the note with the same `id`.
    Put(PageNote),
    Remove(String),
}

/// The notes and their file.
#[derive(Debug, Serialize)]
pub(crate) struct TraceNotes {
    notes: Vec<PageNote>,
    /// Shown to the user.
    path: String,
}

/// Held during each change of notes, because a change reads the file and then replaces it.
static WRITING: Mutex<()> = Mutex::new(());

impl TraceCache {
    /// The possible paths of the notes.
    fn note_paths(&self) -> Vec<PathBuf> {
        self.file_paths("notes", "tumit-notes")
    }

    /// The possible paths of a file about the trace: next to a trace file or inside a run, then in
    /// the user's cache folder. Only a trace with a path has any.
    pub(crate) fn file_paths(&self, name: &str, suffix: &str) -> Vec<PathBuf> {
        let Some(path) = &self.trace.path else { return Vec::new() };
        let next_to_trace = if path.is_dir() {
            path.join(format!("{name}.{suffix}"))
        } else {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{suffix}"));
            path.with_file_name(name)
        };
        let absolute = path.canonicalize().unwrap_or_else(|_not_found| path.clone());
        let hash = XxHash3_64::oneshot(absolute.as_os_str().as_encoded_bytes());
        let stem = absolute.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let cached = cache().map(|cache| cache.join(format!("{stem}-{hash:016x}.{suffix}")));
        std::iter::once(next_to_trace).chain(cached).collect()
    }

    /// Reads the notes on the trace from the first file that exists.
    ///
    /// # Errors
    /// If a file exists but cannot be read, or is not a notes file.
    pub(crate) fn notes(&self) -> io::Result<TraceNotes> {
        for path in self.note_paths() {
            let text = match read(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let format_error =
                || io::Error::other(format!("{} is not a file of notes; rename or remove it", path.display()));
            let value: Value = serde_json::from_str(&text).map_err(|_not_json| format_error())?;
            if value["format"] != "tumit-notes" {
                return Err(format_error());
            }
            let notes = Vec::deserialize(&value["notes"]).map_err(|_other_fields| format_error())?;
            return Ok(TraceNotes { notes, path: path.display().to_string() });
        }
        Ok(TraceNotes { notes: Vec::new(), path: String::new() })
    }

    /// Changes the notes, and returns the new notes.
    ///
    /// # Errors
    /// If there are too many notes, a note is too long, or no file can be written.
    pub(crate) fn change_notes(&self, change: NoteEdit) -> io::Result<TraceNotes> {
        let _lock = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let TraceNotes { mut notes, path } = self.notes()?;
        match change {
            NoteEdit::Put(note) => {
                let rows = note.rows.as_ref().map_or(0, String::len);
                if note.text.len() > MAX_NOTE_BYTES || note.id.len() > 64 {
                    return Err(io::Error::other("a note has at most 4096 bytes"));
                }
                if rows > MAX_NOTE_BYTES {
                    return Err(io::Error::other(
                        "the selected rows are too many for a note; select their groups, or neighbouring rows",
                    ));
                }
                match notes.iter_mut().find(|stored| stored.id == note.id) {
                    Some(existing) => *existing = note,
                    None => notes.push(note),
                }
            }
            NoteEdit::Remove(id) => notes.retain(|note| note.id != id),
        }
        if notes.len() > MAX_NOTES {
            return Err(io::Error::other("a trace has at most 1000 notes; remove some first"));
        }
        notes.sort_by_key(|note| note.from);
        let text = format!("{:#}\n", json!({ "format": "tumit-notes", "version": 1, "notes": notes }));
        let paths = if path.is_empty() { self.note_paths() } else { vec![PathBuf::from(path)] };
        let mut last_error = io::Error::other("notes cannot be saved, because the trace is not read from a file");
        for path in paths {
            match write(NOTES, &path, &text) {
                Ok(()) => return Ok(TraceNotes { notes, path: path.display().to_string() }),
                Err(error) if error.to_string().contains(&*path.to_string_lossy()) => last_error = error,
                Err(error) => last_error = io::Error::new(error.kind(), format!("{}: {error}", path.display())),
            }
        }
        Err(last_error)
    }

    /// The change of the file since it was opened: `removed` or `changed`.
    pub(crate) fn file_change(&self) -> Option<&'static str> {
        let path = self.trace.path.as_ref()?;
        match fingerprint(path) {
            None => Some("removed"),
            Some(fingerprint) if Some(fingerprint) != self.fingerprint => Some("changed"),
            Some(_) => None,
        }
    }
}

/// The style of the traces of a model. It refers to names, so that the next run of a program has
/// the same style. A type is given by the names on the path to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ModelStyle {
    /// Version of the filter language. Files without it have version 1.
    language: Option<u8>,
    filters: Vec<String>,
    hidden: Vec<Vec<String>>,
    #[serde(default)]
    gradients: Vec<Vec<String>>,
    dimmed: Vec<ValuePath>,
}

/// A style in the page's form, which refers to the numbers of this trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageStyle {
    filters: Vec<String>,
    hidden: Vec<u32>,
    #[serde(default)]
    gradients: Vec<u32>,
    dimmed: Vec<u32>,
}

#[derive(Debug)]
pub(crate) struct ModelStyles {
    folder: Option<PathBuf>,
}

impl Default for ModelStyles {
    fn default() -> Self {
        Self { folder: cache().map(|cache| cache.join("styles")) }
    }
}

impl ModelStyles {
    fn path(&self, model: &TypeModel) -> Option<PathBuf> {
        Some(model_file(self.folder.as_ref()?, model))
    }

    /// Reads the last style of this model. Returns `None` if there is none.
    pub(crate) fn read(&self, model: &TypeModel) -> Option<PageStyle> {
        let text = read(&self.path(model)?).ok()?;
        let mut style: ModelStyle = serde_json::from_str(&text).ok()?;
        if style.language.is_none() {
            let migrated = |text: &String| {
                FilterExpr::parse_any_version(text).map_or_else(|_| text.clone(), |read| read.to_string())
            };
            style.filters = style.filters.iter().map(migrated).collect();
        }
        let ids_of = |paths: &[Vec<String>]| {
            let is_there = |ty: &TypeId| type_path(model, *ty).is_some_and(|path| paths.contains(&path));
            model.types.iter().map(|ty| ty.id).filter(is_there).map(|id| id.0).collect()
        };
        let (hidden, gradients) = (ids_of(&style.hidden), ids_of(&style.gradients));
        let dimmed = style.dimmed.iter().filter_map(|path| path.find(model)).map(|value| value.id.0).collect();
        Some(PageStyle { filters: style.filters, hidden, gradients, dimmed })
    }

    /// Writes the style. A failure affects only the next run.
    pub(crate) fn write(&self, model: &TypeModel, style: PageStyle) -> io::Result<()> {
        let Some(path) = self.path(model) else { return Ok(()) };
        let name = |id: u32| type_path(model, TypeId(id));
        let names = |ids: Vec<u32>| {
            let mut names: Vec<Vec<String>> = ids.into_iter().filter_map(name).collect();
            names.dedup();
            names
        };
        let (hidden, gradients) = (names(style.hidden), names(style.gradients));
        let dimmed = style.dimmed.into_iter().filter_map(|id| ValuePath::of(model, ValueId(id))).collect();
        let style = ModelStyle { language: Some(2), filters: style.filters, hidden, gradients, dimmed };
        if style == (ModelStyle { language: Some(2), ..ModelStyle::default() }) {
            return STYLE.remove(&path).or(Ok(()));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        write(STYLE, &path, &serde_json::to_string(&style).map_err(io::Error::other)?)
    }
}

/// The file of a model in a folder. Traces with the same types share it, also across runs.
pub(crate) fn model_file(folder: &Path, model: &TypeModel) -> PathBuf {
    let mut hasher = XxHash3_64::with_seed(0);
    for ty in &model.types {
        // In some traces, the root has the name of the trace.
        let name = if ty.id == TypeId::ROOT { "" } else { ty.name.as_str() };
        hasher.write(format!("{name}\0{:?}\0{}\n", ty.kind, ty.parent.0).as_bytes());
    }
    folder.join(format!("{:016x}.json", hasher.finish()))
}

/// The user's cache folder.
pub(crate) fn cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?.join("tumit"))
}

pub(crate) fn read(path: &Path) -> io::Result<String> {
    if std::fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::other(format!("{} is too large", path.display())));
    }
    std::fs::read_to_string(path)
}

pub(crate) fn write(kind: FileKind, path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        std::fs::create_dir_all(folder)?;
    }
    kind.write(path, text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{ModelStyles, NoteEdit, PageNote, PageStyle};
    use crate::caches::filtered_cache::{ServedTrace, TraceCache};
    use tumit_viewer::query::TimelineSource as _;
    use tumit_viewer::store::TraceStore;

    fn store(values: &str) -> TraceStore {
        let text = format!(
            "{}0 T 0 Thread\n2 S T Activity\n{values}6 0 t 0 T t\n11 0 t S w\n7 2 T t\n",
            include_str!("../../../tests/header.paje")
        );
        TraceStore::from_paje("trace", text.as_bytes()).expect("the text is a valid Pajé file")
    }

    #[test]
    fn notes_are_saved_next_to_the_trace_and_other_files_are_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("run.paje");
        std::fs::write(&path, "").expect("the file can be written");
        let trace = || {
            TraceCache::new(ServedTrace {
                path: Some(path.clone()),
                ..ServedTrace::new(Arc::new(store("5 w S work \"0 1 0\"\n")))
            })
        };
        let note = |id: &str, text: &str, from| PageNote {
            id: id.to_owned(),
            text: text.to_owned(),
            from,
            to: from + 1,
            entity: None,
            rows: None,
        };
        let (first, second) = (trace(), trace());
        first.change_notes(NoteEdit::Put(note("a", "<b>late</b>", 5))).expect("the file can be written");
        second.change_notes(NoteEdit::Put(note("b", "", 3))).expect("the file can be written");
        first.change_notes(NoteEdit::Put(note("a", "later", 5))).expect("the file can be written");
        let all = trace().notes().expect("the notes can be read");
        assert_eq!(all.notes, [note("b", "", 3), note("a", "later", 5)]);
        assert!(all.path.ends_with("run.paje.tumit-notes") && std::path::Path::new(&all.path).exists());
        let remaining = second.change_notes(NoteEdit::Remove("b".to_owned())).expect("the file can be written");
        assert_eq!(remaining.notes.len(), 1);
        assert!(first.change_notes(NoteEdit::Put(note("c", &"x".repeat(5000), 0))).is_err());
        std::fs::write(&all.path, "mine").expect("the file can be written");
        let error = first.change_notes(NoteEdit::Put(note("c", "", 0))).expect_err("the file is foreign");
        assert!(error.to_string().contains("is not a file of notes"), "{error}");
        assert_eq!(std::fs::read_to_string(&all.path).expect("the file exists"), "mine");
    }

    #[test]
    fn changes_of_the_file_are_detected() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("run.paje");
        std::fs::write(&path, "one").expect("the file can be written");
        let trace = TraceCache::new(ServedTrace { path: Some(path.clone()), ..ServedTrace::new(Arc::new(store(""))) });
        assert_eq!(trace.file_change(), None);
        std::fs::write(&path, "another").expect("the file can be written");
        assert_eq!(trace.file_change(), Some("changed"));
        std::fs::remove_file(&path).expect("the file exists");
        assert_eq!(trace.file_change(), Some("removed"));
    }

    #[test]
    fn styles_apply_to_the_next_run_with_other_numbers() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let styles = ModelStyles { folder: Some(folder.path().join("styles")) };
        let (first_run, second_run) = (
            store("5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n"),
            store("5 i S idle \"1 0 0\"\n5 w S work \"0 1 0\"\n"),
        );
        let value = |store: &TraceStore, name: &str| {
            store.model().values.iter().find(|value| value.name == name).map(|value| value.id.0)
        };
        let activity = first_run
            .model()
            .types
            .iter()
            .find(|ty| ty.name == "Activity")
            .map(|ty| ty.id.0)
            .expect("the trace defines it");
        assert_eq!(styles.read(&first_run.model()), None);
        let filters = vec!["bright work".to_owned()];
        let idle = value(&first_run, "idle").expect("the trace defines it");
        let style = PageStyle {
            filters: filters.clone(),
            hidden: vec![activity],
            gradients: vec![activity],
            dimmed: vec![idle],
        };
        styles.write(&first_run.model(), style).expect("the file can be written");
        let found = styles.read(&second_run.model()).expect("the file was saved");
        assert_eq!(
            (found.filters, found.hidden, found.dimmed),
            (filters, vec![activity], value(&second_run, "idle").into_iter().collect())
        );
        assert_ne!(value(&second_run, "idle"), Some(idle));
        // A foreign file with this name is left unchanged.
        let path = styles.path(&first_run.model()).expect("a folder is known");
        let saved = std::fs::read_to_string(&path).expect("the file exists");
        std::fs::write(&path, "{\"filters\": 3}").expect("the file can be written");
        assert!(
            styles.write(&first_run.model(), PageStyle { hidden: vec![activity], ..PageStyle::default() }).is_err()
        );
        styles.write(&first_run.model(), PageStyle::default()).expect("nothing has to be changed");
        assert_eq!(std::fs::read_to_string(&path).expect("the file exists"), "{\"filters\": 3}");
        // Filters without a version have version 1.
        let old = saved.replace("\"language\":2,", "").replace("bright work", "count sent of x per y");
        std::fs::write(&path, old).expect("the file can be written");
        assert_eq!(styles.read(&first_run.model()).expect("the file was saved").filters, ["count \"sent\" of x per y"]);
        styles.write(&first_run.model(), PageStyle::default()).expect("the file can be removed");
        assert_eq!(styles.read(&second_run.model()), None);
    }

    #[test]
    fn types_with_equal_names_keep_their_own_styles() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let styles = ModelStyles { folder: Some(folder.path().to_owned()) };
        let store = store("0 P 0 Process\n2 Q P Activity\n5 v Q work \"0 0 1\"\n5 w S work \"0 1 0\"\n");
        let model = store.model();
        let types: Vec<u32> = model.types.iter().filter(|ty| ty.name == "Activity").map(|ty| ty.id.0).collect();
        let values: Vec<u32> =
            model.values.iter().filter(|value| value.name == "work").map(|value| value.id.0).collect();
        assert_eq!((types.len(), values.len()), (2, 2));
        for index in 0..2 {
            let style = PageStyle {
                hidden: vec![types[index]],
                gradients: vec![types[1 - index]],
                dimmed: vec![values[index]],
                ..PageStyle::default()
            };
            styles.write(&model, style.clone()).expect("the file can be written");
            assert_eq!(styles.read(&model), Some(style));
        }
    }
}
