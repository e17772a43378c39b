//! Tests of the reading header that need no compiler. `tests/tests/languages` compiles it
//! and runs the result.

use tracer_format::schema::{EnumInfo, FieldInfo, FieldType, LevelInfo, RecordKind, RecordType, Scalar, Schema};

use super::*;

/// `{:?}` of Rust defines the characters that are printed unescaped. The table of the header must
/// agree.
#[test]
fn unescaped_characters_are_those_of_rust() {
    let table = include_str!("../reader/printable.h")
        .split_once("= {")
        .and_then(|(_, rest)| rest.split_once('}'))
        .expect("a table")
        .0;
    let runs = table.split(',').filter_map(|run| run.trim().parse::<u32>().ok());
    let (mut position, mut is_printed) = (0, true);
    for run in runs {
        for character in (position..position + run).filter(|number| *number >= 0x7F).filter_map(char::from_u32) {
            let text = format!("{:?}", character.to_string());
            assert_eq!(text.chars().count() == 3, is_printed, "{text} of {:#x}", u32::from(character));
        }
        position += run;
        is_printed = !is_printed;
    }
    assert_eq!(position, 0x11_0000);
}

#[test]
fn scalars_have_the_numbers_of_the_schema() {
    let scalars = [
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::F32,
        Scalar::F64,
        Scalar::Bool,
        Scalar::Date,
        Scalar::Pointer,
        Scalar::Enum { index: 0, is_wide: false },
        Scalar::Interned,
        Scalar::String,
        Scalar::Bytes,
    ];
    for (number, scalar) in scalars.into_iter().enumerate() {
        assert_eq!(scalar.number() as usize, number);
        let field = FieldInfo { name: String::new(), ty: FieldType::One(scalar) };
        let record = RecordType {
            name: String::new(),
            level: 0,
            kind: RecordKind::Event,
            has_location: false,
            fields: vec![field],
        };
        let schema = Schema {
            levels: vec![LevelInfo::default()],
            enums: vec![EnumInfo::default()],
            records: vec![record],
            ..Schema::default()
        };
        let bytes = schema.encode();
        // After the scalar come only the fields of an enum (5 bytes) and the number of sources (8
        // bytes).
        let after = 8 + if matches!(scalar, Scalar::Enum { .. }) { 5 } else { 0 };
        let offset = bytes.len() - after - 4;
        assert_eq!(bytes[offset..offset + 4], u32::try_from(number).unwrap().to_le_bytes(), "{scalar:?}");
    }
}

#[test]
fn names_of_events_do_not_collide_with_names_of_the_reader() {
    let text = "trace t; level L { event next_record {} event print_post { head: u8, size: bytes, size_bytes: u8 } event post {} }";
    let (spec, _) = crate::compile_text("t.tumit", text);
    let out = CReader.generate(&spec.expect("a good spec"), &CodegenOptions::default()).expect("a header").0.remove(0);
    assert_eq!(out.name, "t_read.h");
    for expected in [
        "bool t_next_record_(struct",
        "void t_print_post_(FILE",
        "void t_print_print_post(FILE",
        "struct t_record *record",
        "uint8_t head_;",
        "size_t size_bytes;",
        "uint8_t size_bytes_;",
    ] {
        assert!(out.text.contains(expected), "{expected} in {}", out.text);
    }
}

/// C++ rejects a class that has a member with the name `uint8_t` and other members of that type.
#[test]
fn members_have_no_names_of_types() {
    for name in ["uint8_t", "int64_t", "size_t", "NULL", "class"] {
        assert_eq!(member(name), format!("{name}_"));
    }
    assert_eq!(["point", "interest", "count_t"].map(member), ["point", "interest", "count_t"]);
}
