//! For any text, the compiler does not panic, does not overflow its stack and ends in time, and its
//! diagnostics can be rendered.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

fn compiles_quietly(text: &str) {
    let (spec, diagnostics) = tumit::compile_text("any.tumit", text);
    assert_eq!(spec.is_none(), diagnostics.has_errors());
    let drawn = diagnostics.render(false);
    assert_eq!(drawn.is_empty(), diagnostics.is_empty());
    for diagnostic in diagnostics.iter() {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(start <= end && text.get(start..end).is_some(), "{diagnostic:?} points outside of the text");
        }
    }
}

#[test]
fn holes_accept_letters_of_several_bytes() {
    for hole in ["é", "a é", "é {", "a + é b", "é.é"] {
        compiles_quietly(&format!(
            "trace a; level A {{ event e; }} paje {{ container p {{ event m }} }} rule e -> mark m = \"{{{hole}}}\" on p;"
        ));
    }
}

fn good_specs() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/good");
    let read = |name| fs::read_to_string(folder.join(name)).expect("part of the package");
    ["everything.tumit", "taktuk-by-hand.tumit"].map(read).into()
}

/// An accidental edit of a text.
#[derive(Clone, Debug)]
enum Slip {
    Delete(usize, usize),
    Insert(usize, String),
    Repeat(usize, usize),
    Move(usize, usize, usize),
}

fn slip() -> impl Strategy<Value = Slip> {
    let position = || 0usize..4000;
    let length = || 1usize..60;
    let sign = prop::sample::select(vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "\"\"\"",
        ";",
        "->",
        ",",
        ":",
        "///",
        "//!",
        "event",
        "rule x -> ",
        "level",
        "é",
        "`",
        "#",
        "@",
        "9e99",
        "0x",
        "\\",
        "{{",
        "not ",
        "paje {",
        "\n",
        "use \"any.tumit\";",
        "type a = a;",
        "\u{feff}",
    ]);
    prop_oneof![
        (position(), length()).prop_map(|(position, length)| Slip::Delete(position, length)),
        (position(), sign).prop_map(|(position, sign)| Slip::Insert(position, sign.to_owned())),
        (position(), length()).prop_map(|(position, length)| Slip::Repeat(position, length)),
        (position(), length(), position()).prop_map(|(position, length, to)| Slip::Move(position, length, to)),
    ]
}

