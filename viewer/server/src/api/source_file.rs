//! Source files: the file that an entity names, and the entities of the time range that come from
//! its lines.
//!
//! Only files that the trace names are read, and only below the folders that the user gave. Names
//! that lead out of the folders are not followed.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::statistics_charts::lanes;
use super::{AppState, DrawRequest, FilteredTrace, RequestError};
use crate::api::streaming::grow;
use tumit_viewer::query::entity_scan::{self, ScanItemRef, ScanList};
use tumit_viewer::query::{ContainerId, EntityId, PajeTypeKind, QueryError, SourceLine};
use tumit_viewer::scene::wire::{self, entity};
use tumit_viewer::stats::json_number;

/// Maximum size of a shown file in bytes. It exceeds source files that people write.
const MAX_FILE_BYTES: u64 = 2 << 20;
/// Maximum number of folder entries examined for a file that is not at the path in the trace, so
/// that a search in a home folder ends.
const MAX_ENTRIES: usize = 20_000;
/// Maximum number of entities returned per line. `find` returns the others page by page.
const IDS_PER_LINE: usize = 200;

pub(crate) async fn source(
    State(app): State<Arc<AppState>>,
    Query(request): Query<DrawRequest>,
) -> Result<Response, RequestError> {
    grow(app, request, |cache, trace, request, progress| {
        let source = trace.source.as_ref();
        let id = wire::parse_entity(&request.id).ok_or(QueryError::Unknown { kind: "entity" })?;
        let Some(SourceLine { file, line }) = source.facts(id)?.source else {
            return Err(QueryError::Unknown { kind: "source line" }.into());
        };
        let (path, text, reason) = match read_source(&cache.trace.folders, &file) {
            Ok(found) => (Some(found.path.display().to_string()), Some(found.text), None),
            Err(reason) => (None, None, Some(reason)),
        };
        let mut total = FileLines::default();
        let answer = |lines: &FileLines| {
            json!({ "file": file, "line": line, "path": path, "text": text, "reason": reason, "lines": lines.answer() })
        };
        let read = |job: &entity_scan::ScanJob| {
            let mut part = FileLines::default();
            job.visit(source, |item| {
                if let Some(source) = source.facts(item.id)?.source.filter(|source| source.file == file) {
                    part.add(source.line, item);
                }
                Ok(())
            })?;
            Ok(part)
        };
        entity_scan::run(entity_scan::jobs(source, lists(trace), request.time_range(trace)?)?, read, |part, done| {
            total.merge(part);
            progress.report(done, || answer(&total));
        })?;
        Ok(answer(&total))
    })
    .await
}

/// All lists of entities that may have a source location.
fn lists(trace: &FilteredTrace) -> Vec<ScanList> {
    let mut lists = Vec::new();
    for ty in &trace.source.model().types {
        match ty.kind {
            PajeTypeKind::State => {
                lists.extend(lanes(trace, &[ContainerId::ROOT], ty.id).into_iter().map(ScanList::States));
            }
            PajeTypeKind::Event => lists.extend(trace.outline.with_events(ty.id).map(|id| ScanList::Events(id, ty.id))),
            PajeTypeKind::Link { .. } => lists.push(ScanList::Links(ty.id)),
            _ => {}
        }
    }
    lists
}

#[derive(Default)]
struct LineEntities {
    count: u64,
    nanos: i128,
    /// The earliest entities, each with its start.
    ids: Vec<(i64, EntityId)>,
}

#[derive(Default)]
struct FileLines(BTreeMap<u32, LineEntities>);

impl FileLines {
    fn add(&mut self, line: u32, item: &ScanItemRef) {
        let entities = self.0.entry(line).or_default();
        entities.merge(LineEntities {
            count: 1,
            nanos: item.nanos().max(0).into(),
            ids: vec![(item.begin(), item.id)],
        });
    }

    fn merge(&mut self, other: Self) {
        for (line, entities) in other.0 {
            self.0.entry(line).or_default().merge(entities);
        }
    }

    fn answer(&self) -> Value {
        let lines = self.0.iter().map(|(line, entities)| {
            let mut ids = entities.ids.clone();
            ids.sort_unstable();
            let ids: Vec<_> = ids.into_iter().take(IDS_PER_LINE).map(|(_, id)| entity(id)).collect();
            json!({ "line": line, "count": entities.count, "nanos": json_number(entities.nanos), "ids": ids })
        });
        lines.collect()
    }
}

