//! Interned strings, texts and bytes.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::field::{Encode, Field};
use crate::record::Value;
use crate::record_values::{Context, Sink};
use crate::schema::{FieldType, Scalar};

/// An interned string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name<'a> {
    /// The text.
    Known(&'a str),
    /// The number in the file, if the table of the file does not contain the text.
    Missing(u32),
}

impl<'a> Name<'a> {
    /// The text, if the file contains it.
    #[must_use]
    pub const fn text(&self) -> Option<&'a str> {
        if let Self::Known(text) = self { Some(*text) } else { None }
    }
}

impl Default for Name<'_> {
    fn default() -> Self {
        Self::Known("")
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Self::Known(text)
    }
}

impl PartialEq<str> for Name<'_> {
    fn eq(&self, other: &str) -> bool {
        self.text() == Some(other)
    }
}

impl PartialEq<&str> for Name<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.text() == Some(*other)
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(text) => f.write_str(text),
            Self::Missing(number) => write!(f, "string {number} (missing)"),
        }
    }
}

impl Encode for Name<'_> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        match (ty, self) {
            (FieldType::One(Scalar::String), _) => Text(self.to_string().as_bytes()).encode(ty, sink),
            (FieldType::One(Scalar::Interned), Self::Known(text)) => {
                let number = sink.names.string(text);
                sink.out.extend_from_slice(&number.to_le_bytes());
                true
            }
            (FieldType::One(Scalar::Interned), Self::Missing(number)) => {
                sink.out.extend_from_slice(&number.to_le_bytes());
                true
            }
            _ => false,
        }
    }

    fn show(&self, out: &mut String) -> bool {
        let _ = write!(out, "{self}");
        true
    }
}

impl<'a> Field<'a> for Name<'a> {
    fn zero() -> Self {
        Self::default()
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        Some(match value {
            Value::Interned(id) => {
                let text = context.tables.strings.get(id as usize).and_then(Option::as_deref);
                match text {
                    Some(text) => Self::Known(text),
                    None if id == 0 => Self::Known(""),
                    None => Self::Missing(id),
                }
            }
            Value::Text(bytes) => Self::Known(std::str::from_utf8(bytes).unwrap_or("\u{fffd}")),
            _ => return None,
        })
    }
}

/// Text of a record. It may be invalid UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text<'a>(pub &'a [u8]);

impl<'a> Text<'a> {
    /// Returns the text. Invalid UTF-8 is replaced.
    #[must_use]
    pub fn to_str(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.0)
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str())
    }
}

impl Encode for Text<'_> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        match ty {
            FieldType::One(Scalar::String) => put_counted(self.0, sink.out),
            FieldType::One(Scalar::Interned) => {
                let number = sink.names.string(&self.to_str());
                sink.out.extend_from_slice(&number.to_le_bytes());
                true
            }
            _ => false,
        }
    }

    fn show(&self, out: &mut String) -> bool {
        out.push_str(&self.to_str());
        true
    }
}

impl<'a> Field<'a> for Text<'a> {
    fn zero() -> Self {
        Self::default()
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        match value {
            Value::Text(bytes) => Some(Self(bytes)),
            _ => Name::from_value(value, context).and_then(|name| name.text()).map(Self::from),
        }
    }
}

impl Encode for &[u8] {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        ty == FieldType::One(Scalar::Bytes) && put_counted(self, sink.out)
    }

    fn show(&self, out: &mut String) -> bool {
        for byte in *self {
            let _ = write!(out, "{byte:02x}");
        }
        true
    }
}

impl<'a> Field<'a> for &'a [u8] {
    fn zero() -> Self {
        &[]
    }

    fn from_value(value: Value<'a>, _: Context<'a>) -> Option<Self> {
        if let Value::Bytes(bytes) = value { Some(bytes) } else { None }
    }
}

fn put_counted(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(count) = u16::try_from(bytes.len()) else { return false };
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(bytes);
    true
}