fn apply(letters: &mut Vec<char>, slip: Slip) {
    let place = |position: usize, letters: &[char]| position % (letters.len() + 1);
    match slip {
        Slip::Delete(position, length) => {
            let start = place(position, letters);
            let end = (start + length).min(letters.len());
            letters.drain(start..end);
        }
        Slip::Insert(position, text) => {
            let start = place(position, letters);
            letters.splice(start..start, text.chars());
        }
        Slip::Repeat(position, length) => {
            let start = place(position, letters);
            let end = (start + length).min(letters.len());
            let again: Vec<char> = letters[start..end].to_vec();
            letters.splice(start..start, again);
        }
        Slip::Move(position, length, to) => {
            let start = place(position, letters);
            let end = (start + length).min(letters.len());
            let moved_letters: Vec<char> = letters.drain(start..end).collect();
            let to = place(to, letters);
            letters.splice(to..to, moved_letters);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_compiled_or_rejected(text in "\\PC{0,200}") {
        compiles_quietly(&text);
    }

    #[test]
    fn any_words_are_compiled_or_rejected(words in prop::collection::vec(prop::sample::select(vec![
        "trace", "a", "b", ";", "level", "{", "}", "event", "span", ":", "u8", ",", "[", "]", "paje", "container", "state",
        "variable", "link", "from", "to", "rule", "also", "default", "->", "set", "push", "pop", "on", "=", "key", "(", ")",
        "start", "end", "create", "with", "when", "at", "1", "2.5", "\"x {a}\"", "\"", ".", "begin", "+", "not", "and",
        "output", "text", "prologue", "use", "enum", "const", "type", "#abcdef", "shape", "size", "stream", "//", "///",
    ]), 0..80)) {
        compiles_quietly(&words.join(" "));
    }

    #[test]
    fn changed_good_specs_are_compiled_or_rejected(which in 0usize..2, slips in prop::collection::vec(slip(), 1..6)) {
        let mut letters: Vec<char> = good_specs()[which].chars().collect();
        for slip in slips {
            apply(&mut letters, slip);
        }
        compiles_quietly(&letters.into_iter().collect::<String>());
    }
}

#[test]
fn deep_nesting_is_reported() {
    let inside = |expr: &str| {
        format!(
            "trace a;\nlevel L {{ event e {{ x: i64 }} }}\npaje {{ container p {{ variable v }} }}\nrule e -> set v = {expr} on p;\n"
        )
    };
    let deep = 10_000;
    for expr in [
        format!("{}x{}", "(".repeat(deep), ")".repeat(deep)),
        format!("{}x", "- ".repeat(deep)),
        format!("{}true", "not ".repeat(deep)),
        format!("x{}", " + x".repeat(deep)),
        format!("\"{{{}x{}}}\"", "(".repeat(deep), ")".repeat(deep)),
        "(".repeat(deep),
    ] {
        let (_, diagnostics) = tumit::compile_text("deep.tumit", &inside(&expr));
        assert!(
            diagnostics.iter().any(|diagnostic| diagnostic.code == tumit::Code::TooDeep),
            "{}",
            diagnostics.render(false)
        );
    }
    for text in ["[", "{", "paje { container a ", "level a { event b { c: "] {
        compiles_quietly(&format!("trace a;\n{}", text.repeat(deep)));
    }
}

/// The operators of an expression include those in its brackets, because 64 brackets with 199
/// operators each are a large tree.
#[test]
fn operators_in_brackets_count_together() {
    let nested = |around: &dyn Fn(String) -> String, first: &str| {
        let expr = (0..60).fold(first.to_owned(), |inner, _| around(inner));
        format!(
            "trace a;\nlevel L {{ event e {{ x: i64, b: bool }} }}\npaje {{ container p {{ variable v event m }} }}\nrule e -> {expr} on p;\n"
        )
    };
    let sums = nested(&|inner| format!("({inner}){}", " + x".repeat(199)), "x").replace("-> (", "-> set v = (");
    let nots = nested(&|inner| format!("{}({inner}{})", "not ".repeat(199), " and b".repeat(199)), "b");
    let nots = nots.replace("-> not", "-> mark m = not");
    let holes = nested(&|inner| format!("({inner}){}", " + x".repeat(199)), "x").replace("-> (", "-> mark m = \"{(");
    let holes = holes.replace(" on p", "}\" on p");
    for text in [sums, nots, holes] {
        let (_, diagnostics) = tumit::compile_text("deep.tumit", &text);
        assert_eq!(diagnostics.error_count(), 1, "{}", diagnostics.render(false));
        assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == tumit::Code::TooDeep));
    }
}

#[test]
fn long_broken_files_end() {
    for part in [
        "level a { event b { c: u8 ",
        "} ",
        "rule a -> set b = ",
        "\"",
        "event x ",
        "; ",
        "/// a\n",
        "paje { x } ",
        "{ } ",
    ] {
        compiles_quietly(&part.repeat(3_000));
    }
}

#[test]
fn large_good_files_compile() {
    let events: String = (0..5_000).map(|n| format!("    event e{n} {{ a: u16, b: string }}\n")).collect();
    let rules: String = (0..5_000).map(|n| format!("rule e{n} -> mark log = \"{{b}}\" on p[a];\n")).collect();
    let text = format!("trace a;\nlevel L {{\n{events}}}\npaje {{ container p[k: u16] {{ event log }} }}\n{rules}");
    let (spec, diagnostics) = tumit::compile_text("large.tumit", &text);
    assert_eq!(spec.map(|spec| spec.records.len()), Some(5_000), "{}", diagnostics.render(false));
}

/// Every `also rule default` acts on every event. The number of pairs is checked before they are
/// created.
#[test]
fn also_rules_times_events_are_bounded() {
    let events: String = (0..2_000).map(|n| format!("event e{n}; ")).collect();
    let rules = "also rule default -> mark log = \"x\" on p;\n".repeat(2_000);
    let text = format!("trace a;\nlevel L {{ {events} }}\npaje {{ container p {{ event log }} }}\n{rules}");
    let (spec, diagnostics) = tumit::compile_text("a.tumit", &text);
    assert!(spec.is_none());
    assert!(
        diagnostics.iter().any(|diagnostic| diagnostic.code == tumit::Code::TooMany),
        "{}",
        diagnostics.render(false)
    );
}
