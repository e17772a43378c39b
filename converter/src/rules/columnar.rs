//! Which operations can be made from columns, a block at a time: those of arrows whose container, value, keys and fields are each a
//! number, text or name at a constant place of the record, or the same for all records of a stream. All else is evaluated record by record.
//!
//! This says only what is where. What a column's value stands for as a key or value is what [`Scope::key`] and [`Scope::eval`] say, of
//! which these are the plain cases, and the two passes say what an operation does.

use tracer_format::schema::{FieldType, Scalar};
use tumit::spec::Builtin;

use super::eval::Scope;
use super::facts::Facts;
use super::links::LinkKey;
use super::model::Model;
use super::program::{
    Arrow, Cell, Code, FieldRead, LinkValue, Names, Op, Part, Ready, ReadyValue, Target, ValueCode, Wide,
};
use super::value::{KeyPart, Sym, Symbols, Val};
use tumit_paje::TypeId;

/// The arrows of a record type, if all that show something are ready.
pub(crate) fn ready_arrows(arrows: &[Arrow], located: bool, model: &Model) -> Option<Box<[Ready]>> {
    let shown = (0u16..).zip(arrows).filter(|(_, arrow)| !matches!(arrow.op, Op::Nothing));
    shown.map(|(number, arrow)| ready(number, arrow, located, model)).collect()
}

/// The ends of links of a record type as the first pass needs them, if nothing else of it has to be looked at record by record.
pub(crate) fn ready_links(arrows: &[Arrow], located: bool, model: &Model) -> Option<Box<[Ready]>> {
    let surveyed = |arrow: &Arrow| arrow.is_surveyed() && arrow.plain_value().is_none();
    let arrows = (0u16..).zip(arrows).filter(|(_, arrow)| surveyed(arrow));
    let link = |(number, arrow): (u16, &Arrow)| {
        let Op::Link { link, value, key, on, .. } = &arrow.op else { return None };
        if arrow.at.is_some() || arrow.when.is_some() || matches!(value, Some(LinkValue::Computed(_))) {
            return None;
        }
        let keys = link_parts(*link, key, on, located, model)?;
        let wide = Wide { site: false, value: false, keys, link: *link, fields: Vec::new() };
        Some(Ready { arrow: number, on: Vec::new(), value: ReadyValue::Declared, wide: Some(wide) })
    };
    arrows.map(link).collect()
}

fn ready(number: u16, arrow: &Arrow, located: bool, model: &Model) -> Option<Ready> {
    if arrow.at.is_some() || arrow.when.is_some() || !arrow.related.is_empty() {
        return None;
    }
    let (on, value) = match &arrow.op {
        Op::Create { on } | Op::Destroy { on } | Op::ResetState { on, .. } => (on, ReadyValue::Declared),
        Op::SetState { ty, value, on, .. } | Op::PushState { ty, value, on, .. } | Op::Mark { ty, value, on } => {
            (on, named(*ty, Some(value), located)?)
        }
        Op::PopState { ty, value, on, .. } => (on, named(*ty, value.as_ref(), located)?),
        Op::Variable { value, on, .. } => (on, ReadyValue::Number(part(value, located).filter(Part::is_number)?)),
        Op::Link { value, on, .. } if !matches!(value, Some(LinkValue::Computed(_))) => (on, ReadyValue::Declared),
        Op::Link { .. } | Op::Nothing | Op::Line { .. } => return None,
    };
    // The thread that values refer to may depend on the time of the record.
    if on.by_value.is_some()
        && on.keys.iter().any(|key| matches!(key, Code::Referent(referent) if referent.is_of_thread()))
    {
        return None;
    }
    let is_key = |key: &&Code| !matches!(key, Code::Referent(_));
    let on = on.keys.iter().filter(is_key).map(|key| part(key, located)).collect::<Option<Vec<Part>>>()?;
    let on = on.into_iter().filter_map(Part::cell).collect();
    let has_details =
        matches!(arrow.op, Op::SetState { .. } | Op::PushState { .. } | Op::Mark { .. } | Op::Link { .. });
    let (link, keys) = match &arrow.op {
        Op::Link { link, key, on, .. } => (Some(*link), link_parts(*link, key, on, located, model)?),
        _ => (None, Vec::new()),
    };
    if link.is_none() && (!has_details || arrow.with.is_empty() && !located) {
        return Some(Ready { arrow: number, on, value, wide: None });
    }
    let fields = arrow.with.iter().map(|(_, code)| part(code, located)).collect::<Option<Vec<Part>>>()?;
    let fields = fields.into_iter().filter_map(Part::cell).collect();
    let is_valued = !matches!(value, ReadyValue::Declared);
    let wide = Wide { site: located, value: is_valued, keys, link: link.unwrap_or(0), fields };
    Some(Ready { arrow: number, on, value, wide: Some(wide) })
}

fn named(ty: TypeId, value: Option<&ValueCode>, located: bool) -> Option<ReadyValue> {
    Some(match value {
        None | Some(ValueCode::Declared(_)) => ReadyValue::Declared,
        Some(ValueCode::Computed(code)) => ReadyValue::Named(ty, part(code, located)?),
    })
}

