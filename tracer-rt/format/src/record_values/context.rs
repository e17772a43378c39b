//! The tables of a file, and the destination of encoded values.

use crate::schema::EnumInfo;

/// The tables of a file that records refer to.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "holds a function")]
pub struct Tables<'a> {
    /// Interned strings by id.
    pub strings: &'a [Option<Box<str>>],
    /// Source positions by id.
    pub sites: &'a [Option<RecordedSite>],
    /// Converts local ticks to nanoseconds from the start of the run.
    pub nanos: Option<&'a dyn Fn(u64) -> i64>,
}

/// A source position of a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordedSite {
    /// Path of the source file.
    pub file: Box<str>,
    /// Number of the line.
    pub line: u32,
}

/// A borrowed source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteRef<'a> {
    /// Path of the source file.
    pub file: &'a str,
    /// Number of the line.
    pub line: u32,
}

impl Tables<'_> {
    /// No tables: names are unknown, and timestamps stay ticks.
    pub const EMPTY: Self = Self { strings: &[], sites: &[], nanos: None };
}

/// The tables to which the values of a record refer.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "holds a function")]
pub struct Context<'a> {
    /// The tables of the file.
    pub tables: Tables<'a>,
    /// The enums of the schema.
    pub enums: &'a [EnumInfo],
}

/// Assigns numbers to the names of a written file.
pub trait Names {
    /// The number of an interned string.
    fn string(&mut self, text: &str) -> u32;
    /// The number of a source position.
    fn site(&mut self, file: &str, line: u32) -> u32;
}

/// The destination of encoded values.
#[expect(missing_debug_implementations, reason = "holds the caller's names")]
pub struct Sink<'s> {
    /// The bytes of the record.
    pub out: &'s mut Vec<u8>,
    /// The numbers of names.
    pub names: &'s mut dyn Names,
    /// The enums of the file's schema. `None` for those of the spec.
    pub enums: Option<&'s [EnumInfo]>,
}
