//! [`RunFolder`]: the folder of a recording, before and after the run.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use tumit_converter::convert::wall_clock;
use tumit_converter::run::{SYMBOL_FILE, active_recorders};
use tumit_preload::library_file::path_in;
use tumit_preload::recorder_library::LIBRARY_NAME;

use crate::text_table::printable_name;

/// The folder of a recording.
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Its name as the user wrote it.
    shown_path: String,
}

impl RunFolder {
    /// The folder that the user names, or `TUMIT_TRACE` names, or a new one with the name of the
    /// program.
    pub(crate) fn new(named: Option<&Path>, program: &str) -> anyhow::Result<Self> {
        let from_environment = || std::env::var_os("TUMIT_TRACE").filter(|value| !value.is_empty()).map(PathBuf::from);
        let name = named.map(Path::to_owned).or_else(from_environment).unwrap_or_else(|| default_name(program).into());
        let path =
            std::path::absolute(&name).with_context(|| format!("`{}` is no name of a folder", name.display()))?;
        Ok(Self { path, shown_path: printable_name(&name.to_string_lossy()).into_owned() })
    }

    /// The absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown_path
    }

    /// Checks that the folder can be written. Without `overwrite`, it must be absent or empty. With
    /// it, the folder may contain a run.
    pub(crate) fn check(&self, overwrite: bool) -> anyhow::Result<()> {
        let shown = &self.shown_path;
        let Ok(metadata) = fs::symlink_metadata(&self.path) else { return Ok(()) };
        if !self.path.is_dir() {
            let kind = if metadata.is_symlink() { "a link to no folder" } else { "a file" };
            bail!("`{shown}` is {kind}, not a folder: name another run by -o");
        }
        let entries = self.entries().with_context(|| format!("cannot read the folder `{shown}`"))?;
        let foreign_entry = entries.iter().find(|path| !is_part_of_run(path));
        if let Some(foreign_entry) = foreign_entry {
            let name = foreign_entry.file_name().unwrap_or_default().to_string_lossy();
            bail!("the folder `{shown}` contains `{name}`, which is no part of a run: name another run by -o");
        }
        let files: Vec<&Path> = entries.iter().filter(|path| !is_library(path)).map(PathBuf::as_path).collect();
        if files.is_empty() {
            return Ok(());
        }
        if !overwrite {
            bail!("the folder `{shown}` contains a run: name another one by -o, or replace it by --overwrite");
        }
        if let Some(pid) = active_recorders::user_of(&files) {
            bail!("process {pid} records into `{shown}`: end it, or name another run by -o");
        }
        Ok(())
    }

    /// Creates the folder without a run.
    pub(crate) fn create(&self) -> anyhow::Result<()> {
        let cannot_create = || format!("cannot create the folder `{}`: name another one by -o", self.shown_path);
        fs::create_dir_all(&self.path).with_context(cannot_create)?;
        for file in self.entries().with_context(cannot_create)? {
            fs::remove_file(&file).with_context(|| format!("cannot remove `{}`", file.display()))?;
        }
        Ok(())
    }

    fn entries(&self) -> std::io::Result<Vec<PathBuf>> {
        fs::read_dir(&self.path)?.map(|entry| Ok(entry?.path())).collect()
    }

    /// Whether a process has recorded into the folder.
    pub(crate) fn has_files(&self) -> bool {
        self.entries().is_ok_and(|entries| entries.iter().any(|path| is_process_file(path)))
    }

    /// Removes the library after the run, and the folder if it is empty. The library stays while a
    /// process records, because this process may start others.
    pub(crate) fn remove_unused(&self) {
        let entries = self.entries().unwrap_or_default();
        let files: Vec<&Path> = entries.iter().filter(|path| !is_library(path)).map(PathBuf::as_path).collect();
        if files.iter().any(|path| has_ending(path, "live")) && active_recorders::user_of(&files).is_some() {
            return;
        }
        // A file that cannot be removed does no harm.
        let _ = fs::remove_file(path_in(&self.path));
        let _ = fs::remove_dir(&self.path);
    }
}

fn has_ending(path: &Path, suffix: &str) -> bool {
    path.extension() == Some(OsStr::new(suffix))
}

fn is_library(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(LIBRARY_NAME))
}

fn is_process_file(path: &Path) -> bool {
    has_ending(path, "tmt") || has_ending(path, "live")
}

/// Whether a file is that of a process, or one that `tumit` makes: the library, the names of
/// functions, the index.
fn is_part_of_run(path: &Path) -> bool {
    is_process_file(path) || is_library(path) || path.ends_with(SYMBOL_FILE) || has_ending(path, "tmtx")
}

/// `PROGRAM-TIME-PID.tmt`, in UTC.
fn default_name(program: &str) -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let text = wall_clock::text(i64::try_from(nanos).unwrap_or(i64::MAX));
    let time = text.split('.').next().unwrap_or_default().replace(['-', ':'], "").replace('T', "-");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let program: String = program.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    format!("{program}-{time}Z-{}.tmt", std::process::id())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{RunFolder, default_name};

    #[test]
    fn the_default_name_has_program_and_time() {
        let name = default_name("a b");
        assert!(name.starts_with("a_b-20") && name.ends_with(&format!("Z-{}.tmt", std::process::id())), "{name}");
        assert_eq!(name.split('-').nth(2).map(str::len), Some(7), "{name}");
    }

    #[test]
    fn only_runs_are_replaced() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("run.tmt");
        let folder = RunFolder::new(Some(&path), "").unwrap();
        assert!(folder.check(false).is_ok());
        folder.create().unwrap();
        assert!(folder.check(false).is_ok(), "the folder is empty");
        fs::write(path.join("r0.tmt"), "").unwrap();
        assert!(folder.check(false).unwrap_err().to_string().contains("--overwrite"));
        fs::write(path.join("index.tmtx"), "").unwrap();
        fs::write(path.join("symbols.tsv"), "").unwrap();
        assert!(folder.check(true).is_ok());
        fs::write(path.join("thesis.txt"), "").unwrap();
        assert!(folder.check(true).unwrap_err().to_string().contains("thesis.txt"));
        fs::remove_file(path.join("thesis.txt")).unwrap();
        folder.create().unwrap();
        assert!(!folder.has_files());
        folder.remove_unused();
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        assert!(folder.check(true).unwrap_err().to_string().contains("is a file"));
        assert!(folder.create().is_err());
        assert!(Path::new(folder.shown()).is_absolute());
    }
}
