//! Interprets any bytes as a process file, possibly damaged. It is opened, listed, counted,
//! converted and repaired without a panic, and a repaired file needs no repair.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tumit_converter::run::OpenRun;
use tumit_converter::tools::repair::{FileRepair, write};

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // One input in eight keeps its wrong checksums.
    let bytes = if data.len() % 8 == 7 { data.to_vec() } else { fuzz::with_valid_checksums(data) };
    let path = folder.path().join("a.tmt");
    std::fs::write(&path, bytes).expect("a writable folder");
    let Some(run) = fuzz::read_all(&path) else { return };
    let mut repaired = Vec::new();
    if FileRepair::of(&run.processes[0]).is_none() || write(&run.processes[0], &mut repaired).is_err() {
        return;
    }
    std::fs::write(&path, repaired).expect("a writable folder");
    let again = OpenRun::open(&path).expect("a repaired run");
    assert_eq!(FileRepair::of(&again.processes[0]), None);
});
