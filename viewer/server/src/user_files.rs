//! What outlives a page: notes, in a file beside their trace, and the look of each model, in the user's cache folder.
//!
//! Files are small, read and written whole, and replaced in one step. What is wrong in them is told or ignored, never a reason to fail.

use std::hash::Hasher as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use twox_hash::XxHash3_64;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::filtered_cache::{Trace, fingerprint};
use super::type_names::type_path;
use tumit_viewer::filter::Filter;
use tumit_viewer::generated_file::{Kind, MOST_BYTES};
use tumit_viewer::query::{Model, TypeId, ValueId};

/// Notes of one trace.
const MOST_NOTES: usize = 1000;
/// Bytes of a note.
const MOST_TEXT: usize = 4096;
/// Files of notes.
const NOTES: Kind = Kind {
    name: "file of notes",
    fits: |text| serde_json::from_str::<Value>(text).is_ok_and(|value| value["format"] == "tumit-notes"),
};

/// Files of styles.
const STYLE: Kind = Kind {
    name: "file of styles",
    fits: |text| {
        serde_json::from_str::<Value>(text)
            .is_ok_and(|value| ["filters", "hidden", "dimmed"].iter().all(|field| value[*field].is_array()))
    },
};

/// A note, or a bookmark when it has no text: about a part of time, and perhaps an entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// Given by the page, and its alone.
    id: String,
    text: String,
    /// Nanoseconds after the trace's first date.
    from: i64,
    to: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entity: Option<String>,
}

/// What a page wants done with the notes. One at a time, so that two pages do not overwrite each other's.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NoteChange {
    /// Adds it, or replaces the one with its id.
    Put(Note),
    Remove(String),
}

/// Notes, and where they are kept.
#[derive(Debug, Serialize)]
pub(crate) struct Notes {
    notes: Vec<Note>,
    /// For the user.
    path: String,
}

/// Only one at a time reads and writes notes.
static WRITING: Mutex<()> = Mutex::new(());

impl Trace {
    /// Where notes can be.
    fn note_places(&self) -> Vec<PathBuf> {
        self.places("notes", "tumit-notes")
    }

    /// Where a file about the trace can be: beside a file, inside a run, where it has a name, else in the user's cache folder.
    pub(crate) fn places(&self, name: &str, ending: &str) -> Vec<PathBuf> {
        let Some(path) = &self.served.path else { return Vec::new() };
        let beside = if path.is_dir() {
            path.join(format!("{name}.{ending}"))
        } else {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(format!(".{ending}"));
            path.with_file_name(name)
        };
        let whole = path.canonicalize().unwrap_or_else(|_gone| path.clone());
        let hash = XxHash3_64::oneshot(whole.as_os_str().as_encoded_bytes());
        let stem = whole.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let cached = cache().map(|cache| cache.join(format!("{stem}-{hash:016x}.{ending}")));
        std::iter::once(beside).chain(cached).collect()
    }

