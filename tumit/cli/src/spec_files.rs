//! Reads specs from disk for the compiler, which does no I/O of its own. All subcommands that use a
//! spec read it here.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, anyhow, bail};
use tumit::{Diagnostics, Loader, Spec, SpecLoadError};
use tumit_paje::other_formats::{foreign_folder, foreign_format};
use tumit_picl::TraceFormat;

use crate::term;

/// The name of standard input on the command line.
const STANDARD_INPUT: &str = "-";
/// The name of standard input in messages.
const STANDARD_INPUT_NAME: &str = "<standard input>";

/// Compiles the spec at `path`. `-` means standard input.
///
/// Prints diagnostics on standard error. The result is `None` if the input has mistakes.
///
/// # Errors
/// When the root file itself cannot be read.
pub(crate) fn compile(path: &str) -> anyhow::Result<Option<Spec>> {
    let (spec, diagnostics) = compile_quietly(path, None)?;
    print_diagnostics(&diagnostics);
    Ok(spec)
}

/// Prints diagnostics on standard error.
pub(crate) fn print_diagnostics(diagnostics: &Diagnostics) {
    if !diagnostics.is_empty() {
        term::note(diagnostics.render(term::is_colored()).trim_end());
    }
}

/// Compiles a spec as [`compile`] does, without printing the diagnostics.
///
/// # Errors
/// When the root file itself cannot be read.
pub(crate) fn compile_quietly(path: &str, older_spec: Option<&Spec>) -> anyhow::Result<(Option<Spec>, Diagnostics)> {
    let (name, text) = if path.starts_with("/proc/self/fd/") {
        // A copy of standard input, made to inspect its first bytes.
        (STANDARD_INPUT_NAME, read(path).context("cannot read standard input")?)
    } else if path == STANDARD_INPUT {
        (STANDARD_INPUT_NAME, read_standard_input()?)
    } else if let Some(text) = tumit::load::standard(path) {
        (path, text.to_owned())
    } else {
        (path, read(path).with_context(|| format!("cannot read `{path}`"))?)
    };
    let mut files = SpecFileLoader { root: name, text };
    Ok(match older_spec {
        Some(older) => tumit::compile_since(name, &mut files, older),
        None => tumit::compile(name, &mut files),
    })
}

/// Paths of the files of a spec, without standard input and standard specs.
pub(crate) fn paths(spec: &Spec) -> impl Iterator<Item = &str> {
    let paths = spec.sources.iter().map(|source| source.path.as_str());
    paths.filter(|path| *path != STANDARD_INPUT_NAME && !path.starts_with("std:"))
}

/// The text of a file. `-` means standard input.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub(crate) fn text(path: &str) -> anyhow::Result<String> {
    if path == STANDARD_INPUT {
        read_standard_input()
    } else {
        read(path).with_context(|| format!("cannot read `{path}`"))
    }
}

/// Standard input, which can be read only once but may be compiled twice (`check - --since OLD`).
fn read_standard_input() -> anyhow::Result<String> {
    static TEXT: OnceLock<String> = OnceLock::new();
    if let Some(text) = TEXT.get() {
        return Ok(text.clone());
    }
    let bytes = read_bounded(io::stdin().lock(), "-").context("cannot read standard input")?;
    let text = as_text(bytes).context("cannot read standard input")?;
    Ok(TEXT.get_or_init(|| text).clone())
}

/// Input of this many bytes or more is rejected before it is read completely. A spec may have 8 MiB
/// (T0015).
const MAX_BYTES: u64 = 16 << 20;

fn read(path: &str) -> anyhow::Result<String> {
    if Path::new(path).is_dir() {
        return Err(folder(Path::new(path)));
    }
    as_text(read_bounded(fs::File::open(path)?, path)?)
}

/// The error for a folder instead of a spec. It names the kind of folder.
fn folder(path: &Path) -> anyhow::Error {
    let is_of_run = |file: &Path| file.extension().is_some_and(|ending| ending == "tmt" || ending == "live");
    let mut files = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    if files.any(|file| file.is_file() && is_of_run(&file)) {
        return anyhow!("This is a run, not a spec. {SHOWS_RUNS}");
    }
    match foreign_folder(path) {
        Some(format) => anyhow!("This is {}. {}", format.name, format.advice),
        None => anyhow!("This is a folder. Name a spec in it, such as `{}`", path.join("app.tumit").display()),
    }
}

const SHOWS_RUNS: &str = "`tumit info` shows its contents, `tumit view` draws it";

/// Whether bytes begin like Pajé text. No spec does.
pub(crate) fn is_paje(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    lines.find(|line| !line.is_empty() && line[0] != b'#').is_some_and(|line| line.starts_with(b"%"))
        && bytes.windows(9).any(|word| word == b"%EventDef")
}

/// The bytes of a spec. Input that is not text, or that is too long for a spec, is rejected before
/// all of it is in memory.
fn read_bounded(mut input: impl Read, path: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    (&mut input).take(1 << 12).read_to_end(&mut bytes)?;
    if let Some(format) = TraceFormat::of_file(&bytes, Path::new(path)) {
        bail!(
            "This is a trace in the format {}, not a spec. `tumit check` checks it, `tumit stats` shows statistics, `tumit view` draws it",
            format.name()
        );
    }
    // Known foreign formats are rejected by name. No spec begins like them.
    if let Some(format) = foreign_format(&bytes, Path::new(path)) {
        bail!("This is {}. {}", format.name, format.advice);
    }
    if bytes.starts_with(&tracer_format::FILE_MAGIC) {
        bail!("This is a file of a run, not a spec. {SHOWS_RUNS}");
    }
    if is_paje(&bytes) {
        bail!(
            "This is a Pajé file, not a spec. `tumit check` checks it, `tumit stats` shows statistics, `tumit view` draws it"
        );
    }
    if bytes.contains(&0) {
        bail!("it is neither a spec nor a trace, because it begins with binary data");
    }
    input.take(MAX_BYTES).read_to_end(&mut bytes)?;
    if bytes.len() as u64 >= MAX_BYTES {
        bail!("it has {} MiB or more; a spec may have 8 MiB", MAX_BYTES >> 20);
    }
    Ok(bytes)
}

fn as_text(bytes: Vec<u8>) -> anyhow::Result<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => bail!("expected UTF-8 text, but byte {} is not valid", error.utf8_error().valid_up_to()),
    }
}

/// Loads the files of a spec: the root from memory, the files that it uses from disk.
struct SpecFileLoader<'a> {
    root: &'a str,
    text: String,
}

impl Loader for SpecFileLoader<'_> {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        if path == self.root {
            return Ok(self.text.clone());
        }
        read(path).map_err(|error| SpecLoadError::new(error.to_string()))
    }
}
