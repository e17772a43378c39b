//! Evaluates expressions for a record.

use std::cmp::Ordering;
use std::fmt::Write as _;

use tracer_format::Value;
use tracer_format::record::{array_elements, value, values};
use tracer_format::schema::{FieldType, Scalar};
use tumit::spec::{BinaryOp, Builtin, UnaryOp};

mod call;

use super::facts::{Facts, StreamFacts};
use super::format;
use super::program::{Code, FieldRead, Program, TextPiece};
use super::value::{KeyPart, Sym, Symbols, Val, append_seconds};
use crate::clock::Fine;

/// A record with the data of its stream and process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) program: &'a Program,
    pub(crate) facts: &'a Facts,
    pub(crate) stream: &'a StreamFacts,
    /// The raw timestamp in nanoseconds from the start of the run.
    pub(crate) time: i64,
    pub(crate) site: u32,
    /// The position in the stream.
    pub(crate) ordinal: u64,
    pub(crate) body: &'a [u8],
    /// Maps raw timestamps of the stream to corrected timestamps.
    pub(crate) fine: &'a Fine,
    /// Whether timestamps are corrected. Conditions, keys and values are evaluated with raw
    /// timestamps, so that both passes get the same result. Displayed values use corrected ones.
    pub(crate) is_shown: bool,
}

