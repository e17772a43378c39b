//! What a spec tells the recorder: its schema, the sizes of its records, its levels; and the constructor that makes them
//! known.

use std::fmt::Write as _;

use tracer_format::schema::FieldType;

use super::{Header, narrow, types};
use crate::Spec;

/// Set in a record's shape when its size varies.
const COUNTED: u32 = 1 << 31;

pub(super) fn write(out: &mut String, header: &Header<'_>, schema: &[u8]) {
    let (spec, tag) = (header.spec, header.tag());
    out.push_str("\n#ifndef TUMIT_OFF\nTUMIT1_BEGIN_DECLS\n");
    out.push_str("/* The words of the levels: switched by tumit1_set_level() and TUMIT_LEVELS. */\n");
    let words: Vec<_> = header.names.levels.iter().map(|name| header.word(name)).collect();
    for word in &words {
        let _ = writeln!(out, "extern TUMIT1_SHARED uint32_t {word};");
    }
    out.push_str("#ifndef TUMIT_EXTERN\n");
    for word in &words {
        let _ = writeln!(out, "uint32_t {word};");
    }
    let packed = pack(schema);
    let (shapes, counted) = shapes(spec);
    out.push_str("/* The compiled spec, copied into each run, as one LZ4 block. */\n");
    array(out, "unsigned char", &format!("tumit1_schema_{tag}"), packed.bytes.iter().map(ToString::to_string));
    out.push_str("/* Sizes of records: see `struct tumit1_spec`. */\n");
    array(out, "uint32_t", &format!("tumit1_shapes_{tag}"), shapes.iter().map(|word| format!("{word}u")));
    array(out, "uint32_t", &format!("tumit1_counted_{tag}"), counted.iter().map(|word| format!("{word}u")));
    let levels = spec
        .levels
        .iter()
        .zip(&words)
        .map(|(level, word)| format!("{{{}, &{word}, {}}}", types::string(&level.name), u8::from(level.enabled)));
    array(out, "struct tumit1_level", &format!("tumit1_levels_{tag}"), levels);
    let _ = write!(
        out,
        "extern TUMIT1_WEAK struct tumit1_spec tumit1_spec_{tag};
struct tumit1_spec tumit1_spec_{tag} = {{{name}, tumit1_schema_{tag}, {packed}u, {raw}u, {base}u, {ids}u,
    tumit1_shapes_{tag}, tumit1_counted_{tag}, {counted}u, tumit1_levels_{tag}, {levels}u, 0u}};
TUMIT1_ENTER static void tumit1_enter_{tag}(void) {{
    tumit1_register(&tumit1_spec_{tag}, &__dso_handle);
}}
#endif
TUMIT1_END_DECLS
#endif
",
        name = types::string(&spec.name),
        packed = packed.bytes.len(),
        raw = schema.len() + PREFIX,
        base = packed.base,
        ids = spec.records.len(),
        counted = counted.len(),
        levels = spec.levels.len(),
    );
}

/// Bytes in front of a schema in its block: the first record id and the number of ids.
const PREFIX: usize = 8;

/// The payload of a schema block, compressed; the first id is not known yet.
struct Packed {
    bytes: Vec<u8>,
    /// Where the eight bytes of the prefix stand, as they are.
    base: usize,
}

/// Compresses the schema by itself, so that nothing refers to the prefix, and puts room for it in front of the first
/// literals: matches of LZ4 say how far back they begin, so that none of them changes.
fn pack(schema: &[u8]) -> Packed {
    let alone = lz4_flex::block::compress(schema);
    let token = alone.first().copied().unwrap_or(0);
    let mut literals = usize::from(token >> 4);
    let mut at = 1;
    if literals == 15 {
        while let Some(more) = alone.get(at) {
            literals += usize::from(*more);
            at += 1;
            if *more != 255 {
                break;
            }
        }
    }
    literals += PREFIX;
    let high = u8::try_from(literals.min(15)).unwrap_or(15);
    let mut bytes = vec![high << 4 | token & 15];
    if literals >= 15 {
        let mut rest = literals - 15;
        while rest >= 255 {
            bytes.push(255);
            rest -= 255;
        }
        bytes.push(u8::try_from(rest).unwrap_or(255));
    }
    let base = bytes.len();
    bytes.extend([0; PREFIX]);
    bytes.extend(alone.get(at..).unwrap_or_default());
    Packed { bytes, base }
}

/// For each record its size, or [`COUNTED`] and where its description begins in the second list: bytes before the first
/// counted field, then pairs (bytes of an element, bytes up to the next counted field), then 0.
pub(super) fn shapes(spec: &Spec) -> (Vec<u32>, Vec<u32>) {
    let (mut shapes, mut counted) = (Vec::new(), Vec::new());
    for record in &spec.records {
        let mut fixed: u32 = if record.layout.located { 4 } else { 0 };
        let mut parts = Vec::new();
        for field in &record.layout.fields {
            match (field.ty.bytes(), field.ty) {
                (Some(bytes), _) => fixed = fixed.saturating_add(narrow(bytes)).min(COUNTED - 1),
                (None, FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) => {
                    parts.extend([fixed, narrow(scalar.bytes().unwrap_or(1))]);
                    fixed = 0;
                }
            }
        }
        if parts.is_empty() {
            shapes.push(fixed);
        } else {
            shapes.push(COUNTED | narrow(counted.len()));
            counted.extend(parts);
            counted.extend([fixed, 0]);
        }
    }
    (shapes, counted)
}

/// A shared constant array; one zero where there would be none, as C knows no empty array.
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
