//! Reads any text as Pajé, up to its errors. The result is written as Pajé without errors. Reading
//! and writing it again gives the same text, in which repeated definitions of the first text occur
//! once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tumit_paje::read::{FaultKind, read};
use tumit_paje::write::PajeWriter;

fuzz_target!(|data: &[u8]| {
    let mut writer = PajeWriter::new(Vec::new());
    if read(data, &mut writer).is_err() {
        return;
    }
    let mut texts = vec![writer.into_inner()];
    for _ in 0..2 {
        let mut again = PajeWriter::new(Vec::new());
        let report = read(&texts[texts.len() - 1][..], &mut again).expect("what was written is read");
        // A value that is used before it is defined is written twice, as it was read. Readers keep
        // the first.
        let mut others = report.faults.iter().filter(|fault| fault.kind != FaultKind::DuplicateValue);
        assert!(others.next().is_none(), "{:?}\n{}", report.faults, String::from_utf8_lossy(&texts[texts.len() - 1]));
        texts.push(again.into_inner());
    }
    assert!(texts[1] == texts[2], "{}\n{}", String::from_utf8_lossy(&texts[1]), String::from_utf8_lossy(&texts[2]));
});
