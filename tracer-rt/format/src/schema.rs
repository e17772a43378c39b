//! The schema: the part of a compiled spec that is in every run file, so that the file is
//! self-contained.
//!
//! A generator encodes it once, and readers decode it. A traced program only copies its bytes. The
//! schema also contains the source texts of the spec, from which the converter compiles the rules.
//!
//! ```
//! use tracer_format::schema::{FieldType, Scalar};
//!
//! assert_eq!(FieldType::Fixed(Scalar::U16, 3).bytes(), Some(6));
//! assert_eq!(FieldType::Variable(Scalar::U16).bytes(), None);
//! ```

#[cfg(feature = "schema")]
use bincode::{Decode, Encode};

#[cfg(feature = "schema")]
use crate::error::FormatError;
#[cfg(feature = "schema")]
use crate::format_constants::MAX_PAYLOAD_BYTES;

/// Version of the [`Schema`] structure.
pub const SCHEMA_VERSION: u32 = 2;
/// Maximum size in bytes of a schema that is decoded.
#[cfg(feature = "schema")]
pub(crate) const MAX_SCHEMA_BYTES: usize = 1 << 24;

/// The layout of a provider's records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct Schema {
    /// [`SCHEMA_VERSION`] of the writer.
    pub version: u32,
    /// Name of the trace (`trace taktuk;`).
    pub name: String,
    /// The spec's own version (`version 3;`). 0 if the spec has none.
    pub spec_version: u32,
    /// Levels, in declared order.
    pub levels: Vec<LevelInfo>,
    /// Enums, in declared order.
    pub enums: Vec<EnumInfo>,
    /// Record types. The index is the record id minus the provider's base.
    pub records: Vec<RecordType>,
    /// The spec's files: path as written, and text. The first is the root.
    pub sources: Vec<SourceText>,
}

/// A group of record types that is switched on and off together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct LevelInfo {
    /// As declared in the spec.
    pub name: String,
    /// Whether the level is recorded by default.
    pub is_enabled: bool,
}

/// An enum of the spec, for the texts of its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct EnumInfo {
    /// As declared in the spec.
    pub name: String,
    /// Its values, in declared order.
    pub values: Vec<EnumValueInfo>,
}

impl EnumInfo {
    /// The name of the value with this number in records.
    #[must_use]
    pub fn name_of(&self, number: u16) -> Option<&str> {
        // Nearly all enums have the numbers 0, 1, 2 …
        let guess = self.values.get(usize::from(number)).filter(|value| value.number == number);
        let found = guess.or_else(|| self.values.iter().find(|value| value.number == number));
        found.map(|value| value.name.as_str())
    }
}

/// A number of an enum, and its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct EnumValueInfo {
    /// As declared in the spec.
    pub name: String,
    /// The number in records.
    pub number: u16,
}

/// One file of the spec.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct SourceText {
    /// Path as written by the user or in a `use`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// The name and the byte layout of the records with one id.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct RecordType {
    /// Name: `post`, or `iteration.begin` for the begin of a span.
    pub name: String,
    /// Index of its level.
    pub level: u32,
    /// Event, begin or end of a span.
    pub kind: RecordKind,
    /// Whether the record contains its source position.
    pub has_location: bool,
    /// Fields in the order of their bytes.
    pub fields: Vec<FieldInfo>,
}

/// Event, begin or end of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub enum RecordKind {
    /// A point in time.
    Event,
    /// A span begins.
    Begin,
    /// A span ends.
    End,
}

/// A field of a record type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub struct FieldInfo {
    /// As declared in the spec.
    pub name: String,
    /// It determines the number of bytes in the record, or that a count precedes them.
    pub ty: FieldType,
}

/// The type of a field: one value or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
pub enum FieldType {
    /// One value.
    One(Scalar),
    /// A fixed number of values.
    Fixed(Scalar, u32),
    /// A variable number of values, with a count.
    Variable(Scalar),
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(Encode, Decode))]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum Scalar {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
    Bool,
    /// A timestamp in local ticks.
    Date,
    Pointer,
    /// The number of a value of an enum of the schema, in one byte (`wide` false) or two.
    Enum {
        index: u32,
        is_wide: bool,
    },
    /// An id of the process's table of strings.
    Interned,
    /// UTF-8 text, counted. Not in arrays.
    String,
    /// Bytes, counted. Not in arrays.
    Bytes,
}

