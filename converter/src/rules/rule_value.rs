//! Values of expressions, and texts as small numbers.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

/// No known thread: the keys distinguish the containers within one process.
pub(crate) const BY_KEYS: u32 = u32::MAX;

/// A text, by its number in [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SymbolId(pub(crate) u32);

/// Texts, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    texts: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, SymbolId>,
}

impl Symbols {
    /// The number of a text; O(its length).
    pub(crate) fn intern(&mut self, text: &str) -> SymbolId {
        if let Some(&sym) = self.numbers.get(text) {
            return sym;
        }
        let sym = SymbolId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(text.into());
        self.numbers.insert(text.into(), sym);
        sym
    }

    /// The text of a number.
    pub(crate) fn text(&self, sym: SymbolId) -> &str {
        self.texts.get(sym.0 as usize).map_or("", |text| text)
    }
}

/// The value of an expression. Assembled text is a range of the caller's scratch text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RuleValue {
    /// No value: it cannot be computed (division by zero, a damaged field).
    None,
    Int(i64),
    /// A number above the largest [`RuleValue::Int`].
    Unsigned(u64),
    Float(f64),
    Single(f32),
    Bool(bool),
    Sym(SymbolId),
    Scratch {
        start: u32,
        end: u32,
    },
    Pointer(u64),
    /// Nanoseconds from the start of the run.
    Date(i64),
}

/// A value that can be compared and hashed: a key of a container or link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KeyPart {
    None,
    Int(i64),
    Unsigned(u64),
    Float(u64),
    Bool(bool),
    Sym(SymbolId),
    /// The process and thread to which a container belongs. It identifies the container without the
    /// keys of its type, unless `thread` is [`BY_KEYS`].
    Of {
        process: u32,
        thread: u32,
    },
}

impl RuleValue {
    pub(crate) fn from_unsigned(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Unsigned(value), Self::Int)
    }

    #[expect(clippy::cast_precision_loss, reason = "variables are floats with this precision")]
    pub(crate) fn number(self) -> Option<f64> {
        Some(match self {
            Self::Int(value) | Self::Date(value) => value as f64,
            Self::Unsigned(value) | Self::Pointer(value) => value as f64,
            Self::Float(value) => value,
            Self::Single(value) => f64::from(value),
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::None | Self::Sym(_) | Self::Scratch { .. } => return None,
        })
    }

    /// The value as an exact integer.
    pub(crate) fn integer(self) -> Option<i128> {
        match self {
            Self::Int(value) | Self::Date(value) => Some(value.into()),
            Self::Unsigned(value) | Self::Pointer(value) => Some(value.into()),
            Self::Bool(value) => Some(value.into()),
            _ => None,
        }
    }

    /// The value as a key. Text is interned.
    pub(crate) fn key(self, scratch: &str, symbols: &mut Symbols) -> KeyPart {
        match self {
            Self::None => KeyPart::None,
            Self::Int(value) | Self::Date(value) => KeyPart::Int(value),
            Self::Unsigned(value) => KeyPart::Unsigned(value),
            Self::Pointer(value) => i64::try_from(value).map_or(KeyPart::Unsigned(value), KeyPart::Int),
            Self::Float(value) => KeyPart::Float(value.to_bits()),
            Self::Single(value) => KeyPart::Float(f64::from(value).to_bits()),
            Self::Bool(value) => KeyPart::Bool(value),
            Self::Sym(sym) => KeyPart::Sym(sym),
            Self::Scratch { start, end } => KeyPart::Sym(symbols.intern(slice(scratch, start, end))),
        }
    }

    /// The text of the value, if it is text.
    pub(crate) fn text<'t>(self, scratch: &'t str, symbols: &'t Symbols) -> Option<&'t str> {
        match self {
            Self::Sym(sym) => Some(symbols.text(sym)),
            Self::Scratch { start, end } => Some(slice(scratch, start, end)),
            _ => None,
        }
    }

    /// Converts all values to text, except text, 64-bit integers and 64-bit floats.
    pub(crate) fn in_scratch(self, scratch: &mut String, symbols: &Symbols) -> Self {
        if matches!(self, Self::Int(_) | Self::Float(_) | Self::Sym(_) | Self::Scratch { .. }) {
            return self;
        }
        let start = u32::try_from(scratch.len()).unwrap_or(u32::MAX);
        self.append(scratch, symbols);
        Self::Scratch { start, end: u32::try_from(scratch.len()).unwrap_or(u32::MAX) }
    }

    /// Appends the text of the value. If the value is a text range, it refers to `out`.
    pub(crate) fn append(self, out: &mut String, symbols: &Symbols) {
        let formatted_value = match self {
            Self::None => out.write_char('?'),
            Self::Int(value) => write!(out, "{value}"),
            Self::Unsigned(value) => write!(out, "{value}"),
            Self::Float(value) => write!(out, "{value}"),
            Self::Single(value) => write!(out, "{value}"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Sym(sym) => out.write_str(symbols.text(sym)),
            Self::Scratch { start, end } => {
                let text = slice(out, start, end).to_owned();
                out.write_str(&text)
            }
            Self::Pointer(value) => write!(out, "{value:#x}"),
            Self::Date(nanos) => {
                append_seconds(out, nanos);
                Ok(())
            }
        };
        // Writing to a text cannot fail.
        let _ = formatted_value;
    }
}

/// A key as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyWord {
    /// The kind of the key, below 8.
    pub(crate) kind: u64,
    pub(crate) value: u64,
}

impl KeyPart {
    /// The key as numbers.
    pub(crate) fn word(self) -> KeyWord {
        match self {
            Self::None => KeyWord { kind: 0, value: 0 },
            Self::Int(value) => KeyWord { kind: 1, value: value.cast_unsigned() },
            Self::Unsigned(value) => KeyWord { kind: 2, value },
            Self::Float(bits) => KeyWord { kind: 3, value: bits },
            Self::Bool(value) => KeyWord { kind: 4, value: value.into() },
            Self::Sym(sym) => KeyWord { kind: 5, value: sym.0.into() },
            Self::Of { process, thread } => KeyWord { kind: 6, value: u64::from(process) << 32 | u64::from(thread) },
        }
    }

    /// Whether it identifies a container among others of its type without the following keys.
    pub(crate) const fn is_whole(self) -> bool {
        matches!(self, Self::Of { thread, .. } if thread != BY_KEYS)
    }

    pub(crate) const fn value(self) -> RuleValue {
        match self {
            Self::None => RuleValue::None,
            Self::Int(value) => RuleValue::Int(value),
            Self::Unsigned(value) => RuleValue::Unsigned(value),
            Self::Float(bits) => RuleValue::Float(f64::from_bits(bits)),
            Self::Bool(value) => RuleValue::Bool(value),
            Self::Sym(sym) => RuleValue::Sym(sym),
            // Rules and labels cannot refer to it as a key.
            Self::Of { .. } => RuleValue::None,
        }
    }
}

/// Appends nanoseconds as seconds with nine decimals.
pub(crate) fn append_seconds(out: &mut String, nanos: i64) {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let _ = write!(out, "{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
}

fn slice(text: &str, start: u32, end: u32) -> &str {
    text.get(start as usize..end as usize).unwrap_or("")
}
