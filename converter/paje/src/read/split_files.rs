//! Split traces: files that containers name in their field `Filename`.
//!
//! Only regular files below the folder of the root file are read. A part is opened for each buffer
//! that is read and closed again, so that the number of open files does not limit the number of
//! parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::HashSet;
use memchr::memmem;
use rustix::fs::{CWD, Mode, OFlags};

use tumit_spill::spool::Spool;

use super::event_definitions::Definitions;
use super::tokenizer::LineReader;
use super::trace_line::base_of;
use crate::compression::{Compression, limit, split_off_damage};

/// Bytes of the root file in which the field must be defined.
const HEADER_BYTES: u64 = 1 << 20;
/// Bytes of a part that are read at once.
const CHUNK: usize = 1 << 14;
/// Maximum number of files of a trace.
const MAX_FILES: usize = 1 << 16;
/// Extensions that are tried if a named part does not exist: `a.trace`, then `a.trace.gz`, and so
/// on.
const ENDINGS: [&str; 4] = ["gz", "zst", "bz2", "xz"];

/// The reason why a part is not read.
#[derive(Debug)]
pub(super) enum UnreadReason {
    /// The system cannot find or open it.
    Unreadable(io::Error),
    /// It must not be read.
    Refused(&'static str),
    /// No part of this trace can be read, for this reason.
    Unavailable(&'static str),
}

/// The folder that is searched for parts.
#[derive(Debug)]
enum PartFolder {
    /// This folder. Its path contains no symbolic links.
    Below(PathBuf),
    /// No folder, for this reason.
    Unavailable(&'static str),
}

/// The identity of a file. It is equal for all paths to this file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(file: &std::fs::Metadata) -> Self {
        Self { device: file.dev(), inode: file.ino() }
    }
}

/// A file below the folder of the root file.
#[derive(Clone, Debug)]
pub(super) struct PartFile {
    pub(super) path: PathBuf,
    identity: FileIdentity,
    offset: u64,
    /// Its decompressed text, if the file is compressed.
    copy: Option<DecompressedText>,
}

/// The decompressed text of a part: the bytes of the spool up to this end.
#[derive(Clone, Debug)]
struct DecompressedText {
    /// The file of the spool. `None` if the text is empty.
    file: Option<Arc<File>>,
    end: u64,
    /// The error that ended the text early.
    damage: Option<String>,
}

impl DecompressedText {
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        if left == 0 && !buffer.is_empty() {
            return self.damage.take().map_or(Ok(0), |damage| Err(io::Error::other(damage)));
        }
        self.file.as_ref().map_or(Ok(0), |file| file.read_at(&mut buffer[..left], offset))
    }
}

impl PartFile {
    /// Opens the file. Fails if the path names another file than before.
    fn open(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(CWD, &self.path, flags, Mode::empty())?);
        let file_status = file.metadata()?;
        if !file_status.is_file() || FileIdentity::of(&file_status) != self.identity {
            return Err(io::Error::other("another file has this name now"));
        }
        Ok(file)
    }
}

impl Read for PartFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.copy {
            Some(copy) => copy.read(buffer, self.offset)?,
            None => self.open()?.read_at(buffer, self.offset)?,
        };
        self.offset += read as u64;
        Ok(read)
    }
}

/// A file of a split trace other than the root file.
#[derive(Debug)]
pub(super) struct TracePart {
    pub(super) name: Arc<str>,
    pub(super) lines: LineReader<PartFile>,
    pub(super) header: Definitions,
    /// The maximum timestamp so far. Its next line is merged by it.
    pub(super) max_timestamp: i64,
}

/// All files of a split trace except the root file.
#[derive(Debug)]
pub(super) struct TraceParts {
    folder: PartFolder,
    identities: HashSet<FileIdentity>,
    /// A temporary file without a name for the text of compressed parts, and its length. One file
    /// for all parts needs one descriptor.
    spool: Spool,
    pub(super) list: Vec<TracePart>,
    /// The files with a next line, each with its timestamp and number. 0 is the root file.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    /// As [`TracePart::max_timestamp`], for the root file.
    pub(super) latest_of_root: i64,
    /// The file of the last processed line.
    pub(super) file_number: usize,
    /// Whether that file must advance to its next line.
    pub(super) is_taken: bool,
}

