//! Any text is read as Pajé, up to its mistakes, and what was read is written as Pajé that is read again.
#![no_main]

use converter::paje::read::read;
use converter::paje::write::Writer;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut writer = Writer::new(Vec::new());
    if read(data, &mut writer).is_err() {
        return;
    }
    let text = writer.into_inner();
    let mut again = Writer::new(std::io::sink());
    let _ = read(&text[..], &mut again);
});
