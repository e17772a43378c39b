//! Data that the records of a process or stream share.

use super::rule_value::SymbolId;
use crate::clock::ClockMap;

/// A source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    pub(crate) file: SymbolId,
    pub(crate) line: u32,
}

/// Data that the records of a process share.
#[derive(Debug)]
pub(crate) struct ProcessFacts {
    /// Interned strings by their id in the file.
    pub(crate) strings: Vec<Option<SymbolId>>,
    /// Source positions by their id in the file.
    pub(crate) sites: Vec<Option<SourceLocation>>,
    /// Maps the clock of the process to raw timestamps.
    pub(crate) clock: ClockMap,
}

/// A thread of a process of the operating system. Several files may belong to one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ThreadKey {
    /// The first file of the process.
    pub(crate) process: u32,
    /// The number of the thread in the process.
    pub(crate) thread: u32,
}

/// Data that the records of a stream share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamFacts {
    /// Its number in the run.
    pub(crate) number: usize,
    /// The file of its process.
    pub(crate) process: usize,
    /// The thread to which it belongs.
    pub(crate) identity: ThreadKey,
    /// Its first raw timestamp, nanoseconds from the start of the run.
    pub(crate) begin: i64,
    pub(crate) pid: u64,
    pub(crate) tid: u64,
    pub(crate) rank: u64,
    pub(crate) host: SymbolId,
    pub(crate) thread_name: SymbolId,
    /// The ordinal among the threads of its process that have the same name. 0 if no other has it.
    pub(crate) name_ordinal: u32,
    pub(crate) label: SymbolId,
}
