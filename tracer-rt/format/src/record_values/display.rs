//! The text of records, as in the output of `tumit dump` after timestamp and thread.

use std::fmt::{self, Write as _};

use super::context::Context;
use super::notation::{list, seconds};
use super::typed_record::{AnyRecord, Content, Event, RawRecordBytes, TypedRecord};
use super::{Field, Name, Text};
use crate::record::{Value, array_elements, values};

/// Prints `post  node=1 stamp=7`. Fields that the file does not have are omitted.
///
/// # Errors
/// If the formatter fails.
pub fn event(event: &dyn Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let ty = &event.spec().types[event.kind()];
    let mut text = String::new();
    let mut before = " ";
    f.write_str(ty.name)?;
    for (index, (name, _)) in ty.fields.iter().enumerate() {
        let Some(value) = event.field(index).filter(|_| !event.missing_fields().contains(name)) else { continue };
        text.clear();
        let quoted = value.show(&mut text);
        field(before, name, quoted, &text, f)?;
        before = "";
    }
    Ok(())
}

fn field(separator: &str, name: &str, is_quoted: bool, text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if is_quoted { write!(f, "{separator} {name}={text:?}") } else { write!(f, "{separator} {name}={text}") }
}

impl fmt::Display for RawRecordBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let mut before = " ";
        f.write_str(&self.file.name)?;
        for (value, layout) in values(&self.file.fields, self.body).zip(&self.file.fields) {
            text.clear();
            let quoted = show(value, self.context, &mut text);
            field(before, &layout.name, quoted, &text, f)?;
            before = "";
        }
        Ok(())
    }
}

impl<'a, R: AnyRecord<'a>> fmt::Display for TypedRecord<'a, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = match self.record.content() {
            Content::Event(known) => {
                event(known, f)?;
                known.spec().types[known.kind()].fields.len() > known.missing_fields().len()
            }
            Content::Unknown(raw) => {
                write!(f, "{raw}")?;
                !raw.file.fields.is_empty()
            }
            Content::Dropped(report) if report.is_truncation() => {
                return write!(f, "(the next record is truncated: {} bytes are missing)", report.bytes);
            }
            Content::Dropped(report) => return write!(f, "({} records dropped, missing or damaged)", report.count),
        };
        match self.head.source {
            // As in the columns of `tumit dump`: a space ends the column of the event.
            Some(site) => write!(f, "{}  ({}:{})", if fields { "" } else { " " }, site.file, site.line),
            None => Ok(()),
        }
    }
}

/// Appends the text of any value. Returns whether it needs quotes.
fn show(value: Value<'_>, context: Context<'_>, out: &mut String) -> bool {
    // Writing to a text cannot fail.
    let _ = match value {
        Value::Unsigned(value) => write!(out, "{value}"),
        Value::Signed(value) => write!(out, "{value}"),
        Value::Single(value) => write!(out, "{value}"),
        Value::Double(value) => write!(out, "{value}"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Date(ticks) => {
            match context.tables.nanos {
                Some(nanos) => seconds(nanos(ticks), out),
                None => return write!(out, "{ticks} ticks").is_err(),
            }
            Ok(())
        }
        Value::Pointer(address) => return write!(out, "{address:#x}").is_ok(),
        Value::Enum { index, value } => match context.enums.get(index as usize).and_then(|item| item.name_of(value)) {
            Some(name) => return write!(out, "{name}").is_ok(),
            None => write!(out, "{value}"),
        },
        Value::Interned(_) => {
            let name = Name::from_value(value, context).unwrap_or_default();
            return write!(out, "{name}").is_ok();
        }
        Value::Text(bytes) => return write!(out, "{}", Text(bytes)).is_ok(),
        Value::Bytes(bytes) => {
            for byte in bytes {
                let _ = write!(out, "{byte:02x}");
            }
            return true;
        }
        Value::Array(scalar, bytes) => {
            list(array_elements(scalar, bytes), |element, out| show(element, context, out), out);
            return false;
        }
    };
    false
}
