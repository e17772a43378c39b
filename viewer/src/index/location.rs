//! The location of a trace's index, and the key that decides if the index is stale.

use std::fs::{self, File, Metadata, Permissions};
use std::hash::Hasher as _;
use std::io::{self, BufRead as _, Read as _, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tumit_converter::run::output_permissions;
use tumit_paje::read::{NamedPart, PajeReadError, parts_of};
use twox_hash::XxHash3_64;

use super::IndexReader;
use super::file::file_layout::IndexKey;
use crate::input::open_options::{IndexChoice, OpenOptions};

/// A smaller Pajé file is read in about a second. It needs no index, so none is written next to it.
const SMALL_TEXT: u64 = 32 << 20;
/// The same limit for a run, which has several records in the space of one line of text.
const SMALL_RUN: u64 = 8 << 20;
/// Bytes per sample of a file for its hash. There are at most [`SAMPLES`] samples; the beginning
/// and the end of the file are among them.
const SAMPLE_BYTES: u64 = 1 << 16;
const SAMPLES: u64 = 16;
/// File name extension of an index.
const ENDING: &str = "tmtx";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IndexPath {
    /// The path that the user gave.
    Given(PathBuf),
    /// The first writable one of these paths. A later path is in the user's cache.
    Usual(Vec<PathBuf>),
}

impl IndexPath {
    /// The places in order.
    pub(crate) fn places(&self) -> &[PathBuf] {
        match self {
            Self::Given(path) => std::slice::from_ref(path),
            Self::Usual(paths) => paths,
        }
    }
}

impl IndexPath {
    /// The places, newest file first. A file in the user's cache exists because another place could
    /// not be written or repaired.
    pub(crate) fn newest_first(&self) -> Vec<PathBuf> {
        let mut places = self.places().to_vec();
        let modification_time = |place: &PathBuf| fs::metadata(place).and_then(|metadata| metadata.modified()).ok();
        places.sort_by_cached_key(|place| std::cmp::Reverse(modification_time(place)));
        places
    }
}

/// Properties of a trace that are known before it is read.
#[derive(Clone, Debug)]
pub(crate) struct IndexLookup {
    pub(crate) key: IndexKey,
    pub(crate) target: IndexPath,
    /// Whether the trace is so small that it is read into memory instead.
    pub(crate) is_small: bool,
    /// Permissions of the trace, without the execute bits.
    pub(crate) permissions: Option<Permissions>,
}

impl IndexLookup {
    /// Whether an index of the trace exists that passes the checks of opening.
    pub(crate) fn is_made(&self) -> bool {
        self.target.places().iter().any(|place| IndexReader::open_file(place, self.key).is_ok())
    }

    /// Examines the trace at `path`. `None` if the trace can have no index: it is not a file or
    /// folder, it is still being written, or the user wants no index.
    pub(crate) fn new(path: &Path, options: &OpenOptions) -> io::Result<Option<Self>> {
        let metadata = fs::metadata(path)?;
        if options.index == IndexChoice::None || !(metadata.is_dir() || metadata.is_file()) {
            return Ok(None);
        }
        let Some(files) = files(path, &metadata)? else { return Ok(None) };
        let mut content = Vec::new();
        let (mut size, mut is_run) = (0_u64, metadata.is_dir());
        for file in &files {
            let described =
                if options.is_copy { describe_content(file, &mut content)? } else { describe(file, &mut content)? };
            size += described.size;
            is_run |= described.starts_run;
        }
        let parts = if is_run { Vec::new() } else { parts(path)? };
        for part in &parts {
            content.extend_from_slice(part.name.as_bytes());
            // A missing part may appear later.
            content.push(u8::from(part.path.is_some()));
            if let Some(path) = &part.path {
                size += describe(path, &mut content)?.size;
            }
        }
        let options_text = format!(
            "{} {:?} {} {:?} {:?} {:?} {:?} {}",
            env!("CARGO_PKG_VERSION"),
            options.convert.clock,
            options.convert.has_causal_pass,
            options.convert.output,
            options.unit,
            options.convert.rules,
            options.launches,
            options.unit_is_known
        );
        let hash = |bytes: &[u8]| XxHash3_64::oneshot(bytes);
        let key = IndexKey { size, content: hash(&content), options: hash(options_text.as_bytes()) };
        let files_of_parts = parts.iter().filter_map(|part| part.path.as_deref());
        let all_files = std::iter::once(path).chain(files.iter().map(PathBuf::as_path)).chain(files_of_parts);
        all_files.for_each(output_permissions::note_input);
        let permissions = files.first().and_then(|file| fs::metadata(file).ok()).map(|metadata| {
            let mut permissions = metadata.permissions();
            permissions.set_mode(output_permissions::restrict_mode(permissions.mode() & 0o666) | 0o600);
            permissions
        });
        let is_small = size < if is_run { SMALL_RUN } else { SMALL_TEXT };
        Ok(Some(Self { key, target: target(path, metadata.is_dir(), options), is_small, permissions }))
    }
}

/// The files that a Pajé file names as parts of its trace.
fn parts(path: &Path) -> io::Result<Vec<NamedPart>> {
    match parts_of(path) {
        Ok(parts) => Ok(parts),
        Err(PajeReadError::Input { source, .. } | PajeReadError::Sink { source, .. }) => Err(source),
        // The reader reports this error.
        Err(_) => Ok(Vec::new()),
    }
}

/// The files of a trace; `None` if one of them is still being written.
fn files(path: &Path, metadata: &Metadata) -> io::Result<Option<Vec<PathBuf>>> {
    if metadata.is_file() {
        let is_live = path.extension().is_some_and(|ending| ending == "live") || path.with_extension("live").exists();
        return Ok((!is_live).then(|| vec![path.to_owned()]));
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("live") => return Ok(None),
            Some("tmt") => files.push(file),
            _ => {}
        }
    }
    files.sort_unstable();
    Ok((!files.is_empty()).then_some(files))
}

