//! The source of a trace: a file, standard input, a pipe, a compressed file.
//!
//! An input that is not a plain file is read once into a temporary file without a name. Only this
//! process can access it, and the system removes it when the process ends in any way. Commands then
//! read that file, at any position and repeatedly.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, anyhow, bail};
use tumit_paje::compression::{self, Compression, limit, split_off_damage};
use tumit_paje::other_formats::{foreign_folder, foreign_format};
use tumit_paje::read::{PajeReadError, names_parts, not_paje, note_copy};
use tumit_picl::TraceFormat;
use tumit_viewer::{IndexChoice, OpenOptions};

use crate::option_values::byte_sizes::ByteSize;
use crate::spec_files::is_paje;
use crate::term;

/// Default of `--input-limit`.
pub(crate) const DEFAULT_LIMIT: &str = "4G";
/// The first event definition must begin within this number of bytes.
const DEFINITION_BYTES: u64 = 1 << 20;
/// Maximum number of bytes of a spec.
const MAX_SPEC_BYTES: u64 = 16 << 20;
/// Number of first bytes that determine the format of a file.
const FORMAT_BYTES: u64 = 1 << 12;

/// Whether some input ended too early.
static CUT_SHORT: AtomicBool = AtomicBool::new(false);

/// Whether some input ended too early, so that a part of the trace is missing.
pub(crate) fn was_cut_short() -> bool {
    CUT_SHORT.load(Ordering::Relaxed)
}

/// Sets the maximum number of bytes, after decompression, of an input that is not a plain file.
pub(crate) fn limit_to(limit: ByteSize) {
    compression::limit_to(limit.0 as u64);
}

/// A trace that can be read by its path.
#[derive(Debug)]
pub(crate) struct TraceInput {
    path: PathBuf,
    /// The path as the user gave it, for titles and messages.
    name: String,
    /// Kept open as long as the path is used.
    spool: Option<File>,
}

