//! The corpus: the cases in the folders of `cases/`, and the programs that record them.
//!
//! A case consists of `spec.tumit` and a driver per language. All drivers make the same calls:
//! `drive.rs`, `drive.c` (compiled as C and as C++, unless there is a `drive.cpp`) and `drive.f90`.
//! `expect.dump` lists the expected records. `case.txt` is optional, with one setting per line:
//!
//! - `env NAME=VALUE`: in the environment of the drivers,
//! - `again`: the drivers run once more, in the environment that the following lines set,
//! - `spec FILE`: a further spec of the program,
//! - `off LEVEL`: a level that generators leave out,
//! - `without LANGUAGE: REASON`: a language that cannot express the case,
//! - `output NAME`: a text output of the spec, compared with `expect.NAME`.
//!
//! If there is an `expect.rows`, the runs are also converted, and the rows of `pj_dump` are
//! compared. That requires a clock in the case's drivers.

pub mod case_outputs;
pub mod compare;
pub mod coverage;

use std::path::{Path, PathBuf};

use tumit::codegen::{Backend, CodegenOptions, GeneratedFiles};
use tumit::{Loader, Spec, SpecLoadError};

/// A folder of `cases/`.
#[derive(Clone, Debug, Default)]
pub struct CorpusCase {
    /// The name of the folder.
    pub name: String,
    /// The path, from which the case reads its specs.
    pub folder: PathBuf,
    /// Names of its specs; the first is `spec.tumit`.
    pub specs: Vec<String>,
    /// Environments in which the drivers run, one after another.
    pub environments: Vec<Vec<(String, String)>>,
    /// Levels that generators leave out.
    pub off: Vec<String>,
    /// Languages that cannot express the case, and the reasons.
    pub without: Vec<(String, String)>,
    /// Text outputs that are compared.
    pub outputs: Vec<String>,
}

/// All cases, by name.
///
/// # Panics
/// If the folder cannot be read, or a `case.txt` has an unknown line.
#[must_use]
pub fn cases() -> Vec<CorpusCase> {
    let folder = package().join("cases");
    let entries = std::fs::read_dir(&folder).expect("the folder of cases can be read");
    let folders = entries.map(|entry| entry.expect("the folder is readable").path()).filter(|path| path.is_dir());
    let mut cases: Vec<CorpusCase> = folders.map(|folder| CorpusCase::open(&folder)).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Loads specs by paths relative to the package's folder, as the Rust drivers name them.
struct PackageLoader;

impl Loader for PackageLoader {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        std::fs::read_to_string(package().join(path)).map_err(|error| SpecLoadError::new(error.to_string()))
    }
}

impl CorpusCase {
    /// Reads `case.txt`, if there is one.
    ///
    /// # Panics
    /// If a line is unknown.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let mut case =
            Self { name, folder: folder.to_owned(), specs: vec!["spec.tumit".to_owned()], ..Self::default() };
        case.environments.push(Vec::new());
        let text = std::fs::read_to_string(folder.join("case.txt")).unwrap_or_default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let understood = case.option(word, rest.trim()).is_some();
            assert!(understood, "{}/case.txt: unknown line `{line}`", case.name);
        }
        case
    }

    fn option(&mut self, word: &str, rest: &str) -> Option<()> {
        let pair = |by: &str| rest.split_once(by).map(|(a, b)| (a.trim().to_owned(), b.trim().to_owned()));
        match word {
            "env" => self.environments.last_mut()?.push(pair("=")?),
            "again" => self.environments.push(Vec::new()),
            "spec" => self.specs.push(rest.to_owned()),
            "off" => self.off.push(rest.to_owned()),
            "without" => self.without.push(pair(":")?),
            "output" => self.outputs.push(rest.to_owned()),
            _ => return None,
        }
        Some(())
    }

    /// Whether a language can express the case.
    #[must_use]
    pub fn has(&self, language: &str) -> bool {
        !self.without.iter().any(|(without, _)| without == language)
    }

    /// A file of the case.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Compiles its specs.
    ///
    /// # Panics
    /// If one has errors.
    #[must_use]
    pub fn compile(&self) -> Vec<Spec> {
        let compile = |file: &String| {
            let (spec, diagnostics) = tumit::compile(&format!("cases/{}/{file}", self.name), &mut PackageLoader);
            spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)))
        };
        self.specs.iter().map(compile).collect()
    }

    /// Generates the files of all specs with a generator into `folder`. Returns their names.
    ///
    /// # Panics
    /// If it rejects a spec, or the folder cannot be written.
    pub fn generate(&self, backend: &dyn Backend, folder: &Path) -> Vec<String> {
        let mut options = CodegenOptions::default();
        options.removed_levels.clone_from(&self.off);
        let mut names = Vec::new();
        for spec in self.compile() {
            let GeneratedFiles(files) = backend
                .generate(&spec, &options)
                .unwrap_or_else(|error| panic!("{}: the generator rejects the spec: {error}", self.name));
            for file in files {
                std::fs::write(folder.join(&file.name), &file.text).expect("the folder is writable");
                names.push(file.name);
            }
        }
        names
    }
}
