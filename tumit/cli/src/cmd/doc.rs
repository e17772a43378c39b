//! `tumit doc`: writes a reference of the events of a spec.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueHint;
use tumit::codegen::doc::{HtmlBackend, MarkdownBackend};
use tumit::codegen::{Backend, CodegenOptions};

use super::exit_status::ExitStatus;
use crate::output_file::write_if_changed;
use crate::{spec_files, term};

/// Writes a reference of the events of a spec, for readers of its traces
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit doc app.tumit -o app.html            a self-contained page
  tumit doc app.tumit -o app.md              Markdown for code hosts
  tumit doc app.tumit --format markdown      to standard output

The reference contains the comments of the spec, the events with their parameters and sizes, the calls in Rust, C and
Fortran, the types, the tree of containers with its colours, and the rules.
Exit status: 0 success, 1 the spec has mistakes, 2 could not run.")]
pub(crate) struct Args {
    /// The spec; `-` is standard input
    #[arg(value_name = "SPEC.tumit", value_hint = ValueHint::FilePath)]
    spec: String,
    /// Output file [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Format of the output [default: by the ending of FILE; html for standard output]
    #[arg(long, value_enum)]
    format: Option<DocFormat>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum DocFormat {
    /// A self-contained page
    Html,
    /// Markdown
    Markdown,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, Some(path)) => format_by_extension(path)?,
        (None, None) => DocFormat::Html,
    };
    let Some(spec) = spec_files::compile(&args.spec)? else { return Ok(ExitStatus::InputHasMistakes) };
    let backend: &dyn Backend = match format {
        DocFormat::Html => &HtmlBackend,
        DocFormat::Markdown => &MarkdownBackend,
    };
    let files = backend.generate(&spec, &CodegenOptions::default());
    let files = files.with_context(|| format!("cannot document {}", args.spec))?;
    let text: String = files.0.into_iter().map(|file| file.text).collect();
    if let Some(path) = &args.output {
        write_if_changed(path, &text)?;
    } else {
        let mut out = term::stdout();
        out.write_all(text.as_bytes()).context("cannot write")?;
        out.flush().context("cannot write")?;
    }
    Ok(ExitStatus::Done)
}

fn format_by_extension(path: &Path) -> anyhow::Result<DocFormat> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => Ok(DocFormat::Html),
        Some("md" | "markdown") => Ok(DocFormat::Markdown),
        _ => bail!(
            "`{}` ends neither in .html nor in .md: name the format with --format html or --format markdown",
            path.display()
        ),
    }
}
