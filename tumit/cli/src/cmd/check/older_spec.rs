//! The older spec of a comparison: a spec file, or the spec of a run.

use std::path::Path;

use anyhow::{Context as _, bail};
use tumit::Spec;
use tumit::spec::SourceFile;
use tumit_converter::run::OpenRun;

use crate::spec_files;

/// Reads the older spec. `name` is the trace of the new spec, because a run may contain several
/// specs.
///
/// # Errors
/// When it cannot be read, or is no spec.
pub(super) fn read_older_spec(path: &str, name: &str) -> anyhow::Result<Spec> {
    if Path::new(path).extension().is_some_and(|ending| ending == "tumit") && Path::new(path).is_file() {
        let (spec, diagnostics) = spec_files::compile_quietly(path, None)?;
        return spec.with_context(|| {
            format!(
                "--since {path}: the older spec has {} mistakes; check and correct it first",
                diagnostics.error_count()
            )
        });
    }
    let run = OpenRun::open(path).with_context(|| format!("--since {path} is neither a spec (.tumit) nor a run"))?;
    let mut names = Vec::new();
    for provider in run.processes.iter().flat_map(|process| &process.providers) {
        let schema = &provider.schema;
        if schema.name == name {
            let source =
                |s: &tracer_format::schema::SourceText| SourceFile { path: s.path.clone(), text: s.text.clone() };
            let sources: Vec<SourceFile> = schema.sources.iter().map(source).collect();
            let (spec, _) = tumit::compile_sources(&sources);
            return spec
                .with_context(|| format!("the spec `{name}` in {path} does not compile with this version of tumit"));
        }
        names.push(format!("`{}`", schema.name));
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        bail!("{path} contains no readable spec");
    }
    bail!("{path} was recorded with {}, not with `{name}`", names.join(", "))
}
