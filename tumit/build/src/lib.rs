//! Generates the tracing functions of a spec in a build script, as a file that can be read and
//! debugged. The macro `tracer_rt::events!` generates the same functions without a build script.
//!
//! ```toml
//! [dependencies]
//! tracer-rt = "0.1"
//!
//! [build-dependencies]
//! tumit-build = "0.1"
//! ```
//!
//! In `build.rs`:
//!
//! ```no_run
//! tumit_build::compile("specs/app.tumit");
//! ```
//!
//! In the program, at the place of the functions:
//!
//! ```text
//! mod trace {
//!     tracer_rt::include_events!("app"); // OUT_DIR/app.rs
//! }
//! ```
//!
//! Each level becomes a module there. The module `trace` separates them from modules of the program
//! with the same names. [`BuildScript::module`] writes it into the file.
//!
//! Cargo runs the script again when a file of the spec changes. Mistakes of the spec are printed in
//! the form of `tumit check`, and end the build. Warnings appear among those of Cargo.

#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tumit::codegen::{CodegenOptions, rust};
use tumit::{Loader, Spec, SpecLoadError};

/// Generates `OUT_DIR/NAME.rs` from the spec `…/NAME.tumit`.
///
/// The path is relative to the folder of the package. An error ends the build.
pub fn compile(spec: impl AsRef<Path>) {
    BuildScript::new(spec).compile();
}

/// Generates the functions of a spec, with options.
///
/// ```no_run
/// tumit_build::BuildScript::new("specs/app.tumit").off(["DEBUG"]).file_name("trace.rs").compile();
/// ```
#[derive(Clone, Debug)]
pub struct BuildScript {
    spec: PathBuf,
    removed_levels: Vec<String>,
    module: Option<String>,
    out_dir: Option<PathBuf>,
    file_name: Option<String>,
}

/// The reason why there is no code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The spec has mistakes, or cannot be read.
    #[error("mistakes in `{spec}`\n{report}")]
    Spec {
        /// Its path.
        spec: String,
        /// The mistakes, printed with their lines.
        report: String,
    },
    /// The spec is correct, but Rust cannot express it, or it has no such level.
    #[error("`{spec}`: {reason}")]
    Unsupported {
        /// Its path.
        spec: String,
        /// The unsupported part, and a remedy.
        reason: String,
    },
    /// The path of the spec is not Unicode.
    #[error("the path `{}` of the spec is not Unicode: rename the file or its folder", .0.display())]
    Path(PathBuf),
    /// There is neither a build script nor an output folder.
    #[error("`OUT_DIR` is not set: call this function in a build script, or name a folder by `out_dir`")]
    NoFolder,
    /// The file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl BuildScript {
    /// Options for the spec at this path, which is relative to the folder of the package.
    pub fn new(spec: impl AsRef<Path>) -> Self {
        Self {
            spec: spec.as_ref().to_owned(),
            removed_levels: Vec::new(),
            module: None,
            out_dir: None,
            file_name: None,
        }
    }

    /// Removes levels: their functions do nothing.
    #[must_use]
    pub fn off<S: Into<String>>(mut self, levels: impl IntoIterator<Item = S>) -> Self {
        self.removed_levels.extend(levels.into_iter().map(Into::into));
        self
    }

    /// Puts the modules of the levels into a module with this name: `trace::com::post(…)`.
    #[must_use]
    pub fn module(mut self, name: impl Into<String>) -> Self {
        self.module = Some(name.into());
        self
    }

    /// Writes into this folder instead of `OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Writes a file with this name. Without it, `app.tumit` becomes `app.rs`.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<String>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Writes the file, and reports its sources to Cargo. After an error, prints the error and ends
    /// the process.
    pub fn compile(&self) {
        if let Err(error) = self.try_compile() {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            print_instruction(&format!("cargo::error={first}"));
            // Cargo prints this output of a failed script unchanged.
            let _ = writeln!(std::io::stderr(), "{text}");
            std::process::exit(1);
        }
    }

    /// Writes the file, for scripts that continue after it. Returns the path of the file.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let spec = folder.path().join("app.tumit");
    /// std::fs::write(&spec, "trace app; level APP { event tick { n: u32 } }")?;
    /// let path = tumit_build::BuildScript::new(&spec).out_dir(folder.path()).try_compile()?;
    /// assert_eq!(path, folder.path().join("app.rs"));
    /// assert!(std::fs::read_to_string(path)?.contains("pub fn tick(n: u32)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When there is no spec, or it has mistakes, or the file cannot be written.
    pub fn try_compile(&self) -> Result<PathBuf, BuildError> {
        let Some(spec) = self.spec.to_str().map(|path| path.replace('\\', "/")) else {
            return Err(BuildError::Path(self.spec.clone()));
        };
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        let mut files = BuildFiles { package };
        let (compiled_spec, diagnostics) = tumit::compile(&spec, &mut files);
        let report = diagnostics.render(false);
        let Some(compiled) = compiled_spec else { return Err(BuildError::Spec { spec, report }) };
        if !diagnostics.is_empty() {
            for line in report.lines() {
                print_instruction(&format!("cargo::warning={line}"));
            }
        }
        let text = self.text(&compiled).map_err(|error| BuildError::Unsupported { spec, reason: error.reason })?;
        let folder = self.out_dir.clone().or_else(|| std::env::var_os("OUT_DIR").map(PathBuf::from));
        let path = folder.ok_or(BuildError::NoFolder)?.join(self.name());
        std::fs::write(&path, text).map_err(|source| BuildError::Write { path: path.clone(), source })?;
        Ok(path)
    }

    fn name(&self) -> String {
        let stem = self.spec.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.strip_prefix(tumit::load::STANDARD).unwrap_or(&stem);
        self.file_name.clone().unwrap_or_else(|| format!("{stem}.rs"))
    }

    fn text(&self, spec: &Spec) -> Result<String, tumit::codegen::UnsupportedFeature> {
        let mut options = CodegenOptions::default();
        options.removed_levels.clone_from(&self.removed_levels);
        options.module.clone_from(&self.module);
        let mut text = String::new();
        // Comments instead of documentation, because the text can be in the middle of a module.
        for line in rust::head(spec) {
            let _ = writeln!(text, "{}", format!("// {line}").trim_end());
        }
        text.push('\n');
        text.push_str(&rust::text(spec, &options)?);
        Ok(text)
    }
}

