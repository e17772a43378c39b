//! Tests of typed readers: events of another layout or trace, and values that do not fit.

use super::*;
use crate::schema::{EnumInfo, EnumValueInfo, FieldInfo as FileField, FieldType, RecordKind, RecordType, Scalar};

static SPEC: Spec = Spec {
    name: "t",
    types: &[Type {
        name: "e",
        located: false,
        fields: &[
            ("n", FieldType::One(Scalar::U32)),
            ("tint", FieldType::One(Scalar::Enum { index: 0, is_wide: false })),
            ("gone", FieldType::One(Scalar::String)),
            ("all", FieldType::Variable(Scalar::I64)),
        ],
    }],
    enums: &[&[("red", 0), ("blue", 1)]],
    schema: &[],
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum TestTint {
    Red,
    Blue,
}

impl SpecEnum for TestTint {
    const VALUES: &'static [(Self, &'static str, u16)] = &[(Self::Red, "red", 0), (Self::Blue, "blue", 1)];
}

struct TestNumbers;

impl Names for TestNumbers {
    fn string(&mut self, _: &str) -> u32 {
        9
    }

    fn site(&mut self, _: &str, _: u32) -> u32 {
        9
    }
}

/// The schema of an older file: narrower types, another order, another enum, and an additional
/// field.
fn schema() -> Schema {
    let field = |name: &str, ty| FileField { name: name.into(), ty };
    let value = |name: &str, number| EnumValueInfo { name: name.into(), number };
    Schema {
        name: "t".into(),
        enums: vec![EnumInfo { name: "tint".into(), values: vec![value("blue", 0), value("violet", 1)] }],
        records: vec![RecordType {
            name: "e".into(),
            level: 0,
            kind: RecordKind::Event,
            has_location: false,
            fields: vec![
                field("extra", FieldType::One(Scalar::String)),
                field("tint", FieldType::One(Scalar::Enum { index: 0, is_wide: false })),
                field("n", FieldType::One(Scalar::U16)),
                field("all", FieldType::Fixed(Scalar::I8, 2)),
            ],
        }],
        ..Schema::default()
    }
}

#[test]
fn an_older_layout_is_matched_by_name() {
    let schema = schema();
    let binding = SchemaBinding::new(&SPEC, &schema);
    let body = [2, 0, b'h', b'i', 1, 7, 1, 0xFF, 3];
    let origin =
        Origin { id: 1, file: &schema.records[0], bound: &binding.types[0], enums: &schema.enums, body: &body };
    let context = Context { tables: Tables::EMPTY, enums: &schema.enums };
    let mut fields = Fields::new(&origin, context);
    assert_eq!(fields.next::<u32>(), 263);
    let tint = fields.next::<Choice<'_, TestTint>>();
    assert_eq!(tint, Choice::Unknown { number: 1, name: Some("violet") });
    assert_eq!(fields.next::<Text<'_>>(), Text(b""));
    assert_eq!(fields.next::<Array<'_, i64>>().to_vec(), [-1, 3]);
    assert_eq!(fields.missing_fields(), ["gone"]);
    let blue = Choice::Known(TestTint::Blue);
    let mut out = Vec::new();
    let mut sink = Sink { out: &mut out, names: &mut TestNumbers, enums: Some(&schema.enums) };
    let ty = FieldType::One(Scalar::Enum { index: 0, is_wide: false });
    assert!(blue.encode(ty, &mut sink) && tint.encode(ty, &mut sink));
    assert!(!Choice::Known(TestTint::Red).encode(ty, &mut sink), "the file's enum has no red");
    assert_eq!(out, [0, 1]);
}

#[test]
fn another_trace_has_other_events() {
    let mut schema = schema();
    schema.name = "u".into();
    assert_eq!(SchemaBinding::new(&SPEC, &schema).types[0].event, None);
}

#[test]
fn values_that_do_not_fit_are_rejected() {
    let mut out = Vec::new();
    let mut sink = Sink { out: &mut out, names: &mut TestNumbers, enums: None };
    assert!(!256u32.encode(FieldType::One(Scalar::U8), &mut sink));
    assert!(!0.1f64.encode(FieldType::One(Scalar::F32), &mut sink));
    assert!(!Text(&[0; 65536]).encode(FieldType::One(Scalar::String), &mut sink));
    assert!(!Array::from(&[1u8][..]).encode(FieldType::Fixed(Scalar::U8, 2), &mut sink));
}