impl Scalar {
    /// The number of the type in the bytes of a schema, from 0 to 16.
    ///
    /// ```
    /// assert_eq!(tracer_format::schema::Scalar::Bytes.number(), 16);
    /// ```
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::U8 => 0,
            Self::U16 => 1,
            Self::U32 => 2,
            Self::U64 => 3,
            Self::I8 => 4,
            Self::I16 => 5,
            Self::I32 => 6,
            Self::I64 => 7,
            Self::F32 => 8,
            Self::F64 => 9,
            Self::Bool => 10,
            Self::Date => 11,
            Self::Pointer => 12,
            Self::Enum { .. } => 13,
            Self::Interned => 14,
            Self::String => 15,
            Self::Bytes => 16,
        }
    }

    /// Size in bytes, or `None` for counted types.
    #[must_use]
    pub const fn bytes(self) -> Option<usize> {
        Some(match self {
            Self::U8 | Self::I8 | Self::Bool | Self::Enum { is_wide: false, .. } => 1,
            Self::U16 | Self::I16 | Self::Enum { is_wide: true, .. } => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::Interned => 4,
            Self::U64 | Self::I64 | Self::F64 | Self::Date | Self::Pointer => 8,
            Self::String | Self::Bytes => return None,
        })
    }
}

impl FieldType {
    /// Size in bytes, or `None` if it varies between records.
    #[must_use]
    pub fn bytes(self) -> Option<usize> {
        match self {
            Self::One(scalar) => scalar.bytes(),
            Self::Fixed(scalar, count) => scalar.bytes()?.checked_mul(count as usize),
            Self::Variable(_) => None,
        }
    }
}

impl RecordType {
    /// Size in bytes of the part after id and delta, or `None` if it varies.
    #[must_use]
    pub fn fixed_body_bytes(&self) -> Option<usize> {
        let site = if self.has_location { 4 } else { 0 };
        self.fields.iter().try_fold(site, |sum, field| Some(sum + field.ty.bytes()?))
    }
}

#[cfg(feature = "schema")]
impl Schema {
    /// Whether this record type is the end of a span without the parameters of the end.
    /// It is the second end of its name, after the one with the parameters.
    #[must_use]
    pub fn is_absent_end(&self, record: usize) -> bool {
        let is_end = |record: &&RecordType| record.kind == RecordKind::End;
        let Some(end) = self.records.get(record).filter(is_end) else { return false };
        self.records[..record].iter().any(|record| record.name == end.name)
    }

    /// Decodes the bytes of [`Schema::encode`].
    ///
    /// # Errors
    /// If the bytes are damaged, have another version, or refer to missing levels or enums.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let bad = |why: String| FormatError::BadSchema(why);
        // The version is the first field in all versions.
        let version = bytes.first_chunk().map_or(0, |first| u32::from_le_bytes(*first));
        let schema = match version {
            1 => decode_as::<SchemaV1>(bytes).map(Self::from),
            SCHEMA_VERSION => decode_as(bytes),
            _ => Err(format!("its version is {version}, but this program reads versions 1 to {SCHEMA_VERSION}")),
        };
        let schema: Self = schema.map_err(bad)?;
        for record in &schema.records {
            if record.level as usize >= schema.levels.len() {
                return Err(bad(format!("record `{}` is of no level", record.name)));
            }
            for field in &record.fields {
                field.check(schema.enums.len()).map_err(|why| bad(format!("field `{}` {why}", field.name)))?;
            }
        }
        Ok(schema)
    }
}

#[cfg(feature = "schema")]
fn decode_as<T: Decode<()>>(bytes: &[u8]) -> Result<T, String> {
    bincode::decode_from_slice(bytes, config()).map(|(decoded, _)| decoded).map_err(|error| error.to_string())
}

/// The first version: enum values had the numbers 0, 1, 2 …, and specs had no version.
#[cfg(feature = "schema")]
#[derive(Encode, Decode)]
struct SchemaV1 {
    version: u32,
    name: String,
    levels: Vec<LevelInfo>,
    enums: Vec<EnumInfoV1>,
    records: Vec<RecordType>,
    sources: Vec<SourceText>,
}

#[cfg(feature = "schema")]
#[derive(Encode, Decode)]
struct EnumInfoV1 {
    name: String,
    values: Vec<String>,
}

