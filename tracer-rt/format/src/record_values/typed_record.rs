//! Records: their fields, their contents and their origin.

use std::fmt;

use super::binding::BoundType;
use super::context::{Context, Names, Sink, SiteRef};
use super::spec_description::Spec;
use super::value::{Encode, Field};
use crate::record::{DroppedRecords, field_bytes, value as decode_value};
use crate::schema::{EnumInfo, RecordType};

/// The generated types of one spec.
pub trait Family: 'static {
    /// The enum with one variant for each event of the spec.
    type Record<'a>: AnyRecord<'a>;
    /// The spec of the types.
    const SPEC: &'static Spec;
}

/// The generated enum of all events.
pub trait AnyRecord<'a>: Sized {
    /// Reads the event of this kind.
    fn read(kind: usize, fields: &mut Fields<'a>) -> Option<Self>;
    /// Creates the record for an event that the spec does not have.
    fn from_unknown(raw: RawRecordBytes<'a>) -> Self;
    /// Creates the record for a report of missing records.
    fn from_dropped(drops: DroppedRecords) -> Self;
    /// The content of the record.
    fn content(&self) -> Content<'_, 'a>;
}

/// The content of a record.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "the text of an event is its Display")]
pub enum Content<'s, 'a> {
    /// An event of the spec.
    Event(&'s dyn Event),
    /// An event that the spec does not have.
    Unknown(&'s RawRecordBytes<'a>),
    /// A report of records that the recorder dropped, or, in a repaired file, of missing or damaged
    /// records of the original.
    Dropped(&'s DroppedRecords),
}

/// A generated struct.
pub trait Event {
    /// The spec that declares the event.
    fn spec(&self) -> &'static Spec;
    /// Index in [`Spec::types`].
    fn kind(&self) -> usize;
    /// The value of a field.
    fn field(&self, index: usize) -> Option<&dyn Encode>;
    /// Fields that the file does not have.
    fn missing_fields(&self) -> &[&'static str];
}

/// The fields of a record, in the order of the spec.
#[expect(missing_debug_implementations, reason = "holds a function")]
pub struct Fields<'a> {
    body: &'a [u8],
    file: &'a RecordType,
    bound: &'a BoundType,
    context: Context<'a>,
    next: usize,
    position: usize,
    /// Offsets of the file's fields, if their order differs.
    starts: Vec<usize>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(origin: &Origin<'a>, context: Context<'a>) -> Self {
        let mut starts = Vec::new();
        if !origin.bound.is_same {
            let mut position = 0;
            for field in &origin.file.fields {
                starts.push(position);
                position += origin.body.get(position..).and_then(|rest| field_bytes(field.ty, rest)).unwrap_or(0);
            }
        }
        Self { body: origin.body, file: origin.file, bound: origin.bound, context, next: 0, position: 0, starts }
    }

    /// The next field of the spec. Zero if the file does not have it.
    #[expect(clippy::should_implement_trait, reason = "each call may give another type")]
    pub fn next<T: Field<'a>>(&mut self) -> T {
        let index = self.next;
        self.next += 1;
        self.read(index).unwrap_or_else(T::zero)
    }

    fn read<T: Field<'a>>(&mut self, index: usize) -> Option<T> {
        let position = usize::from((*self.bound.map.get(index)?)?);
        let field = self.file.fields.get(position)?;
        let start = if self.bound.is_same { self.position } else { *self.starts.get(position)? };
        let rest = self.body.get(start..)?;
        let bytes = rest.get(..field_bytes(field.ty, rest)?)?;
        self.position = start + bytes.len();
        T::from_value(decode_value(field.ty, bytes)?, self.context)
    }

    /// Fields that the file does not have.
    #[must_use]
    pub fn missing_fields(&self) -> &'a [&'static str] {
        &self.bound.missing_fields
    }
}

/// The data that every record has.
/// A program that writes the record may change `ticks`, `stream` and `source`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head<'a> {
    /// Timestamp on the process's own clock.
    pub ticks: u64,
    /// Timestamp in nanoseconds from the start of the run.
    pub nanos: i64,
    /// Index of the stream in the file.
    pub stream: u32,
    /// Process id of the operating system.
    pub pid: u64,
    /// Rank in the job.
    pub rank: Option<u64>,
    /// Thread id of the operating system.
    pub tid: Option<u64>,
    /// Name of the thread. Empty if it has none.
    pub thread: &'a str,
    /// The label that the program gave to the thread's streams. Empty if there is none.
    pub label: &'a str,
    /// The source position, if recorded.
    pub source: Option<SiteRef<'a>>,
    /// Number of records that the stream had dropped by the end of the record's block.
    pub dropped: u64,
}

/// A record and its origin.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "the text of a record is its Display")]
pub struct TypedRecord<'a, R> {
    /// Timestamp, thread, source position.
    pub head: Head<'a>,
    /// The event.
    pub record: R,
    origin: Option<Origin<'a>>,
}

