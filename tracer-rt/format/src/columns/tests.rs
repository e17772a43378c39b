//! Packed blocks unpack to the original, and damaged ones are rejected.

use proptest::collection::vec;
use proptest::prelude::*;

use super::column_constants::method;
use super::*;
use crate::schema::{
    EnumInfo, EnumValueInfo, FieldInfo, FieldType, LevelInfo, RecordKind, RecordType, SCALARS, Scalar, Schema,
};
use crate::{ID_DROPPED, ID_WIDE_TIMESTAMP};

/// The record types of these tests, and the number of values of each part of a record.
fn shapes() -> Vec<RecordShape> {
    let single_part = |width| BodyPart { width, form: PartCount::One };
    let fixed = |width, count| BodyPart { width, form: PartCount::Fixed(count) };
    let counted = |width| BodyPart { width, form: PartCount::Counted };
    vec![
        RecordShape { id: 1, parts: vec![single_part(8), single_part(8)] },
        RecordShape { id: 2, parts: vec![single_part(4), counted(1), single_part(1), fixed(2, 3)] },
        RecordShape { id: 3, parts: vec![] },
        RecordShape { id: 900, parts: vec![fixed(1, 4), counted(4), single_part(2), fixed(8, 0)] },
    ]
}

fn packer() -> BlockPacker {
    let mut packer = BlockPacker::default();
    shapes().into_iter().for_each(|shape| packer.add_type(shape));
    packer
}

/// A record of a type, with numbers from `next`.
fn push(payload: &mut Vec<u8>, shape: &RecordShape, delta: u32, next: &mut impl FnMut() -> u64) {
    payload.extend(shape.id.to_le_bytes());
    payload.extend(delta.to_le_bytes());
    for part in &shape.parts {
        let count = match part.form {
            PartCount::One => 1,
            PartCount::Fixed(count) => count as usize,
            PartCount::Counted => {
                let count = next() % 9;
                payload.extend((count as u16).to_le_bytes());
                count as usize
            }
        };
        for _ in 0..count {
            payload.extend(&next().to_le_bytes()[..part.width.into()]);
        }
    }
}

fn round_trip(payload: &[u8]) -> Option<usize> {
    let mut packer = packer();
    let packed = packer.pack(payload)?.to_vec();
    let mut out = vec![1, 2, 3];
    unpack(&packed, payload.len(), &mut out).expect("packed data can be unpacked");
    assert!(out == payload, "the block round-trips");
    // The packer reuses its memory: nothing of the previous block remains.
    assert_eq!(packer.pack(payload).map(<[u8]>::len), Some(packed.len()));
    Some(packed.len())
}

fn kinds() -> impl Strategy<Value = Vec<(u8, u32, u64)>> {
    let number = prop_oneof![any::<u64>(), 0..10u64, Just(u64::MAX), (0..64u32).prop_map(|shift| 1 << shift)];
    vec((0..6u8, prop_oneof![0..100u32, any::<u32>()], number), 0..400)
}

