//! `tumit gen`: generates tracing code from a spec.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::ValueHint;
use tumit::Spec;
use tumit::codegen::c::{CBackend, CReader};
use tumit::codegen::fortran::FortranBackend;
use tumit::codegen::rust::{RustBackend, RustReader};
use tumit::codegen::{Backend, CodegenOptions, GeneratedFiles};

use super::exit_status::ExitStatus;
use crate::output_file::write_if_changed;
use crate::{spec_files, term};

/// Generates tracing code from a spec
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit gen c app.tumit -o app_trace.h            then: cc -O2 app.c -pthread
  tumit gen fortran app.tumit -o app_trace.f90    and app_trace_fortran.c in the same folder; prints how to build
  tumit gen rust app.tumit                        the code of the macro `events!`
  tumit gen c app.tumit --off DEBUG               without the level DEBUG, to standard output
  tumit gen c app.tumit --reader -o app_read.h    for a tool that reads the records of a run
  tumit gen c app.tumit -o app_trace.h --depfile app_trace.d
                                                  with `-include app_trace.d` in the Makefile

C and C++: one self-contained header. Copy it into the program, include it, call TRACE_EVENT(...), link with -pthread.
Fortran: a module and a C file with the recorder; call TRACE_EVENT(...) of the module.
Rust: the macro `tracer_rt::events!(\"app.tumit\")` does the same while the program is compiled, without a generated file.

A file is replaced only after all files were generated. A file with the same text is not touched. The names of the files and the
build commands are printed on standard error.
Exit status: 0 success, 1 the spec has mistakes, 2 could not run.")]
pub(crate) struct Args {
    /// The language of the program; `cpp` is another name of `c`, because the header is for both
    language: TargetLanguage,
    /// The spec; `-` is standard input
    #[arg(value_name = "SPEC.tumit", value_hint = ValueHint::FilePath)]
    spec: String,
    /// Output file, or a folder, which ends in `/` if it does not exist [default: standard output].
    /// Further files of a language get their own names in the same folder
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,
    /// Leaves out these levels, such as DEBUG,MPI: their functions do nothing
    #[arg(long, value_name = "LEVEL", value_delimiter = ',')]
    off: Vec<String>,
    /// Generates functions for tools, which read, write and print records, instead of functions
    /// that record them; for C and Rust
    #[arg(long, conflicts_with = "off")]
    reader: bool,
    /// Also writes a Makefile dependency list of the generated files to FILE: they depend on the
    /// spec and the files that it uses
    #[arg(long, value_name = "FILE", requires = "output", value_hint = ValueHint::FilePath)]
    depfile: Option<PathBuf>,
    /// Prints mistakes only
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TargetLanguage {
    /// A header for C99 and C++11
    #[value(alias = "cpp", alias = "c++")]
    C,
    /// A module of Fortran 2008 and a C file with its recorder
    Fortran,
    /// Rust functions
    Rust,
}

impl TargetLanguage {
    fn backend(self, reader: bool) -> anyhow::Result<&'static dyn Backend> {
        Ok(match (self, reader) {
            (Self::C, false) => &CBackend,
            (Self::C, true) => &CReader,
            (Self::Fortran, false) => &FortranBackend,
            (Self::Fortran, true) => bail!("--reader generates C or Rust, not Fortran: write `gen c` or `gen rust`"),
            (Self::Rust, false) => &RustBackend,
            (Self::Rust, true) => &RustReader,
        })
    }