impl TraceInput {
    /// Opens a trace. An input that is not a plain file, or is compressed, is copied.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::open_as(path, InputKind::Trace)
    }

    /// Opens an input as [`Self::open`] does, for commands that only read the records of runs.
    pub(crate) fn open_run(path: &Path) -> anyhow::Result<Self> {
        let input = Self::open(path)?;
        let mut first = Vec::new();
        // An error of reading is reported by the reader of the run.
        let _ = File::open(&input.path).and_then(|file| file.take(FORMAT_BYTES).read_to_end(&mut first));
        if is_paje(&first) {
            bail!(
                "{} is a Pajé file, not a run: `tumit stats` shows statistics, `tumit convert` lists its contents",
                input.name
            );
        }
        if let Some(format) = TraceFormat::of_file(&first, &input.path) {
            bail!(
                "{} is {}, not a run: `tumit stats` shows statistics, `tumit convert` lists its contents",
                input.name,
                format.name()
            );
        }
        Ok(input)
    }

    /// Opens an input as [`Self::open`] does, but Pajé text from a pipe or a compressed file may be
    /// streamed: it can then be read once, from front to back, while it arrives.
    pub(crate) fn open_streamed(path: &Path) -> anyhow::Result<Self> {
        Self::open_as(path, InputKind::Growing)
    }

    /// Opens an input as [`Self::open`] does, but also accepts a spec, for commands that support
    /// both.
    pub(crate) fn open_any(path: &Path) -> anyhow::Result<Self> {
        Self::open_as(path, InputKind::Any)
    }

    fn open_as(original: &Path, kind: InputKind) -> anyhow::Result<Self> {
        let cannot_read = || format!("cannot read `{}`", original.display());
        let name = original.to_string_lossy().into_owned();
        let is_input = original.as_os_str() == "-";
        let input = if is_input {
            File::from(io::stdin().as_fd().try_clone_to_owned().context("cannot read standard input")?)
        } else {
            let Ok(metadata) = std::fs::metadata(original) else {
                // The reader reports the error, or waits for the file.
                return Ok(Self { path: original.to_owned(), name, spool: None });
            };
            if metadata.is_dir() {
                if let Some(format) = foreign_folder(original) {
                    bail!("cannot read `{name}`: This is {}. {}", format.name, format.advice);
                }
                return Ok(Self { path: original.to_owned(), name, spool: None });
            }
            // Results are as private as the original file. The permissions of its copy do not
            // matter.
            tumit_converter::run::output_permissions::note_input(original);
            File::open(original).with_context(cannot_read)?
        };
        let is_plain = input.metadata().with_context(cannot_read)?.is_file();
        let mut first = Vec::new();
        (&input).take(FORMAT_BYTES).read_to_end(&mut first).with_context(cannot_read)?;
        let compression = Compression::of(&first);
        if is_plain && compression.is_none() {
            refuse(&first, original, kind).with_context(cannot_read)?;
            (&input).rewind().with_context(cannot_read)?;
            let path = if is_input { PathBuf::from("/dev/stdin") } else { original.to_owned() };
            return Ok(Self { path, name, spool: None });
        }
        let stream = io::Cursor::new(first).chain(input);
        let whole: Box<dyn Read + Send> = match compression {
            None => Box::new(stream),
            Some(compression) => Box::new(compression.reader(BufReader::with_capacity(1 << 16, stream))),
        };
        let is_split = || is_plain && compression.is_some_and(|compression| is_root_of_parts(original, compression));
        let spool = if kind == InputKind::Growing && !is_split() {
            relay(whole, original)
        } else {
            spool(whole, original, kind)
        };
        let spool = spool.with_context(cannot_read)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", spool.as_raw_fd()));
        let is_copy = spool.metadata().with_context(cannot_read)?.is_file();
        if is_copy && is_plain && !is_input {
            note_copy(&path, original);
        }
        Ok(Self { path, name, spool: Some(spool) })
    }

    /// The path at which the trace can be read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path as the user gave it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The path at which a spec can be read. `argument` is its name on the command line.
    pub(crate) fn spec_path<'a>(&'a self, argument: &'a str) -> &'a str {
        if self.spool.is_some() { self.path.to_str().unwrap_or(argument) } else { argument }
    }

    /// Sets the title. A copied input has an index only at a path that the user names, because a
    /// temporary copy has no folder.
    pub(crate) fn apply(&self, options: &mut OpenOptions) {
        options.title = self.title();
        if self.is_copy() || self.path.as_os_str() == "/dev/stdin" {
            options.is_copy = true;
            if options.index == IndexChoice::Auto {
                options.index = IndexChoice::None;
            }
        }
    }

    /// Replaces the path of a temporary copy in a message by the name that the user gave.
    pub(crate) fn with_user_path(&self, message: &str) -> String {
        let path = self.path.to_string_lossy();
        if self.is_copy() { message.replace(path.as_ref(), &self.name) } else { message.to_owned() }
    }

    /// Whether the input was copied, so that no file can be stored in its folder.
    pub(crate) fn is_copy(&self) -> bool {
        self.spool.is_some()
    }

    /// The title of the trace, if its path does not give one.
    pub(crate) fn title(&self) -> Option<String> {
        if self.path.as_os_str() == self.name.as_str() {
            return None;
        }
        let file = Path::new(&self.name).file_name().map_or(self.name.as_str().into(), |name| name.to_string_lossy());
        let stem = ["gz", "zst", "bz2", "xz"].iter().find_map(|end| file.strip_suffix(end)?.strip_suffix('.'));
        let stem = stem.unwrap_or(&file);
        let endings = [".paje", ".trace", ".picl", ".trc", ".alog"];
        let stem = endings.iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
        Some(if stem == "-" { "standard input".to_owned() } else { stem.to_owned() })
    }
}

/// The accepted kinds of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKind {
    Trace,
    /// A trace; Pajé text may be streamed.
    Growing,
    Any,
}

/// Refuses inputs in foreign formats, and binary data if specs are accepted.
fn refuse(first: &[u8], path: &Path, kind: InputKind) -> anyhow::Result<()> {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    if TraceFormat::of_file(first, path).is_some() {
        return Ok(());
    }
    if let Some(format) = foreign_format(first, path) {
        bail!("This is {}. {}", format.name, format.advice);
    }
    if first.starts_with(&tracer_format::FILE_MAGIC) || Compression::of(first).is_some() {
        return Ok(());
    }
    if TraceFormat::has_extension(path) && !is_paje(first) {
        return Err(not_picl(first));
    }
    if kind == InputKind::Any && is_binary(first) {
        return Err(not_paje(first).into());
    }
    Ok(())
}