impl Scope<'_> {
    /// The same record with corrected timestamps.
    pub(crate) fn shown(&self) -> Self {
        Self { is_shown: true, ..*self }
    }

    fn date(&self, coarse: i64) -> i64 {
        if self.is_shown { self.fine.date(coarse, self.ordinal) } else { coarse }
    }

    /// Evaluates an expression. Assembled text is appended to `scratch`.
    pub(crate) fn eval(&self, code: &Code, scratch: &mut String, symbols: &Symbols) -> Val {
        match code {
            Code::Const(val) => *val,
            Code::Field(read) => self.field(read, scratch, symbols),
            Code::Builtin(builtin) => self.builtin(*builtin),
            Code::Unary(op, operand) => unary(*op, self.eval(operand, scratch, symbols)),
            Code::Binary(op, operands) => self.binary(*op, operands, scratch, symbols),
            Code::Element(list, place) => self.element(list, place, scratch, symbols),
            Code::Call(function, arguments) => self.call(*function, arguments, scratch, symbols),
            Code::Lookup(names, number) => {
                let number = self.eval(number, scratch, symbols);
                let known = number.integer().and_then(|number| u16::try_from(number).ok());
                known.and_then(|known| names.get(&known)).map_or(number, |name| Val::Sym(*name))
            }
            Code::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        TextPiece::Text(literal) => text.push_str(literal),
                        TextPiece::Hole(hole, format) => {
                            let val = self.eval(hole, scratch, symbols);
                            format::append(val, *format, scratch, symbols, &mut text);
                        }
                    }
                }
                in_scratch(scratch, |out| out.push_str(&text))
            }
            Code::Referent(_) => Val::None,
        }
    }

    /// The value of an expression as a key.
    #[inline]
    pub(crate) fn key(&self, code: &Code, scratch: &mut String, symbols: &mut Symbols) -> KeyPart {
        if let Code::Field(FieldRead { ty: FieldType::One(scalar), place: Some((start, _)), .. }) = code
            && let Some(key) = self.plain_key(*scalar, *start)
        {
            return key;
        }
        if let Code::Referent(referent) = code {
            return referent.key(self, scratch, symbols);
        }
        self.eval(code, scratch, symbols).key(scratch, symbols)
    }

    /// A fast path for integers, interned texts and enum values at a constant position.
    #[inline]
    fn plain_key(&self, scalar: Scalar, start: usize) -> Option<KeyPart> {
        let bytes = self.body.get(start..)?;
        Some(match scalar {
            Scalar::U8 => KeyPart::Int(i64::from(*bytes.first()?)),
            Scalar::U16 => KeyPart::Int(i64::from(u16::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::U32 => KeyPart::Int(i64::from(u32::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::I32 => KeyPart::Int(i64::from(i32::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::U64 => KeyPart::Int(i64::try_from(u64::from_le_bytes(*bytes.first_chunk()?)).ok()?),
            Scalar::I64 => KeyPart::Int(i64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::Interned => {
                let id = u32::from_le_bytes(*bytes.first_chunk()?);
                KeyPart::Sym(self.facts.strings.get(id as usize).copied().flatten()?)
            }
            Scalar::Enum { index, wide } => {
                let number = if wide { u16::from_le_bytes(*bytes.first_chunk()?) } else { (*bytes.first()?).into() };
                KeyPart::Sym(self.program.enums.get(index as usize)?.get(number)?)
            }
            _ => return None,
        })
    }

    /// Whether a condition is true. A condition without a value is false.
    pub(crate) fn holds(&self, condition: &Code, scratch: &mut String, symbols: &Symbols) -> bool {
        self.eval(condition, scratch, symbols) == Val::Bool(true)
    }

    /// The file and line of the record, if known.
    pub(crate) fn source(&self) -> Option<(Sym, u32)> {
        *self.facts.sites.get(self.site as usize)?
    }

    pub(crate) fn builtin(&self, builtin: Builtin) -> Val {
        match builtin {
            Builtin::Date => Val::Date(self.date(self.time)),
            Builtin::Pid => Val::from_unsigned(self.stream.pid),
            Builtin::Tid => Val::from_unsigned(self.stream.tid),
            Builtin::Rank => Val::from_unsigned(self.stream.rank),
            Builtin::Host => Val::Sym(self.stream.host),
            Builtin::ThreadName => Val::Sym(self.stream.thread_name),
            Builtin::StreamLabel => Val::Sym(self.stream.label),
            Builtin::File => self.source().map_or(Val::None, |(file, _)| Val::Sym(file)),
            Builtin::Line => self.source().map_or(Val::None, |(_, line)| Val::Int(line.into())),
            Builtin::Event => Val::Sym(self.program.name),
            Builtin::Level => Val::Sym(self.program.level),
        }
    }

    fn field(&self, read: &FieldRead, scratch: &mut String, symbols: &Symbols) -> Val {
        // A fast path for most fields.
        if let (Some((start, _)), FieldType::One(scalar)) = (read.place, read.ty)
            && let Some(val) = self.plain(scalar, start)
        {
            return val;
        }
        self.raw(read).map_or(Val::None, |found| self.convert(found, scratch, symbols))
    }

    /// A number or interned text at this position. `None` for other types and missing fields.
    #[inline]
    fn plain(&self, scalar: Scalar, start: usize) -> Option<Val> {
        let bytes = self.body.get(start..)?;
        Some(match scalar {
            Scalar::U8 => Val::Int(i64::from(*bytes.first()?)),
            Scalar::U16 => Val::Int(i64::from(u16::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::U32 => Val::Int(i64::from(u32::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::U64 => Val::from_unsigned(u64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::I32 => Val::Int(i64::from(i32::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::I64 => Val::Int(i64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::F64 => Val::Float(f64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::Interned => {
                let id = u32::from_le_bytes(*bytes.first_chunk()?);
                Val::Sym(self.facts.strings.get(id as usize).copied().flatten()?)
            }
            _ => return None,
        })
    }

    /// A field as it was recorded.
    pub(crate) fn raw(&self, read: &FieldRead) -> Option<Value<'_>> {
        match read.place {
            Some((start, end)) => self.body.get(start..end).and_then(|bytes| value(read.ty, bytes)),
            None => values(&self.program.fields, self.body).nth(read.index),
        }
    }

    /// The elements of an array field.
    pub(crate) fn elements(&self, code: &Code, scratch: &mut String, symbols: &Symbols) -> Option<Vec<Val>> {
        let Code::Field(read) = code else { return None };
        match self.raw(read)? {
            Value::Array(scalar, bytes) => {
                Some(array_elements(scalar, bytes).map(|element| self.convert(element, scratch, symbols)).collect())
            }
            _ => None,
        }
    }

    pub(crate) fn convert(&self, found: Value<'_>, scratch: &mut String, symbols: &Symbols) -> Val {
        match found {
            Value::Unsigned(value) => Val::from_unsigned(value),
            Value::Signed(value) => Val::Int(value),
            Value::Single(value) => Val::Single(value),
            Value::Double(value) => Val::Float(value),
            Value::Bool(value) => Val::Bool(value),
            Value::Date(ticks) => Val::Date(self.date(self.facts.clock.global_from_ticks(ticks))),
            Value::Pointer(value) => Val::Pointer(value),
            Value::Enum { index, value } => {
                let name = self.program.enums.get(index as usize).and_then(|names| names.get(value));
                name.map_or(Val::Int(value.into()), Val::Sym)
            }
            Value::Interned(id) => match self.facts.strings.get(id as usize).copied().flatten() {
                Some(sym) => Val::Sym(sym),
                None if id == 0 => in_scratch(scratch, |_| {}),
                None => in_scratch(scratch, |out| {
                    let _ = write!(out, "string {id} (lost)");
                }),
            },
            Value::Text(bytes) => in_scratch(scratch, |out| out.push_str(&String::from_utf8_lossy(bytes))),
            Value::Bytes(bytes) => in_scratch(scratch, |out| {
                for byte in bytes {
                    let _ = write!(out, "{byte:02x}");
                }
            }),
            Value::Array(scalar, bytes) => {
                let mut text = String::from("[");
                for (number, element) in array_elements(scalar, bytes).enumerate() {
                    if number > 0 {
                        text.push_str(", ");
                    }
                    let mut inner = String::new();
                    match self.convert(element, &mut inner, symbols) {
                        Val::Scratch { .. } => text.push_str(&inner),
                        val => val.append(&mut text, symbols),
                    }
                }
                text.push(']');
                in_scratch(scratch, |out| out.push_str(&text))
            }
        }
    }

    fn binary(&self, op: BinaryOp, operands: &(Code, Code), scratch: &mut String, symbols: &Symbols) -> Val {
        let left = self.eval(&operands.0, scratch, symbols);
        match (op, left) {
            (BinaryOp::And, Val::Bool(false)) | (BinaryOp::Or, Val::Bool(true)) => return left,
            _ => {}
        }
        let right = self.eval(&operands.1, scratch, symbols);
        match op {
            BinaryOp::And | BinaryOp::Or => right,
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
                arithmetic(op, left, right)
            }
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => {
                compare(left, right, scratch, symbols).map_or(Val::Bool(op == BinaryOp::NotEqual), |ordering| {
                    Val::Bool(match op {
                        BinaryOp::Equal => ordering.is_eq(),
                        BinaryOp::NotEqual => ordering.is_ne(),
                        BinaryOp::Less => ordering.is_lt(),
                        BinaryOp::LessEqual => ordering.is_le(),
                        BinaryOp::Greater => ordering.is_gt(),
                        _ => ordering.is_ge(),
                    })
                })
            }
        }
    }
}

/// Appends to the scratch text and returns the range.
fn in_scratch(scratch: &mut String, append: impl FnOnce(&mut String)) -> Val {
    let start = u32::try_from(scratch.len()).unwrap_or(u32::MAX);
    append(scratch);
    Val::Scratch { start, end: u32::try_from(scratch.len()).unwrap_or(u32::MAX) }
}

fn unary(op: UnaryOp, operand: Val) -> Val {
    match (op, operand) {
        (UnaryOp::Not, Val::Bool(value)) => Val::Bool(!value),
        (UnaryOp::Minus, Val::Float(value)) => Val::Float(-value),
        (UnaryOp::Minus, Val::Single(value)) => Val::Single(-value),
        (UnaryOp::Minus, other) => other.integer().map_or(Val::None, |value| from_wide(-value)),
        (UnaryOp::Not, _) => Val::None,
    }
}

/// Integers stay integers if the result has 64 bits. With one float, the result is a float.
fn arithmetic(op: BinaryOp, left: Val, right: Val) -> Val {
    let is_date = matches!(left, Val::Date(_)) || matches!(right, Val::Date(_));
    if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
        let result = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide => a.checked_div(b),
            _ => a.checked_rem(b),
        };
        let val = result.map_or(Val::None, from_wide);
        let both = matches!(left, Val::Date(_)) && matches!(right, Val::Date(_));
        return match val {
            Val::Int(nanos) if is_date && !(both && op == BinaryOp::Subtract) => Val::Date(nanos),
            val => val,
        };
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else { return Val::None };
    Val::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

pub(crate) fn from_wide(value: i128) -> Val {
    i64::try_from(value).map(Val::Int).or_else(|_| u64::try_from(value).map(Val::Unsigned)).unwrap_or(Val::None)
}

fn compare(left: Val, right: Val, scratch: &str, symbols: &Symbols) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (left.integer(), right.integer()) {
        return Some(a.cmp(&b));
    }
    if let (Val::Sym(a), Val::Sym(b)) = (left, right)
        && a == b
    {
        return Some(Ordering::Equal);
    }
    if let (Some(a), Some(b)) = (left.text(scratch, symbols), right.text(scratch, symbols)) {
        return Some(a.cmp(b));
    }
    left.number()?.partial_cmp(&right.number()?)
}

/// Appends a value as text for users. Text ranges refer to `scratch`.
pub(crate) fn append_value(val: Val, scratch: &str, symbols: &Symbols, out: &mut String) {
    match val {
        Val::Scratch { start, end } => out.push_str(&scratch[start as usize..end as usize]),
        Val::Date(nanos) => append_seconds(out, nanos),
        val => val.append(out, symbols),
    }
}
