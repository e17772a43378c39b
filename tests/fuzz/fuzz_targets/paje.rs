//! Any text is read as Pajé, up to its mistakes. What was read is written as Pajé that has no mistake, and, read and written once more, is
//! the same: what the text defined twice is defined once then.
#![no_main]

use tumit_paje::read::{FaultKind, read};
use tumit_paje::write::Writer;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut writer = Writer::new(Vec::new());
    if read(data, &mut writer).is_err() {
        return;
    }
    let mut texts = vec![writer.into_inner()];
    for _ in 0..2 {
        let mut again = Writer::new(Vec::new());
        let report = read(&texts[texts.len() - 1][..], &mut again).expect("what was written is read");
        // A value that is used before it is defined is written twice, as it was read; readers keep the first.
        let mut others = report.faults.iter().filter(|fault| fault.kind != FaultKind::ValueTwice);
        assert!(others.next().is_none(), "{:?}\n{}", report.faults, String::from_utf8_lossy(&texts[texts.len() - 1]));
        texts.push(again.into_inner());
    }
    assert!(texts[1] == texts[2], "{}\n{}", String::from_utf8_lossy(&texts[1]), String::from_utf8_lossy(&texts[2]));
});
