//! The tables of a spec for the recorder: its schema, its levels, the layouts of its records. Also
//! the function that registers them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tracer_format::columns::{BodyPart, PartCount, RecordShape};

use super::header::CHeader;
use super::type_declarations;
use crate::Spec;

pub(super) fn write(out: &mut String, header: &CHeader<'_>, schema: &[u8]) {
    let (spec, tag) = (header.spec, header.tag());
    out.push_str("\n#ifndef TUMIT_OFF\nTUMIT1_BEGIN_DECLS\n");
    out.push_str("/* The words of the levels, which tumit1_set_level() and TUMIT_LEVELS switch. */\n");
    let words: Vec<_> = header.names.levels.iter().map(|name| header.word(name)).collect();
    for word in &words {
        let _ = writeln!(out, "extern TUMIT1_SHARED uint32_t {word};");
    }
    out.push_str("#ifndef TUMIT_EXTERN\n");
    for word in &words {
        let _ = writeln!(out, "uint32_t {word};");
    }
    describe(out, spec, schema, &tag, &words);
    let attributes = if header.options.register_by_call { "TUMIT1_PLAIN TUMIT1_UNUSED" } else { "TUMIT1_ENTER" };
    let _ = write!(
        out,
        "{attributes} static void tumit1_enter_{tag}(void) {{
    tumit1_register(&tumit1_spec_{tag}, &__dso_handle);
}}
#endif
TUMIT1_END_DECLS
#endif
"
    );
    if header.options.register_by_call {
        let name = header.names.register_macro();
        let _ = write!(
            out,
            "
/* Registers the spec. The program calls it before its first event. */
#if defined TUMIT_OFF || defined TUMIT_EXTERN
#define {name}() ((void)0)
#else
#define {name}() tumit1_enter_{tag}()
#endif
"
        );
    }
}

/// The spec of the recorder's self-tracing, which is part of the runtime.
pub(super) fn write_self_trace_spec(out: &mut String) {
    let text = crate::load::standard("std:tracer").expect("it comes with the language");
    let (spec, _) = crate::compile_text("std:tracer", text);
    let spec = spec.expect("standard specs have no mistakes");
    out.push_str("/* ---- The spec of self-tracing ---- */\n\n");
    out.push_str("extern TUMIT1_WEAK uint32_t tumit1_self_trace_word;\nuint32_t tumit1_self_trace_word;\n");
    describe(out, &spec, &spec.schema().encode(), "self_trace", &["tumit1_self_trace_word".to_owned()]);
}

/// Writes the tables of a spec. The last table refers to the others.
fn describe(out: &mut String, spec: &Spec, schema: &[u8], tag: &str, words: &[String]) {
    let compressed_schema = pack(schema);
    out.push_str("/* The compiled spec as one LZ4 block, which is copied into each run. */\n");
    array(
        out,
        "unsigned char",
        &format!("tumit1_schema_{tag}"),
        compressed_schema.bytes.iter().map(ToString::to_string),
    );
    let levels = spec.levels.iter().zip(words).map(|(level, word)| {
        format!("{{{}, &{word}, {}}}", type_declarations::string(&level.name), u8::from(level.is_enabled))
    });
    array(out, "struct tumit1_level", &format!("tumit1_levels_{tag}"), levels);
    let runs = runs(spec);
    array(out, "uint16_t", &format!("tumit1_runs_{tag}"), runs.iter().flatten().map(ToString::to_string));
    let shapes = ShapeTable::new(spec);
    out.push_str("/* Layouts of the records. */\n");
    array(out, "unsigned char", &format!("tumit1_shapes_{tag}"), shapes.bytes.iter().map(ToString::to_string));
    array(out, "uint16_t", &format!("tumit1_shapes_at_{tag}"), shapes.offsets.iter().map(ToString::to_string));
    let _ = write!(
        out,
        "extern TUMIT1_WEAK struct tumit1_spec tumit1_spec_{tag};
struct tumit1_spec tumit1_spec_{tag} = {{{name}, tumit1_schema_{tag}, {packed}u, {raw}u, {base}u, {ids}u,
    tumit1_levels_{tag}, {levels}u, tumit1_runs_{tag}, {runs}u, tumit1_shapes_{tag}, {shapes}u, tumit1_shapes_at_{tag}, 0u}};
",
        name = type_declarations::string(&spec.name),
        packed = compressed_schema.bytes.len(),
        raw = schema.len() + PREFIX,
        base = compressed_schema.base,
        ids = spec.records.len(),
        levels = spec.levels.len(),
        runs = runs.len(),
        shapes = shapes.bytes.len(),
    );
}

