//! The examples of `LANGUAGE.md` and the standard specs compile.

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
fn standard_specs_compile_and_can_be_used() {
    let text = tumit::load::standard("std:paje").expect("it comes with the language");
    let (spec, diagnostics) = tumit::compile_text("std:paje", text);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
    let standard = spec.expect("it is right");
    let (spec, diagnostics) = tumit::compile_text("a.tumit", "trace a;\nuse \"std:paje\";\n");
    assert!(diagnostics.is_empty(), "{}", diagnostics.render(false));
    let used = spec.expect("it is right");
    assert_eq!((used.records, used.outputs), (standard.records, standard.outputs));
    // A run carries the text of the standard specs, and this text takes precedence.
    let older = [("a.tumit", "trace a;\nuse \"std:paje\";\n"), ("std:paje", "level OLD { event x; }\n")];
    let older = older.map(|(path, text)| tumit::spec::SourceFile { path: path.into(), text: text.into() });
    assert_eq!(tumit::compile_sources(&older).0.expect("it is right").records[0].name, "x");
    assert_eq!(tumit::load::standard("std:pajé"), None);
}

/// Calls of `std:paje` can create variables and values that no rule creates.
#[test]
fn entities_without_rules_are_no_mistake_with_paje_text() {
    let paje = "paje { container node[node: u16] { state mode { busy } variable load } }\n";
    let text = format!("trace a;\nuse \"std:paje\";\n{paje}");
    let (_, diagnostics) = tumit::compile_text("a.tumit", &text);
    assert_eq!(diagnostics.render(false), "");
}

#[test]
fn long_texts_do_not_depend_on_line_ends() {
    let text = "trace a;\nlevel L { event e; }\noutput text \"x\" {\n    prologue \"\"\"\nfirst\nsecond\n\"\"\"\n    rule e -> \"e\";\n}\n";
    let prologue = |text: &str| {
        let spec = tumit::compile_text("a.tumit", text).0.expect("it is right");
        spec.outputs[0].prologue.clone()
    };
    assert_eq!(prologue(text), "first\nsecond\n");
    assert!(prologue(&text.replace('\n', "\r\n")).starts_with("first"));
}