impl LineEntities {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.nanos += other.nanos;
        self.ids.extend(other.ids);
        // Keeps the memory bounded.
        if self.ids.len() >= 4 * IDS_PER_LINE {
            self.ids.sort_unstable();
            self.ids.truncate(IDS_PER_LINE);
        }
    }
}

struct SourceContents {
    path: PathBuf,
    text: String,
}

/// Reads a file that the trace names. Returns the reason if there is none.
fn read_source(folders: &[PathBuf], file: &str) -> Result<SourceContents, String> {
    if folders.is_empty() {
        return Err("The folder of the source files is unknown: start with `tumit view --source DIR TRACE`.".to_owned());
    }
    let path = folders.iter().find_map(|folder| find(folder, file)).ok_or_else(|| {
        let folder_names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        format!(
            "The file is not in {}. Name its folder with `--source DIR`; the option can be repeated.",
            folder_names.join(", ")
        )
    })?;
    let metadata = std::fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if metadata.len() > MAX_FILE_BYTES {
        return Err(format!("{} is larger than 2 MiB and not shown.", path.display()));
    }
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(SourceContents { path, text: String::from_utf8_lossy(&bytes).into_owned() })
}

/// Finds a file below a folder: at its path, or at the longest end of its path that exists.
fn find(folder: &Path, file: &str) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    // Windows paths have backslashes.
    let file = file.replace('\\', "/");
    let parts: Vec<&std::ffi::OsStr> = Path::new(&file)
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    // Symbolic links may lead out of the folder, so the check uses their targets.
    let inside =
        |path: &Path| path.canonicalize().ok().filter(|absolute| absolute.starts_with(&folder) && absolute.is_file());
    let direct = (0..parts.len())
        .find_map(|skip| inside(&parts[skip..].iter().fold(folder.clone(), |path, part| path.join(part))));
    direct.or_else(|| file_by_suffix(&folder, &parts).and_then(|path| inside(&path)))
}

/// The file below a folder with the longest path suffix in common with a name.
fn file_by_suffix(folder: &Path, parts: &[&std::ffi::OsStr]) -> Option<PathBuf> {
    let name = parts.last()?;
    let mut best_match: Option<(usize, PathBuf)> = None;
    let (mut open, mut examined) = (vec![folder.to_owned()], 0);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            examined += 1;
            if examined > MAX_ENTRIES {
                return best_match.map(|best| best.1);
            }
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden => open.push(entry.path()),
                Ok(kind) if !kind.is_dir() && entry.file_name() == **name => {
                    let path = entry.path();
                    let common = path.iter().rev().zip(parts.iter().rev()).take_while(|(a, b)| a == *b).count();
                    if best_match.as_ref().is_none_or(|best| common > best.0 || (common == best.0 && path < best.1)) {
                        best_match = Some((common, path));
                    }
                }
                _ => {}
            }
        }
    }
    best_match.map(|best| best.1)
}

#[cfg(test)]
mod tests {
    use super::{find, read_source};

    #[test]
    fn only_files_below_the_folder_are_found() {
        let root = tempfile::tempdir().expect("a temporary folder can be created");
        let folder = root.path().join("src");
        for (name, content) in [
            ("src/mesh/solve.c", "solve"),
            ("src/other/solve.c", "other"),
            ("src/main.c", "main"),
            ("secret", "secret"),
        ] {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("the file can be written");
            std::fs::write(path, content).expect("the file can be written");
        }
        std::os::unix::fs::symlink(root.path().join("secret"), folder.join("link.c")).expect("the file can be written");
        let read = |file: &str| read_source(std::slice::from_ref(&folder), file).map(|found| found.text);
        for (file, expected) in [
            ("main.c", "main"),
            ("mesh/solve.c", "solve"),
            ("/src/project/mesh/solve.c", "solve"),
            ("C:\\project\\other\\solve.c", "other"),
            ("../src/main.c", "main"),
            ("solve.c", "solve"),
        ] {
            assert_eq!(read(file).as_deref(), Ok(expected), "{file}");
        }
        for file in ["../secret", "link.c", "/etc/passwd", "..", "", "nothing.c", "mesh", "a\0b"] {
            assert!(read(file).is_err_and(|reason| reason.contains("--source")), "{file}");
        }
        assert!(read_source(&[], "main.c").is_err_and(|reason| reason.contains("tumit view --source DIR")));
        assert_eq!(find(&root.path().join("nowhere"), "main.c"), None);
    }
}