/// The shapes of records: the layouts without the names of fields.
///
/// Each shape occurs once, in the form of blocks by columns (number of parts, and their codes).
/// `offsets` has the position of the shape of each record.
struct ShapeTable {
    bytes: Vec<u8>,
    offsets: Vec<u16>,
}

impl ShapeTable {
    /// Stands for a position: the shape does not support columns, or its position exceeds a `u16`.
    const NONE: u16 = u16::MAX;

    fn new(spec: &Spec) -> Self {
        let mut shapes = Self { bytes: Vec::new(), offsets: Vec::new() };
        let mut positions = BTreeMap::new();
        for record in &spec.records {
            let code = RecordShape::of(0, &record.layout).and_then(|shape| code(&shape.parts)).unwrap_or_default();
            let offset = *positions.entry(code).or_insert_with_key(|code| {
                let offset =
                    u16::try_from(shapes.bytes.len()).ok().filter(|offset| *offset != Self::NONE && !code.is_empty());
                if offset.is_some() {
                    shapes.bytes.extend(code);
                }
                offset.unwrap_or(Self::NONE)
            });
            shapes.offsets.push(offset);
        }
        shapes
    }
}

/// A layout in bytes. `None` when it has too many parts.
fn code(parts: &[BodyPart]) -> Option<Vec<u8>> {
    let mut code = u16::try_from(parts.len()).ok()?.to_le_bytes().to_vec();
    for part in parts {
        code.push(part.code());
        if let PartCount::Fixed(count) = part.form {
            code.extend(count.to_le_bytes());
        }
    }
    Some(code)
}

/// The levels of records, as pairs of a record and the level from this record on. The records of a
/// level are consecutive.
fn runs(spec: &Spec) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for (number, record) in spec.records.iter().enumerate() {
        let level = record.level.index();
        if runs.last().is_none_or(|last| last[1] != level) {
            runs.push([number, level]);
        }
    }
    runs
}

/// Number of bytes before a schema in its block: the first record id and the number of ids.
const PREFIX: usize = 8;

/// The compressed payload of a schema block. The first id is still unknown.
struct CompressedSchema {
    bytes: Vec<u8>,
    /// Position of the eight uncompressed bytes of the prefix.
    base: usize,
}

/// Compresses the schema alone, and then inserts room for the prefix before the first literals.
///
/// Thus no match refers to the prefix. Matches of LZ4 have relative offsets, so the insertion
/// changes none of them.
fn pack(schema: &[u8]) -> CompressedSchema {
    let packed = lz4_flex::block::compress(schema);
    let token = packed.first().copied().unwrap_or(0);
    let mut literals = usize::from(token >> 4);
    let mut position = 1;
    if literals == 15 {
        while let Some(byte) = packed.get(position) {
            literals += usize::from(*byte);
            position += 1;
            if *byte != 255 {
                break;
            }
        }
    }
    literals += PREFIX;
    let high = u8::try_from(literals.min(15)).unwrap_or(15);
    let mut bytes = vec![high << 4 | token & 15];
    if literals >= 15 {
        let mut remainder = literals - 15;
        while remainder >= 255 {
            bytes.push(255);
            remainder -= 255;
        }
        bytes.push(u8::try_from(remainder).unwrap_or(255));
    }
    let base = bytes.len();
    bytes.extend([0; PREFIX]);
    bytes.extend(packed.get(position..).unwrap_or_default());
    CompressedSchema { bytes, base }
}

/// A shared constant array. One zero if it has no items, because C has no empty arrays.
fn array(out: &mut String, ty: &str, name: &str, items: impl Iterator<Item = String>) {
    let mut items: Vec<_> = items.collect();
    if items.is_empty() {
        items.push(if ty.starts_with("struct") { "{0, 0, 0}".into() } else { "0".into() });
    }
    let _ = write!(
        out,
        "extern TUMIT1_WEAK const {ty} {name}[{count}];\nconst {ty} {name}[{count}] = {{",
        count = items.len()
    );
    let mut column = usize::MAX;
    for item in items {
        if column.saturating_add(item.len()) > 118 {
            out.push_str("\n    ");
            column = 4;
        }
        column += item.len() + 1;
        out.push_str(&item);
        out.push(',');
    }
    out.push_str("\n};\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packed_schema_unpacks_behind_its_prefix() {
        for schema in [vec![], vec![7; 3], vec![7; 5000], (0..=255).collect::<Vec<u8>>(), b"abcdefgh".repeat(40)] {
            let mut packed = pack(&schema);
            packed.bytes[packed.base..packed.base + PREFIX].copy_from_slice(b"\x01\0\0\0\x02\0\0\0");
            let raw = lz4_flex::block::decompress(&packed.bytes, schema.len() + PREFIX).unwrap();
            assert_eq!(raw, [b"\x01\0\0\0\x02\0\0\0", &schema[..]].concat());
        }
    }
}