/// The error for a file with the name of a PICL or Alog trace and other contents.
fn not_picl(first: &[u8]) -> anyhow::Error {
    match not_paje(first) {
        PajeReadError::NotPaje { looks_like } => anyhow!(
            "its extension is that of PICL and Alog: expected a record in one of its first lines, such as \
             `4 0 100 0 1 7 64` or `-3 -21 0.0001 0 0 4 2 64 7 1 0`, found {looks_like}"
        ),
        other => other.into(),
    }
}

/// Whether bytes are binary: they contain a NUL and many control characters.
fn is_binary(first: &[u8]) -> bool {
    let is_control = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    first.contains(&0) && first.iter().filter(is_control).count() * 16 > first.len()
}

/// Whether a compressed file may be the root of a split trace. The parts are in the folder of the
/// root, so a pipe cannot be one.
fn is_root_of_parts(path: &Path, compression: Compression) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let mut first = Vec::new();
    // The reader of the trace reports damage.
    let _ = compression.reader(BufReader::new(file)).take(DEFINITION_BYTES).read_to_end(&mut first);
    names_parts(&first)
}

/// Copies an input to a temporary file without a name.
fn spool(mut input: impl Read, path: &Path, kind: InputKind) -> anyhow::Result<File> {
    let mut first = Vec::new();
    let mut damage = split_off_damage((&mut input).take(DEFINITION_BYTES).read_to_end(&mut first).map(|_| ()))?;
    if let Some(damage) = damage.take_if(|_| first.is_empty()) {
        bail!(damage);
    }
    refuse(&first[..first.len().min(FORMAT_BYTES as usize)], path, kind)?;
    if Compression::of(&first).is_some() {
        bail!("it is compressed twice; decompress it once");
    }
    let has_definition = || first.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"%"));
    let is_process = first.starts_with(&tracer_format::FILE_MAGIC);
    let is_trace = is_process || has_definition() || TraceFormat::of(&first).is_some();
    if kind != InputKind::Any && !is_trace {
        return Err(not_paje(first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&first)).into());
    }
    // An input that is not a trace is a spec.
    let max_bytes = if is_trace { limit() } else { MAX_SPEC_BYTES };
    check_limit(first.len() as u64, max_bytes)?;
    let mut file = tempfile::tempfile().context("cannot create a temporary file; set TMPDIR to another folder")?;
    file.write_all(&first)?;
    if damage.is_none() {
        damage = split_off_damage(copy(input, (first.len() as u64, max_bytes), &mut file))?;
    }
    if let Some(damage) = damage {
        CUT_SHORT.store(true, Ordering::Relaxed);
        term::note(&format!("tumit: {}: {damage}; the data before the damage is read", path.display()));
    }
    file.rewind()?;
    Ok(file)
}

/// Relays Pajé text through a pipe, which a reader can open by its path. Other inputs are copied.
fn relay(mut input: Box<dyn Read + Send>, path: &Path) -> anyhow::Result<File> {
    let mut first = Vec::new();
    (&mut input).take(FORMAT_BYTES).read_to_end(&mut first)?;
    let has_definition = first.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"%"));
    if !has_definition || first.starts_with(&tracer_format::FILE_MAGIC) || Compression::of(&first).is_some() {
        return spool(io::Cursor::new(first).chain(input), path, InputKind::Growing);
    }
    refuse(&first, path, InputKind::Growing)?;
    let (reader, mut writer) = io::pipe().context("cannot create a pipe")?;
    let name = path.display().to_string();
    std::thread::spawn(move || {
        let sent_bytes = first.len() as u64;
        let relayed = writer.write_all(&first).and_then(|()| copy(input, (sent_bytes, limit()), &mut writer));
        if let Err(error) = relayed {
            CUT_SHORT.store(true, Ordering::Relaxed);
            term::note(&format!("{name}: {error}; the rest is missing"));
        }
    });
    Ok(File::from(std::os::fd::OwnedFd::from(reader)))
}

/// Refuses an input that is too long.
fn check_limit(finished_bytes: u64, max_bytes: u64) -> io::Result<()> {
    if finished_bytes <= max_bytes {
        return Ok(());
    }
    let more =
        if max_bytes == MAX_SPEC_BYTES { "a spec is smaller" } else { "raise the limit with `--input-limit SIZE`" };
    Err(io::Error::other(format!("it has more than {max_bytes} bytes after decompression; {more}")))
}

/// Copies the rest of an input up to the limit.
fn copy(mut input: impl Read, (mut bytes, max_bytes): (u64, u64), to: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += read as u64;
        check_limit(bytes, max_bytes)?;
        to.write_all(&buffer[..read])?;
    }
}
