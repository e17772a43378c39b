//! Interprets any bytes as a live file, possibly damaged, next to its process file, which may have
//! no end or be empty. The run is opened, listed, counted, converted and repaired without a panic,
//! and a repaired run needs no repair.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracer_format::live_file::LIVE_MAGIC;
use tumit_converter::run::OpenRun;
use tumit_converter::tools::repair::{FileRepair, write};

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, live) = fuzz::split(data);
    // One input in eight is a live file unchanged, after its magic.
    let live = if data.len() % 8 == 7 { [&LIVE_MAGIC[..], live].concat() } else { fuzz::live_file(live) };
    std::fs::write(folder.path().join("a.live"), live).expect("a writable folder");
    if !file.is_empty() {
        std::fs::write(folder.path().join("a.tmt"), fuzz::with_valid_checksums(file)).expect("a writable folder");
    }
    let Some(run) = fuzz::read_all(folder.path()) else { return };
    let process = &run.processes[0];
    let Some(repair) = FileRepair::of(process) else { return };
    let mut bytes = Vec::new();
    if write(process, &mut bytes).is_err() {
        return;
    }
    std::fs::write(&repair.file, bytes).expect("a writable folder");
    std::fs::remove_file(folder.path().join("a.live")).expect("it is there");
    let again = OpenRun::open(folder.path()).expect("a repaired run");
    assert_eq!(FileRepair::of(&again.processes[0]), None);
});