/// Reads files in the folder of the package. Cargo watches each of them, including missing files,
/// which may be created later.
struct BuildFiles {
    package: PathBuf,
}

impl Loader for BuildFiles {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        let file = self.package.join(path);
        print_instruction(&format!("cargo::rerun-if-changed={}", file.display()));
        std::fs::read_to_string(&file).map_err(|error| SpecLoadError::new(format!("{error} (`{}`)", file.display())))
    }
}

/// Prints an instruction for Cargo, which reads the standard output of build scripts.
fn print_instruction(instruction: &str) {
    let _ = writeln!(std::io::stdout(), "{instruction}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_written_to_the_given_folder_and_name() {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("app.tumit");
        std::fs::write(&spec, "//! Words.\ntrace app; level COM { event post { n: u8 } } level APP { span step; }")
            .unwrap();
        let build = BuildScript::new(&spec).out_dir(folder.path());
        let path = build.clone().try_compile().unwrap();
        assert_eq!(path, folder.path().join("app.rs"));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("// Tracing functions of `app`, generated by Tumit from `"), "{text}");
        assert!(text.contains("\n//\n// Words.\n") && text.contains("pub fn post(n: u8)"));
        assert!(!text.contains("\n//!"), "inner documentation cannot be included");
        let path = build.clone().off(["COM"]).file_name("other.rs").try_compile().unwrap();
        assert!(!std::fs::read_to_string(path).unwrap().contains("(n,)"));
        let path = build.clone().module("trace").try_compile().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains("\npub mod trace {\n") && text.contains("\n        pub fn post(n: u8)"), "{text}");
        let error = build.clone().module("a b").try_compile().unwrap_err().to_string();
        assert!(
            error.ends_with("app.tumit`: `a b` cannot be the name of a module in Rust: choose another name"),
            "{error}"
        );
        let error = build.clone().off(["COMM"]).try_compile().unwrap_err().to_string();
        assert!(error.ends_with("app.tumit`: no level `COMM`; did you mean `COM`?"), "{error}");
        let error = build.out_dir(folder.path().join("nowhere")).try_compile().unwrap_err().to_string();
        assert!(error.starts_with("cannot write `") && error.contains("nowhere"), "{error}");
    }

    #[test]
    fn standard_specs_need_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = BuildScript::new("std:paje").out_dir(folder.path()).try_compile().unwrap();
        assert_eq!(path, folder.path().join("paje.rs"));
    }

    #[test]
    fn errors_contain_the_rendered_diagnostics() {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("bad.tumit");
        std::fs::write(&spec, "trace bad;\nlevel COM { event post { n: u9 } }\n").unwrap();
        let error = BuildScript::new(&spec).out_dir(folder.path()).try_compile().unwrap_err().to_string();
        assert!(error.contains("error[T0026]") && error.contains("did you mean `u8`?"), "{error}");
        let error = BuildScript::new("/nowhere/x.tumit").out_dir(folder.path()).try_compile().unwrap_err().to_string();
        assert!(error.contains("cannot read `/nowhere/x.tumit`"), "{error}");
    }
}