    /// The notes on the trace; those of the first file that there is.
    ///
    /// # Errors
    /// When a file is there that cannot be read, or is none of ours.
    pub(crate) fn notes(&self) -> io::Result<Notes> {
        for path in self.note_places() {
            let text = match read(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let wrong =
                || io::Error::other(format!("{} is no file of notes; move it away to write new ones", path.display()));
            let value: Value = serde_json::from_str(&text).map_err(|_not_json| wrong())?;
            if value["format"] != "tumit-notes" {
                return Err(wrong());
            }
            let notes = Vec::deserialize(&value["notes"]).map_err(|_other_fields| wrong())?;
            return Ok(Notes { notes, path: path.display().to_string() });
        }
        Ok(Notes { notes: Vec::new(), path: String::new() })
    }

    /// Changes the notes, and says what they are then.
    ///
    /// # Errors
    /// When they are too many or too long, or no file can be written.
    pub(crate) fn change_notes(&self, change: NoteChange) -> io::Result<Notes> {
        let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let Notes { mut notes, path } = self.notes()?;
        match change {
            NoteChange::Put(note) => {
                if note.text.len() > MOST_TEXT || note.id.len() > 64 {
                    return Err(io::Error::other("a note has at most 4096 bytes"));
                }
                match notes.iter_mut().find(|known| known.id == note.id) {
                    Some(known) => *known = note,
                    None => notes.push(note),
                }
            }
            NoteChange::Remove(id) => notes.retain(|note| note.id != id),
        }
        if notes.len() > MOST_NOTES {
            return Err(io::Error::other("there are a thousand notes; remove some first"));
        }
        notes.sort_by_key(|note| note.from);
        let text = format!("{:#}\n", json!({ "format": "tumit-notes", "version": 1, "notes": notes }));
        let places = if path.is_empty() { self.note_places() } else { vec![PathBuf::from(path)] };
        let mut failed = io::Error::other("a trace without a file has no place for notes");
        for place in places {
            match write(NOTES, &place, &text) {
                Ok(()) => return Ok(Notes { notes, path: place.display().to_string() }),
                Err(error) if error.to_string().contains(&*place.to_string_lossy()) => failed = error,
                Err(error) => failed = io::Error::new(error.kind(), format!("{}: {error}", place.display())),
            }
        }
        Err(failed)
    }

    /// What has become of the file since it was opened: `removed` or `changed`.
    pub(crate) fn changed(&self) -> Option<&'static str> {
        let path = self.served.path.as_ref()?;
        match fingerprint(path) {
            None => Some("removed"),
            Some(now) if Some(now) != self.opened => Some("changed"),
            Some(_) => None,
        }
    }
}

/// How the traces of a model look: by names, so that the next run of a program looks the same. Types are told by all above them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Look {
    /// Version of the filter language. Files without it have version 1.
    language: Option<u8>,
    filters: Vec<String>,
    hidden: Vec<Vec<String>>,
    #[serde(default)]
    gradients: Vec<Vec<String>>,
    /// Type and value.
    dimmed: Vec<(Vec<String>, String)>,
}

/// A look as a page has it: by numbers of this trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageLook {
    filters: Vec<String>,
    hidden: Vec<u32>,
    #[serde(default)]
    gradients: Vec<u32>,
    dimmed: Vec<u32>,
}

/// The looks of all models.
#[derive(Debug)]
pub(crate) struct Looks {
    folder: Option<PathBuf>,
}

impl Default for Looks {
    fn default() -> Self {
        Self { folder: cache().map(|cache| cache.join("looks")) }
    }
}

impl Looks {
    /// The file of a model: traces with the same types, of whatever run, share it.
    fn path(&self, model: &Model) -> Option<PathBuf> {
        let mut hasher = XxHash3_64::with_seed(0);
        for ty in &model.types {
            // The root has the name of the trace, in some.
            let name = if ty.id == TypeId::ROOT { "" } else { ty.name.as_str() };
            hasher.write(format!("{name}\0{:?}\0{}\n", ty.kind, ty.parent.0).as_bytes());
        }
        Some(self.folder.as_ref()?.join(format!("{:016x}.json", hasher.finish())))
    }

    /// How traces of this model were last dressed; none when they never were.
    pub(crate) fn read(&self, model: &Model) -> Option<PageLook> {
        let text = read(&self.path(model)?).ok()?;
        let mut look: Look = serde_json::from_str(&text).ok()?;
        if look.language.is_none() {
            let migrated =
                |text: &String| Filter::migrated(text).map_or_else(|_| text.clone(), |read| read.to_string());
            look.filters = look.filters.iter().map(migrated).collect();
        }
        let called = |paths: &[Vec<String>]| {
            let is_there = |ty: &TypeId| type_path(model, *ty).is_some_and(|path| paths.contains(&path));
            model.types.iter().map(|ty| ty.id).filter(is_there).map(|id| id.0).collect()
        };
        let (hidden, gradients) = (called(&look.hidden), called(&look.gradients));
        let value = |(path, name): &(Vec<String>, String)| {
            let fits = |ty: TypeId| type_path(model, ty).as_ref() == Some(path);
            let found = model.values.iter().find(|value| value.name == *name && fits(value.ty));
            found.map(|value| value.id.0)
        };
        let dimmed = look.dimmed.iter().filter_map(value).collect();
        Some(PageLook { filters: look.filters, hidden, gradients, dimmed })
    }

