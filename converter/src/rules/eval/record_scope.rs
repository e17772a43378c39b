//! [`RecordScope`]: a record as the context of expressions.

use std::fmt::Write as _;
use std::ops::Range;

use tracer_format::Value;
use tracer_format::record::{array_elements, value, values};
use tracer_format::schema::{FieldType, Scalar};
use tumit::spec::{BinaryOp, Builtin};

use super::operators::{arithmetic, compare, unary};
use crate::clock::TimestampMap;
use crate::rules::placeholder;
use crate::rules::program::{ExprCode, FieldRead, RecordProgram, TextPart};
use crate::rules::rule_value::{KeyPart, RuleValue, Symbols};
use crate::rules::stream_facts::{ProcessFacts, SourceLocation, StreamFacts};

/// A record with the data of its stream and process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordScope<'a> {
    pub(crate) program: &'a RecordProgram,
    pub(crate) facts: &'a ProcessFacts,
    pub(crate) stream: &'a StreamFacts,
    /// The raw timestamp in nanoseconds from the start of the run.
    pub(crate) raw: i64,
    pub(crate) site: u32,
    /// The position in the stream.
    pub(crate) ordinal: u64,
    pub(crate) body: &'a [u8],
    /// Maps raw timestamps of the stream to corrected timestamps.
    pub(crate) timestamp_map: &'a TimestampMap,
    /// Whether timestamps are corrected. Conditions, keys and values are evaluated with raw
    /// timestamps, so that both passes get the same result. Displayed values use corrected ones.
    pub(crate) is_shown: bool,
}

