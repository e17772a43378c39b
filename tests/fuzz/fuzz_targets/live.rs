//! Any bytes are a live file, perhaps a damaged one, beside the file of its process, which has no end: the run is opened,
//! converted and repaired without a panic, and what was repaired needs no repair.
#![no_main]

use converter::paje::write::Writer;
use converter::pipeline::{Options, convert};
use converter::repair::{Repair, write};
use converter::run::Run;
use libfuzzer_sys::fuzz_target;

/// The first bytes are those of the live file's header, whose magic is given.
const MAGIC: [u8; 8] = *b"\xB1TLIVE\r\n";

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut live = MAGIC.to_vec();
    live.extend_from_slice(data);
    std::fs::write(folder.path().join("a.live"), live).expect("a writable folder");
    let Ok(run) = Run::open(folder.path()) else { return };
    let _ = convert(&run, &Options::default(), &mut Writer::new(std::io::sink()));
    let process = &run.processes[0];
    let Some(repair) = Repair::of(process) else { return };
    let mut bytes = Vec::new();
    if write(process, &mut bytes).is_err() {
        return;
    }
    std::fs::write(&repair.file, bytes).expect("a writable folder");
    std::fs::remove_file(folder.path().join("a.live")).expect("it is there");
    let again = Run::open(folder.path()).expect("a repaired run");
    assert_eq!(Repair::of(&again.processes[0]), None);
});
