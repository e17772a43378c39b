//! Finds the MPI library and the OpenMP runtime of a program, in the order of the dynamic loader.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::elf_file::ElfFile;
use crate::mpi_family::MpiFamily;
use crate::openmp_runtime::OpenMpRuntime;

/// Maximum number of libraries that are examined.
const MAX_LIBRARIES: usize = 512;
/// Maximum depth of `include` lines in the configuration of the loader.
const MAX_INCLUDES: u32 = 4;
/// The configuration of the loader.
const CONFIGURATION: &str = "/etc/ld.so.conf";

/// The MPI library of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MpiLibrary {
    /// Its name, such as `libmpi.so.40`.
    pub name: String,
    /// Its family.
    pub family: MpiFamily,
    /// Its path, if the loader finds it.
    pub path: Option<PathBuf>,
}

/// The folders in which the loader searches for the libraries of all programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryFolders {
    /// The folders of `LD_LIBRARY_PATH`.
    pub environment: Vec<PathBuf>,
    /// The folders of the configuration and the usual ones.
    pub system: Vec<PathBuf>,
}

impl LibraryFolders {
    /// The folders of this machine. `library_path` is the value of `LD_LIBRARY_PATH`.
    #[must_use]
    pub fn of_machine(library_path: Option<&str>) -> Self {
        let environment = library_path.unwrap_or_default().split([':', ';']).filter(|folder| !folder.is_empty());
        let mut system = Vec::new();
        append_configured(Path::new(CONFIGURATION), MAX_INCLUDES, &mut system);
        system.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from));
        let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
        system.extend([Path::new("/lib").join(&triple), Path::new("/usr/lib").join(&triple)]);
        Self { environment: environment.map(PathBuf::from).collect(), system }
    }

    /// The path of a library that `file` at `origin` needs.
    fn find(&self, name: &str, file: &ElfFile, origin: &Path) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| path.is_file());
        }
        let folder_of_file = origin.parent().unwrap_or(Path::new("."));
        let expanded = |folders: &[String]| -> Vec<PathBuf> {
            let origin = folder_of_file.to_string_lossy();
            let lib = if file.bits == 64 { "lib64" } else { "lib" };
            let expand = |folder: &String| {
                let folder = folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
                PathBuf::from(folder.replace("${LIB}", lib).replace("$LIB", lib))
            };
            folders.iter().map(expand).collect()
        };
        let folders = expanded(&file.rpath).into_iter().chain(self.environment.iter().cloned());
        let mut folders = folders.chain(expanded(&file.runpath)).chain(self.system.iter().cloned());
        folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()))
    }
}

/// Appends the folders of a configuration file of the loader.
fn append_configured(file: &Path, includes: u32, folders: &mut Vec<PathBuf>) {
    for line in fs::read_to_string(file).unwrap_or_default().lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(pattern) = line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t'])) {
            if includes > 0 {
                for included in matching_files(pattern.trim()) {
                    append_configured(&included, includes - 1, folders);
                }
            }
        } else if line.starts_with('/') {
            folders.push(PathBuf::from(line));
        }
    }
}

/// The files of a pattern, in order of name. Its last part may contain one `*`.
fn matching_files(pattern: &str) -> Vec<PathBuf> {
    let path = Path::new(pattern);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((before, after)) = name.split_once('*') else { return vec![path.to_owned()] };
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
    });
    files.sort();
    files
}

/// The libraries of a program that decide which recorders are attached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParallelLibraries {
    /// Its MPI library.
    pub mpi: Option<MpiLibrary>,
    /// Its runtime of OpenMP.
    pub openmp: Option<OpenMpRuntime>,
}

/// Finds the first MPI library and the first runtime of OpenMP among the libraries that a program
/// needs, and among those that they need.
#[must_use]
pub fn parallel_libraries(program: &Path, file: &ElfFile, folders: &LibraryFolders) -> ParallelLibraries {
    let mut libraries = ParallelLibraries::default();
    let mut names = BTreeSet::new();
    let mut waiting: std::collections::VecDeque<(PathBuf, ElfFile)> = [(program.to_owned(), file.clone())].into();
    while let Some((path, file)) = waiting.pop_front() {
        for name in &file.needed {
            let base = name.rsplit('/').next().unwrap_or(name);
            if let Some(family) = MpiFamily::of_library(base) {
                let path = folders.find(name, &file, &path);
                libraries.mpi.get_or_insert_with(|| MpiLibrary { name: base.to_owned(), family, path });
                continue;
            }
            libraries.openmp = libraries.openmp.or_else(|| OpenMpRuntime::of_library(base));
            if libraries.mpi.is_some() && libraries.openmp.is_some() {
                return libraries;
            }
            if names.len() >= MAX_LIBRARIES || !names.insert(name.clone()) {
                continue;
            }
            let Some(library_path) = folders.find(name, &file, &path) else { continue };
            if let Ok(Some(mut library)) = ElfFile::read(&library_path) {
                // The loader also searches the folders of the files that need this one.
                library.rpath.extend(file.rpath.iter().cloned());
                waiting.push_back((library_path, library));
            }
        }
    }
    libraries
}

