//! C and C++: from a generated header and a driver to a program.

use std::path::{Path, PathBuf};
use std::process::Command;

use tumit::codegen::{Backend, Options, c::C};

use super::once;

/// The warnings under which a generated header must be clean.
pub const WARNINGS: [&str; 6] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"];

/// A compiler and the standard it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Compiler {
    /// Its command.
    pub command: &'static str,
    /// Standard, and what it needs.
    pub flags: &'static [&'static str],
}

/// Strict C99.
pub const C99: Compiler = Compiler { command: "gcc", flags: &["-std=c99", "-D_GNU_SOURCE"] };
/// C99 with GNU's extensions.
pub const GNU99: Compiler = Compiler { command: "gcc", flags: &["-std=gnu99"] };
/// C++11.
pub const CXX11: Compiler = Compiler { command: "g++", flags: &["-std=c++11", "-x", "c++"] };

/// Every standard that a header promises, by both compilers.
pub const EVERY: [Compiler; 12] = [
    C99,
    GNU99,
    Compiler { command: "gcc", flags: &["-std=c11", "-D_GNU_SOURCE"] },
    Compiler { command: "gcc", flags: &["-std=c2x", "-D_GNU_SOURCE"] },
    CXX11,
    Compiler { command: "g++", flags: &["-std=c++17", "-x", "c++"] },
    Compiler { command: "g++", flags: &["-std=gnu++20", "-x", "c++"] },
    Compiler { command: "clang", flags: &["-std=c99", "-D_GNU_SOURCE"] },
    Compiler { command: "clang", flags: &["-std=gnu11"] },
    Compiler { command: "clang", flags: &["-std=c2x", "-D_GNU_SOURCE"] },
    Compiler { command: "clang++", flags: &["-std=c++11", "-x", "c++"] },
    Compiler { command: "clang++", flags: &["-std=c++17", "-x", "c++"] },
];

impl Compiler {
    /// Whether it is a compiler of C++.
    #[must_use]
    pub fn is_cxx(&self) -> bool {
        self.command.ends_with("++")
    }

    /// Compiles sources into a program; returns what the compiler said when it refused.
    ///
    /// # Errors
    /// The compiler's messages.
    ///
    /// # Panics
    /// When the compiler is not installed.
    pub fn compile(&self, sources: &[&Path], program: &Path, extra: &[&str]) -> Result<(), String> {
        let mut command = Command::new(self.command);
        // Compiling is most of the work of many tests: those which are about optimised code ask for it.
        command.args(self.flags).args(WARNINGS).args(["-O1", "-pipe"]).args(extra).args(sources);
        command.arg("-o").arg(program).arg("-pthread");
        let output = command.output().unwrap_or_else(|error| panic!("{} cannot be started: {error}", self.command));
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    }
}

/// Runs a recorded program in `folder`; its run goes to `folder/name`.
///
/// # Panics
/// When it cannot be started or fails.
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

/// Writes the header of a spec's text into `folder`, and gives its text.
///
/// # Panics
/// When the spec has mistakes.
pub fn header(folder: &Path, text: &str) -> String {
    let (spec, diagnostics) = tumit::compile_text("spec.tumit", text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let mut files = C.generate(&spec, &Options::default()).expect("a header");
    let file = files.0.remove(0);
    std::fs::write(folder.join(&file.name), &file.text).expect("a writable folder");
    file.text
}

/// Builds `source` against the header of `spec`, and gives the program, `drive` in the folder. The same program is compiled once: `source` and
/// `extra` may name no other file of the folder.
///
/// # Errors
/// The compiler's messages.
///
/// # Panics
/// When the spec has mistakes or the folder cannot be written.
pub fn build(folder: &Path, compiler: Compiler, spec: &str, source: &str, extra: &[&str]) -> Result<PathBuf, String> {
    let header = header(folder, spec);
    let path = folder.join("drive.c");
    std::fs::write(&path, source).expect("a writable folder");
    let program = folder.join("drive");
    let inputs = (compiler.flags, header, source, extra);
    once::compiled(&program, compiler.command, inputs, |to| compiler.compile(&[&path], to, extra)).map(|()| program)
}

/// A folder that goes when the test is over.
///
/// # Panics
/// When there is no room for one.
#[must_use]
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}
