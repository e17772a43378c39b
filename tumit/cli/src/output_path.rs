//! Where a result goes, before anything is written: through links to what they name, and never over what is being read.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// A name that the user gave.
pub(crate) enum Place {
    /// A file, or the place of one: its name when all links are followed.
    File(PathBuf),
    /// What takes bytes as they come: a pipe, a terminal, an open file of this process.
    Stream(File),
}

/// More links than this one after the other lead nowhere.
const MOST_LINKS: usize = 40;

/// Follows the links of a name, the last of which may lead to what is not there yet.
///
/// # Errors
/// When they go in a circle, or what is there cannot be written to.
pub(crate) fn follow(target: &Path) -> anyhow::Result<Place> {
    let cannot = || format!("cannot write to `{}`", target.display());
    let mut path = target.to_path_buf();
    for _ in 0..MOST_LINKS {
        if let Some(number) = own_file(&path) {
            let file = match number {
                // With the position that all who write there share.
                1 => io::stdout().as_fd().try_clone_to_owned().map(File::from),
                2 => io::stderr().as_fd().try_clone_to_owned().map(File::from),
                _ => File::options().append(true).open(&path),
            };
            return file.map(Place::Stream).with_context(cannot);
        }
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) if fs::metadata(&path).is_ok_and(|there| !there.is_file() && !there.is_dir()) => {
                return File::options().write(true).open(&path).map(Place::Stream).with_context(cannot);
            }
            Err(_) => return Ok(Place::File(path)),
        }
    }
    bail!("`{}` is a link that leads to itself", target.display())
}

/// The number of the open file of this process that a name stands for: `/dev/fd/3`, and what `/dev/stdout` leads to.
fn own_file(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let own = [PathBuf::from("/dev/fd"), PathBuf::from(format!("/proc/{}/fd", std::process::id()))];
    own.contains(&folder).then_some(number)
}

/// Refuses to write over an input, or into the folder of one: it is still being read then, and a run would have a file that is no
/// part of it.
///
/// # Errors
/// When `target` is one of `inputs` under whatever name, or lies in one.
pub(crate) fn keep_inputs<'i>(target: &Path, inputs: impl IntoIterator<Item = &'i Path>) -> anyhow::Result<()> {
    let path = behind_links(target);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (folder, there) = (fs::canonicalize(folder), identity(&path));
    for input in inputs {
        let shown = input.display();
        if there.is_some() && there == identity(input) {
            bail!("`{}` is the input `{shown}` itself: name another file to write to", target.display());
        }
        let Ok(root) = fs::canonicalize(input) else { continue };
        if !root.is_dir() {
            continue;
        }
        if folder.as_ref().is_ok_and(|folder| folder.starts_with(&root)) {
            bail!("`{}` is inside the run `{shown}`, which is read: name a place outside of it", target.display());
        }
        let mut files = fs::read_dir(&root).into_iter().flatten().flatten();
        if let Some(file) = files.find(|file| there.is_some() && identity(&file.path()) == there) {
            let file = file.path();
            bail!("`{}` is the file `{}` of the run that is read: name another", target.display(), file.display());
        }
    }
    Ok(())
}

/// What a name leads to; a link of a circle if it leads to itself.
fn behind_links(target: &Path) -> PathBuf {
    let next = |path: &PathBuf| fs::read_link(path).ok().map(|next| path.with_file_name("").join(next));
    std::iter::successors(Some(target.to_path_buf()), next).take(MOST_LINKS).last().unwrap_or_default()
}

/// Which regular file or folder it is, whatever its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(|there| there.is_file() || there.is_dir())?;
    Some((metadata.dev(), metadata.ino()))
}
