//! A result, file or folder, that appears under its name only when it is complete.
//!
//! What exists and is no regular file (a pipe, a terminal, `/dev/null`) is written to as it is: a rename would put a file in its place. A link
//! stays one, and what it names is replaced; who may read and write a file is not changed by that.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, bail};
use tumit_converter::run::output_permissions;

use crate::output_path::{self, Place};

/// The unfinished file or folder, for whoever ends the program on Ctrl-C.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A file under a temporary name in the folder of the final one; removed when dropped before [`OutputFile::finish`].
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    /// `None` for what is no regular file.
    temporary: Option<PathBuf>,
    target: PathBuf,
    /// Permissions of the file that it replaces.
    there: Option<fs::Permissions>,
    finished: bool,
}

impl OutputFile {
    /// Begins a file that will be called `target`.
    pub(crate) fn create(target: &Path) -> anyhow::Result<Self> {
        if target.is_dir() {
            bail!("`{}` is a folder; name a file in it", target.display());
        }
        let path = match output_path::follow(target)? {
            Place::File(path) => path,
            Place::Stream(file) => {
                return Ok(Self { file, temporary: None, target: target.to_path_buf(), there: None, finished: false });
            }
        };
        let target = path.as_path();
        if target.file_name().is_none() {
            bail!("`{}` names no file", target.display());
        }
        remove_on_interrupt();
        let created = output_permissions::create_temporary(target);
        let (file, temporary) = created.with_context(|| format!("cannot create `{}`", target.display()))?;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary.clone());
        let there = fs::metadata(target).map(|there| there.permissions()).ok();
        Ok(Self { file, temporary: Some(temporary), target: target.to_path_buf(), there, finished: false })
    }

    /// The file, for who wants more than to write; not where others write, too.
    pub(crate) fn whole_file(&self) -> Option<&File> {
        self.temporary.as_ref().map(|_| &self.file)
    }

    /// When the file is finished, it gets these permissions.
    pub(crate) fn set_permissions(&mut self, permissions: fs::Permissions) {
        self.there = Some(permissions);
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.file.flush().with_context(|| format!("cannot write `{}`", self.target.display()))?;
        if let Some(temporary) = &self.temporary {
            // Before the file is complete, only its owner can read it.
            self.file
                .set_permissions(output_permissions::permissions_of_file(self.there.as_ref()))
                .with_context(|| format!("cannot give `{}` its permissions", self.target.display()))?;
            fs::rename(temporary, &self.target)
                .with_context(|| format!("cannot rename the result to `{}`", self.target.display()))?;
        }
        self.finished = true;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

/// A folder that appears under its name only when all is in it; removed when dropped before [`OutputFolder::finish`].
#[derive(Debug)]
pub(crate) struct OutputFolder {
    temporary: PathBuf,
    target: PathBuf,
    finished: bool,
}

impl OutputFolder {
    /// Begins a folder that will be called `target`, which must not be there, or be empty.
    pub(crate) fn create(target: &Path) -> anyhow::Result<Self> {
        if target.file_name().is_none() {
            bail!("`{}` names no folder", target.display());
        }
        match fs::read_dir(target).map(|mut entries| entries.next().is_some()) {
            Ok(false) => {}
            Ok(true) => bail!("`{}` is not empty: name a new folder", target.display()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", target.display())),
        }
        remove_on_interrupt();
        let created = output_permissions::create_temporary_folder(target);
        let temporary = created.with_context(|| format!("cannot create `{}`", target.display()))?;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary.clone());
        Ok(Self { temporary, target: target.to_path_buf(), finished: false })
    }

    /// Where it is while it is made.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the folder its name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        fs::set_permissions(&self.temporary, output_permissions::permissions_of_folder())
            .with_context(|| format!("cannot give `{}` its permissions", self.target.display()))?;
        // An empty folder of that name gives way.
        fs::rename(&self.temporary, &self.target)
            .with_context(|| format!("cannot rename the result to `{}`", self.target.display()))?;
        self.finished = true;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        if !self.finished {
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// Writes a whole file unless it holds this text already: what is built from it need not be built again then. Tells
/// whether it was written.
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
        if let Some(temporary) = self.temporary.as_ref().filter(|_| !self.finished) {
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

/// Status of a program that a signal ended, less the signal's number, as shells have it.
const SIGNALLED: i32 = 128;

/// On Ctrl-C, on being asked to terminate, and when the terminal is gone, removes the unfinished file or folder and ends the program.
fn remove_on_interrupt() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let (tell, watching) = std::sync::mpsc::channel();
        drop(std::thread::spawn(move || watch(&tell)));
        // A signal that came before there was anybody to take it would leave the file behind, or be lost. Without a thread nobody tells.
        let _ = watching.recv();
    });
}

fn watch(tell: &std::sync::mpsc::Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let signal = runtime.block_on(async {
        let ended = crate::signals::ended();
        let _ = tell.send(());
        ended.await
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
