//! Compiles any text as a spec, or reports diagnostics. The compiler, its messages, the formatter
//! and the generators never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tumit::codegen::{Backend, CodegenOptions, c::CBackend, rust::RustBackend};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (spec, diagnostics) = tumit::compile_text("fuzz.tumit", &text);
    let drawn = diagnostics.render(false);
    assert_eq!(drawn.is_empty(), diagnostics.is_empty());
    assert_eq!(spec.is_none(), diagnostics.has_errors());
    if let Ok(once) = tumit::fmt::format("fuzz.tumit", &text) {
        let twice = tumit::fmt::format("fuzz.tumit", &once).expect("what is formatted can be read");
        assert_eq!(once, twice, "formatting again changes nothing");
        assert_eq!(spec.is_some(), tumit::compile_text("fuzz.tumit", &once).0.is_some(), "the meaning stays");
    }
    let Some(spec) = spec else { return };
    // A header is long, so the generators run for one text in eight.
    if data.len() % 8 != 0 {
        return;
    }
    // Two names of a spec may be equal in a language. That is an error, not a panic.
    let _ = CBackend.generate(&spec, &CodegenOptions::default());
    let _ = RustBackend.generate(&spec, &CodegenOptions::default());
    let schema = spec.schema();
    assert_eq!(tracer_format::Schema::decode(&schema.encode()).as_ref(), Ok(&schema));
    let again = tumit::compile_sources(&spec.sources).0;
    assert_eq!(again.as_ref(), Some(&spec));
});