    /// Keeps it; what fails is no harm to anyone but the next run.
    pub(crate) fn write(&self, model: &Model, look: PageLook) -> io::Result<()> {
        let Some(path) = self.path(model) else { return Ok(()) };
        let name = |id: u32| type_path(model, TypeId(id));
        let value = |id: u32| {
            let value = model.values.get(ValueId(id).index())?;
            Some((name(value.ty.0)?, value.name.clone()))
        };
        let names = |ids: Vec<u32>| {
            let mut names: Vec<Vec<String>> = ids.into_iter().filter_map(name).collect();
            names.dedup();
            names
        };
        let (hidden, gradients) = (names(look.hidden), names(look.gradients));
        let dimmed = look.dimmed.into_iter().filter_map(value).collect();
        let look = Look { language: Some(2), filters: look.filters, hidden, gradients, dimmed };
        if look == (Look { language: Some(2), ..Look::default() }) {
            return STYLE.remove(&path).or(Ok(()));
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        write(STYLE, &path, &serde_json::to_string(&look).map_err(io::Error::other)?)
    }
}

/// The user's folder for what can be made again.
fn cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))?.join("tumit"))
}

pub(crate) fn read(path: &Path) -> io::Result<String> {
    if std::fs::metadata(path)?.len() > MOST_BYTES {
        return Err(io::Error::other(format!("{} is too large", path.display())));
    }
    std::fs::read_to_string(path)
}