/// A file of a trace.
struct DescribedFile {
    size: u64,
    /// Whether it begins as a process file of a run.
    starts_run: bool,
}

/// Appends a file's name, size, modification time and hashes of samples to `out`. The inode is not
/// included, so that a trace can be copied together with its index.
fn describe(path: &Path, out: &mut Vec<u8>) -> io::Result<DescribedFile> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let modification_time = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    let size = metadata.len();
    out.extend_from_slice(name);
    out.extend_from_slice(&[0]);
    out.extend_from_slice(&size.to_le_bytes());
    out.extend_from_slice(&modification_time.map_or(0, |timestamp| timestamp.as_nanos()).to_le_bytes());
    let mut starts_run = false;
    let mut sample = Vec::new();
    let samples = SAMPLES.min(size.div_ceil(SAMPLE_BYTES)).max(1);
    for number in 0..samples {
        let last = size.saturating_sub(SAMPLE_BYTES);
        let offset =
            if samples == 1 { 0 } else { (u128::from(last) * u128::from(number) / u128::from(samples - 1)) as u64 };
        file.seek(io::SeekFrom::Start(offset))?;
        sample.clear();
        (&mut file).take(SAMPLE_BYTES).read_to_end(&mut sample)?;
        starts_run |= number == 0 && sample.starts_with(&tracer_format::FILE_MAGIC);
        out.extend_from_slice(&XxHash3_64::oneshot(&sample).to_le_bytes());
    }
    Ok(DescribedFile { size, starts_run })
}

/// Same as [`describe`], for a copy: appends the hash of all its bytes. The name and modification
/// time of a copy are not those of the trace.
fn describe_content(path: &Path, out: &mut Vec<u8>) -> io::Result<DescribedFile> {
    const AT_ONCE: usize = 1 << 20;
    let mut file = io::BufReader::with_capacity(AT_ONCE, File::open(path)?);
    let (mut hasher, mut size, mut starts_run) = (XxHash3_64::new(), 0, false);
    loop {
        let bytes = file.fill_buf()?;
        let length = bytes.len();
        if length == 0 {
            break;
        }
        starts_run |= size == 0 && bytes.starts_with(&tracer_format::FILE_MAGIC);
        hasher.write(bytes);
        size += length as u64;
        file.consume(length);
    }
    out.extend_from_slice(&hasher.finish().to_le_bytes());
    Ok(DescribedFile { size, starts_run })
}

/// The index is next to a file, or inside a run. The second choice is the user's cache, under a
/// name with a hash of the trace's whole path.
fn target(path: &Path, is_folder: bool, options: &OpenOptions) -> IndexPath {
    if let IndexChoice::At(path) = &options.index {
        return IndexPath::Given(path.clone());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let neighbour =
        if is_folder { path.join(format!("index.{ENDING}")) } else { path.with_file_name(format!("{name}.{ENDING}")) };
    let mut places = vec![neighbour];
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    if let (Some(cache), Ok(absolute_path)) = (cache, fs::canonicalize(path)) {
        let hash = XxHash3_64::oneshot(absolute_path.as_os_str().as_encoded_bytes());
        let stem = absolute_path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        places.push(cache.join("tumit").join(format!("{stem}-{hash:016x}.{ENDING}")));
    }
    IndexPath::Usual(places)
}
