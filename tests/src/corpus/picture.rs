//! What the rules of a case make of its runs: rows as `pj_dump` sees them, and text outputs.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use tumit_converter::convert::{Options, convert, convert_to_text};
use tumit_converter::run::Run;
use tumit_paje::write::Writer;

use crate::pj_dump::accept;
use crate::programs::succeed;

/// The rows that `pj_dump` prints of a converted run, sorted; and what the converter had to say.
///
/// # Panics
/// When the run cannot be converted, or `pj_dump` refuses the result.
#[must_use]
pub fn rows(run: &Path) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.paje");
    let run = Run::open(run).expect("a run");
    let mut writer = Writer::new(BufWriter::new(File::create(&path).expect("a writable folder")));
    let report = convert(&run, &Options::default(), &mut writer).expect("it can be converted");
    drop(writer);
    accept(&path);
    let text = succeed(Command::new("pj_dump").args(["-l", "9", "-e", "1e300"]).arg(&path));
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let faults = report.faults();
    lines.extend(faults.iter().map(String::as_str));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A text output of the spec.
///
/// # Panics
/// When there is none of that name, or the run cannot be converted.
#[must_use]
pub fn output(run: &Path, name: &str) -> String {
    let run = Run::open(run).expect("a run");
    let mut options = Options::default();
    options.output = Some(name.to_owned());
    let mut text = Vec::new();
    convert_to_text(&run, &options, &mut text).expect("it can be converted");
    String::from_utf8(text).expect("UTF-8")
}
