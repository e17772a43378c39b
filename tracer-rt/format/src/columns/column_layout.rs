//! The layout of a record type, as needed for packing.

use crate::format_constants::{ID_DROPPED, ID_WIDE_TIMESTAMP};
use crate::record::DroppedRecords;
use crate::schema::{FieldType, RecordType, Scalar};

/// One part of a record's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyPart {
    /// Size of a value in bytes: 1, 2, 4 or 8.
    pub width: u8,
    /// The number of values.
    pub form: PartCount,
}

/// The number of values of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartCount {
    /// One value.
    One,
    /// A fixed number of values.
    Fixed(u32),
    /// A variable number of values. A `u16` before them contains the number.
    Counted,
}

impl BodyPart {
    const fn new(width: u8, form: PartCount) -> Self {
        Self { width, form }
    }

    /// The first byte of the part in a block: the width as a power of two, and the form.
    #[must_use]
    pub const fn code(self) -> u8 {
        let form = match self.form {
            PartCount::One => 0,
            PartCount::Fixed(_) => 1,
            PartCount::Counted => 2,
        };
        self.width.trailing_zeros() as u8 | form << 2
    }

    /// Whether the part has several values of one byte each.
    /// These are probably text and stored as bytes.
    pub(super) const fn is_bytes(self) -> bool {
        self.width == 1 && !matches!(self.form, PartCount::One)
    }
}

/// A record type: its id in the file, and the parts after id and delta.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordShape {
    /// Record id.
    pub id: u16,
    /// The parts of the body, in order.
    pub parts: Vec<BodyPart>,
}

impl RecordShape {
    /// The shape of a record type with this id in a file. `None` if a field has an impossible type.
    #[must_use]
    pub fn of(id: u16, kind: &RecordType) -> Option<Self> {
        let site = kind.has_location.then_some(SITE);
        let fields = kind.fields.iter().map(|field| match field.ty {
            FieldType::One(Scalar::String | Scalar::Bytes) => Some(TEXT),
            FieldType::One(scalar) => Some(BodyPart::new(width(scalar)?, PartCount::One)),
            FieldType::Fixed(scalar, count) => Some(BodyPart::new(width(scalar)?, PartCount::Fixed(count))),
            FieldType::Variable(scalar) => Some(BodyPart::new(width(scalar)?, PartCount::Counted)),
        });
        let parts = site.map(Some).into_iter().chain(fields).collect::<Option<_>>()?;
        Some(Self { id, parts })
    }

    /// The format's own record types.
    pub(super) fn format_shapes() -> [Self; 2] {
        let word = BodyPart::new(8, PartCount::One);
        let dropped = Self { id: ID_DROPPED, parts: vec![word, word, word, word, BodyPart::new(4, PartCount::One)] };
        debug_assert_eq!(DroppedRecords::BYTES, 36, "four words of 8 bytes and one of 4 bytes");
        [Self { id: ID_WIDE_TIMESTAMP, parts: vec![word] }, dropped]
    }
}

const SITE: BodyPart = BodyPart::new(4, PartCount::One);
const TEXT: BodyPart = BodyPart::new(1, PartCount::Counted);

fn width(scalar: Scalar) -> Option<u8> {
    scalar.bytes().and_then(|bytes| u8::try_from(bytes).ok())
}

/// The facts about a record type that a recorder needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeLayout {
    /// Index of the level.
    pub level: u32,
    /// Sizes of the consecutive pieces of a record body.
    pub parts: Vec<BodyPart>,
}

/// The layout of each record type of an encoded schema, in the order of the schema.
/// For recorders, which cannot [decode the whole schema](crate::Schema), because traced programs do
/// not contain `bincode`. `None` if the schema is not of version 2, or damaged.
#[must_use]
pub fn layouts(schema: &[u8]) -> Option<Vec<TypeLayout>> {
    let mut bytes = LayoutBytes(schema);
    if bytes.u32()? != crate::schema::SCHEMA_VERSION {
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
    let mut layouts = Vec::new();
    for _ in 0..bytes.length()? {
        layouts.push(bytes.record_type()?);
    }
    Some(layouts)
}

struct LayoutBytes<'a>(&'a [u8]);

impl LayoutBytes<'_> {
    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn u8(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
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

    fn record_type(&mut self) -> Option<TypeLayout> {
        self.text()?;
        let level = self.u32()?;
        self.u32()?;
        let located = self.u8()? != 0;
        let mut parts = Vec::from_iter(located.then_some(SITE));
        for _ in 0..self.length()? {
            self.text()?;
            parts.push(self.field()?);
        }
        Some(TypeLayout { level, parts })
    }

    fn field(&mut self) -> Option<BodyPart> {
        let shape = self.u32()?;
        let width = match self.u32()? {
            0 | 4 | 10 => 1,
            1 | 5 => 2,
            2 | 6 | 8 | 14 => 4,
            3 | 7 | 9 | 11 | 12 => 8,
            13 => {
                self.u32()?;
                1 + u8::from(self.u8()? != 0)
            }
            15 | 16 => return (shape == 0).then_some(TEXT),
            _ => return None,
        };
        let form = match shape {
            0 => PartCount::One,
            1 => PartCount::Fixed(self.u32()?),
            2 => PartCount::Counted,
            _ => return None,
        };
        Some(BodyPart::new(width, form))
    }
}