#[cfg(feature = "schema")]
impl From<SchemaV1> for Schema {
    fn from(old: SchemaV1) -> Self {
        let enums = old.enums.into_iter().map(|item| {
            let enum_values =
                item.values.into_iter().zip(0..=u16::MAX).map(|(name, number)| EnumValueInfo { name, number });
            EnumInfo { name: item.name, values: enum_values.collect() }
        });
        Self {
            version: SCHEMA_VERSION,
            name: old.name,
            spec_version: 0,
            levels: old.levels,
            enums: enums.collect(),
            records: old.records,
            sources: old.sources,
        }
    }
}

#[cfg(feature = "schema")]
impl FieldInfo {
    fn check(&self, enums: usize) -> Result<(), &'static str> {
        let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = self.ty;
        match scalar {
            Scalar::Enum { index, .. } if index as usize >= enums => Err("has an unknown enum"),
            Scalar::String | Scalar::Bytes if !matches!(self.ty, FieldType::One(_)) => {
                Err("is an array of strings or bytes, which the format does not have")
            }
            _ if self.ty.bytes().is_some_and(|bytes| bytes > MAX_PAYLOAD_BYTES) => Err("is larger than a record"),
            _ => Ok(()),
        }
    }
}

#[cfg(feature = "schema")]
fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<MAX_SCHEMA_BYTES>()
}

/// All scalar types; for enums, a narrow and a wide one.
#[cfg(test)]
pub(crate) const SCALARS: [Scalar; 18] = [
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
    Scalar::Enum { index: 0, is_wide: true },
    Scalar::Interned,
    Scalar::String,
    Scalar::Bytes,
];

#[cfg(all(test, feature = "schema"))]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_is_still_read() {
        let record =
            RecordType { name: "e".into(), level: 0, kind: RecordKind::Event, has_location: true, fields: Vec::new() };
        let old = SchemaV1 {
            version: 1,
            name: "t".into(),
            levels: vec![LevelInfo { name: "L".into(), is_enabled: true }],
            enums: vec![EnumInfoV1 { name: "color".into(), values: vec!["red".into(), "green".into()] }],
            records: vec![record.clone()],
            sources: vec![SourceText { path: "t.tumit".into(), text: "trace t;".into() }],
        };
        let bytes = bincode::encode_to_vec(&old, config()).expect("encoding plain data cannot fail");
        let schema = Schema::decode(&bytes).expect("a known version");
        assert_eq!((schema.version, schema.spec_version, schema.name.as_str()), (SCHEMA_VERSION, 0, "t"));
        assert_eq!((schema.enums[0].name_of(1), schema.enums[0].name_of(2)), (Some("green"), None));
        assert_eq!(schema.records, [record]);
        assert_eq!(Schema::decode(&schema.encode()), Ok(schema));
    }

    #[test]
    fn the_encoding_is_that_of_bincode() {
        let types = SCALARS
            .map(FieldType::One)
            .into_iter()
            .chain([FieldType::Fixed(Scalar::U16, 3), FieldType::Variable(Scalar::I64)]);
        let fields: Vec<_> = types.map(|ty| FieldInfo { name: "é".into(), ty }).collect();
        let record =
            |kind, has_location| RecordType { name: "r".into(), level: 0, kind, has_location, fields: fields.clone() };
        let schema = Schema {
            version: SCHEMA_VERSION,
            name: "t".into(),
            spec_version: 7,
            levels: vec![LevelInfo { name: "L".into(), is_enabled: false }],
            enums: vec![EnumInfo {
                name: "color".into(),
                values: vec![EnumValueInfo { name: "red".into(), number: 300 }],
            }],
            records: vec![
                record(RecordKind::Event, true),
                record(RecordKind::Begin, false),
                record(RecordKind::End, false),
            ],
            sources: vec![SourceText { path: "t.tumit".into(), text: "trace t;".into() }],
        };
        let expected = bincode::encode_to_vec(&schema, config()).expect("encoding plain data cannot fail");
        assert_eq!(schema.encode(), expected);
        assert_eq!(Schema::decode(&schema.encode()), Ok(schema));
    }

    #[test]
    fn other_versions_are_named() {
        let error = Schema::decode(&9u32.to_le_bytes()).expect_err("a later version");
        assert!(error.to_string().contains("its version is 9"), "{error}");
        assert!(Schema::decode(&[]).is_err());
    }
}
