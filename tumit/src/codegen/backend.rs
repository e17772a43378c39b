//! The interface of the generators: the trait, its options and its results.

use crate::Spec;

/// A generator.
pub trait Backend {
    /// Generates the files for a spec.
    ///
    /// # Errors
    /// When the target language cannot express a part of the spec.
    fn generate(&self, spec: &Spec, options: &CodegenOptions) -> Result<GeneratedFiles, UnsupportedFeature>;
}

/// Options of the generators.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CodegenOptions {
    /// Levels that are removed at compile time.
    pub removed_levels: Vec<String>,
    /// Rust: the module that contains the modules of the levels. Without it, they are at the
    /// position of the macro or of the generated code.
    pub module: Option<String>,
    /// C: the header has no constructor that registers the spec before `main`. The program calls
    /// the macro `TUMIT_REGISTER_TRACE()`, for the trace TRACE, before its first event. A library
    /// with several specs thus registers only those that a run needs.
    pub register_by_call: bool,
}

/// Generated files, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratedFiles(pub Vec<GeneratedFile>);

/// A file name with its contents. Nothing is written to disk yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GeneratedFile {
    /// The suggested file name, without a folder.
    pub name: String,
    /// The complete contents.
    pub text: String,
}

/// Error: the target language cannot express a part of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedFeature {
    /// The unsupported part, and a remedy.
    pub reason: String,
}

impl std::fmt::Display for UnsupportedFeature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for UnsupportedFeature {}