impl Default for TraceParts {
    fn default() -> Self {
        Self {
            folder: PartFolder::Unavailable("the trace is not read from a file in a folder, or `--follow` is given"),
            identities: HashSet::default(),
            spool: Spool::default(),
            list: Vec::new(),
            next: BinaryHeap::new(),
            latest_of_root: i64::MIN,
            file_number: 0,
            is_taken: true,
        }
    }
}

impl TraceParts {
    /// Searches for parts in the folder of a root file. For a decompressed copy, that is the folder
    /// of the original.
    pub(super) fn in_folder_of(text: &Path) -> Self {
        let original = original_of(text).filter(|_| text.is_file());
        let root = original.as_deref().unwrap_or(text);
        let root_entry = std::fs::canonicalize(root).and_then(|path| Ok((std::fs::metadata(&path)?, path)));
        let Ok((file_status, path)) = root_entry else { return Self::default() };
        let is_of_system = ["/dev", "/proc"].iter().any(|folder| root.starts_with(folder));
        let Some(folder) = path.parent().filter(|_| file_status.is_file() && !is_of_system) else {
            return Self::default();
        };
        let folder = match defines_field(text) {
            Ok(true) => PartFolder::Below(folder.to_owned()),
            _ => PartFolder::Unavailable("the root file defines the field `Filename` after its first mebibyte"),
        };
        Self { folder, identities: std::iter::once(FileIdentity::of(&file_status)).collect(), ..Self::default() }
    }

    /// Whether any file can be read as a part.
    pub(super) fn can_be(&self) -> bool {
        matches!(self.folder, PartFolder::Below(_))
    }

    /// Finds a part that was not found before. `None` if it was.
    pub(super) fn find(&mut self, name: &str) -> Result<Option<PartFile>, UnreadReason> {
        let root = match &self.folder {
            PartFolder::Below(root) => root,
            PartFolder::Unavailable(reason) => return Err(UnreadReason::Unavailable(reason)),
        };
        let relative = Path::new(name);
        if relative.components().any(|part| part == Component::ParentDir) {
            return Err(UnreadReason::Refused("its path contains `..`"));
        }
        let path = place_of(&root.join(relative)).map_err(UnreadReason::Unreadable)?;
        if !path.starts_with(root) {
            return Err(UnreadReason::Refused("it is outside the folder of the root file"));
        }
        let file_status = std::fs::symlink_metadata(&path).map_err(UnreadReason::Unreadable)?;
        if !file_status.is_file() {
            return Err(UnreadReason::Refused("it is not a regular file"));
        }
        let mut file = PartFile { path, identity: FileIdentity::of(&file_status), offset: 0, copy: None };
        if self.identities.contains(&file.identity) {
            return Ok(None);
        }
        let mut first = [0; 512];
        let read = file.open().and_then(|open| open.read_at(&mut first, 0)).map_err(UnreadReason::Unreadable)?;
        let compression = Compression::of(&first[..read]);
        if compression.is_none() && first[..read].contains(&0) {
            return Err(UnreadReason::Refused("it does not contain text"));
        }
        if self.identities.len() > MAX_FILES {
            return Err(UnreadReason::Refused("the trace has more than 65,536 files"));
        }
        if let Some(compression) = compression {
            self.decompress(&mut file, compression)?;
        }
        self.identities.insert(file.identity);
        Ok(Some(file))
    }

