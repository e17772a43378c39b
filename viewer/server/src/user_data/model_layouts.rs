//! The layouts of networks that users made by moving nodes, in the user's cache folder. The next
//! run of a program has the same layouts. A file has the format of the option
//! `--option layout=FILE`.

use std::io;
use std::path::PathBuf;

use tumit_viewer::generated_file::FileKind;
use tumit_viewer::query::TypeModel;

use super::user_files::{cache, model_file, read, write};

/// The begin of each file. The server never overwrites a file that begins differently.
const HEADING: &str = "# Layout of a network, by Tumit: a unit per line, with its position from 0 to 1.";
/// The end of the name of each file.
const ENDING: &str = "txt";
/// Maximum length of a name in bytes, which all file systems accept as the name of a file.
const MAX_NAME: usize = 64;
/// Maximum number of layouts of a model, so that no page fills the disk.
const MAX_LAYOUTS: usize = 200;

const LAYOUT: FileKind = FileKind { name: "file of a layout", fits: |text| text.starts_with(HEADING) };

/// The position of a unit, by its name.
pub(crate) type NamedPosition = (String, f64, f64);

#[derive(Debug)]
pub(crate) struct SavedLayouts {
    folder: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(crate) struct ModelLayouts {
    /// Without a cache folder, there are no layouts.
    folder: Option<PathBuf>,
}

impl Default for SavedLayouts {
    fn default() -> Self {
        Self { folder: cache().map(|cache| cache.join("layouts")) }
    }
}

impl SavedLayouts {
    pub(crate) fn of_model(&self, model: &TypeModel) -> ModelLayouts {
        ModelLayouts { folder: self.folder.as_ref().map(|folder| model_file(folder, model).with_extension("")) }
    }
}

impl ModelLayouts {
    /// The file of a layout, if the layout exists.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        check_name(name).ok()?;
        self.file(name).filter(|path| path.is_file())
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{name}.{ENDING}")))
    }

    /// The names of all layouts, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = self.folder.as_ref().and_then(|folder| folder.read_dir().ok()).into_iter().flatten();
        let name = |path: PathBuf| {
            let is_layout = path.extension().is_some_and(|ending| ending == ENDING);
            let stem = path.file_stem()?.to_str()?.to_owned();
            (is_layout && check_name(&stem).is_ok()).then_some(stem)
        };
        let mut names: Vec<String> = entries.filter_map(|entry| name(entry.ok()?.path())).collect();
        names.sort_unstable();
        names
    }

    /// The text of a layout.
    ///
    /// # Errors
    /// If there is no such layout, or its file cannot be read.
    pub(crate) fn text(&self, name: &str) -> io::Result<String> {
        let absent = || io::Error::new(io::ErrorKind::NotFound, format!("there is no layout with the name `{name}`"));
        read(&self.path(name).ok_or_else(absent)?)
    }

    /// Saves a layout, in place of an earlier one with its name.
    ///
    /// # Errors
    /// If the name is not permitted, there are too many layouts, or the file cannot be written.
    pub(crate) fn write(&self, name: &str, positions: &[NamedPosition]) -> io::Result<()> {
        check_name(name).map_err(io::Error::other)?;
        let Some(file) = self.file(name) else {
            return Err(io::Error::other("layouts cannot be saved: set HOME or XDG_CACHE_HOME to an absolute path"));
        };
        if !file.exists() && self.names().len() >= MAX_LAYOUTS {
            return Err(io::Error::other(format!("a program has at most {MAX_LAYOUTS} layouts; delete some first")));
        }
        let mut text = format!("{HEADING}\n");
        // A line break would end the line of a unit, and `#` would begin a comment.
        let is_plain = |name: &str| !name.is_empty() && !name.contains(['\n', '\r']) && !name.starts_with('#');
        for (unit, x, y) in positions.iter().filter(|(unit, _, _)| is_plain(unit)) {
            let inside = |place: f64| if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.5 };
            text.push_str(&format!("{unit} {:.4} {:.4}\n", inside(*x), inside(*y)));
        }
        write(LAYOUT, &file, &text)
    }

    /// Deletes a layout.
    ///
    /// # Errors
    /// If there is no such layout, or its file cannot be removed.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        self.text(name)?;
        self.path(name).map_or(Ok(()), |path| LAYOUT.remove(&path))
    }
}

/// Checks that a name can be the name of a file, and is not the name of a built-in layout.
fn check_name(name: &str) -> Result<(), String> {
    let is_permitted = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let is_trimmed = !name.is_empty() && name.trim() == name && name.len() <= MAX_NAME;
    if !is_trimmed || !name.chars().all(is_permitted) {
        return Err(format!(
            "`{name}` is not a name for a layout: use letters, digits, spaces, `-` and `_`, at most {MAX_NAME} bytes"
        ));
    }
    if tumit_perspectives::gallery::layouts().any(|word| word == name) {
        return Err(format!("`{name}` is a built-in layout: choose another name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::SavedLayouts;
    use tumit_test_support::table_trace::example_program;
    use tumit_viewer::query::TimelineSource as _;

    #[test]
    fn layouts_are_saved_listed_and_deleted_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let saved = SavedLayouts { folder: Some(folder.path().join("layouts")) };
        let layouts = saved.of_model(&example_program(1, 2, 3).model());
        assert!(layouts.names().is_empty() && layouts.path("two rows").is_none());
        let positions = [("rank 0".to_owned(), 0.25, 1.5), ("#1".to_owned(), 0.0, 0.0)];
        layouts.write("two rows", &positions).expect("the file can be written");
        layouts.write("second", &[]).expect("the file can be written");
        assert_eq!(layouts.names(), ["second", "two rows"]);
        let text = layouts.text("two rows").expect("the layout was saved");
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["rank 0 0.2500 1.0000"]);
        layouts.remove("second").expect("the layout was saved");
        assert_eq!(layouts.names(), ["two rows"]);
        assert!(layouts.remove("second").is_err());
        for name in ["", "../a", "a/b", " a", "ring", "a.b"] {
            assert!(layouts.write(name, &positions).is_err(), "{name}");
        }
        // A file of another origin is kept.
        let path = layouts.path("two rows").expect("the layout was saved");
        std::fs::write(&path, "mine").expect("the file can be written");
        assert!(layouts.write("two rows", &positions).is_err() && layouts.remove("two rows").is_err());
    }
}