/// A record in the form of its file.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// Record id in the file.
    pub id: u16,
    /// Layout in the file.
    pub file: &'a RecordType,
    /// The match of the layout with the spec.
    pub bound: &'a BoundType,
    /// The enums of the schema.
    pub enums: &'a [EnumInfo],
    /// The bytes of the fields.
    pub body: &'a [u8],
}

/// The error for a record that cannot be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMismatch {
    /// The name of the event.
    pub event: String,
    /// The name of the field with a value that the file's layout cannot represent.
    pub field: String,
}

impl fmt::Display for FieldMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: the value of `{}` does not fit the field's type in the file", self.event, self.field)
    }
}

impl std::error::Error for FieldMismatch {}

impl<'a, R: AnyRecord<'a>> TypedRecord<'a, R> {
    /// Creates a new record, in the layout of its own spec.
    #[must_use]
    pub const fn new(head: Head<'a>, record: R) -> Self {
        Self { head, record, origin: None }
    }

    /// Reads a record.
    #[must_use]
    pub fn read(head: Head<'a>, origin: Origin<'a>, context: Context<'a>) -> Self {
        let event = origin.bound.event.and_then(|kind| R::read(usize::from(kind), &mut Fields::new(&origin, context)));
        let record =
            event.unwrap_or_else(|| R::from_unknown(RawRecordBytes { file: origin.file, body: origin.body, context }));
        Self { head, record, origin: Some(origin) }
    }

    /// The record id in the original file. `None` if the record is new.
    #[must_use]
    pub fn id(&self) -> Option<u16> {
        self.origin.map(|origin| origin.id)
    }

    /// Appends the part after id and delta: source position and fields.
    /// The layout is that of the original file, or that of the spec for a new record.
    ///
    /// # Errors
    /// If the file's type of a field cannot represent its value.
    pub fn encode(&self, names: &mut dyn Names, out: &mut Vec<u8>) -> Result<(), FieldMismatch> {
        let content = self.record.content();
        let located = match (&self.origin, content) {
            (Some(origin), _) => origin.file.has_location,
            (None, Content::Event(event)) => event.spec().types[event.kind()].located,
            (None, _) => false,
        };
        if located {
            let site = self.head.source.map_or(0, |site| names.site(site.file, site.line));
            out.extend_from_slice(&site.to_le_bytes());
        }
        match (content, &self.origin) {
            (Content::Event(event), Some(origin)) => event_of_file(event, origin, names, out),
            (Content::Event(event), None) => event_of_spec(event, names, out),
            (Content::Unknown(raw), _) => {
                out.extend_from_slice(raw.body);
                Ok(())
            }
            (Content::Dropped(dropped), _) => {
                out.extend_from_slice(&dropped.encode());
                Ok(())
            }
        }
    }
}

fn event_of_spec(event: &dyn Event, names: &mut dyn Names, out: &mut Vec<u8>) -> Result<(), FieldMismatch> {
    let ty = &event.spec().types[event.kind()];
    for (index, (name, field)) in ty.fields.iter().enumerate() {
        let mut sink = Sink { out, names, enums: None };
        if !event.field(index).is_some_and(|value| value.encode(*field, &mut sink)) {
            return Err(FieldMismatch { event: ty.name.to_owned(), field: (*name).to_owned() });
        }
    }
    Ok(())
}

fn event_of_file(
    event: &dyn Event,
    origin: &Origin<'_>,
    names: &mut dyn Names,
    out: &mut Vec<u8>,
) -> Result<(), FieldMismatch> {
    if origin.bound.event.map(usize::from) != Some(event.kind()) {
        return event_of_spec(event, names, out);
    }
    let mut offset = 0;
    for (position, field) in origin.file.fields.iter().enumerate() {
        let misfit = || FieldMismatch { event: origin.file.name.clone(), field: field.name.clone() };
        let remainder = origin.body.get(offset..).ok_or_else(misfit)?;
        let bytes = field_bytes(field.ty, remainder).and_then(|length| remainder.get(..length)).ok_or_else(misfit)?;
        offset += bytes.len();
        let index = origin.bound.map.iter().position(|mapped| mapped.map(usize::from) == Some(position));
        match index.and_then(|index| event.field(index)) {
            Some(value) => {
                let mut sink = Sink { out, names, enums: Some(origin.enums) };
                if !value.encode(field.ty, &mut sink) {
                    return Err(misfit());
                }
            }
            None => out.extend_from_slice(bytes),
        }
    }
    Ok(())
}

/// An event that the spec does not have.
#[derive(Clone, Copy)]
pub struct RawRecordBytes<'a> {
    /// The layout in the file.
    pub file: &'a RecordType,
    /// The bytes of the fields. See [`values`](crate::record::values).
    pub body: &'a [u8],
    /// The tables to which the values refer.
    pub context: Context<'a>,
}

impl fmt::Debug for RawRecordBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RawRecordBytes({self})")
    }
}

impl PartialEq for RawRecordBytes<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file && self.body == other.body
    }
}