    /// Copies the text of a compressed part to the end of the spool.
    fn decompress(&mut self, part: &mut PartFile, compression: Compression) -> Result<(), UnreadReason> {
        let begin = self.spool.len();
        let mut text = compression.reader(BufReader::new(part.open().map_err(UnreadReason::Unreadable)?));
        let (mut end, mut buffer, mut damage) = (begin, vec![0; CHUNK], None);
        loop {
            let mut read = 0;
            let result = text.read(&mut buffer).map(|length| read = length);
            damage = damage.or(split_off_damage(result).map_err(UnreadReason::Unreadable)?);
            if read == 0 {
                break;
            }
            if end == begin && (buffer[..read].contains(&0) || Compression::of(&buffer[..read]).is_some()) {
                return Err(UnreadReason::Refused("it does not contain text after decompression"));
            }
            self.spool.append(&buffer[..read]).map_err(UnreadReason::Unreadable)?;
            end += read as u64;
            if end > limit() {
                return Err(UnreadReason::Refused(
                    "it is too large after decompression; `--input-limit SIZE` raises the limit",
                ));
            }
        }
        part.offset = begin;
        part.copy = Some(DecompressedText { file: self.spool.file(), end, damage });
        Ok(())
    }

    /// Adds a file that was found.
    pub(super) fn add(&mut self, name: &str, file: PartFile) -> usize {
        let number = self.list.len() + 1;
        let lines = LineReader::of_part(file, CHUNK, base_of(number));
        self.list.push(TracePart { name: name.into(), lines, header: Definitions::default(), max_timestamp: i64::MIN });
        number
    }

    /// Adds a file with the timestamp of its next line.
    pub(super) fn push(&mut self, timestamp: i64, file: usize) {
        self.next.push(Reverse((timestamp, file)));
    }

    /// The file with the next line.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.next.pop().map(|Reverse((_, file))| file)
    }
}

/// Whether the start of a file has a line that defines the field `Filename`.
fn defines_field(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(HEADER_BYTES).read_to_end(&mut start)?;
    Ok(names_parts(&start))
}

/// Whether the start of a Pajé text has a line that defines the field `Filename`.
#[must_use]
pub fn names_parts(start: &[u8]) -> bool {
    let is_field = |position: usize| {
        let Some(before) = without_blanks(&start[..position]).strip_suffix(b"%") else { return false };
        without_blanks(before).last().is_none_or(|&byte| byte == b'\n')
    };
    let mut positions = [&b"Filename"[..], b"FileName"].into_iter().flat_map(|name| memmem::find_iter(start, name));
    positions.any(is_field)
}

/// Removes the blanks at the end of a text, except line ends.
fn without_blanks(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte == b'\n' || !byte.is_ascii_whitespace());
    &text[..end.map_or(0, |last| last + 1)]
}

/// The canonical path of a part. If the file does not exist, the path of its compressed form.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path).or_else(|error| {
        let compressed = |ending: &&str| {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(ending);
            std::fs::canonicalize(name).ok()
        };
        ENDINGS.iter().find_map(compressed).ok_or(error)
    })
}

/// A decompressed copy of a root file.
struct DecompressedCopy {
    copy: PathBuf,
    source_path: PathBuf,
}

/// The decompressed copies of root files.
static COPIES: Mutex<Vec<DecompressedCopy>> = Mutex::new(Vec::new());

/// Notes that the file at `copy` has the text of the compressed file at `original`. Parts of the
/// trace are searched in the folder of the original.
pub fn note_copy(copy: &Path, source_path: &Path) {
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    // A path of a closed file may be used again.
    copies.retain(|copy_entry| copy_entry.copy != copy);
    copies.push(DecompressedCopy { copy: copy.to_owned(), source_path: source_path.to_owned() });
}

fn original_of(copy: &Path) -> Option<PathBuf> {
    let copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    copies.iter().find(|entry| entry.copy == copy).map(|entry| entry.source_path.clone())
}

#[cfg(test)]
mod tests {
    use super::names_parts;

    #[test]
    fn the_field_of_parts_is_found_at_the_start_of_a_definition_line() {
        for text in
            ["% Filename string", "%EventDef A 7\n%\tFilename string\n", " %FileName string", "x\r\n % Filename s"]
        {
            assert!(names_parts(text.as_bytes()), "{text}");
        }
        for text in ["Filename", "% Name string % Filename", "%\nFilename", "7 0 \"Filename\"", "%% Filename", ""] {
            assert!(!names_parts(text.as_bytes()), "{text}");
        }
    }
}
