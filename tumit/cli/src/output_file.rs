//! A result, file or folder, that gets its name only when it is complete.
//!
//! A target that exists and is no regular file (a pipe, a terminal, `/dev/null`) is written
//! directly, because a rename would replace it by a file. A link remains a link, and its target is
//! replaced. The permissions of a replaced file do not change.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, bail};
use tumit_converter::run::output_permissions;

use crate::output_path::{self, OutputPath};

/// The unfinished file or folder, which the signal handler removes on Ctrl-C.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A file with a temporary name in the folder of the final one. Removed if dropped before
/// [`OutputFile::finish`].
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    /// `None` if the target is no regular file.
    temporary_path: Option<PathBuf>,
    target: PathBuf,
    /// Permissions of the replaced file.
    permissions: Option<fs::Permissions>,
    is_finished: bool,
}

impl OutputFile {
    /// Creates a file with the final name `target`.
    pub(crate) fn create(target: &Path) -> anyhow::Result<Self> {
        if target.is_dir() {
            bail!("`{}` is a folder; name a file in it", target.display());
        }
        let path = match output_path::follow(target)? {
            OutputPath::File(path) => path,
            OutputPath::Stream(file) => {
                return Ok(Self {
                    file,
                    temporary_path: None,
                    target: target.to_path_buf(),
                    permissions: None,
                    is_finished: false,
                });
            }
        };
        let target = path.as_path();
        if target.file_name().is_none() {
            bail!("`{}` is not the name of a file", target.display());
        }
        remove_on_interrupt();
        let created = output_permissions::create_temporary(target);
        let (file, temporary) = created.with_context(|| format!("cannot create `{}`", target.display()))?;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary.clone());
        let permissions = fs::metadata(target).map(|there| there.permissions()).ok();
        Ok(Self {
            file,
            temporary_path: Some(temporary),
            target: target.to_path_buf(),
            permissions,
            is_finished: false,
        })
    }

    /// The file, for operations other than writes. `None` if the target is no regular file.
    pub(crate) fn whole_file(&self) -> Option<&File> {
        self.temporary_path.as_ref().map(|_| &self.file)
    }

    /// Sets the permissions of the finished file.
    pub(crate) fn set_permissions(&mut self, permissions: fs::Permissions) {
        self.permissions = Some(permissions);
    }

    /// Renames the file to its final name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.file.flush().with_context(|| format!("cannot write `{}`", self.target.display()))?;
        if let Some(temporary) = &self.temporary_path {
            // Before the file is complete, only its owner can read it.
            self.file
                .set_permissions(output_permissions::permissions_of_file(self.permissions.as_ref()))
                .with_context(|| format!("cannot set the permissions of `{}`", self.target.display()))?;
            fs::rename(temporary, &self.target)
                .with_context(|| format!("cannot rename the result to `{}`", self.target.display()))?;
        }
        self.is_finished = true;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// A folder that gets its name only when it is complete. Removed if dropped before
/// [`OutputFolder::finish`].
#[derive(Debug)]
pub(crate) struct OutputFolder {
    temporary_path: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl OutputFolder {
    /// Creates a folder with the final name `target`. The target must not exist, or must be empty.
    pub(crate) fn create(target: &Path) -> anyhow::Result<Self> {
        if target.file_name().is_none() {
            bail!("`{}` is not the name of a folder", target.display());
        }
        match fs::read_dir(target).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Ok(true) => bail!("`{}` is not empty: name a new folder", target.display()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", target.display())),
        }
        remove_on_interrupt();
        let created = output_permissions::create_temporary_folder(target);
        let temporary_path = created.with_context(|| format!("cannot create `{}`", target.display()))?;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary_path.clone());
        Ok(Self { temporary_path, target: target.to_path_buf(), is_finished: false })
    }

    /// The path of the unfinished folder.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary_path
    }

    /// Renames the folder to its final name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        fs::set_permissions(&self.temporary_path, output_permissions::permissions_of_folder())
            .with_context(|| format!("cannot set the permissions of `{}`", self.target.display()))?;
        // The rename replaces an empty folder.
        fs::rename(&self.temporary_path, &self.target)
            .with_context(|| format!("cannot rename the result to `{}`", self.target.display()))?;
        self.is_finished = true;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_dir_all(&self.temporary_path);
        }
    }
}

/// Writes a file unless it has this text already, so that files built from it stay up to date.
/// Returns whether it was written.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> anyhow::Result<bool> {
    if fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(false);
    }
    let file = OutputFile::create(path)?;
    (&file).write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
    file.finish()?;
    Ok(true)
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary_path.as_ref().filter(|_| !self.is_finished) {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for &OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.file).flush()
    }
}

/// Added to the number of a signal, it is the exit status of a program that the signal ended, as in
/// shells.
const SIGNALLED: i32 = 128;

/// On Ctrl-C, on a request to terminate, and when the terminal is closed, removes the unfinished
/// file or folder and ends the program.
fn remove_on_interrupt() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let (installed, installed_receiver) = std::sync::mpsc::channel();
        drop(std::thread::spawn(move || watch(&installed)));
        // Waits until the signal handler is installed, because an earlier signal would be lost or
        // leave the file. Without a thread, the channel is closed and the wait ends.
        let _ = installed_receiver.recv();
    });
}

fn watch(installed: &std::sync::mpsc::Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let signal = runtime.block_on(async {
        let end_signal = crate::signals::end_signal();
        let _ = installed.send(());
        end_signal.await
    });
    if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    std::process::exit(SIGNALLED + signal);
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::FileTypeExt as _;

    use super::OutputFile;

    #[test]
    fn a_pipe_stays_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || {
                let mut text = String::new();
                std::fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        let file = OutputFile::create(&path).unwrap();
        (&file).write_all(b"through").unwrap();
        file.finish().unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