pub(crate) fn write(kind: Kind, path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        std::fs::create_dir_all(folder)?;
    }
    kind.write(path, text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Looks, Note, NoteChange, PageLook};
    use crate::filtered_cache::{Served, Trace};
    use tumit_viewer::query::TimelineSource as _;
    use tumit_viewer::store::Store;

    fn store(values: &str) -> Store {
        let text = format!(
            "{}0 T 0 Thread\n2 S T Activity\n{values}6 0 t 0 T t\n11 0 t S w\n7 2 T t\n",
            include_str!("../../tests/header.paje")
        );
        Store::from_paje("trace", text.as_bytes()).expect("a Pajé file")
    }

    #[test]
    fn notes_are_kept_beside_the_trace_and_what_is_no_notes_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.paje");
        std::fs::write(&path, "").expect("room for it");
        let trace = || {
            Trace::new(Served { path: Some(path.clone()), ..Served::new(Arc::new(store("5 w S work \"0 1 0\"\n"))) })
        };
        let note = |id: &str, text: &str, from| Note {
            id: id.to_owned(),
            text: text.to_owned(),
            from,
            to: from + 1,
            entity: None,
        };
        let (one, other) = (trace(), trace());
        one.change_notes(NoteChange::Put(note("a", "<b>late</b>", 5))).expect("room for it");
        other.change_notes(NoteChange::Put(note("b", "", 3))).expect("room for it");
        one.change_notes(NoteChange::Put(note("a", "later", 5))).expect("room for it");
        let all = trace().notes().expect("they can be read");
        assert_eq!(all.notes, [note("b", "", 3), note("a", "later", 5)]);
        assert!(all.path.ends_with("run.paje.tumit-notes") && std::path::Path::new(&all.path).exists());
        let left = other.change_notes(NoteChange::Remove("b".to_owned())).expect("room for it");
        assert_eq!(left.notes.len(), 1);
        assert!(one.change_notes(NoteChange::Put(note("c", &"x".repeat(5000), 0))).is_err());
        std::fs::write(&all.path, "mine").expect("room for it");
        let error = one.change_notes(NoteChange::Put(note("c", "", 0))).expect_err("it is none of ours");
        assert!(error.to_string().contains("no file of notes"), "{error}");
        assert_eq!(std::fs::read_to_string(&all.path).expect("it is there"), "mine");
    }

    #[test]
    fn what_becomes_of_the_file_is_seen() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.paje");
        std::fs::write(&path, "one").expect("room for it");
        let trace = Trace::new(Served { path: Some(path.clone()), ..Served::new(Arc::new(store(""))) });
        assert_eq!(trace.changed(), None);
        std::fs::write(&path, "another").expect("room for it");
        assert_eq!(trace.changed(), Some("changed"));
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(trace.changed(), Some("removed"));
    }

    #[test]
    fn the_next_run_of_a_program_looks_the_same_whatever_its_numbers() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let looks = Looks { folder: Some(folder.path().join("looks")) };
        let (one, other) = (
            store("5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n"),
            store("5 i S idle \"1 0 0\"\n5 w S work \"0 1 0\"\n"),
        );
        let value = |store: &Store, name: &str| {
            store.model().values.iter().find(|value| value.name == name).map(|value| value.id.0)
        };
        let activity =
            one.model().types.iter().find(|ty| ty.name == "Activity").map(|ty| ty.id.0).expect("it is defined");
        assert_eq!(looks.read(&one.model()), None);
        let filters = vec!["bright work".to_owned()];
        let idle = value(&one, "idle").expect("it is defined");
        let look = PageLook {
            filters: filters.clone(),
            hidden: vec![activity],
            gradients: vec![activity],
            dimmed: vec![idle],
        };
        looks.write(&one.model(), look).expect("room for it");
        let found = looks.read(&other.model()).expect("it is kept");
        assert_eq!(
            (found.filters, found.hidden, found.dimmed),
            (filters, vec![activity], value(&other, "idle").into_iter().collect())
        );
        assert_ne!(value(&other, "idle"), Some(idle));
        // A foreign file with this name is left unchanged.
        let path = looks.path(&one.model()).expect("there is a folder");
        let kept = std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, "{\"filters\": 3}").expect("room for it");
        assert!(looks.write(&one.model(), PageLook { hidden: vec![activity], ..PageLook::default() }).is_err());
        looks.write(&one.model(), PageLook::default()).expect("there is nothing to do");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "{\"filters\": 3}");
        // Filters without a version have version 1.
        let old = kept.replace("\"language\":2,", "").replace("bright work", "count sent of x per y");
        std::fs::write(&path, old).expect("room for it");
        assert_eq!(looks.read(&one.model()).expect("it is kept").filters, ["count \"sent\" of x per y"]);
        looks.write(&one.model(), PageLook::default()).expect("it can be removed");
        assert_eq!(looks.read(&other.model()), None);
    }

    #[test]
    fn types_that_are_named_alike_look_each_as_they_were_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let looks = Looks { folder: Some(folder.path().to_owned()) };
        let store = store("0 P 0 Process\n2 Q P Activity\n5 v Q work \"0 0 1\"\n5 w S work \"0 1 0\"\n");
        let model = store.model();
        let types: Vec<u32> = model.types.iter().filter(|ty| ty.name == "Activity").map(|ty| ty.id.0).collect();
        let values: Vec<u32> =
            model.values.iter().filter(|value| value.name == "work").map(|value| value.id.0).collect();
        assert_eq!((types.len(), values.len()), (2, 2));
        for at in 0..2 {
            let look = PageLook {
                hidden: vec![types[at]],
                gradients: vec![types[1 - at]],
                dimmed: vec![values[at]],
                ..PageLook::default()
            };
            looks.write(&model, look.clone()).expect("room for it");
            assert_eq!(looks.read(&model), Some(look));
        }
    }
}
