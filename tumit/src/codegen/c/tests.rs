//! Tests of a header that need no compiler. `tests/tests/c_recorder` compiles headers and runs
//! the result.

use tracer_format::schema::{FieldInfo, FieldType, RecordKind, RecordType, Scalar};

use super::*;
use crate::spec::{Level, LevelId, RecordDecl};

fn event(name: &str, kind: RecordKind, fields: &[(&str, FieldType)]) -> RecordDecl {
    let layout = RecordType {
        name: name.into(),
        level: 0,
        kind,
        has_location: false,
        fields: fields.iter().map(|(name, ty)| FieldInfo { name: (*name).into(), ty: *ty }).collect(),
    };
    RecordDecl { name: name.into(), doc: String::new(), level: LevelId(0), layout, fields: Vec::new() }
}

fn spec(records: Vec<RecordDecl>) -> Spec {
    Spec {
        name: "demo".into(),
        levels: vec![Level { name: "APP".into(), doc: String::new(), is_enabled: true }],
        records,
        ..Spec::default()
    }
}

fn generate(spec: &Spec) -> Result<String, UnsupportedFeature> {
    CBackend.generate(spec, &CodegenOptions::default()).map(|files| files.0[0].text.clone())
}

#[test]
fn the_header_is_one_file_and_always_the_same() {
    let spec = spec(vec![event("post", RecordKind::Event, &[("int", FieldType::One(Scalar::U16))])]);
    let text = generate(&spec).unwrap();
    assert!(!text.contains("#include \"runtime"));
    assert!(text.contains("TUMIT1_HOT void demo_post(uint16_t int_) {"));
    assert!(text.contains("#define TUMIT1_FILE_MAGIC \"\\261\\124\\125"));
    assert_eq!(generate(&spec).unwrap(), text);
}

#[test]
fn a_level_can_be_off_for_good() {
    let spec = spec(vec![event("post", RecordKind::Event, &[])]);
    let options = CodegenOptions { removed_levels: vec!["APP".into()], ..CodegenOptions::default() };
    let text = CBackend.generate(&spec, &options).unwrap().0.remove(0).text;
    assert!(text.contains("\n#define TUMIT1_ON_demo_APP 0u\n") && !text.contains("defined DEMO_OFF_APP ||"));
    assert!(!text.contains("tumit1_word(&tumit1_level_demo"), "nothing asks for its word");
    assert!(
        generate(&spec)
            .unwrap()
            .contains("#if defined TUMIT_OFF || defined DEMO_OFF_APP\n#define TUMIT1_ON_demo_APP 0u\n")
    );
}

#[test]
fn a_spec_can_be_registered_by_a_call() {
    let spec = spec(vec![event("post", RecordKind::Event, &[])]);
    let options = CodegenOptions { register_by_call: true, ..CodegenOptions::default() };
    let text = CBackend.generate(&spec, &options).unwrap().0.remove(0).text;
    assert!(!text.contains("TUMIT1_ENTER static void tumit1_enter_demo_"), "no constructor registers the spec");
    assert!(text.contains("\nTUMIT1_PLAIN TUMIT1_UNUSED static void tumit1_enter_demo_"));
    assert!(text.contains("\n#define TUMIT_REGISTER_DEMO() tumit1_enter_demo_"));
    let default_text = generate(&spec).unwrap();
    assert!(default_text.contains("\nTUMIT1_ENTER static void tumit1_enter_demo_"));
    assert!(!default_text.contains("TUMIT_REGISTER_DEMO"));
}

#[test]
fn names_that_meet_are_refused() {
    let spec = spec(vec![event("a_begin", RecordKind::Event, &[]), event("a", RecordKind::Begin, &[])]);
    let error = generate(&spec).unwrap_err();
    assert_eq!(error.reason, "`a_begin` and `a` both become `demo_a_begin` in C: rename one");
}
