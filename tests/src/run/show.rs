//! A record as text: for the comparison of recorders, and for expected listings.

use std::fmt::Write as _;
use std::path::Path;

use tracer_format::checksum::crc32c;
use tracer_format::record::{array_elements, values};
use tracer_format::schema::{FieldInfo, RecordKind, Scalar};
use tracer_format::tags::tag;
use tracer_format::{FieldType, RecordType, Schema, Value};

use super::{ProcessFile, TextRecord};

/// Longer texts and arrays are reduced to their ends and a checksum.
const SHOWN: usize = 48;

impl ProcessFile {
    /// Whether the program used its own clock, with timestamps that are equal in all languages.
    #[must_use]
    pub fn has_user_clock(&self) -> bool {
        self.process_integer(tag::CLOCK_KIND) == Some(tracer_format::ClockKind::User as u64)
    }

    pub(super) fn text_record(
        &self,
        schema: &Schema,
        ty: &RecordType,
        (ticks, site): (u64, u32),
        body: &[u8],
    ) -> TextRecord {
        let user = self.has_user_clock();
        let (mut text, mut listed) = (ty.name.clone(), ty.name.clone());
        let mut bytes = body.to_vec();
        let (mut position, mut place) = (0, None);
        if ty.has_location && site == 0 {
            text += " @unknown";
            place = Some(("unknown".to_owned(), None));
        } else if ty.has_location {
            let (file, line) =
                self.sites.get(&site).unwrap_or_else(|| panic!("the tables do not contain position {site}"));
            let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            assert!(*line > 0, "lines count from 1");
            text += &format!(" @{name}");
            // A guard stores the location of its creation. In C, the end is a separate call.
            place = Some((name, (ty.kind != RecordKind::End).then_some(site)));
        }
        for (field, value) in ty.fields.iter().zip(values(&ty.fields, body)) {
            let size = size(field, &body[position..]);
            if !user && is_date(field.ty) {
                let start = position + if matches!(field.ty, FieldType::Variable(_)) { 2 } else { 0 };
                bytes[start..position + size].fill(0);
            }
            position += size;
            if let (Value::Date(date), false) = (value, user) {
                assert!(date <= ticks, "the timestamp of `{}` is after that of its record", field.name);
            }
            let _ = write!(text, " {}={}", field.name, self.plain_value(schema, value));
            let _ = write!(listed, " {}={}", field.name, self.readable_value(schema, value, user));
        }
        assert_eq!(position, body.len(), "the fields of `{}` cover all of its bytes", ty.name);
        if user {
            let _ = write!(listed, " at {ticks}");
        }
        TextRecord { ticks, text, listed, bytes, place }
    }

    fn interned_text(&self, id: u32) -> &str {
        if id == 0 { "" } else { self.strings.get(&id).expect("the string is known") }
    }

    /// A value in the notation of `tracer_format`.
    fn plain_value(&self, schema: &Schema, value: Value<'_>) -> String {
        match value {
            Value::Date(_) => "<date>".into(),
            Value::Interned(id) => format!("{:?}", self.interned_text(id)),
            Value::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
            Value::Enum { index, value } => {
                schema.enums[index as usize].name_of(value).expect("the value is known").to_owned()
            }
            Value::Array(Scalar::Date, dates) => format!("{} timestamps", dates.len() / 8),
            Value::Array(_, elements) => format!("{elements:?}"),
            other => format!("{other:?}"),
        }
    }

    /// A value for readers.
    fn readable_value(&self, schema: &Schema, value: Value<'_>, user: bool) -> String {
        match value {
            Value::Unsigned(number) => number.to_string(),
            Value::Signed(number) => number.to_string(),
            Value::Single(number) if number.is_nan() => format!("NaN:{:08x}", number.to_bits()),
            Value::Single(number) => format!("{number:?}"),
            Value::Double(number) if number.is_nan() => format!("NaN:{:016x}", number.to_bits()),
            Value::Double(number) => format!("{number:?}"),
            Value::Bool(yes) => yes.to_string(),
            Value::Date(date) if user => date.to_string(),
            Value::Pointer(address) => format!("{address:#x}"),
            Value::Interned(id) => shorten_text(self.interned_text(id).as_bytes()),
            Value::Text(text) => shorten_text(text),
            Value::Bytes(bytes) => listing(bytes.iter().map(|byte| format!("{byte:02x}")), bytes),
            Value::Array(scalar, bytes) => {
                let elements = array_elements(scalar, bytes);
                listing(
                    elements.map(|element| self.readable_value(schema, element, user)),
                    if user { bytes } else { &[] },
                )
            }
            Value::Date(_) | Value::Enum { .. } => self.plain_value(schema, value),
        }
    }
}

fn is_date(ty: FieldType) -> bool {
    let (FieldType::One(scalar) | FieldType::Fixed(scalar, _) | FieldType::Variable(scalar)) = ty;
    scalar == Scalar::Date
}

/// Size of a field's bytes.
fn size(field: &FieldInfo, rest: &[u8]) -> usize {
    let counted = || usize::from(u16::from_le_bytes(*rest.first_chunk().expect("a count")));
    match field.ty {
        FieldType::Variable(scalar) => 2 + counted() * scalar.bytes().expect("elements have a size"),
        ty => ty.bytes().unwrap_or_else(|| 2 + counted()),
    }
}

fn shorten_text(text: &[u8]) -> String {
    let full_text = String::from_utf8_lossy(text);
    if text.len() <= SHOWN {
        return format!("{full_text:?}");
    }
    let head: String = full_text.chars().take(12).collect();
    let tail: String = full_text.chars().skip(full_text.chars().count() - 12).collect();
    format!("{head:?} … {tail:?} ({} bytes, {:08x})", text.len(), crc32c(0, text))
}

fn listing(items: impl Iterator<Item = String>, bytes: &[u8]) -> String {
    let items: Vec<String> = items.collect();
    if items.len() <= SHOWN {
        return format!("[{}]", items.join(" "));
    }
    let tail = items[items.len() - 4..].join(" ");
    format!("[{} … {tail}] ({} elements, {:08x})", items[..4].join(" "), items.len(), crc32c(0, bytes))
}
