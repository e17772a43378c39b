//! The views of users: those of the program that starts the server, and card files.
//!
//! Card files are data: they name series and events of a trace, and their texts are drawn as texts.
//! The page can add a file to the user's folder. A file is replaced only by a card file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tumit_perspectives::cards::{self, CARD_ENDING, CardFile, CardFileError, CardView, FoundCard};
use tumit_perspectives::view::PerspectiveView;
use tumit_viewer::generated_file::FileKind;

use super::user_files::write;

/// Maximum length of the name of a file that the page adds, without its ending, in characters.
const MAX_NAME: usize = 80;

const CARD: FileKind = FileKind { name: "card file", fits: |text| CardFile::parse("", text).is_ok() };

/// A view of a user.
pub(crate) type SharedView = Arc<dyn PerspectiveView>;

/// A card file that was read, in the state of its last change.
struct ReadCard {
    path: PathBuf,
    state: (u64, Option<SystemTime>),
    view: SharedView,
}

/// The views of users.
pub(crate) struct OwnViews {
    /// The views of the program that starts the server.
    pub(crate) views: Vec<SharedView>,
    folder: Option<PathBuf>,
    read: Mutex<Vec<ReadCard>>,
}

impl Default for OwnViews {
    fn default() -> Self {
        Self { views: Vec::new(), folder: cards::user_folder(), read: Mutex::default() }
    }
}

impl OwnViews {
    /// The card files for a trace.
    pub(crate) fn files(&self, trace: Option<&Path>) -> Vec<FoundCard> {
        let folders: Vec<PathBuf> = self.folder.iter().cloned().chain(trace.map(cards::folder_beside)).collect();
        cards::find(&folders)
    }

    /// The view of a name, if a user has it.
    ///
    /// # Errors
    /// If its card file cannot be read or has a mistake.
    pub(crate) fn view(&self, name: &str, trace: Option<&Path>) -> Result<Option<SharedView>, CardFileError> {
        if let Some(view) = self.views.iter().find(|view| view.info().name == name) {
            return Ok(Some(Arc::clone(view)));
        }
        let file = self.files(trace).into_iter().find(|card| card.name == name);
        file.map(|card| self.card(&card.path)).transpose()
    }

    /// The view of a card file, read again if it has changed.
    pub(crate) fn card(&self, path: &Path) -> Result<SharedView, CardFileError> {
        let state = std::fs::metadata(path).map(|data| (data.len(), data.modified().ok())).unwrap_or_default();
        let mut all = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.iter().find(|card| card.path == path && card.state == state) {
            return Ok(Arc::clone(&known.view));
        }
        all.retain(|card| card.path != path);
        let view: SharedView = Arc::new(CardView::new(cards::read(path)?));
        all.push(ReadCard { path: path.to_owned(), state, view: Arc::clone(&view) });
        Ok(view)
    }

    /// Adds a card file to the user's folder. Returns the name of its view.
    ///
    /// # Errors
    /// If the text has a mistake, or the file cannot be written.
    pub(crate) fn add(&self, file: &str, text: &str) -> Result<String, String> {
        CardFile::parse(file, text).map_err(|fault| fault.to_string())?;
        let folder = self.folder.as_ref().ok_or("there is no folder for card files, because HOME is not set")?;
        let path = folder.join(stored_name(file));
        write(CARD, &path, text).map_err(|error| write_error(&path, &error))?;
        Ok(cards::card_name(&stored_name(file)))
    }
}

/// The name of a file in the user's folder, without characters of paths.
fn stored_name(file: &str) -> String {
    let name = cards::card_name(file);
    let stem = name.strip_prefix("card-").unwrap_or(&name).trim_start_matches('.');
    let stem: String = stem.chars().take(MAX_NAME).collect();
    format!("{}{CARD_ENDING}", if stem.is_empty() { "card" } else { &stem })
}

fn write_error(path: &Path, error: &io::Error) -> String {
    let place = path.display().to_string();
    let text = error.to_string();
    if text.contains(&place) {
        text
    } else {
        format!("{place}: {text}; or put the file into `cards` next to the trace")
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnViews, stored_name};

    const CARD: &str = "title = \"One\"\n[[panel]]\nkind = \"levels\"\n[[panel.series]]\nof = \"states\"\n";

    fn views(folder: &std::path::Path) -> OwnViews {
        OwnViews { folder: Some(folder.join("tumit").join("cards")), ..OwnViews::default() }
    }

    #[test]
    fn added_files_are_found_and_changes_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let own = views(folder.path());
        assert!(own.files(None).is_empty());
        assert_eq!(own.add("one.card.toml", CARD).expect("the card has no mistake"), "card-one");
        let title = || own.view("card-one", None).map(|view| view.expect("the card is there").info().title.to_owned());
        assert_eq!(title().expect("the file can be read"), "One");
        own.add("one.card.toml", &CARD.replace("One", "Other")).expect("a card is replaced");
        assert_eq!(title().expect("the file can be read"), "Other");
        let path = own.files(None)[0].path.clone();
        std::fs::write(&path, CARD.replace("states", "stats")).expect("the file can be written");
        let error = title().expect_err("the file has a mistake").to_string();
        assert!(error.starts_with("one.card.toml:5: ") && error.contains("did you mean `states`?"), "{error}");
        // A file that is no card is not replaced.
        let error = own.add("one.card.toml", CARD).expect_err("the file is foreign");
        assert!(error.contains("exists and is not a card file"), "{error}");
        assert!(own.add("two.card.toml", "title = 1").expect_err("a mistake").starts_with("two.card.toml:1: "));
        assert!(own.view("kiviat", None).expect("no file is read").is_none());
    }

    #[test]
    fn files_beside_the_trace_are_found() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        std::fs::create_dir(folder.path().join("cards")).expect("the folder can be created");
        std::fs::write(folder.path().join("cards/near.card.toml"), CARD).expect("the file can be written");
        std::fs::write(folder.path().join("cards/notes.toml"), "").expect("the file can be written");
        let names: Vec<String> = views(folder.path())
            .files(Some(&folder.path().join("run.tmt")))
            .into_iter()
            .map(|card| card.name)
            .collect();
        assert_eq!(names, ["card-near"]);
    }

    #[test]
    fn names_of_files_contain_no_paths() {
        for (name, stored) in [
            ("sort.card.toml", "sort.card.toml"),
            ("../../etc/passwd", "-..-etc-passwd.card.toml"),
            (".card.toml", "card.card.toml"),
            ("a b\n.toml", "a-b-.card.toml"),
            (&"x".repeat(300), &format!("{}.card.toml", "x".repeat(80))),
        ] {
            assert_eq!(stored_name(name), stored);
        }
    }
}
