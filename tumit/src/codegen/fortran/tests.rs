//! Tests of a module that need no compiler. `tests/tests/languages` compiles modules and runs the
//! result.

use super::*;

fn generate(text: &str) -> Result<GeneratedFiles, UnsupportedFeature> {
    let (spec, diagnostics) = crate::compile_text("spec.tumit", text);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    FortranBackend.generate(&spec, &CodegenOptions::default())
}

#[test]
fn the_code_matches_its_snapshot() {
    let text = r#"//! The communication layer of a launcher.
trace taktuk;
/// Directions.
enum side {
    /// Where the sun rises.
    east,
    west,
}
level COM {
    /// The message leaves.
    event post {
        node: u16,
        /// Matches it to its `recv`.
        stamp: u64,
        bytes: u32,
    }
    /// A blocking receive.
    event recv { node: u16, from: side, since: date, late: bool }
    span pack located { what: string, sizes: [u16] }
}
"#;
    let files = generate(text).expect("a module");
    let (header, routines) =
        files.0[1].text.split_once("/* ---- The records ---- */\n").expect("the records come last");
    assert!(header.contains("#define TUMIT_TRACE_taktuk"));
    insta::assert_snapshot!("module", files.0[0].text);
    insta::assert_snapshot!("routines", routines);
}
