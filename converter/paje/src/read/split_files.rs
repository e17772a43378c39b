//! Split traces: files that containers name in their field `Filename`.
//!
//! Only regular files below the folder of the root file are read. A part is opened for each buffer that
//! is read and closed again, so that the number of parts is not limited by open files.

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

use super::definitions::Header;
use super::tokenizer::Lines;
use crate::compression::{Compression, limit, split_off_damage};

/// Bytes of the root file in which the field must be defined.
const HEADER_BYTES: u64 = 1 << 20;
/// Bytes of a part that are read at once.
const CHUNK: usize = 1 << 14;
/// More files are not read as one trace.
const MOST: usize = 1 << 16;
/// Endings that are tried if a named part does not exist: `a.trace`, then `a.trace.gz`, and so on.
const ENDINGS: [&str; 4] = ["gz", "zst", "bz2", "xz"];
/// Bits of a place that are the line's number.
const LINE_BITS: u32 = 40;

/// A line of a trace, in the root file or in a part. [`Self::of`] decodes it from one number, which
/// has the part in the bits from `LINE_BITS` on and the line below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the part, from 1; 0 for the root file.
    pub part: u32,
    /// The number of the line in its file.
    pub line: u64,
}

impl Place {
    /// The place that a number stands for.
    #[must_use]
    pub const fn of(code: u64) -> Self {
        Self { part: (code >> LINE_BITS) as u32, line: code & ((1 << LINE_BITS) - 1) }
    }
}

/// What is added to the numbers of the lines of a part.
pub(super) const fn base_of(part: usize) -> u64 {
    (part as u64) << LINE_BITS
}

/// Why a part is not read.
#[derive(Debug)]
pub(super) enum NotRead {
    /// There is no such file, or the system cannot open it.
    Unreadable(io::Error),
    /// It must not be read.
    Refused(&'static str),
    /// No part of this trace can be read.
    Nowhere(&'static str),
}

/// Where parts are looked for.
#[derive(Debug)]
enum Folder {
    /// Below this folder, the name of which has no links in it.
    Below(PathBuf),
    /// Nowhere, for this reason.
    Nowhere(&'static str),
}

/// A file below the folder of the root file.
#[derive(Clone, Debug)]
pub(super) struct PartFile {
    pub(super) path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    at: u64,
    /// Its text, if the file is compressed.
    copy: Option<DecompressedText>,
}

/// The decompressed text of a part: the bytes of the spool up to this end.
#[derive(Clone, Debug)]
struct DecompressedText {
    spool: Arc<File>,
    end: u64,
    /// Why the text ends too early.
    damage: Option<String>,
}

impl DecompressedText {
    fn read(&mut self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(at)).unwrap_or(usize::MAX).min(buffer.len());
        if left == 0 && !buffer.is_empty() {
            return self.damage.take().map_or(Ok(0), |damage| Err(io::Error::other(damage)));
        }
        self.spool.read_at(&mut buffer[..left], at)
    }
}

impl PartFile {
    /// A file that is the same as when it was found.
    fn open(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(CWD, &self.path, flags, Mode::empty())?);
        let about = file.metadata()?;
        if !about.is_file() || (about.dev(), about.ino()) != self.identity {
            return Err(io::Error::other("another file has its name now"));
        }
        Ok(file)
    }
}

impl Read for PartFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.copy {
            Some(copy) => copy.read(buffer, self.at)?,
            None => self.open()?.read_at(buffer, self.at)?,
        };
        self.at += read as u64;
        Ok(read)
    }
}

/// A file that is read beside the root.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: Arc<str>,
    pub(super) lines: Lines<PartFile>,
    pub(super) header: Header,
    /// The largest date so far, by which its next line is merged.
    pub(super) latest: i64,
}

/// All files of a split trace but the root.
#[derive(Debug)]
pub(super) struct Parts {
    folder: Folder,
    known: HashSet<(u64, u64)>,
    /// A temporary file without a name for the text of compressed parts, and its length. One file
    /// for all parts needs one descriptor.
    spool: Option<(Arc<File>, u64)>,
    pub(super) list: Vec<Part>,
    /// The next line of each file that has one: its date, and the number of the file. 0 is the root.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    /// As [`Part::latest`], of the root.
    pub(super) latest_of_root: i64,
    /// The file whose line was taken last.
    pub(super) current: usize,
    /// Whether that file must go to its next line.
    pub(super) is_taken: bool,
}

impl Default for Parts {
    fn default() -> Self {
        Self {
            folder: Folder::Nowhere("the trace is not read from a file in a folder, or it is followed"),
            known: HashSet::default(),
            spool: None,
            list: Vec::new(),
            next: BinaryHeap::new(),
            latest_of_root: i64::MIN,
            current: 0,
            is_taken: true,
        }
    }
}

impl Parts {
    /// Looks for parts in the folder of a root file. For a decompressed copy, that is the folder of
    /// the original.
    pub(super) fn beside(text: &Path) -> Self {
        let original = original_of(text).filter(|_| text.is_file());
        let root = original.as_deref().unwrap_or(text);
        let found = std::fs::canonicalize(root).and_then(|path| Ok((std::fs::metadata(&path)?, path)));
        let Ok((about, path)) = found else { return Self::default() };
        let is_of_system = ["/dev", "/proc"].iter().any(|folder| root.starts_with(folder));
        let Some(folder) = path.parent().filter(|_| about.is_file() && !is_of_system) else { return Self::default() };
        let folder = match defines_field(text) {
            Ok(true) => Folder::Below(folder.to_owned()),
            _ => Folder::Nowhere("the field `Filename` is defined beyond the first mebibyte of the root file"),
        };
        Self { folder, known: std::iter::once((about.dev(), about.ino())).collect(), ..Self::default() }
    }

