//! Tests of generated Rust code: its text, removed levels, colliding names.

use tracer_format::schema::{FieldInfo, FieldType, RecordType, Scalar};

use super::*;
use crate::spec::RecordDecl;
use crate::spec::{
    Constant, Enum, EnumValue, Expr, FieldText, Level, PatternPiece, RecordId, SourceFile, SpanType as SpecSpan,
    TextPattern, UnaryOp,
};

fn field(name: &str, ty: FieldType) -> FieldInfo {
    FieldInfo { name: name.into(), ty }
}

fn value(name: &str, number: u16) -> EnumValue {
    EnumValue { name: name.into(), doc: String::new(), number }
}

fn record(
    name: &str,
    full: &str,
    level: u32,
    kind: RecordKind,
    has_location: bool,
    fields: Vec<FieldInfo>,
) -> RecordDecl {
    let layout = RecordType { name: full.into(), level, kind, has_location, fields };
    // The second parameter has documentation.
    let documented = FieldText { doc: "In words.\nAnd more.".into(), type_text: String::new() };
    let fields = vec![FieldText::default(), documented];
    RecordDecl { name: name.into(), doc: format!("What `{name}` is."), level: LevelId(level), layout, fields }
}

/// An event with fields of all kinds, a span, and an `async` span.
fn records() -> Vec<RecordDecl> {
    let scalar_field = FieldType::One;
    let post = vec![
        field("node", scalar_field(Scalar::U16)),
        field("type", scalar_field(Scalar::Interned)),
        field("text", scalar_field(Scalar::String)),
        field("shade", scalar_field(Scalar::Enum { index: 0, is_wide: false })),
        field("at", FieldType::Fixed(Scalar::F64, 3)),
        field("shades", FieldType::Variable(Scalar::Enum { index: 0, is_wide: false })),
        field("ids", FieldType::Variable(Scalar::U32)),
        field("place", scalar_field(Scalar::Pointer)),
    ];
    let fetch = vec![field("task", scalar_field(Scalar::U64)), field("url", scalar_field(Scalar::String))];
    vec![
        record("post", "post", 0, RecordKind::Event, true, post),
        record("step", "step.begin", 1, RecordKind::Begin, false, vec![field("n", scalar_field(Scalar::U32))]),
        record("step", "step.end", 1, RecordKind::End, false, vec![]),
        record("fetch", "fetch.begin", 1, RecordKind::Begin, true, fetch),
        record("fetch", "fetch.end", 1, RecordKind::End, true, vec![field("task", scalar_field(Scalar::U64))]),
    ]
}

fn constants() -> Vec<Constant> {
    let greeting = Expr::Text(TextPattern(vec![PatternPiece::Text("hi".into())]));
    let least = Expr::Unary(UnaryOp::Minus, Box::new(Expr::Float(1.5)));
    vec![
        Constant { name: "Lanes".into(), doc: "How many.".into(), value: Expr::Integer(4) },
        Constant { name: "greeting".into(), doc: String::new(), value: greeting },
        Constant { name: "least".into(), doc: String::new(), value: least },
    ]
}

fn spec() -> Spec {
    Spec {
        name: "demo".into(),
        doc: "A demonstration.\n\n```\nnot Rust\n```".into(),
        levels: vec![
            Level { name: "COM".into(), doc: "Messages.".into(), is_enabled: true },
            Level { name: "APP".into(), doc: String::new(), is_enabled: false },
        ],
        enums: vec![Enum {
            name: "color".into(),
            doc: String::new(),
            values: vec![value("red", 0), value("dark_green", 7)],
        }],
        records: records(),
        spans: vec![
            SpecSpan { name: "step".into(), begin: RecordId(1), end: RecordId(2), absent_end: None, is_async: false },
            SpecSpan { name: "fetch".into(), begin: RecordId(3), end: RecordId(4), absent_end: None, is_async: true },
        ],
        constants: constants(),
        version: 3,
        sources: vec![SourceFile { path: "demo.tumit".into(), text: "trace demo;".into() }],
        ..Spec::default()
    }
}

