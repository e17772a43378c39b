//! A cache of compiled programs in the target folder, by the hash of all inputs. Tests that use the
//! same program compile it once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

fn cache_folder() -> PathBuf {
    let program = std::env::current_exe().expect("a test has a path");
    let deps = program.ancestors().find(|folder| folder.ends_with("deps")).expect("Cargo writes tests to `deps`");
    let target = deps.ancestors().nth(2).expect("`deps` is in the folder of a profile in the target folder");
    target.join("tmp/compiled")
}

/// The version text of a compiler. Another version produces another program.
fn version(compiler: &str) -> String {
    static VERSIONS: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut versions = VERSIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let version = versions.entry(compiler.to_owned()).or_insert_with(|| {
        let output = Command::new(compiler).arg("--version").output();
        output.map_or_else(|error| error.to_string(), |output| String::from_utf8_lossy(&output.stdout).into_owned())
    });
    version.clone()
}

/// The lock of a program. A second caller waits, and then finds the program.
fn lock_of(key: u64) -> Arc<Mutex<()>> {
    static LOCKS: Mutex<BTreeMap<u64, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

/// Puts a program at `to`. `compile` builds it at the given path, unless this compiler has built
/// one from the same `inputs`, which must include everything that the program depends on.
/// The program is a symbolic link: a file that this process had written might still be open in a
/// child process when it is executed.
///
/// # Errors
/// The errors of `compile`. Then the cache does not change.
///
/// # Panics
/// If the folders cannot be written.
pub fn compile_once<E>(
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
    let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = cache_folder().join(format!("{key:016x}"));
    if !folder.exists() {
        let new = folder.with_extension(std::process::id().to_string());
        std::fs::create_dir_all(&new).expect("the target folder can be written");
        let result = compile(&new.join(name));
        // Another process may have been faster.
        if result.is_err() || std::fs::rename(&new, &folder).is_err() {
            std::fs::remove_dir_all(&new).expect("the copy can be removed");
        }
        result?;
    }
    drop(guard);
    let _ = std::fs::remove_file(to);
    std::os::unix::fs::symlink(folder.join(name), to).expect("the folder is writable");
    Ok(())
}
