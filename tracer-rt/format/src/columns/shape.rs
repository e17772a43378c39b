//! How the records of a type are laid out, as far as packing needs to know.

use crate::constants::{ID_LOST, ID_WIDE_DATE};
use crate::record::Lost;
use crate::schema::{FieldType, RecordType, Scalar};

/// One part of a record's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Bytes of a value: 1, 2, 4 or 8.
    pub width: u8,
    /// How many values.
    pub form: Form,
}

/// How many values a part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One.
    One,
    /// So many.
    Fixed(u32),
    /// As many as the `u16` in front of them says.
    Counted,
}

impl Part {
    const fn new(width: u8, form: Form) -> Self {
        Self { width, form }
    }

    /// Its first byte in a block: the width as a power of two, and the form.
    #[must_use]
    pub const fn code(self) -> u8 {
        let form = match self.form {
            Form::One => 0,
            Form::Fixed(_) => 1,
            Form::Counted => 2,
        };
        self.width.trailing_zeros() as u8 | form << 2
    }

    /// Values of one byte, several in a record: text, most likely, and stored as such.
    pub(super) const fn is_bytes(self) -> bool {
        self.width == 1 && !matches!(self.form, Form::One)
    }
}

/// A record type: its id in the file, and what follows id and delta.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Record id.
    pub id: u16,
    /// The parts of the body, in their order.
    pub parts: Vec<Part>,
}

impl Shape {
    /// The shape of a record type that has this id in a file. `None` when a field is of an impossible type.
    #[must_use]
    pub fn of(id: u16, kind: &RecordType) -> Option<Self> {
        let site = kind.located.then_some(SITE);
        let fields = kind.fields.iter().map(|field| match field.ty {
            FieldType::One(Scalar::String | Scalar::Bytes) => Some(TEXT),
            FieldType::One(scalar) => Some(Part::new(width(scalar)?, Form::One)),
            FieldType::Fixed(scalar, count) => Some(Part::new(width(scalar)?, Form::Fixed(count))),
            FieldType::Variable(scalar) => Some(Part::new(width(scalar)?, Form::Counted)),
        });
        let parts = site.map(Some).into_iter().chain(fields).collect::<Option<_>>()?;
        Some(Self { id, parts })
    }

    /// The format's own record types.
    pub(super) fn own() -> [Self; 2] {
        let word = Part::new(8, Form::One);
        let lost = Self { id: ID_LOST, parts: vec![word, word, word, word, Part::new(4, Form::One)] };
        debug_assert_eq!(Lost::BYTES, 36, "four words and a half");
        [Self { id: ID_WIDE_DATE, parts: vec![word] }, lost]
    }
}

const SITE: Part = Part::new(4, Form::One);
const TEXT: Part = Part::new(1, Form::Counted);

fn width(scalar: Scalar) -> Option<u8> {
    scalar.bytes().and_then(|bytes| u8::try_from(bytes).ok())
}

/// What a recorder wants to know of a record type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeLayout {
    /// Index of its level.
    pub level: u32,
    /// The parts of its body.
    pub parts: Vec<Part>,
}

/// The layout of each record type of an encoded schema, by its position, for recorders that cannot [decode it
/// all](crate::Schema): traced programs do without `bincode`. `None` when it is not of version 2, or damaged.
#[must_use]
pub fn layouts(schema: &[u8]) -> Option<Vec<TypeLayout>> {
    let mut bytes = Bytes(schema);
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

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
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

    fn field(&mut self) -> Option<Part> {
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
            0 => Form::One,
            1 => Form::Fixed(self.u32()?),
            2 => Form::Counted,
            _ => return None,
        };
        Some(Part::new(width, form))
    }
}
