//! The converter's output for a case: rows that `pj_dump` prints, and text outputs.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use tumit_converter::convert::{ConvertOptions, convert, convert_to_text};
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;

use crate::programs::succeed;
use tumit_test_support::pj_dump::accept;

/// The rows that `pj_dump` prints of a converted run, sorted, and the converter's diagnostics.
///
/// # Panics
/// If the run cannot be converted, or `pj_dump` rejects the result.
#[must_use]
pub fn rows(run: &Path) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().join("run.paje");
    let run = OpenRun::open(run).expect("a run");
    let mut writer = PajeWriter::new(BufWriter::new(File::create(&path).expect("the folder is writable")));
    let report = convert(&run, &ConvertOptions::default(), &mut writer).expect("the run can be converted");
    drop(writer);
    accept(&path);
    let text = succeed(Command::new("pj_dump").args(["-l", "9", "-e", "1e300"]).arg(&path));
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let errors = report.errors();
    lines.extend(errors.iter().map(|error| error.text.as_str()));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A text output of the spec.
///
/// # Panics
/// If there is no output of that name, or the run cannot be converted.
#[must_use]
pub fn output(run: &Path, name: &str) -> String {
    let run = OpenRun::open(run).expect("a run");
    let mut options = ConvertOptions::default();
    options.output = Some(name.to_owned());
    let mut text = Vec::new();
    convert_to_text(&run, &options, &mut text).expect("the run can be converted");
    String::from_utf8(text).expect("UTF-8")
}
