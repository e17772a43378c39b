//! What becomes of a record that finds no slot free: it is dropped, or its thread waits, as its level is told.

use std::sync::atomic::{AtomicBool, Ordering};

/// What a level does when the helper cannot follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The newest records are dropped, and counted.
    #[default]
    Drop,
    /// The thread waits until a slot is free: ten seconds at most, then records are dropped until one is.
    Block,
}

/// Some level blocks: asked for without a lock by threads that must drop.
static ANY_BLOCKS: AtomicBool = AtomicBool::new(false);

/// A thread waited in vain: no other one does until a slot is free again.
static STUCK: AtomicBool = AtomicBool::new(false);

/// Whether it is worth asking if a record's level blocks.
pub(crate) fn may_block() -> bool {
    ANY_BLOCKS.load(Ordering::Relaxed) && !STUCK.load(Ordering::Relaxed)
}

/// Says that some level blocks.
pub(crate) fn blocks() {
    ANY_BLOCKS.store(true, Ordering::Relaxed);
}

/// Says that waiting is of no use, or is again.
pub(crate) fn set_stuck(stuck: bool) {
    STUCK.store(stuck, Ordering::Relaxed);
}

/// The policies that a text asks for, as `COM=block,APP=drop`; what is not understood is given to `complain`.
pub(crate) fn parse(text: &str, complain: impl Fn(&str)) -> Vec<(String, Policy)> {
    let mut policies = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let policy = entry.split_once('=').and_then(|(name, policy)| {
            let policy = match policy.trim().to_ascii_lowercase().as_str() {
                "drop" => Policy::Drop,
                "block" => Policy::Block,
                _ => return None,
            };
            Some((name.trim().to_owned(), policy))
        });
        match policy {
            Some(policy) if !policy.0.is_empty() => policies.push(policy),
            _ => complain(entry),
        }
    }
    policies
}

/// The level of each record type of a schema, by its position: the only thing that a recorder reads of one. `None` when it
/// is not of version 2. The layout is that of `FORMAT.md`.
pub(crate) fn levels_of_records(schema: &[u8]) -> Option<Vec<u32>> {
    let mut bytes = Bytes(schema);
    if bytes.u32()? != 2 {
        return None;
    }
    bytes.text()?;
    bytes.u32()?;
    for _ in 0..bytes.length()? {
        bytes.text()?;
        bytes.skip(1)?;
    }
    for _ in 0..bytes.length()? {
        bytes.text()?;
        for _ in 0..bytes.length()? {
            bytes.text()?;
            bytes.skip(2)?;
        }
    }
    let mut levels = Vec::new();
    for _ in 0..bytes.length()? {
        bytes.text()?;
        levels.push(bytes.u32()?);
        // Kind and `located`.
        bytes.skip(4 + 1)?;
        for _ in 0..bytes.length()? {
            bytes.text()?;
            let shape = bytes.u32()?;
            if bytes.u32()? == SCALAR_ENUM {
                bytes.skip(4 + 1)?;
            }
            bytes.skip(if shape == FIXED_ARRAY { 4 } else { 0 })?;
        }
    }
    Some(levels)
}

const SCALAR_ENUM: u32 = 13;
const FIXED_ARRAY: u32 = 1;

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn u32(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }

    fn length(&mut self) -> Option<usize> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        usize::try_from(u64::from_le_bytes(*word)).ok()
    }

    fn text(&mut self) -> Option<()> {
        let bytes = self.length()?;
        self.skip(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tracer_format::schema::{EnumInfo, EnumValueInfo, Field, FieldType, LevelInfo, RecordKind, RecordType, Scalar};
    use tracer_format::schema::{SCHEMA_VERSION, Schema};

    #[test]
    fn levels_are_found_in_schemas() {
        let scalar = Scalar::Enum { index: 0, wide: true };
        let shapes = [FieldType::One(scalar), FieldType::Fixed(scalar, 9), FieldType::Variable(Scalar::U8)];
        let fields: Vec<_> = shapes.iter().map(|ty| Field { name: "field".into(), ty: *ty }).collect();
        let record = |level: u32, fields: &[Field]| RecordType {
            name: format!("record {level}"),
            level,
            kind: RecordKind::Event,
            located: true,
            fields: fields.to_vec(),
        };
        let schema = Schema {
            version: SCHEMA_VERSION,
            name: "test".into(),
            spec_version: 7,
            levels: vec![LevelInfo { name: "A".into(), enabled: true }, LevelInfo { name: "B".into(), enabled: false }],
            enums: vec![EnumInfo { name: "e".into(), values: vec![EnumValueInfo { name: "v".into(), number: 300 }] }],
            records: vec![record(0, &fields), record(1, &[]), record(0, &fields[1..])],
            sources: vec![],
        };
        let bytes = schema.encode();
        assert_eq!(levels_of_records(&bytes), Some(vec![0, 1, 0]));
        for end in 0..bytes.len() - 8 {
            assert_eq!(levels_of_records(&bytes[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn policies_are_parsed() {
        let complaints = std::cell::RefCell::new(Vec::new());
        let all =
            parse("COM=block, app = DROP,, X=wait, =drop", |entry| complaints.borrow_mut().push(entry.to_owned()));
        assert_eq!(all, [("COM".to_owned(), Policy::Block), ("app".to_owned(), Policy::Drop)]);
        assert_eq!(*complaints.borrow(), ["X=wait", "=drop"]);
    }
}
