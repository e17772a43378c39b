//! The examples of `LANGUAGE.md` compile, and what it marks as not yet compiled is a diagnostic.

use std::fs;
use std::path::Path;

#[test]
fn examples_of_the_reference_compile() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("LANGUAGE.md");
    let text = fs::read_to_string(path).expect("part of the package");
    let examples: Vec<&str> = text.split("```tumit\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 2, "the reference has examples");
    for example in examples {
        let (spec, diagnostics) = tumit::compile_text("LANGUAGE.md", example);
        assert!(spec.is_some() && diagnostics.is_empty(), "{example}\n{}", diagnostics.render(false));
    }
}

#[test]
fn what_is_not_yet_compiled_is_no_syntax_error() {
    for construct in [
        "version 2;",
        "const A = 1 + 1;",
        "enum color { red = 3 }",
        "level L { event e { m: [[u8; 2]; 2] } }",
        "output json \"x\" {}",
    ] {
        let (_, diagnostics) = tumit::compile_text("later.tumit", &format!("trace a;\n{construct}\n"));
        let codes: Vec<String> = diagnostics.iter().map(|found| found.code.to_string()).collect();
        assert_eq!(codes, ["T0008"], "{construct}");
    }
}
