//! `tumit gen`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use tumit::codegen::{Backend, Options, c::C, rust::Rust};

use super::Status;
use crate::output_file::OutputFile;
use crate::{spec_files, term};

/// Generates tracing code from a spec
///
/// C and C++ get one self-contained header: copy it beside the program, include it, call its functions, link with
/// -pthread. In Rust the macro `tracer_rt::events!("app.tumit")` does the same while the program is compiled; `gen rust`
/// shows what it expands to.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit gen c app.tumit -o app_trace.h       then: cc -O2 app.c -pthread
  tumit gen c app.tumit --off DEBUG          without the level DEBUG, to standard output
  tumit gen rust app.tumit                   what the macro `events!` gives")]
pub(crate) struct Args {
    /// The language of the program
    language: Language,
    /// The spec
    #[arg(value_name = "SPEC.tumit")]
    spec: String,
    /// Where to write; standard output if absent. An old file is replaced only when all went well
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Levels to leave out: their functions do nothing
    #[arg(long, value_name = "LEVEL", value_delimiter = ',')]
    off: Vec<String>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Language {
    /// A C99 header, also good as C++11
    C,
    /// Rust functions
    Rust,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let Some(spec) = spec_files::compile(&args.spec)? else { return Ok(Status::InputHasMistakes) };
    if let Some(unknown) = args.off.iter().find(|name| !spec.levels.iter().any(|level| level.name == **name)) {
        let known: Vec<_> = spec.levels.iter().map(|level| level.name.as_str()).collect();
        return Err(anyhow!("--off {unknown}: no such level; {} has {}", args.spec, known.join(", ")));
    }
    let mut options = Options::default();
    options.off.clone_from(&args.off);
    let backend: &dyn Backend = match args.language {
        Language::C => &C,
        Language::Rust => &Rust,
    };
    let files = backend.generate(&spec, &options).with_context(|| format!("cannot generate from {}", args.spec))?;
    let text: String = files.0.iter().map(|file| file.text.as_str()).collect();
    match &args.output {
        Some(path) => {
            let file = OutputFile::create(path)?;
            (&file).write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
            file.finish()?;
        }
        None => {
            let mut out = term::stdout();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Status::Done)
}