/// The MPI libraries that a program without a known one may load: those of the installation of a
/// launcher. If it has none, those in the folders of the loader.
#[must_use]
pub fn installed_mpi_libraries(launcher: Option<&Path>, folders: &LibraryFolders) -> Vec<PathBuf> {
    let launcher_path = launcher.and_then(|launcher| fs::canonicalize(launcher).ok());
    let prefix = launcher_path.as_deref().and_then(Path::parent).and_then(Path::parent);
    let own = prefix.into_iter().flat_map(|prefix| [prefix.join("lib"), prefix.join("lib64")]);
    let of_launcher = mpi_libraries_in(own);
    if !of_launcher.is_empty() {
        return of_launcher;
    }
    let all = mpi_libraries_in(folders.environment.iter().chain(&folders.system).cloned());
    let program = launcher_path.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let is_of_launcher = |path: &&PathBuf| match MpiFamily::of_library(&file_name(path)) {
        Some(MpiFamily::OpenMpi) => ["orterun", "prterun", "openmpi"].iter().any(|part| program.contains(part)),
        Some(MpiFamily::Mpich | MpiFamily::Standard) => ["hydra", "mpich"].iter().any(|part| program.contains(part)),
        _ => false,
    };
    let of_family: Vec<PathBuf> = all.iter().filter(is_of_launcher).cloned().collect();
    if of_family.is_empty() { all } else { of_family }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The MPI libraries in some folders, each file once.
fn mpi_libraries_in(folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let is_supported =
        |path: &PathBuf| MpiFamily::of_library(&file_name(path)).is_some_and(|family| family != MpiFamily::Unsupported);
    let libraries = entries.map(|entry| entry.path()).filter(is_supported);
    let files: BTreeSet<PathBuf> = libraries.filter_map(|path| fs::canonicalize(path).ok()).collect();
    files.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{LibraryFolders, append_configured, installed_mpi_libraries, parallel_libraries};
    use crate::elf_file::{ElfFile, Linking};
    use crate::mpi_family::MpiFamily;
    use crate::openmp_runtime::OpenMpRuntime;

    fn needing(name: &str, runpath: &str) -> ElfFile {
        let mut file = ElfFile::parse(crate::recorder_library::LIBRARY).unwrap();
        file.linking = Linking::Dynamic { loader: "/lib/ld.so".to_owned() };
        file.needed = vec![name.to_owned()];
        file.runpath = vec![runpath.to_owned()];
        file
    }

    #[test]
    fn the_configuration_of_the_loader_includes_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("conf.d")).unwrap();
        fs::write(path("conf.d/b.conf"), "/opt/b # two\n").unwrap();
        fs::write(path("conf.d/a.conf"), "/opt/a\n\n").unwrap();
        fs::write(path("conf.d/c.txt"), "/opt/c\n").unwrap();
        // A file that includes itself ends.
        let text = format!("include {0}/conf.d/*.conf\n/opt/last\ninclude {0}/ld.so.conf\n", folder.path().display());
        fs::write(path("ld.so.conf"), text).unwrap();
        let mut folders = Vec::new();
        append_configured(&path("ld.so.conf"), 1, &mut folders);
        assert_eq!(folders[..3], ["/opt/a", "/opt/b", "/opt/last"].map(PathBuf::from));
    }

    #[test]
    fn libraries_are_found_as_the_loader_does() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("lib")).unwrap();
        fs::write(folder.path().join("lib/libsolver.so"), crate::recorder_library::LIBRARY).unwrap();
        let folders = LibraryFolders::default();
        let program = folder.path().join("app");
        let library_path = folders.find("libsolver.so", &needing("libsolver.so", "$ORIGIN/lib"), &program);
        assert_eq!(library_path, Some(folder.path().join("lib/libsolver.so")));
        assert_eq!(folders.find("libsolver.so", &needing("libsolver.so", "/nowhere"), &program), None);
        let libraries = |file: &ElfFile| parallel_libraries(Path::new("app"), file, &folders);
        let direct = libraries(&needing("libmpi.so.40", "")).mpi.unwrap();
        assert_eq!((direct.name.as_str(), direct.family), ("libmpi.so.40", MpiFamily::OpenMpi));
        assert_eq!(parallel_libraries(&program, &needing("libsolver.so", "$ORIGIN/lib"), &folders).mpi, None);
        assert_eq!(libraries(&needing("libgomp.so.1", "")).openmp, OpenMpRuntime::of_library("libgomp.so.1"));
    }

    #[test]
    fn an_interpreter_may_load_the_library_of_the_launcher() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["bin", "lib", "system"] {
            fs::create_dir(path(name)).unwrap();
        }
        for name in ["bin/orterun", "system/libmpi.so.40", "system/libmpich.so.12", "system/libmpi.so.1"] {
            fs::write(path(name), "").unwrap();
        }
        let folders = LibraryFolders { environment: Vec::new(), system: vec![path("system")] };
        let libraries_for = |launcher: Option<&str>| installed_mpi_libraries(launcher.map(path).as_deref(), &folders);
        assert_eq!(libraries_for(Some("bin/orterun")), [path("system/libmpi.so.40")]);
        assert_eq!(libraries_for(None), [path("system/libmpi.so.40"), path("system/libmpich.so.12")]);
        fs::write(path("lib/libmpi.so.12"), "").unwrap();
        assert_eq!(libraries_for(Some("bin/orterun")), [path("lib/libmpi.so.12")]);
    }
}
