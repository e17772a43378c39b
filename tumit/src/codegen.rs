//! Generators: from a [`Spec`] to the text of tracing functions. They see only `Spec`; output is deterministic.

pub mod c;
pub mod doc;
pub mod fortran;
pub mod rust;
mod writer;

use crate::Spec;

/// A generator.
pub trait Backend {
    /// Makes the files for a spec.
    ///
    /// # Errors
    /// When the target language cannot express something.
    fn generate(&self, spec: &Spec, options: &Options) -> Result<Files, Unsupported>;
}

/// What the user chose.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Levels that are removed at compile time.
    pub off: Vec<String>,
    /// Rust: the module that holds the modules of the levels. Without it, they stand at the
    /// position of the macro or of the generated code.
    pub module: Option<String>,
}

/// Generated files, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files(pub Vec<File>);

/// One generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// A good name for it, without a folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Something that the target language cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What, and what to do.
    pub reason: String,
}

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Unsupported {}
