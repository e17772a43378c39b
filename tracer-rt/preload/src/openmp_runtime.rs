//! [`OpenMpRuntime`]: the library that runs the parallel regions of a program.

use std::path::{Path, PathBuf};

/// The library that runs the parallel regions of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMpRuntime {
    /// Its name, such as `libomp.so.5`.
    pub name: String,
    /// Whether it has the interface OMPT, which calls the recorder.
    pub has_tool_interface: bool,
}

/// Prefixes of names of libraries, and whether the runtime has the interface OMPT.
const NAMES: [(&str, bool); 6] = [
    ("libomp.so", true),
    ("libomp-", true),
    ("libiomp5.so", true),
    ("libcraymp.so", true),
    ("libgomp.so", false),
    ("libnvomp.so", true),
];

impl OpenMpRuntime {
    /// The runtime by the name of a library. `None` if the library is no runtime of OpenMP.
    #[must_use]
    pub fn of_library(name: &str) -> Option<Self> {
        let (_, has_tool_interface) = NAMES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
        Some(Self { name: name.to_owned(), has_tool_interface: *has_tool_interface })
    }

    /// The runtime among the libraries of an earlier value of `LD_PRELOAD`. It replaces that of the
    /// program.
    #[must_use]
    pub fn in_preload(value: &str) -> Option<Self> {
        let mut names = value.split([':', ' ']).map(|path| path.rsplit('/').next().unwrap_or(path));
        names.find_map(Self::of_library)
    }
}

/// A runtime with the interface OMPT in these folders, or in those of LLVM. It can replace that of
/// GCC.
#[must_use]
pub fn replacement(folders: &[PathBuf]) -> Option<PathBuf> {
    let entries = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let is_llvm = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("llvm-"));
    let mut llvm: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_llvm).collect();
    llvm.sort();
    let llvm = llvm.into_iter().rev().map(|folder| folder.join("lib"));
    let names = ["libomp.so.5", "libomp.so"];
    let mut files = folders.iter().cloned().chain(llvm).flat_map(|folder| names.map(|name| folder.join(name)));
    files.find(|path| Path::is_file(path))
}

#[cfg(test)]
mod tests {
    use super::{OpenMpRuntime, replacement};

    #[test]
    fn names_of_libraries_are_runtimes() {
        for (name, has_tool_interface) in [
            ("libomp.so.5", Some(true)),
            ("libomp-14.so.5", Some(true)),
            ("libiomp5.so", Some(true)),
            ("libgomp.so.1", Some(false)),
            ("libompd.so", None),
            ("libomptarget.so", None),
            ("libm.so.6", None),
        ] {
            assert_eq!(OpenMpRuntime::of_library(name).map(|runtime| runtime.has_tool_interface), has_tool_interface);
        }
        assert_eq!(OpenMpRuntime::in_preload("/a/b.so:/c/libomp.so.5").unwrap().name, "libomp.so.5");
        assert_eq!(OpenMpRuntime::in_preload(""), None);
    }

    #[test]
    fn a_replacement_is_searched_in_the_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libomp.so.5");
        std::fs::write(&path, "").unwrap();
        assert_eq!(replacement(&[folder.path().to_owned()]), Some(path));
    }
}