    /// The command line that builds a program with these files.
    fn build_line(self, reader: bool, files: &[PathBuf]) -> String {
        let name =
            |index: usize| files.get(index).and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy();
        let (first, second) = (name(0), name(1));
        match (self, reader) {
            (Self::C, false) => format!("#include \"{first}\", and build with: cc -O2 app.c -pthread"),
            (Self::C, true) => format!("#include \"{first}\", and build with: cc -O2 tool.c"),
            (Self::Fortran, _) => {
                let object = second.replace(".c", ".o");
                format!(
                    "build with: cc -O2 -c {second} && gfortran -O2 {first} app.f90 {object} -pthread\n\
                     tumit: with MPI:    mpicc -O2 -DTUMIT_MPI -c {second} && mpifort -O2 {first} app.f90 {object} -pthread"
                )
            }
            (Self::Rust, _) => {
                format!("put `mod {};` into a crate that depends on tracer-rt", first.trim_end_matches(".rs"))
            }
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let Some(spec) = spec_files::compile(&args.spec)? else { return Ok(ExitStatus::InputHasMistakes) };
    if let Some(unknown) = args.off.iter().find(|name| !spec.levels.iter().any(|level| level.name == **name)) {
        let names: Vec<_> = spec.levels.iter().map(|level| level.name.as_str()).collect();
        return Err(anyhow!("--off {unknown}: no such level; {} has {}", args.spec, names.join(", ")));
    }
    let mut options = CodegenOptions::default();
    options.removed_levels.clone_from(&args.off);
    let files = args.language.backend(args.reader)?.generate(&spec, &options);
    let files = files.with_context(|| format!("cannot generate from {}", args.spec))?;
    match &args.output {
        Some(output) => write(args, output, &spec, &files)?,
        None => print(&files)?,
    }
    Ok(ExitStatus::Done)
}

fn print(files: &GeneratedFiles) -> anyhow::Result<()> {
    let [file] = files.0.as_slice() else {
        let names: Vec<_> = files.0.iter().map(|file| file.name.as_str()).collect();
        bail!("there are {} files, {}: name their place by -o FILE or -o FOLDER/", names.len(), names.join(" and "));
    };
    let mut out = term::stdout();
    out.write_all(file.text.as_bytes()).context("cannot write")?;
    out.flush().context("cannot write")
}

fn write(args: &Args, output: &Path, spec: &Spec, files: &GeneratedFiles) -> anyhow::Result<()> {
    let paths = places(output, files)?;
    for (path, file) in paths.iter().zip(&files.0) {
        let is_written = write_if_changed(path, &file.text)?;
        if !args.quiet {
            let outcome = if is_written { "written" } else { "is up to date" };
            term::note(&format!("tumit: `{}` {outcome}", path.display()));
        }
    }
    if let Some(depfile) = &args.depfile {
        write_if_changed(depfile, &dependencies(&paths, spec_files::paths(spec)))?;
    }
    if !args.quiet {
        term::note(&format!("tumit: {}", args.language.build_line(args.reader, &paths)));
    }
    Ok(())
}

/// The path of each file.
fn places(output: &Path, files: &GeneratedFiles) -> anyhow::Result<Vec<PathBuf>> {
    let is_folder = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    if is_folder {
        fs::create_dir_all(output).with_context(|| format!("cannot create the folder `{}`", output.display()))?;
        return Ok(files.0.iter().map(|file| output.join(&file.name)).collect());
    }
    let mut paths = vec![output.to_path_buf()];
    paths.extend(files.0.iter().skip(1).map(|file| output.with_file_name(&file.name)));
    if paths.iter().skip(1).any(|path| path == output) {
        bail!("`{}` is the name of another generated file: choose another name for -o", output.display());
    }
    Ok(paths)
}

/// A rule for `make`: `files` depend on the `sources`. Each source gets an empty rule, so that it
/// may be removed without an error (as with `cc -MP`).
fn dependencies<'a>(files: &[PathBuf], sources: impl Iterator<Item = &'a str>) -> String {
    let targets: Vec<_> = files.iter().map(|path| escape_for_make(&path.to_string_lossy())).collect();
    let sources: Vec<_> = sources.map(escape_for_make).collect();
    let mut out = format!("{}: {}\n", targets.join(" "), sources.join(" "));
    for source in &sources {
        out.push_str(&format!("\n{source}:\n"));
    }
    out
}

fn escape_for_make(path: &str) -> String {
    let mut out = String::new();
    for letter in path.chars() {
        match letter {
            ' ' | '#' | '\\' | ':' => out.extend(['\\', letter]),
            '$' => out.push_str("$$"),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_what_make_reads() {
        let files = [PathBuf::from("out/a b.h"), PathBuf::from("x$.c")];
        let text = dependencies(&files, ["a.tumit", "p/b#.tumit"].into_iter());
        assert_eq!(text, "out/a\\ b.h x$$.c: a.tumit p/b\\#.tumit\n\na.tumit:\n\np/b\\#.tumit:\n");
    }
}
