//! Searches the file with the debugging information of a program or library.

use std::fs::File;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _, ReadCache};

/// The folder in which distributions install debugging information.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The facts about a file that decide where its debugging information is.
#[derive(Debug)]
struct ModuleFacts {
    /// In hexadecimal digits.
    build_id: Option<String>,
    /// The name of the file with the debugging information.
    debug_link: Option<String>,
    has_debug_info: bool,
}

impl ModuleFacts {
    /// Reads a file. `None` if it is missing, or no ELF file.
    fn read(path: &Path) -> Option<Self> {
        // The run names the path. Opening a pipe would wait for its other end.
        if !path.is_absolute() || !path.is_file() {
            return None;
        }
        let cache = ReadCache::new(File::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let build_id = file.build_id().ok().flatten().map(hexadecimal);
        let debug_link = file.gnu_debuglink().ok().flatten();
        let debug_link = debug_link.map(|(name, _)| String::from_utf8_lossy(name).into_owned());
        let has_debug_info = [".debug_info", ".zdebug_info"]
            .iter()
            .any(|name| file.section_by_name(name).is_some_and(|section| section.size() > 0));
        Some(Self { build_id, debug_link, has_debug_info })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file that has the symbols and the debugging information of a program or library: this file,
/// or one that was separated from it. `None` if the file is missing or has another build id, and no
/// separate file has the build id.
pub(crate) fn file_with_symbols(path: &Path, build_id: Option<&str>) -> Option<PathBuf> {
    let facts = ModuleFacts::read(path);
    let facts = facts.filter(|facts| build_id.is_none() || facts.build_id.as_deref() == build_id);
    if facts.as_ref().is_some_and(|facts| facts.has_debug_info) {
        return Some(path.to_owned());
    }
    let build_id = build_id.or(facts.as_ref().and_then(|facts| facts.build_id.as_deref()));
    let debug_link = facts.as_ref().and_then(|facts| facts.debug_link.as_deref());
    let separate = separate_files(path, build_id, debug_link).into_iter().find(|candidate| {
        let is_same = |other: &ModuleFacts| build_id.is_none() || other.build_id.as_deref() == build_id;
        candidate != path && ModuleFacts::read(candidate).is_some_and(|other| other.has_debug_info && is_same(&other))
    });
    separate.or(facts.map(|_| path.to_owned()))
}

/// The places of a separate file, as debuggers search it.
fn separate_files(path: &Path, build_id: Option<&str>, debug_link: Option<&str>) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if let Some((first, rest)) = build_id.and_then(|id| id.split_at_checked(2)) {
        places.push(Path::new(DEBUG_FOLDER).join(".build-id").join(first).join(format!("{rest}.debug")));
    }
    if let (Some(name), Some(folder)) = (debug_link, path.parent()) {
        let below_root = folder.strip_prefix("/").unwrap_or(folder);
        places.extend([folder.join(name), folder.join(".debug").join(name)]);
        places.push(Path::new(DEBUG_FOLDER).join(below_root).join(name));
    }
    places
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{ModuleFacts, file_with_symbols, separate_files};

    #[test]
    fn debug_files_are_searched_by_build_id_and_by_link() {
        let places = separate_files(Path::new("/opt/bin/heat"), Some("ab12"), Some("heat.debug"));
        let expected = [
            "/usr/lib/debug/.build-id/ab/12.debug",
            "/opt/bin/heat.debug",
            "/opt/bin/.debug/heat.debug",
            "/usr/lib/debug/opt/bin/heat.debug",
        ];
        assert_eq!(places, expected.map(PathBuf::from));
        assert_eq!(separate_files(Path::new("heat"), Some("ä"), None).len(), 1);
    }

    #[test]
    fn a_file_with_another_build_id_is_not_used() {
        let path = std::env::current_exe().unwrap();
        assert_eq!(file_with_symbols(&path, None), Some(path.clone()));
        assert_eq!(file_with_symbols(&path, Some("0000")), None);
        assert_eq!(file_with_symbols(Path::new("/absent"), None), None);
        let id = ModuleFacts::read(&path).unwrap().build_id;
        assert_eq!(file_with_symbols(&path, id.as_deref()), Some(path));
    }
}
