//! The views of users: those of the program that starts the server, and card files.
//!
//! Card files are data: they name series and events of a trace, and their texts are drawn as texts.
//! The page can add a file to the user's folder. A file is replaced only by a card file. The page
//! can also remove a file of this folder: the file moves to the folder `removed` in it, from which
//! the page restores it.

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

/// The folder of removed card files, in the user's folder. From there, *Restore* brings them back.
const REMOVED: &str = "removed";

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

    /// Whether the page can remove a card file: it is in the user's folder.
    pub(crate) fn is_removable(&self, card: &FoundCard) -> bool {
        self.folder.is_some() && card.path.parent() == self.folder.as_deref()
    }

    /// The removed card files. Files whose names are used again are left out.
    pub(crate) fn removed_cards(&self) -> Vec<FoundCard> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let mut removed = cards::find(&[folder.join(REMOVED)]);
        removed.retain(|card| !folder.join(card.file_name()).exists());
        removed
    }

    /// Removes the card file of a view from the user's folder. It replaces a removed file with the
    /// same name.
    ///
    /// # Errors
    /// If the user's folder has no such file, or the file cannot be moved.
    pub(crate) fn remove(&self, name: &str) -> Result<(), String> {
        let files = self.folder.iter().flat_map(|folder| cards::find(std::slice::from_ref(folder)));
        let card = files.into_iter().find(|card| card.name == name);
        let (Some(card), Some(folder)) = (card, &self.folder) else {
            return Err(format!(
                "your folder of cards has no file of the view {name}; remove a file next to the trace there"
            ));
        };
        let target = folder.join(REMOVED).join(card.file_name());
        std::fs::create_dir_all(folder.join(REMOVED))
            .and_then(|()| std::fs::rename(&card.path, target))
            .map_err(|error| format!("{}: {error}", card.path.display()))
    }

    /// Restores the removed card file of a view.
    ///
    /// # Errors
    /// If there is none, its name is used again, or it cannot be moved.
    pub(crate) fn restore(&self, name: &str) -> Result<(), String> {
        let card = self.removed_cards().into_iter().find(|card| card.name == name);
        let (Some(card), Some(folder)) = (card, &self.folder) else {
            return Err(format!("no card file of the view {name} was removed; open the file again"));
        };
        std::fs::rename(&card.path, folder.join(card.file_name()))
            .map_err(|error| format!("{}: {error}", card.path.display()))
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
        let mut cards = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cards.iter().find(|card| card.path == path && card.state == state) {
            return Ok(Arc::clone(&known.view));
        }
        cards.retain(|card| card.path != path);
        let view: SharedView = Arc::new(CardView::new(cards::read(path)?));
        cards.push(ReadCard { path: path.to_owned(), state, view: Arc::clone(&view) });
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
    use super::{FoundCard, OwnViews, stored_name};

    const CARD: &str = "title = \"One\"\n[[panel]]\nkind = \"levels\"\n[[panel.series]]\nof = \"states\"\n";

    fn views(folder: &std::path::Path) -> OwnViews {
        OwnViews { folder: Some(folder.join("tumit").join("cards")), ..OwnViews::default() }
    }

    #[test]
    fn added_files_are_found_and_changes_are_read() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let own_views = views(folder.path());
        assert!(own_views.files(None).is_empty());
        assert_eq!(own_views.add("one.card.toml", CARD).expect("the card has no mistake"), "card-one");
        let title =
            || own_views.view("card-one", None).map(|view| view.expect("the card is there").info().title.to_owned());
        assert_eq!(title().expect("the file can be read"), "One");
        own_views.add("one.card.toml", &CARD.replace("One", "Other")).expect("a card is replaced");
        assert_eq!(title().expect("the file can be read"), "Other");
        let path = own_views.files(None)[0].path.clone();
        std::fs::write(&path, CARD.replace("states", "stats")).expect("the file can be written");
        let error = title().expect_err("the file has a mistake").to_string();
        assert!(error.starts_with("one.card.toml:5: ") && error.contains("did you mean `states`?"), "{error}");
        // A file that is no card is not replaced.
        let error = own_views.add("one.card.toml", CARD).expect_err("the file is foreign");
        assert!(error.contains("exists and is not a card file"), "{error}");
        assert!(own_views.add("two.card.toml", "title = 1").expect_err("a mistake").starts_with("two.card.toml:1: "));
        assert!(own_views.view("kiviat", None).expect("no file is read").is_none());
    }

    #[test]
    fn removed_files_are_restored_unless_their_name_is_used_again() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let own_views = views(folder.path());
        own_views.add("one.card.toml", CARD).expect("the card has no mistake");
        let names = |cards: Vec<FoundCard>| cards.into_iter().map(|card| card.name).collect::<Vec<_>>();
        assert!(own_views.is_removable(&own_views.files(None)[0]));
        own_views.remove("card-one").expect("the file can be moved");
        assert_eq!(
            (names(own_views.files(None)), names(own_views.removed_cards())),
            (vec![], vec!["card-one".to_owned()])
        );
        assert!(own_views.remove("card-one").expect_err("it is gone").contains("no file of the view card-one"));
        own_views.restore("card-one").expect("the file can be moved back");
        assert_eq!(
            (names(own_views.files(None)), names(own_views.removed_cards())),
            (vec!["card-one".to_owned()], vec![])
        );
        own_views.remove("card-one").expect("the file can be moved");
        own_views.add("one.card.toml", &CARD.replace("One", "Other")).expect("the card has no mistake");
        assert!(own_views.removed_cards().is_empty());
        assert!(own_views.restore("card-one").expect_err("the name is used").contains("open the file again"));
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
        let own_views = views(folder.path());
        assert!(!own_views.is_removable(&own_views.files(Some(&folder.path().join("run.tmt")))[0]));
        assert!(own_views.remove("card-near").expect_err("it belongs to the trace").contains("next to the trace"));
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
