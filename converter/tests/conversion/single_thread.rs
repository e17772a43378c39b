//! Runs of one process with one thread.

use tumit_converter::run::OpenRun;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

/// A run of one process and one thread with the spec `text`. `write` adds to its file and to its
/// records. `path` is the name of the spec, such as `std:paje`.
pub(crate) fn run_of(
    path: &str,
    text: &str,
    write: impl FnOnce(&mut SyntheticFile, &mut SyntheticRecords),
) -> (tempfile::TempDir, OpenRun) {
    let (spec, diagnostics) = tumit::compile_text(path, text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut file = SyntheticFile::new(&SyntheticProcess::new(42), &spec.schema());
    file.thread(0, 43, "main");
    let mut records = SyntheticRecords::default();
    write(&mut file, &mut records);
    file.records(0, 0, &records);
    file.end();
    file.save(folder.path(), "a.tmt");
    let run = OpenRun::open(folder.path()).expect("the run is complete");
    (folder, run)
}
