//! Reads any text as PICL or Alog. The operations are those of a valid trace, which is written as
//! PICL in all forms and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tumit_picl::{PiclFaultKind, PiclReader, PiclStyle, PiclWriter, TraceFormat};

fuzz_target!(|data: &[u8]| {
    let format = TraceFormat::of(data).unwrap_or(TraceFormat::NewPicl);
    for (style, written) in [
        (PiclStyle::New, TraceFormat::NewPicl),
        (PiclStyle::OldCompact, TraceFormat::OldPicl),
        (PiclStyle::OldVerbose, TraceFormat::OldPicl),
    ] {
        let mut out = Vec::new();
        PiclReader::new(data, format).read(&mut PiclWriter::new(&mut out, style)).expect("any text is read");
        let mut again = Vec::new();
        let report = PiclReader::new(&out[..], written).read(&mut PiclWriter::new(&mut again, style));
        let report = report.expect("any text is read");
        let is_damage = |kind: PiclFaultKind| matches!(kind, PiclFaultKind::Head | PiclFaultKind::UnknownKey);
        assert!(!report.faults.iter().any(|fault| is_damage(fault.kind)), "{:?}", report.faults);
    }
});