    /// Whether any file can be read as a part.
    pub(super) fn can_be(&self) -> bool {
        matches!(self.folder, Folder::Below(_))
    }

    /// Finds a file that was not found before: `None` for one that was.
    pub(super) fn find(&mut self, name: &str) -> Result<Option<PartFile>, NotRead> {
        let root = match &self.folder {
            Folder::Below(root) => root,
            Folder::Nowhere(why) => return Err(NotRead::Nowhere(why)),
        };
        let given = Path::new(name);
        if given.components().any(|part| part == Component::ParentDir) {
            return Err(NotRead::Refused("it has `..` in its path"));
        }
        let path = place_of(&root.join(given)).map_err(NotRead::Unreadable)?;
        if !path.starts_with(root) {
            return Err(NotRead::Refused("it is outside the folder of the root file"));
        }
        let about = std::fs::symlink_metadata(&path).map_err(NotRead::Unreadable)?;
        if !about.is_file() {
            return Err(NotRead::Refused("it is not a regular file"));
        }
        let mut file = PartFile { path, identity: (about.dev(), about.ino()), at: 0, copy: None };
        if self.known.contains(&file.identity) {
            return Ok(None);
        }
        let mut first = [0; 512];
        let read = file.open().and_then(|open| open.read_at(&mut first, 0)).map_err(NotRead::Unreadable)?;
        let compression = Compression::of(&first[..read]);
        if compression.is_none() && first[..read].contains(&0) {
            return Err(NotRead::Refused("it is not text"));
        }
        if self.known.len() > MOST {
            return Err(NotRead::Refused("the trace has more than 65,536 files"));
        }
        if let Some(compression) = compression {
            self.decompress(&mut file, compression)?;
        }
        self.known.insert(file.identity);
        Ok(Some(file))
    }

    /// Copies the text of a compressed part to the end of the spool.
    fn decompress(&mut self, part: &mut PartFile, compression: Compression) -> Result<(), NotRead> {
        let begin = self.spool.as_ref().map_or(0, |(_, length)| *length);
        let spool = match &self.spool {
            Some((spool, _)) => Arc::clone(spool),
            None => Arc::new(tempfile::tempfile().map_err(NotRead::Unreadable)?),
        };
        let mut text = compression.reader(BufReader::new(part.open().map_err(NotRead::Unreadable)?));
        let (mut end, mut buffer, mut damage) = (begin, vec![0; CHUNK], None);
        loop {
            let mut read = 0;
            let result = text.read(&mut buffer).map(|length| read = length);
            damage = damage.or(split_off_damage(result).map_err(NotRead::Unreadable)?);
            if read == 0 {
                break;
            }
            if end == begin && (buffer[..read].contains(&0) || Compression::of(&buffer[..read]).is_some()) {
                return Err(NotRead::Refused("it is not text after decompression"));
            }
            spool.write_all_at(&buffer[..read], end).map_err(NotRead::Unreadable)?;
            end += read as u64;
            if end > limit() {
                return Err(NotRead::Refused("it is too large after decompression; `--input-limit SIZE` allows more"));
            }
        }
        part.at = begin;
        part.copy = Some(DecompressedText { spool: Arc::clone(&spool), end, damage });
        self.spool = Some((spool, end));
        Ok(())
    }

    /// Adds a file that was found.
    pub(super) fn add(&mut self, name: &str, file: PartFile) -> usize {
        let number = self.list.len() + 1;
        let lines = Lines::of_part(file, CHUNK, base_of(number));
        self.list.push(Part { name: name.into(), lines, header: Header::default(), latest: i64::MIN });
        number
    }

    /// A file has a next line with this date.
    pub(super) fn push(&mut self, date: i64, file: usize) {
        self.next.push(Reverse((date, file)));
    }

    /// The file with the next line.
    pub(super) fn pop(&mut self) -> Option<usize> {
        self.next.pop().map(|Reverse((_, file))| file)
    }
}

/// Whether the beginning of a file has a line for the field `Filename`.
fn defines_field(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(HEADER_BYTES).read_to_end(&mut start)?;
    Ok(names_parts(&start))
}

/// Whether the beginning of a Pajé text has a line for the field `Filename`.
#[must_use]
pub fn names_parts(start: &[u8]) -> bool {
    let is_field = |at: usize| {
        let Some(before) = without_blanks(&start[..at]).strip_suffix(b"%") else { return false };
        without_blanks(before).last().is_none_or(|&byte| byte == b'\n')
    };
    let mut found = [&b"Filename"[..], b"FileName"].into_iter().flat_map(|name| memmem::find_iter(start, name));
    found.any(is_field)
}

/// Removes the blanks at the end of a text, except line ends.
fn without_blanks(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte == b'\n' || !byte.is_ascii_whitespace());
    &text[..end.map_or(0, |last| last + 1)]
}

/// The real path of a part. If there is no such file, that of its compressed form.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path).or_else(|missing| {
        let compressed = |ending: &&str| {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(ending);
            std::fs::canonicalize(name).ok()
        };
        ENDINGS.iter().find_map(compressed).ok_or(missing)
    })
}

/// Decompressed copies of root files, with their originals.
static COPIES: Mutex<Vec<(PathBuf, PathBuf)>> = Mutex::new(Vec::new());

/// Notes that the file at `copy` has the text of the compressed file at `original`. Parts of the
/// trace are searched in the folder of the original.
pub fn note_copy(copy: &Path, original: &Path) {
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    // A path of a closed file may be used again.
    copies.retain(|(known, _)| known != copy);
    copies.push((copy.to_owned(), original.to_owned()));
}

fn original_of(copy: &Path) -> Option<PathBuf> {
    let copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    copies.iter().find(|(known, _)| known == copy).map(|(_, original)| original.clone())
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
