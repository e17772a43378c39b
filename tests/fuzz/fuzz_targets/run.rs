//! Any bytes are a process file, perhaps a damaged one: it is opened, converted and listed without a panic.
#![no_main]

use std::io::Write as _;

use converter::paje::write::Writer;
use converter::pipeline::{Options, convert};
use converter::run::Run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("a writable file");
    let Ok(run) = Run::open(file.path()) else { return };
    let _ = convert(&run, &Options::default(), &mut Writer::new(std::io::sink()));
});