impl RecordScope<'_> {
    /// The same record with corrected timestamps.
    pub(crate) fn with_corrected_time(&self) -> Self {
        Self { is_shown: true, ..*self }
    }

    fn correct(&self, raw: i64) -> i64 {
        if self.is_shown { self.timestamp_map.correct(raw, self.ordinal) } else { raw }
    }

    /// Evaluates an expression. Assembled text is appended to `scratch`.
    pub(crate) fn eval(&self, code: &ExprCode, scratch: &mut String, symbols: &Symbols) -> RuleValue {
        match code {
            ExprCode::Const(val) => *val,
            ExprCode::Field(read) => self.field(read, scratch, symbols),
            ExprCode::Builtin(builtin) => self.builtin(*builtin),
            ExprCode::Unary(op, operand) => unary(*op, self.eval(operand, scratch, symbols)),
            ExprCode::Binary(op, operands) => self.binary(*op, operands, scratch, symbols),
            ExprCode::Element(list, position) => self.element(list, position, scratch, symbols),
            ExprCode::Call(function, arguments) => self.call(*function, arguments, scratch, symbols),
            ExprCode::Lookup(names, number) => {
                let number = self.eval(number, scratch, symbols);
                let index = number.integer().and_then(|number| u16::try_from(number).ok());
                index.and_then(|index| names.get(&index)).map_or(number, |name| RuleValue::Sym(*name))
            }
            ExprCode::Text(pieces) => {
                let mut text = String::new();
                for piece in pieces {
                    match piece {
                        TextPart::Text(literal) => text.push_str(literal),
                        TextPart::Hole(hole, format) => {
                            let val = self.eval(hole, scratch, symbols);
                            placeholder::append(val, *format, scratch, symbols, &mut text);
                        }
                    }
                }
                in_scratch(scratch, |out| out.push_str(&text))
            }
            ExprCode::Referent(_) => RuleValue::None,
        }
    }

    /// The value of an expression as a key.
    #[inline]
    pub(crate) fn key(&self, code: &ExprCode, scratch: &mut String, symbols: &mut Symbols) -> KeyPart {
        if let ExprCode::Field(FieldRead { ty: FieldType::One(scalar), range: Some(Range { start, .. }), .. }) = code
            && let Some(key) = self.plain_key(*scalar, *start)
        {
            return key;
        }
        if let ExprCode::Referent(referent) = code {
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
            Scalar::Enum { index, is_wide } => {
                let number = if is_wide { u16::from_le_bytes(*bytes.first_chunk()?) } else { (*bytes.first()?).into() };
                KeyPart::Sym(self.program.enums.get(index as usize)?.get(number)?)
            }
            _ => return None,
        })
    }

    /// Whether a condition is true. A condition without a value is false.
    pub(crate) fn is_true(&self, condition: &ExprCode, scratch: &mut String, symbols: &Symbols) -> bool {
        self.eval(condition, scratch, symbols) == RuleValue::Bool(true)
    }

    /// The file and line of the record, if known.
    pub(crate) fn source(&self) -> Option<SourceLocation> {
        *self.facts.sites.get(self.site as usize)?
    }

    pub(crate) fn builtin(&self, builtin: Builtin) -> RuleValue {
        match builtin {
            Builtin::Date => RuleValue::Date(self.correct(self.raw)),
            Builtin::Pid => RuleValue::from_unsigned(self.stream.pid),
            Builtin::Tid => RuleValue::from_unsigned(self.stream.tid),
            Builtin::Rank => RuleValue::from_unsigned(self.stream.rank),
            Builtin::Host => RuleValue::Sym(self.stream.host),
            Builtin::ThreadName => RuleValue::Sym(self.stream.thread_name),
            Builtin::StreamLabel => RuleValue::Sym(self.stream.label),
            Builtin::File => self.source().map_or(RuleValue::None, |site| RuleValue::Sym(site.file)),
            Builtin::Line => self.source().map_or(RuleValue::None, |site| RuleValue::Int(site.line.into())),
            Builtin::Event => RuleValue::Sym(self.program.name),
            Builtin::Level => RuleValue::Sym(self.program.level),
        }
    }

    fn field(&self, read: &FieldRead, scratch: &mut String, symbols: &Symbols) -> RuleValue {
        // A fast path for most fields.
        if let (Some(Range { start, .. }), FieldType::One(scalar)) = (&read.range, read.ty)
            && let Some(val) = self.plain_field(scalar, *start)
        {
            return val;
        }
        self.raw_field(read).map_or(RuleValue::None, |field| self.convert(field, scratch, symbols))
    }

    /// A number or interned text at this position. `None` for other types and missing fields.
    #[inline]
    fn plain_field(&self, scalar: Scalar, start: usize) -> Option<RuleValue> {
        let bytes = self.body.get(start..)?;
        Some(match scalar {
            Scalar::U8 => RuleValue::Int(i64::from(*bytes.first()?)),
            Scalar::U16 => RuleValue::Int(i64::from(u16::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::U32 => RuleValue::Int(i64::from(u32::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::U64 => RuleValue::from_unsigned(u64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::I32 => RuleValue::Int(i64::from(i32::from_le_bytes(*bytes.first_chunk()?))),
            Scalar::I64 => RuleValue::Int(i64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::F64 => RuleValue::Float(f64::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::Interned => {
                let id = u32::from_le_bytes(*bytes.first_chunk()?);
                RuleValue::Sym(self.facts.strings.get(id as usize).copied().flatten()?)
            }
            _ => return None,
        })
    }

    /// A field as it was recorded.
    pub(crate) fn raw_field(&self, read: &FieldRead) -> Option<Value<'_>> {
        match &read.range {
            Some(range) => self.body.get(range.clone()).and_then(|bytes| value(read.ty, bytes)),
            None => values(&self.program.fields, self.body).nth(read.index),
        }
    }

    /// The elements of an array field.
    pub(crate) fn elements(&self, code: &ExprCode, scratch: &mut String, symbols: &Symbols) -> Option<Vec<RuleValue>> {
        let ExprCode::Field(read) = code else { return None };
        match self.raw_field(read)? {
            Value::Array(scalar, bytes) => {
                Some(array_elements(scalar, bytes).map(|element| self.convert(element, scratch, symbols)).collect())
            }
            _ => None,
        }
    }

    pub(crate) fn convert(&self, found: Value<'_>, scratch: &mut String, symbols: &Symbols) -> RuleValue {
        match found {
            Value::Unsigned(value) => RuleValue::from_unsigned(value),
            Value::Signed(value) => RuleValue::Int(value),
            Value::Single(value) => RuleValue::Single(value),
            Value::Double(value) => RuleValue::Float(value),
            Value::Bool(value) => RuleValue::Bool(value),
            Value::Date(ticks) => RuleValue::Date(self.correct(self.facts.clock.global_from_ticks(ticks))),
            Value::Pointer(value) => RuleValue::Pointer(value),
            Value::Enum { index, value } => {
                let name = self.program.enums.get(index as usize).and_then(|names| names.get(value));
                name.map_or(RuleValue::Int(value.into()), RuleValue::Sym)
            }
            Value::Interned(id) => match self.facts.strings.get(id as usize).copied().flatten() {
                Some(sym) => RuleValue::Sym(sym),
                None if id == 0 => in_scratch(scratch, |_| {}),
                None => in_scratch(scratch, |out| {
                    let _ = write!(out, "string {id} (missing)");
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
                        RuleValue::Scratch { .. } => text.push_str(&inner),
                        val => val.append(&mut text, symbols),
                    }
                }
                text.push(']');
                in_scratch(scratch, |out| out.push_str(&text))
            }
        }
    }

    fn binary(
        &self,
        op: BinaryOp,
        operands: &(ExprCode, ExprCode),
        scratch: &mut String,
        symbols: &Symbols,
    ) -> RuleValue {
        let left = self.eval(&operands.0, scratch, symbols);
        match (op, left) {
            (BinaryOp::And, RuleValue::Bool(false)) | (BinaryOp::Or, RuleValue::Bool(true)) => return left,
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
                compare(left, right, scratch, symbols).map_or(RuleValue::Bool(op == BinaryOp::NotEqual), |ordering| {
                    RuleValue::Bool(match op {
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
fn in_scratch(scratch: &mut String, append: impl FnOnce(&mut String)) -> RuleValue {
    let start = u32::try_from(scratch.len()).unwrap_or(u32::MAX);
    append(scratch);
    RuleValue::Scratch { start, end: u32::try_from(scratch.len()).unwrap_or(u32::MAX) }
}