fn text(spec: &Spec, off: &[&str]) -> String {
    let options = CodegenOptions {
        removed_levels: off.iter().map(|name| (*name).to_owned()).collect(),
        ..CodegenOptions::default()
    };
    let files = RustBackend.generate(spec, &options).unwrap();
    assert_eq!(files.0[0].name, "demo.rs");
    // The bytes of the schema belong to another layer, so the snapshot omits them.
    let mut lines: Vec<&str> = files.0[0].text.lines().collect();
    lines.retain(|line| !line.contains("static SCHEMA"));
    lines.join("\n")
}

#[test]
fn the_code_matches_its_snapshot() {
    insta::assert_snapshot!(text(&spec(), &[]));
}

#[test]
fn functions_of_a_removed_level_record_nothing() {
    let text = text(&spec(), &["COM", "APP"]);
    assert!(!text.contains("::record(") && !text.contains("LEVEL.") && !text.contains("new_task"), "{text}");
    assert!(!text.contains("unsafe"));
    assert!(text.contains("fn step(n: u32) -> ::tracer_rt::Span"));
}

#[test]
fn unknown_levels_and_equal_module_names_are_errors() {
    let unknown = CodegenOptions { removed_levels: vec!["NET".into()], ..CodegenOptions::default() };
    let reason = RustBackend.generate(&spec(), &unknown).unwrap_err().reason;
    assert_eq!(reason, "no level `NET`; the spec has `COM`, `APP`");
    let mistyped = CodegenOptions { removed_levels: vec!["AP".into()], ..CodegenOptions::default() };
    let reason = RustBackend.generate(&spec(), &mistyped).unwrap_err().reason;
    assert_eq!(reason, "no level `AP`; did you mean `APP`?");
    let mut twice = spec();
    twice.levels[1].name = "Com".into();
    let reason = RustBackend.generate(&twice, &CodegenOptions::default()).unwrap_err().reason;
    assert_eq!(reason, "the levels `COM` and `Com` are both `com` in Rust: rename one of them");
}

#[test]
fn records_with_many_fields_are_generated() {
    let mut wide = spec();
    wide.records[0].layout.fields = (0..100).map(|n| field(&format!("f{n}"), FieldType::One(Scalar::U8))).collect();
    let text = text(&wide, &[]);
    assert!(text.contains("f99"), "{text}");
}

#[test]
fn code_blocks_of_documentation_are_no_doc_tests() {
    let lines = names::doc_lines("a\n    indented\n```\n    code\n```\n```c\nint x;\n```");
    assert_eq!(lines, ["a", "   indented", "```text", "    code", "```", "```c", "int x;", "```"]);
}

#[test]
fn names_do_not_collide_with_types_and_constants() {
    let mut odd = spec();
    odd.records[1].name = "u64".into();
    assert!(text(&odd, &[]).contains("fn u64_(n: u32) -> ::tracer_rt::Span"));
    odd.constants[0].name = "demo_version".into();
    let reason = RustBackend.generate(&odd, &CodegenOptions::default()).unwrap_err().reason;
    assert_eq!(
        reason,
        "the constants `demo_version` and `demo_VERSION` are both `DEMO_VERSION` in Rust: rename one of them"
    );
}

#[test]
fn code_in_the_document_is_generated_code() {
    let document = include_str!("../../../../docs/generated-code.md");
    let section = document.split("\n## ").find(|section| section.starts_with("Rust\n")).unwrap();
    let blocks = |language: &str| -> Vec<&str> {
        let opening = format!("```{language}\n");
        section.split(&opening).skip(1).filter_map(|rest| rest.split("```").next()).collect()
    };
    let (demo, diagnostics) = crate::compile_text("demo.tumit", blocks("tumit")[0]);
    let demo = demo.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let generated = super::text(&demo, &CodegenOptions::default()).unwrap();
    assert!(blocks("rust").len() >= 4);
    for block in blocks("rust") {
        assert!(generated.contains(block), "not generated:\n{block}\nbut\n{generated}");
    }
}
