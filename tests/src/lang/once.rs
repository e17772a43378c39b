//! What is compiled is kept in the target folder, by the hash of all that goes into it: tests that use the same program compile it once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

/// Where they are kept.
fn kept() -> PathBuf {
    let own = std::env::current_exe().expect("a test has a path");
    let deps = own.ancestors().find(|folder| folder.ends_with("deps")).expect("Cargo puts tests into `deps`");
    let target = deps.ancestors().nth(2).expect("which is in a profile's folder, in the target folder");
    target.join("tmp/compiled")
}

/// What a compiler calls itself: another version makes another program.
fn version(compiler: &str) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let version = known.entry(compiler.to_owned()).or_insert_with(|| {
        let said = Command::new(compiler).arg("--version").output();
        said.map_or_else(|error| error.to_string(), |said| String::from_utf8_lossy(&said.stdout).into_owned())
    });
    version.clone()
}

/// One lock for each program: who comes second waits, and finds it.
fn lock_of(key: u64) -> Arc<Mutex<()>> {
    static LOCKS: Mutex<BTreeMap<u64, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

/// Puts a program at `to` that `compile` makes where it is told, unless one was made of the same `inputs`, which must name all that it is
/// made of, by this compiler. It is a symbolic link: a file that this process had written might still be open in a child when it is to be run.
///
/// # Errors
/// What `compile` says. Nothing is kept then.
///
/// # Panics
/// When the folders cannot be written.
pub fn compiled<E>(
    to: &Path,
    compiler: &str,
    inputs: impl Hash,
    compile: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let name = to.file_name().expect("a program has a name");
    let mut hasher = DefaultHasher::new();
    (version(compiler), compiler, name, inputs).hash(&mut hasher);
    let key = hasher.finish();
    let lock = lock_of(key);
    let held = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = kept().join(format!("{key:016x}"));
    if !folder.exists() {
        let new = folder.with_extension(std::process::id().to_string());
        std::fs::create_dir_all(&new).expect("the target folder can be written");
        let made = compile(&new.join(name));
        // Another process may have been quicker.
        if made.is_err() || std::fs::rename(&new, &folder).is_err() {
            std::fs::remove_dir_all(&new).expect("what was made can go");
        }
        made?;
    }
    drop(held);
    let _ = std::fs::remove_file(to);
    std::os::unix::fs::symlink(folder.join(name), to).expect("a writable folder");
    Ok(())
}