fn link_parts(link: usize, key: &[Code], on: &Target, located: bool, model: &Model) -> Option<Vec<Part>> {
    if on.by_value.is_some() {
        return None;
    }
    let codes = on.holder_steps(model.links[link].holder).flatten().chain(key);
    let parts = codes.map(|code| part(code, located)).collect::<Option<Vec<Part>>>()?;
    (parts.len() <= LinkKey::SHORT).then_some(parts)
}

fn part(code: &Code, located: bool) -> Option<Part> {
    match code {
        Code::Const(_) => Some(Part::Fixed(code.clone())),
        Code::Builtin(
            Builtin::Pid
            | Builtin::Tid
            | Builtin::Rank
            | Builtin::Host
            | Builtin::ThreadName
            | Builtin::Event
            | Builtin::Level,
        ) => Some(Part::Fixed(code.clone())),
        Code::Field(read) => Cell::of(read, located).map(Part::Cell),
        Code::Referent(referent) => referent.is_own().then(|| Part::Fixed(code.clone())),
        _ => None,
    }
}

impl Part {
    fn cell(self) -> Option<Cell> {
        match self {
            Self::Cell(cell) => Some(cell),
            Self::Fixed(_) => None,
        }
    }

    fn is_number(&self) -> bool {
        !matches!(self, Self::Cell(cell) if cell.is_name())
    }
}

impl Cell {
    /// A field whose values are plain: integers, floats of 64 bits, pointers, interned texts, names.
    fn of(read: &FieldRead, located: bool) -> Option<Self> {
        let ((start, _), FieldType::One(scalar)) = (read.place?, read.ty) else { return None };
        let is_plain = match scalar {
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => true,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => true,
            Scalar::F64 | Scalar::Pointer | Scalar::Enum { .. } | Scalar::Interned => true,
            Scalar::F32 | Scalar::Bool | Scalar::Date | Scalar::String | Scalar::Bytes => false,
        };
        is_plain.then_some(Self { part: read.index + usize::from(located), scalar, start })
    }

    /// Appends the words of a column: numbers as 64 bits, texts and names as the numbers of their symbols. `None` when one of them is not
    /// plain: a number above the largest [`Val::Int`], a text that is lost, a number without a name. Linear.
    pub(crate) fn words(&self, column: &[u8], facts: &Facts, enums: &[Names], out: &mut Vec<u64>) -> Option<()> {
        match self.scalar {
            Scalar::U8 => out.extend(column.iter().map(|byte| u64::from(*byte))),
            Scalar::U16 => extend(column, out, |bytes| u16::from_le_bytes(bytes).into()),
            Scalar::U32 => extend(column, out, |bytes| u32::from_le_bytes(bytes).into()),
            Scalar::I8 => extend(column, out, |bytes| i64::from(i8::from_le_bytes(bytes)).cast_unsigned()),
            Scalar::I16 => extend(column, out, |bytes| i64::from(i16::from_le_bytes(bytes)).cast_unsigned()),
            Scalar::I32 => extend(column, out, |bytes| i64::from(i32::from_le_bytes(bytes)).cast_unsigned()),
            Scalar::I64 | Scalar::F64 => extend(column, out, u64::from_le_bytes),
            Scalar::U64 | Scalar::Pointer => {
                let from = out.len();
                extend(column, out, u64::from_le_bytes);
                let all = out[from..].iter().fold(0, |all, word| all | word);
                i64::try_from(all).ok()?;
            }
            Scalar::Interned => {
                let known = |id: [u8; 4]| facts.strings.get(u32::from_le_bytes(id) as usize).copied().flatten();
                for id in column.as_chunks().0 {
                    out.push(known(*id)?.0.into());
                }
            }
            Scalar::Enum { index, wide } => {
                let names = enums.get(index as usize)?;
                if wide {
                    for number in column.as_chunks().0 {
                        out.push(names.get(u16::from_le_bytes(*number))?.0.into());
                    }
                } else {
                    for number in column {
                        out.push(names.get(u16::from(*number))?.0.into());
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether its values are texts and names, of which the numbers have 32 bits.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.scalar, Scalar::Interned | Scalar::Enum { .. })
    }

    /// The value that a word stands for.
    pub(crate) fn val(&self, word: u64) -> Val {
        match self.scalar {
            Scalar::Interned | Scalar::Enum { .. } => Val::Sym(Sym(u32::try_from(word).unwrap_or(u32::MAX))),
            Scalar::F64 => Val::Float(f64::from_bits(word)),
            Scalar::Pointer => Val::Pointer(word),
            _ => Val::Int(word.cast_signed()),
        }
    }

    /// The same as a key.
    pub(crate) fn key(&self, word: u64) -> KeyPart {
        match self.scalar {
            Scalar::Interned | Scalar::Enum { .. } => KeyPart::Sym(Sym(u32::try_from(word).unwrap_or(u32::MAX))),
            Scalar::F64 => KeyPart::Float(word),
            _ => KeyPart::Int(word.cast_signed()),
        }
    }
}

fn extend<const N: usize>(column: &[u8], out: &mut Vec<u64>, word: impl Fn([u8; N]) -> u64) {
    out.extend(column.as_chunks().0.iter().map(|bytes| word(*bytes)));
}

/// The value of code that is the same for all records of a stream.
pub(crate) fn fixed(code: &Code, scope: &Scope<'_>, symbols: &Symbols) -> Val {
    scope.eval(code, &mut String::new(), symbols)
}
