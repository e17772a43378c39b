//! C and C++: compiles a generated header and a driver to a program.

use std::path::{Path, PathBuf};
use std::process::Command;

use tumit::codegen::{Backend, CodegenOptions, GeneratedFile, c::CBackend};

use super::program_cache;

/// The warnings that a generated header must not cause.
pub const WARNINGS: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];

/// A compiler, and the selected standard.
#[derive(Clone, Copy, Debug)]
pub struct CCompiler {
    /// A program in `PATH`.
    pub command: &'static str,
    /// Flags of the standard, and those that it requires.
    pub flags: &'static [&'static str],
}

/// Strict C99.
pub const C99: CCompiler = CCompiler { command: "gcc", flags: &["-std=c99", "-D_GNU_SOURCE"] };
/// C99 with GNU's extensions.
pub const GNU99: CCompiler = CCompiler { command: "gcc", flags: &["-std=gnu99"] };
/// C++11, the oldest standard of C++ that headers support.
pub const CXX11: CCompiler = CCompiler { command: "g++", flags: &["-std=c++11", "-x", "c++"] };

/// Every standard that headers support, with both compilers.
pub const EVERY: [CCompiler; 12] = [
    C99,
    GNU99,
    CCompiler { command: "gcc", flags: &["-std=c11", "-D_GNU_SOURCE"] },
    CCompiler { command: "gcc", flags: &["-std=c2x", "-D_GNU_SOURCE"] },
    CXX11,
    CCompiler { command: "g++", flags: &["-std=c++17", "-x", "c++"] },
    CCompiler { command: "g++", flags: &["-std=gnu++20", "-x", "c++"] },
    CCompiler { command: "clang", flags: &["-std=c99", "-D_GNU_SOURCE"] },
    CCompiler { command: "clang", flags: &["-std=gnu11"] },
    CCompiler { command: "clang", flags: &["-std=c2x", "-D_GNU_SOURCE"] },
    CCompiler { command: "clang++", flags: &["-std=c++11", "-x", "c++"] },
    CCompiler { command: "clang++", flags: &["-std=c++17", "-x", "c++"] },
];

impl CCompiler {
    /// Whether it is a compiler of C++.
    #[must_use]
    pub fn is_cxx(&self) -> bool {
        self.command.ends_with("++")
    }

    /// Compiles sources to a program.
    ///
    /// # Errors
    /// The compiler's messages.
    ///
    /// # Panics
    /// If the compiler is not installed.
    pub fn compile(&self, sources: &[&Path], program: &Path, extra: &[&str]) -> Result<(), String> {
        let mut command = Command::new(self.command);
        // Compilation is most of the work of many tests, and takes twice as long with optimisation.
        // Tests that depend on it request it.
        command.args(self.flags).args(WARNINGS).args(["-O0", "-pipe"]).args(extra).args(sources);
        command.arg("-o").arg(program).arg("-pthread");
        let output = command.output().unwrap_or_else(|error| panic!("cannot start {}: {error}", self.command));
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

/// Runs a recording program in `folder`. Its run is written to `folder/name`.
///
/// # Panics
/// If it cannot be started or fails.
#[must_use]
pub fn record(program: &Path, folder: &Path, name: &str, environment: &[(&str, &str)]) -> PathBuf {
    let run = folder.join(name);
    let mut command = Command::new(program);
    command.current_dir(folder).env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", &run);
    let output = command.envs(environment.iter().copied()).output().expect("the compiled program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} failed: {errors}", program.display());
    run
}

/// Writes the header of a spec into `folder`, and returns its text.
///
/// # Panics
/// If the spec has errors.
pub fn header(folder: &Path, text: &str) -> String {
    named_header(folder, text).text
}

fn named_header(folder: &Path, text: &str) -> GeneratedFile {
    let (spec, diagnostics) = tumit::compile_text("spec.tumit", text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let mut files = CBackend.generate(&spec, &CodegenOptions::default()).expect("a header");
    let file = files.0.remove(0);
    std::fs::write(folder.join(&file.name), &file.text).expect("the folder is writable");
    file
}

/// Compiles `source` with the header of `spec`, and returns the path of the program, `drive` in the
/// folder. The same program is compiled once, so `source` and `extra` may name no other file of the
/// folder.
///
/// # Errors
/// The compiler's messages.
///
/// # Panics
/// If the spec has errors or the folder cannot be written.
pub fn build(folder: &Path, compiler: CCompiler, spec: &str, source: &str, extra: &[&str]) -> Result<PathBuf, String> {
    let header = header(folder, spec);
    compile_once(folder, "drive", compiler, &header, source, extra)
}

/// Like [`build`], but the recorder is an object that all programs with this spec, compiler and
/// `extra` share: compiling the recorder takes most of the time of [`build`]. The source may use
/// only functions of the header's interface, and no macro that changes the recorder.
///
/// # Errors
/// The compiler's messages.
///
/// # Panics
/// If the spec has errors or the folder cannot be written.
pub fn build_with_shared_recorder(
    folder: &Path,
    compiler: CCompiler,
    spec: &str,
    source: &str,
    extra: &[&str],
) -> Result<PathBuf, String> {
    let header = named_header(folder, spec);
    let recorder = format!("#include \"{}\"\n", header.name);
    let object = compile_once(folder, "recorder.o", compiler, &header.text, &recorder, &[extra, &["-c"]].concat())?;
    let object = std::fs::canonicalize(object).expect("the object is in the cache");
    let object = format!("-Wl,{}", object.display());
    compile_once(folder, "drive", compiler, &header.text, source, &[extra, &["-DTUMIT_EXTERN", &object]].concat())
}

/// Puts the program or object of a source at `folder/name`.
fn compile_once(
    folder: &Path,
    name: &str,
    compiler: CCompiler,
    header: &str,
    source: &str,
    extra: &[&str],
) -> Result<PathBuf, String> {
    let path = folder.join("drive.c");
    std::fs::write(&path, source).expect("the folder is writable");
    let output = folder.join(name);
    let inputs = (compiler.flags, header, source, extra);
    program_cache::compile_once(&output, compiler.command, inputs, |to| compiler.compile(&[&path], to, extra))
        .map(|()| output)
}

/// A folder that is removed after the test.
///
/// # Panics
/// If it cannot be created.
#[must_use]
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be created")
}
