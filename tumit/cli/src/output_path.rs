//! The target of a result, resolved before any output: links are followed, and inputs are never
//! overwritten.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// A path that the user named.
pub(crate) enum OutputPath {
    /// A file that exists or can be created. Its path has all links resolved.
    File(PathBuf),
    /// A sequential output: a pipe, a terminal, an open file of this process.
    Stream(File),
}

/// Maximum number of links in a chain. A longer chain counts as a cycle.
const MAX_LINKS: usize = 40;

/// Follows the links of a path. The last one may lead to a file that does not exist.
///
/// # Errors
/// When they form a cycle, or the target cannot be written.
pub(crate) fn follow(target: &Path) -> anyhow::Result<OutputPath> {
    let cannot = || format!("cannot write to `{}`", target.display());
    let mut path = target.to_path_buf();
    for _ in 0..MAX_LINKS {
        if let Some(number) = own_file(&path) {
            let file = match number {
                // The descriptor is duplicated, so that all writers share one position.
                1 => io::stdout().as_fd().try_clone_to_owned().map(File::from),
                2 => io::stderr().as_fd().try_clone_to_owned().map(File::from),
                _ => File::options().append(true).open(&path),
            };
            return file.map(OutputPath::Stream).with_context(cannot);
        }
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) if fs::metadata(&path).is_ok_and(|there| !there.is_file() && !there.is_dir()) => {
                return File::options().write(true).open(&path).map(OutputPath::Stream).with_context(cannot);
            }
            Err(_) => return Ok(OutputPath::File(path)),
        }
    }
    bail!("`{}` is a symbolic link to itself: name another file", target.display())
}

/// The number of the open file of this process at a path: `/dev/fd/3`, and the target of
/// `/dev/stdout`.
fn own_file(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let folders = [PathBuf::from("/dev/fd"), PathBuf::from(format!("/proc/{}/fd", std::process::id()))];
    folders.contains(&folder).then_some(number)
}

/// Rejects a target that is an input or is inside the folder of one. The input is still being read,
/// and a run would get a file that is no part of it.
///
/// # Errors
/// When `target` is one of `inputs` under any name, or is inside one.
pub(crate) fn keep_inputs<'i>(target: &Path, inputs: impl IntoIterator<Item = &'i Path>) -> anyhow::Result<()> {
    let path = resolve_links(target);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (folder, target_identity) = (fs::canonicalize(folder), identity(&path));
    for input in inputs {
        let name = input.display();
        if target_identity.is_some() && target_identity == identity(input) {
            bail!("`{}` is the input `{name}` itself: name another file to write to", target.display());
        }
        let Ok(root) = fs::canonicalize(input) else { continue };
        if !root.is_dir() {
            continue;
        }
        if folder.as_ref().is_ok_and(|folder| folder.starts_with(&root)) {
            bail!("`{}` is inside the input `{name}`: name a place outside of this run", target.display());
        }
        let mut files = fs::read_dir(&root).into_iter().flatten().flatten();
        if let Some(file) = files.find(|file| target_identity.is_some() && identity(&file.path()) == target_identity) {
            let file = file.path();
            bail!(
                "`{}` is the file `{}` of the input: name another file to write to",
                target.display(),
                file.display()
            );
        }
    }
    Ok(())
}

/// The target of a chain of links. One of the links, if they form a cycle.
fn resolve_links(target: &Path) -> PathBuf {
    let next = |path: &PathBuf| fs::read_link(path).ok().map(|next| path.with_file_name("").join(next));
    std::iter::successors(Some(target.to_path_buf()), next).take(MAX_LINKS).last().unwrap_or_default()
}

/// Identifies a regular file or folder, independent of its name.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(|there| there.is_file() || there.is_dir())?;
    Some((metadata.dev(), metadata.ino()))
}
