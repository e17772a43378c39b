//! Processes of this machine that have a file of a run open for writing: they still record.
//! Processes that only read such a file, for example a viewer, do not count.
//!
//! ```
//! use tumit_converter::run::active_recorders;
//!
//! // This process does not record.
//! assert!(active_recorders::live_files(std::process::id())?.is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::ProcessInRun;

/// The id of a process that has one of these files open or mapped for writing. `None` if there is
/// no such process, if it belongs to another user, or if the system has no `/proc`.
///
/// Process ids of a run can belong to another PID name space. The first call therefore inspects all
/// processes. Later calls use its result.
#[must_use]
pub fn user_of(files: &[&Path]) -> Option<u32> {
    static OPEN: LazyLock<BTreeMap<InodeIdentity, u32>> = LazyLock::new(open_files);
    let files = files.iter().filter_map(|file| InodeIdentity::of(file));
    files.filter_map(|file| OPEN.get(&file).copied()).next()
}

/// All files that other processes have open, or mapped as live files, for writing, and one process
/// of each.
fn open_files() -> BTreeMap<InodeIdentity, u32> {
    let mut all = BTreeMap::new();
    for pid in processes().filter(|pid| *pid != std::process::id()) {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let open = open.filter(is_writable).map(|entry| entry.path());
        let mapped = live_files(pid).unwrap_or_default();
        all.extend(open.chain(mapped).filter_map(|path| Some((InodeIdentity::of(&path)?, pid))));
    }
    all
}

/// The host name of this machine. Empty if it is unknown.
#[must_use]
pub fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| String::new(), |name| name.trim().to_owned())
}

/// The live files that a process has mapped for writing.
///
/// # Errors
/// If there is no such process, or its user does not permit to see it.
pub fn live_files(pid: u32) -> std::io::Result<Vec<PathBuf>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut files: Vec<PathBuf> = maps.lines().filter_map(mapped_file).filter(|file| is_live(file)).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

fn is_live(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "live")
}

/// The file of a line of `maps`, if it is mapped for writing. Its path is the sixth column and may
/// contain spaces.
fn mapped_file(line: &str) -> Option<PathBuf> {
    let start = line.find('/')?;
    let columns: Vec<&str> = line[..start].split_whitespace().collect();
    let is_writable = columns.len() == 5 && columns[1].contains('w');
    is_writable.then(|| PathBuf::from(&line[start..]))
}

/// Whether an entry of `/proc/PID/fd` is open for writing: the system shows it as its permission.
#[cfg(unix)]
fn is_writable(entry: &fs::DirEntry) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    entry.metadata().is_ok_and(|link| link.mode() & 0o200 != 0)
}

#[cfg(not(unix))]
fn is_writable(_entry: &fs::DirEntry) -> bool {
    false
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The identity of a file, independent of its name: device and inode.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct InodeIdentity(u64, u64);

#[cfg(unix)]
impl InodeIdentity {
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let data = fs::metadata(path).ok()?;
        data.is_file().then(|| Self(data.dev(), data.ino()))
    }
}

#[cfg(not(unix))]
impl InodeIdentity {
    fn of(_path: &Path) -> Option<Self> {
        None
    }
}

impl ProcessInRun {
    /// Whether a process of this machine still writes this file.
    #[must_use]
    pub fn is_running(&self) -> bool {
        let live = self.live.as_ref().filter(|live| live.is_used).map(|live| live.path.as_path());
        let files: Vec<&Path> = std::iter::once(self.path.as_path()).chain(live).collect();
        !self.has_ended && user_of(&files).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_open_for_writing_count() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let reader = fs::File::open(file.path()).unwrap();
        let open: Vec<(PathBuf, bool)> = fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .filter_map(|entry| Some((fs::read_link(entry.path()).ok()?, is_writable(&entry))))
            .filter(|(path, _)| path == file.path())
            .collect();
        assert_eq!(open.iter().filter(|(_, is_writable)| *is_writable).count(), 1, "{open:?}");
        assert_eq!(open.len(), 2);
        drop(reader);
    }

    #[test]
    fn files_of_maps_may_have_spaces_and_are_writable() {
        let line = "7f00-7f10 rw-s 00000000 08:01 42                       /tmp/my run.tmt/a.live";
        assert_eq!(mapped_file(line), Some(PathBuf::from("/tmp/my run.tmt/a.live")));
        assert_eq!(mapped_file(&line.replace("rw-s", "r--s")), None, "only opened for reading");
        assert_eq!(mapped_file("7f00-7f10 rw-p 00000000 00:00 0                        [heap]"), None);
    }
}