fn payload_of(records: &[(u8, u32, u64)]) -> Vec<u8> {
    let (shapes, format_shapes) = (shapes(), RecordShape::format_shapes());
    let mut payload = Vec::new();
    for (kind, delta, number) in records {
        let shape = shapes.iter().chain(&format_shapes).nth(usize::from(*kind)).expect("six types");
        let mut position = 0;
        push(&mut payload, shape, *delta, &mut || {
            position += 1;
            if position % 3 == 0 { *number } else { number.wrapping_add(position) }
        });
    }
    payload
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn blocks_round_trip(records in kinds()) {
        let payload = payload_of(&records);
        round_trip(&payload);
        // A block that ends within a record cannot be packed.
        let is_packed = packer().pack(&payload).is_some();
        if is_packed {
            prop_assert!(packer().pack(&payload[..payload.len() - 1]).is_none());
        }
    }

    #[test]
    fn some_columns_give_the_records_of_some_types(records in kinds(), chosen in vec(any::<bool>(), 6), part in 0..3usize) {
        // The types with parts of constant size only.
        let constant = [1u16, 3, ID_DROPPED, ID_WIDE_TIMESTAMP];
        let records: Vec<_> = records.into_iter().filter(|(kind, ..)| [0, 2, 4, 5].contains(kind)).collect();
        let payload = payload_of(&records);
        let mut packer = packer();
        if let Some(packed) = packer.pack(&payload) {
            let is_wanted = |id: u16| constant.iter().zip(&chosen).any(|(constant_id, is_chosen)| *constant_id == id && *is_chosen);
            let columns = BlockColumns::read(packed, payload.len(), |id, number| is_wanted(id) || number == part).unwrap();
            prop_assert_eq!(columns.records(), records.len());
            let mut rows = FixedSizeRows::default();
            columns.rows(&mut rows, is_wanted).unwrap();
            let (mut position, mut ticks, mut expected, mut column) = (0, 0, FixedSizeRows::default(), Vec::new());
            for (place, (kind, delta, _)) in records.iter().enumerate() {
                let shape = shapes().into_iter().chain(RecordShape::format_shapes()).nth(usize::from(*kind)).unwrap();
                let parts = shape.parts.iter().map(|part| usize::from(part.width));
                let bytes = &payload[position..position + 6 + parts.sum::<usize>()];
                position += bytes.len();
                ticks += u64::from(*delta);
                if is_wanted(shape.id) {
                    expected.starts.push(expected.bytes.len() as u32);
                    expected.bytes.extend(bytes);
                    expected.ticks.push(ticks);
                    expected.places.push(place as u32);
                }
                if shape.id == 1 && part < 2 {
                    column.push((ticks, place as u32, bytes[6 + 8 * part..][..8].to_vec()));
                }
            }
            expected.starts.push(expected.bytes.len() as u32);
            prop_assert_eq!(columns.length(), ticks);
            prop_assert_eq!(&rows.bytes, &expected.bytes);
            prop_assert_eq!(&rows.starts, &expected.starts);
            prop_assert_eq!(&rows.ticks, &expected.ticks);
            prop_assert_eq!(&rows.places, &expected.places);
            let mut values = Vec::new();
            if let Some(ColumnBytes { width, bytes }) = columns.column(1, part) {
                prop_assert_eq!(width, 8);
                let kind = columns.kinds().position(|kind| (kind.id, kind.count) == (1, bytes.len() / 8)).unwrap();
                let mut ticks = Vec::new();
                columns.write_ticks(&mut ticks);
                prop_assert_eq!(columns.order().count(), columns.records());
                let its = columns.order().zip(0u32..).zip(ticks).filter(|((its, _), _)| usize::from(*its) == kind);
                for (((_, place), ticks), value) in its.zip(bytes.as_chunks::<8>().0) {
                    values.push((ticks, place, value.to_vec()));
                }
            }
            prop_assert_eq!(values, column);
        }
    }

    #[test]
    fn damaged_blocks_are_rejected_or_have_the_declared_size(records in kinds(), places in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<prop::sample::Index>(), size in 0..40_000usize) {
        let payload = payload_of(&records);
        let mut packer = packer();
        if let Some(packed) = packer.pack(&payload) {
            let mut bad = packed.to_vec();
            for (place, byte) in places {
                let position = place.index(bad.len());
                bad[position] = byte;
            }
            let mut out = Vec::new();
            if unpack(&bad, payload.len(), &mut out).is_some() {
                prop_assert_eq!(out.len(), payload.len());
            }
            prop_assert!(size == payload.len() || unpack(packed, size, &mut out).is_none());
            prop_assert!(unpack(&packed[..cut.index(packed.len())], payload.len(), &mut out).is_none());
        }
    }

    #[test]
    fn arbitrary_bytes_are_rejected_or_have_the_declared_size(bytes in vec(any::<u8>(), 0..300), size in 0..1_000usize) {
        let mut out = Vec::new();
        if unpack(&bytes, size, &mut out).is_some() {
            prop_assert_eq!(out.len(), size);
        }
    }

    #[test]
    fn numbers_come_back(values in vec(any::<i64>(), 1..300), shift in 0..64u32, width in 0..4u8) {
        let width = 1 << width;
        let values: Vec<u64> = values.iter().map(|value| (value >> shift) as u64).collect();
        let mut out = Vec::new();
        numbers::push_groups(&mut out, &values, width);
        out.insert(0, method::GROUPS);
        let mut read = Vec::new();
        let mut input = numbers::ByteReader(&out);
        numbers::read(&mut input, values.len(), width, &mut read).expect("valid groups");
        prop_assert!(input.0.is_empty());
        let expected: Vec<u8> =
            values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width.into())).collect();
        prop_assert_eq!(read, expected);
    }
}

