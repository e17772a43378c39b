//! Reads specs from disk for the compiler, which does no I/O of its own. Every subcommand that takes a spec reads it here.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use converter::run::Run;
use tumit::spec::SourceFile;
use tumit::{Diagnostics, LoadError, Loader, Spec};

use crate::term;

/// What standard input is called on the command line.
const STANDARD_INPUT: &str = "-";
/// What it is called in messages.
const STANDARD_INPUT_NAME: &str = "<standard input>";

/// Compiles the spec at `path`, `-` being standard input. Diagnostics are drawn on standard error; without a spec the input
/// has mistakes.
///
/// # Errors
/// When the root file itself cannot be read.
pub(crate) fn compile(path: &str) -> anyhow::Result<Option<Spec>> {
    let (spec, diagnostics) = compile_quietly(path, None)?;
    draw(&diagnostics);
    Ok(spec)
}

/// Draws diagnostics on standard error.
pub(crate) fn draw(diagnostics: &Diagnostics) {
    if !diagnostics.is_empty() {
        term::note(diagnostics.render(term::is_colored()).trim_end());
    }
}

/// Compiles as [`compile`] does and leaves it to the caller to tell what was found. With `older`, also finds what no longer
/// fits to that.
///
/// # Errors
/// When the root file itself cannot be read.
pub(crate) fn compile_quietly(path: &str, older: Option<&Older>) -> anyhow::Result<(Option<Spec>, Diagnostics)> {
    let (name, text) = if path == STANDARD_INPUT {
        (STANDARD_INPUT_NAME, read_standard_input()?)
    } else if let Some(text) = tumit::load::standard(path) {
        (path, text.to_owned())
    } else {
        (path, read(path).with_context(|| format!("cannot read `{path}`"))?)
    };
    let mut files = Files { root: name, text };
    let Some(older) = older else { return Ok(tumit::compile(name, &mut files)) };
    let compiled = tumit::compile(name, &mut files);
    let Some(spec) = &compiled.0 else { return Ok(compiled) };
    Ok(tumit::compile_since(name, &mut files, older.spec(&spec.name)?))
}

/// Older specs that a new one is compared with: one from a file, or those of a run.
#[derive(Debug)]
pub(crate) struct Older {
    path: String,
    specs: Vec<Spec>,
}

impl Older {
    /// Reads the spec at `path`, or those that the run at `path` was recorded with.
    ///
    /// # Errors
    /// When it cannot be read, or has mistakes.
    pub(crate) fn read(path: &str) -> anyhow::Result<Self> {
        let specs = if Path::new(path).is_dir() || path.ends_with(".tmt") {
            let run = Run::open(path)?;
            let mut specs: Vec<Spec> = Vec::new();
            for provider in run.processes.iter().flat_map(|process| &process.providers) {
                if !specs.iter().any(|spec| spec.name == provider.schema.name) {
                    let sources = provider.schema.sources.iter();
                    let sources = sources.map(|s| SourceFile { path: s.path.clone(), text: s.text.clone() });
                    specs.push(right(path, tumit::compile_sources(&sources.collect::<Vec<_>>()))?);
                }
            }
            specs
        } else {
            vec![right(path, compile_quietly(path, None)?)?]
        };
        Ok(Self { path: path.to_owned(), specs })
    }

    /// The spec called `name`, or the only one.
    fn spec(&self, name: &str) -> anyhow::Result<&Spec> {
        match self.specs.as_slice() {
            [only] => Ok(only),
            all => all.iter().find(|spec| spec.name == name).with_context(|| {
                let known: Vec<_> = all.iter().map(|spec| format!("`{}`", spec.name)).collect();
                format!("`{}` was recorded with {}, not with a spec `{name}`", self.path, known.join(", "))
            }),
        }
    }
}

fn right(path: &str, (spec, diagnostics): (Option<Spec>, Diagnostics)) -> anyhow::Result<Spec> {
    spec.with_context(|| format!("the older spec `{path}` has mistakes:\n{}", diagnostics.render(false).trim_end()))
}

/// Paths of the files that a spec was compiled from, without what is no file.
pub(crate) fn paths(spec: &Spec) -> impl Iterator<Item = &str> {
    let paths = spec.sources.iter().map(|source| source.path.as_str());
    paths.filter(|path| *path != STANDARD_INPUT_NAME && !path.starts_with("std:"))
}

fn read_standard_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    as_text(bytes).context("cannot read standard input")
}

fn read(path: &str) -> anyhow::Result<String> {
    as_text(fs::read(path)?)
}

fn as_text(bytes: Vec<u8>) -> anyhow::Result<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => bail!("it is not UTF-8 text, from byte {} on", error.utf8_error().valid_up_to()),
    }
}

/// The root, already read, and the files that it uses.
struct Files<'a> {
    root: &'a str,
    text: String,
}

impl Loader for Files<'_> {
    fn load(&mut self, path: &str) -> Result<String, LoadError> {
        if path == self.root {
            return Ok(self.text.clone());
        }
        read(path).map_err(|error| LoadError::new(error.to_string()))
    }
}
