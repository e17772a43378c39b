//! [`ProgramFile`]: the file that a command starts.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::elf_file::ElfFile;

/// Maximum number of scripts that interpret each other.
const MAX_INTERPRETERS: u32 = 4;
/// Bytes of the first line of a script that are read.
const FIRST_LINE_BYTES: u64 = 4096;
/// Bits of the mode: the file runs with the rights of its owner, or of its group.
const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;

/// The file that a command starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// The name in the command.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The interpreter, if the file is a script.
    pub interpreter: Option<PathBuf>,
    /// The contents of the program, or of the interpreter. `None` if it is no ELF file, or cannot
    /// be read.
    pub elf: Option<ElfFile>,
    /// Whether it runs with more rights than its caller. The loader then preloads nothing.
    pub is_set_id: bool,
}

/// The reason why a program cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartObstacle {
    /// There is no such file.
    Missing,
    /// It is a folder, or must not be executed.
    NotExecutable,
}

impl ProgramFile {
    /// Finds a program as `execvp` does, and reads it. `search_path` is the value of `PATH`.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn find(name: &OsStr, search_path: Option<&OsStr>) -> Result<Self, StartObstacle> {
        let path = executable(name, search_path)?;
        let mut last = path.clone();
        let mut interpreter = None;
        for _ in 0..MAX_INTERPRETERS {
            let Some(next) = interpreter_of(&last, search_path) else { break };
            last.clone_from(&next);
            interpreter = Some(next);
        }
        let elf = ElfFile::read(&last).ok().flatten();
        let name = name.to_string_lossy().into_owned();
        Ok(Self { name, is_set_id: changes_rights(&last), path, interpreter, elf })
    }
}

/// Whether a program runs as another user or group than this process. The owner of `/proc/self` is
/// the user of this process.
fn changes_rights(program: &Path) -> bool {
    let (Ok(program), Ok(process)) = (fs::metadata(program), fs::metadata("/proc/self")) else { return false };
    let has = |bit: u32| program.mode() & bit != 0;
    has(SET_USER_ID) && program.uid() != process.uid() || has(SET_GROUP_ID) && program.gid() != process.gid()
}

/// Finds an executable file as `execvp` does.
///
/// # Errors
/// If there is none.
pub fn executable(name: &OsStr, search_path: Option<&OsStr>) -> Result<PathBuf, StartObstacle> {
    let direct = Path::new(name);
    if name.as_encoded_bytes().contains(&b'/') {
        return check(direct).map(|()| direct.to_owned());
    }
    let mut obstacle = StartObstacle::Missing;
    let usual = OsStr::new("/bin:/usr/bin");
    for folder in std::env::split_paths(search_path.unwrap_or(usual)).filter(|_| !name.is_empty()) {
        let path = if folder.as_os_str().is_empty() { Path::new(".").join(name) } else { folder.join(name) };
        match check(&path) {
            Ok(()) => return Ok(path),
            Err(StartObstacle::NotExecutable) if !path.is_dir() => obstacle = StartObstacle::NotExecutable,
            Err(_) => {}
        }
    }
    Err(obstacle)
}

fn check(path: &Path) -> Result<(), StartObstacle> {
    let metadata = fs::metadata(path).map_err(|_missing| StartObstacle::Missing)?;
    let is_executable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    if is_executable { Ok(()) } else { Err(StartObstacle::NotExecutable) }
}

/// The interpreter of a script by its first line. For `env`, the program that `env` starts.
fn interpreter_of(script: &Path, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let mut first = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let program = words.next()?;
    if Path::new(program).file_name() == Some(OsStr::new("env")) {
        let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        return executable(OsStr::new(name), search_path).ok();
    }
    Some(PathBuf::from(program))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::{ProgramFile, StartObstacle};

    fn write(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn programs_are_found_as_execvp_does() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("data"), "text", 0o644);
        write(&folder.path().join("script"), "#!/usr/bin/env -S sh -e\n", 0o755);
        write(&folder.path().join("raised"), "#! /bin/sh -e\n", 0o4755);
        let find = |name: &str| ProgramFile::find(OsStr::new(name), Some(folder.path().as_os_str()));
        assert_eq!(find("nothing").unwrap_err(), StartObstacle::Missing);
        assert_eq!(find("").unwrap_err(), StartObstacle::Missing);
        assert_eq!(find("data").unwrap_err(), StartObstacle::NotExecutable);
        assert_eq!(find("/").unwrap_err(), StartObstacle::NotExecutable);
        assert_eq!(find("script").unwrap().interpreter, None, "the path has no `sh`");
        let raised = find("raised").unwrap();
        assert_eq!(raised.interpreter.as_deref(), Some(Path::new("/bin/sh")));
        assert!(raised.elf.is_some());
        // The system ignores these bits of scripts.
        assert!(!raised.is_set_id);
    }
}