/// A generator of random numbers (xorshift).
fn random() -> impl FnMut() -> u64 {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Bytes per record of a block of pairs.
fn pairs(mut next: impl FnMut(u64) -> (u32, [u64; 2])) -> f64 {
    let shape = &shapes()[0];
    let mut payload = Vec::new();
    for n in 0..2_900 {
        let (delta, values) = next(n);
        let mut values = values.into_iter();
        push(&mut payload, shape, delta, &mut || values.next().expect("two numbers"));
    }
    round_trip(&payload).expect("smaller") as f64 / 2_900.0
}

#[test]
fn regular_values_are_packed_small() {
    let mut random = random();
    // Constant steps need nearly no space.
    assert!(pairs(|n| (25, [n, 7])) < 0.2);
    // A clock that jitters, with some interruptions.
    let jitter = pairs(|n| ((20 + random() % 16) as u32 + if n % 97 == 0 { 90_000 } else { 0 }, [n, n / 10]));
    assert!(jitter < 0.9, "{jitter}");
    // Few distinct numbers that are far from each other.
    let few: Vec<u64> = (0..100).map(|_| random()).collect();
    let names = pairs(|n| (25, [few[(random() % 100) as usize], n]));
    assert!(names < 1.6, "{names}");
    // A thousand values in random order.
    let thousand = pairs(|_| ((random() % 4_000) as u32, [random() % 1_000, random() % 1_000]));
    assert!(thousand < 4.3, "{thousand}");
    // Noise is not compressible and takes little more.
    let noise = pairs(|_| (random() as u32, [random(), random()]));
    assert!(noise < 20.2, "{noise}");
}

#[test]
fn repeated_texts_are_compressed() {
    let mut payload = Vec::new();
    for n in 0..500u32 {
        payload.extend([2, 0]);
        payload.extend(n.to_le_bytes());
        payload.extend([0; 4]);
        payload.extend([27, 0]);
        payload.extend(b"a text that comes each time");
        payload.extend([0; 7]);
    }
    assert!(round_trip(&payload).expect("smaller") < payload.len() / 20);
}

#[test]
fn blocks_with_unknown_records_are_not_packed() {
    let mut payload = vec![1, 0, 5, 0, 0, 0];
    payload.extend([0; 16]);
    payload.extend([9, 9, 0, 0, 0, 0]);
    assert!(packer().pack(&payload).is_none());
    assert!(BlockPacker::default().pack(&payload[..22]).is_none());
    assert!(packer().pack(&[]).is_none(), "an empty block is not packed");
}

#[test]
fn too_many_parts_are_rejected() {
    // One record type without records may have 65,535 parts. A second one is too many.
    let mut packed = vec![2, 0, 1, 0, 0xFF, 0xFF];
    packed.extend(std::iter::repeat_n(0, 0xFFFF));
    packed.extend([2, 0, 1, 0, 0]);
    packed.extend([0; 4]);
    assert!(unpack(&packed, 0, &mut Vec::new()).is_none());
    packed[0] = 1;
    packed.truncate(6 + 0xFFFF);
    packed.extend([0; 4]);
    assert!(unpack(&packed, 0, &mut Vec::new()).is_some());
}

#[test]
fn layouts_are_those_of_the_schema() {
    let values = SCALARS.iter().filter(|scalar| !matches!(scalar, Scalar::String | Scalar::Bytes));
    let forms =
        values.flat_map(|scalar| [FieldType::One(*scalar), FieldType::Fixed(*scalar, 9), FieldType::Variable(*scalar)]);
    let forms = forms.chain([FieldType::One(Scalar::String), FieldType::One(Scalar::Bytes)]);
    let fields: Vec<_> = forms.map(|ty| FieldInfo { name: "field".into(), ty }).collect();
    let record = |level: u32, has_location, fields: &[FieldInfo]| RecordType {
        name: format!("record {level}"),
        level,
        kind: RecordKind::Event,
        has_location,
        fields: fields.to_vec(),
    };
    let schema = Schema {
        version: crate::schema::SCHEMA_VERSION,
        name: "test".into(),
        spec_version: 7,
        levels: vec![
            LevelInfo { name: "A".into(), is_enabled: true },
            LevelInfo { name: "B".into(), is_enabled: false },
        ],
        enums: vec![EnumInfo { name: "e".into(), values: vec![EnumValueInfo { name: "v".into(), number: 300 }] }],
        records: vec![record(0, true, &fields), record(1, false, &[]), record(0, false, &fields[1..])],
        sources: vec![],
    };
    let bytes = schema.encode();
    let record_layouts = layouts(&bytes).expect("a valid schema");
    let expected: Vec<_> = schema
        .records
        .iter()
        .map(|kind| TypeLayout { level: kind.level, parts: RecordShape::of(1, kind).expect("valid types").parts })
        .collect();
    assert_eq!(record_layouts, expected);
    for end in 0..bytes.len() - 8 {
        assert_eq!(layouts(&bytes[..end]), None, "cut at {end}");
    }
}

#[test]
fn record_types_of_the_format_have_shapes() {
    let ids = RecordShape::format_shapes().map(|shape| shape.id);
    assert_eq!(ids, [ID_WIDE_TIMESTAMP, ID_DROPPED]);
}
