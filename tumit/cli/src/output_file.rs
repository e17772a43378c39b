//! A result that appears under its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use anyhow::{Context, bail};

/// The unfinished file, for whoever ends the program on Ctrl-C.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A file under a temporary name in the folder of the final one; removed when dropped before [`OutputFile::finish`].
#[derive(Debug)]
pub(crate) struct OutputFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    finished: bool,
}

impl OutputFile {
    /// Begins a file that will be called `target`.
    pub(crate) fn create(target: &Path) -> anyhow::Result<Self> {
        let Some(name) = target.file_name() else { bail!("`{}` names no file", target.display()) };
        if target.is_dir() {
            bail!("`{}` is a folder; name a file in it", target.display());
        }
        let name = format!(".{}.{}.part", name.to_string_lossy(), std::process::id());
        let temporary = target.with_file_name(name);
        remove_on_interrupt();
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary.clone());
        let file = File::create(&temporary).with_context(|| format!("cannot create `{}`", target.display()))?;
        Ok(Self { file, temporary, target: target.to_path_buf(), finished: false })
    }

    /// Gives the file the permissions of another.
    pub(crate) fn set_permissions(&self, permissions: fs::Permissions) -> anyhow::Result<()> {
        self.file
            .set_permissions(permissions)
            .with_context(|| format!("cannot give `{}` its permissions", self.target.display()))
    }

    /// Gives the file its name.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.file.flush().with_context(|| format!("cannot write `{}`", self.target.display()))?;
        fs::rename(&self.temporary, &self.target)
            .with_context(|| format!("cannot rename the result to `{}`", self.target.display()))?;
        self.finished = true;
        *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
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
        if !self.finished {
            let _ = fs::remove_file(&self.temporary);
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

/// Status of a program that Ctrl-C ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// On Ctrl-C and on being asked to terminate, removes the unfinished file and ends the program.
fn remove_on_interrupt() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| drop(std::thread::spawn(watch)));
}

fn watch() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(interrupted());
    if let Some(path) = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = fs::remove_file(path);
    }
    std::process::exit(INTERRUPTED);
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
