//! The faults of a Pajé file: counted by kind, with the first occurrence of each kind.

use std::fmt;
use std::sync::Arc;

use super::trace_line::TraceLine;
use crate::diagnostic::{DiagnosticKind, TraceDiagnostic};
use crate::excerpt::excerpt;

/// The name of a kind in machine-readable output: that of the variant, unless another one is given.
macro_rules! printed_name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $printed_name:literal) => {
        $printed_name
    };
}

macro_rules! faults {
    ($($name:ident $(as $printed_name:literal)?: $what:literal, $advice:literal;)*) => {
        /// The faults that the reader recognizes. The last ones are notes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FaultKind {
            $(#[doc = $what] $name,)*
        }

        impl FaultKind {
            const COUNT: usize = [$(Self::$name),*].len();

            /// The name of the kind in machine-readable output. It never changes.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => printed_name!($name $($printed_name)?),)* }
            }

            /// The description of the fault.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => $what,)* }
            }

            /// Whether the file was read completely nevertheless. Some other readers cannot read
            /// it.
            #[must_use]
            pub const fn is_note(self) -> bool {
                self as usize >= Self::SplitTrace as usize
            }

            /// The advice for the producer of the file.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

faults! {
    Header: "invalid header line", "write `%EventDef NAME ID`, a line `% FIELD TYPE` for each field, and `%EndEventDef`";
    Unclosed: "event definition without its end", "end each definition with `%EndEventDef`";
    UnknownEvent: "definition of an event that the Pajé format does not have; lines with its id are ignored", "use the event names of the Pajé format";
    FieldType: "field type that the Pajé format does not have; its values are read as text", "use date, double, int, hex, string or color";
    FieldTwice: "field defined twice; the second one is read as a user field", "define each field once";
    MissingField: "event definition without a mandatory field; lines with its id are ignored", "define all fields that the format demands";
    IdTwice: "event id defined again with other fields; later lines are read by the new definition", "give each definition a unique id";
    UnknownId: "line with an id that has no definition", "define each event with `%EventDef` before its first line";
    TooFew: "line with fewer values than its definition has fields", "write all values, and put quotes around values with spaces";
    TooMany: "line with more values than its definition has fields; the additional values are ignored", "put quotes around values with spaces";
    Quote: "quoted text without a closing quote; it is read to the end of the line", "close it, and write no quotes inside texts: the format has no escape, and only some readers accept `\\\"`";
    LongLine: "line longer than 1 MiB; the rest of it is ignored", "write one event per line";
    Encoding: "line that is not UTF-8; it is read as Latin-1", "write UTF-8";
    Timestamp: "timestamp that is not a number of seconds, or exceeds 146 years", "write seconds as a decimal number, such as 12.000345; `--unit` selects another unit";
    Comma: "number with a decimal comma", "write a decimal point in every locale";
    Value: "value of a variable that is not a finite number", "write a decimal number";
    Color: "invalid colour", "write three numbers from 0 to 1 in quotes";
    Category as "Category": "invalid category of a value; views guess it from the name", "write busy, overhead, idle or ignored";
    Style as "Look": "invalid shape or size of a definition; the default is drawn", "write triangle, diamond, circle, square or line, and a number above 0";
    UnknownType: "line with a type that is not defined", "define each type before its first use, and name it by its alias";
    UnknownContainer: "line with a container that was not created", "create each container before its first use, and name it by its alias";
    AmbiguousContainer: "line with a container name that several containers have", "name the container by a unique alias";
    WrongKind: "line with a type of the wrong kind for its event", "use each type only for its kind: container, state, event, variable or link";
    TypeTwice: "type defined again; the first definition is used", "define each type once";
    DuplicateValue as "ValueTwice": "value defined again; the first definition is used", "define each value once per type";
    LateValue: "value defined after its first use", "define values before their first use: other readers reject this";
    ContainerTwice: "container created while another one with the same identifier exists; the first one is used", "give each container a unique alias";
    Root: "line that creates the root container `0` or another of its type", "leave the root container to the reader";
    MissingPart: "file of a split trace that cannot be read; the rest is read", "keep all files of the trace together, and name them relative to the first one";
    RefusedPart: "file of a split trace that is rejected; the rest is read", "name regular files below the folder of the first file, without `..`";
    UnreadPart: "file of a split trace that is not read, because its folder is unknown; to read all files, name the path of the first file", "write the trace to one file";
    // The following faults are notes: the file was read completely.
    SplitTrace: "trace in several files", "write the trace to one file: `pj_dump` and ViTE read only the first file";
    ReusedId as "IdAgain": "identifier of a destroyed container is used again", "give each container a unique identifier: `pj_dump` rejects this";
    ReusedKey as "KeyAgain": "key of a link is used again after its pair", "give each link of a type and container a unique key: `pj_dump` rejects this";
    OldName: "field with an old name", "use the names of format 1.3: `pj_dump` accepts others only with its option -n";
    OtherType: "line that destroys a container with another type than its own", "name the container's own type: `pj_dump` rejects others";
    ByName: "reference to a type or container by its name instead of its identifier", "write the alias if there is one, and `0` for the root: `pj_dump` rejects names";
    ZeroTaken: "identifier `0` of the root is used for another container or type", "use another identifier: `pj_dump` rejects this";
    IdText: "event id that is not a number", "use numbers as ids: ViTE rejects other ids, and their lines";
    FieldPair: "field with an unsuitable type for its name", "write `Time date`, `Color color`, `File string`, `Line int`, `double` or `string` for `Value`, and `string` for names: ViTE ignores fields with other types";
    RareEvent: "definition of an event without effect that some readers do not know", "omit it: `pj_dump` rejects `PajeStartTrace`, and ViTE rejects both it and `PajeTraceFile`";
    Reset: "reset of states", "pop the states, or set an idle state: ViTE ignores resets";
    WideColor: "colour with a number above 1; its numbers are read as 0 to 255", "write numbers from 0 to 1: other readers do not accept 0 to 255";
    Nul: "NUL byte", "write no NUL bytes: `pj_dump` never ends, and ViTE cuts the line";
    LooseQuote: "quote or apostrophe outside of quoted text", "put texts with an apostrophe in quotes, and write no single apostrophe in comments: ViTE ignores all following text";
    SingleQuotes: "text in single quotes", "write double quotes: `pj_dump` reads only these";
    EscapedQuote: "quote with a backslash before it", "write no quotes inside texts: `pj_dump` and ViTE read no escapes";
    Percent: "percent sign outside of quoted text", "put such texts in quotes: ViTE splits them";
    LooseHash: "`#` inside a word, which starts a comment for some readers only", "put such texts in quotes";
    UnusualBlank as "OddBlank": "vertical tab or form feed", "write spaces or tabs: ViTE ignores lines with other separators";
    RootEnd: "line that destroys the root container `0`, although it ends with the trace", "leave the root container to the reader";
    Disorder: "line with a timestamp before that of an earlier line", "sort lines by timestamp: the format demands it, and few readers sort them";
    EarlyEnd: "line in a container that an earlier line destroys; the line is used", "write the line before the destruction: `pj_dump` ignores it";
    ManyFields: "definition with more than 19 fields", "define fewer fields: `pj_dump` and Paje.app read at most 19";
    Float: "field of type `float`", "write `double`: ViTE and Paje.app do not know `float`";
    CarriageReturn: "line that ends in CR and LF", "end lines with LF only: ViTE cannot read definitions with CR";
    ByteOrderMark: "byte order mark", "write no byte order mark: `pj_dump` rejects it";
    LongTime: "timestamp long after the first one, if timestamps are seconds: more than an hour, or 1,000,000 s if all are whole numbers", "write seconds: `--unit ms` (as for StarPU), `us` or `ns` reads other units; `--unit s` confirms that these are seconds";
    NoLineEnd: "last line without a line end", "end the last line with LF: ViTE ignores it otherwise";
    LineCutByVite as "Lengthy": "line longer than 4000 bytes", "write shorter lines: ViTE cuts them";
    EmptyText as "Empty": "empty text", "write a space instead: `pj_dump` misreads `\"\"`";
    NegativeTimestamp as "Negative": "timestamp before 0", "write timestamps from 0: `pj_dump` reads some negative ones as absent";
    EndWithoutTimestamp: "last line without a timestamp", "end with a line that has a timestamp: `pj_dump` ends the trace there";
}

/// A kind of fault, with its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultSummary {
    /// What is wrong, with advice.
    pub kind: FaultKind,
    /// Number of occurrences.
    pub count: u64,
    /// The number of the first line with the fault, from 1.
    pub line: u64,
    /// The part of a split trace with this line, by its name. Empty for the root file.
    pub file: String,
    /// The text at the first occurrence.
    pub excerpt: String,
}

impl FaultSummary {
    /// The diagnostic: an error, or a warning if the file was read completely nevertheless.
    #[must_use]
    pub fn diagnostic(&self) -> TraceDiagnostic {
        let make = if self.kind.is_note() { TraceDiagnostic::warning } else { TraceDiagnostic::error };
        make(DiagnosticKind::PajeText, self.to_string()).at_line(&self.file, self.line)
    }
}

impl fmt::Display for FaultSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, advice) = (self.kind.description(), self.kind.advice());
        let of_file = if self.file.is_empty() { String::new() } else { format!(" of {}", self.file) };
        match self.count {
            1 => write!(f, "line {}{of_file}: {problem}", self.line)?,
            count => write!(f, "{count} times, first in line {}{of_file}: {problem}", self.line)?,
        }
        if !self.excerpt.is_empty() {
            write!(f, " (`{}`)", self.excerpt)?;
        }
        write!(f, "; the producer of the file should {advice}")
    }
}

/// The faults and the notes. Each list is in order of the first lines.
pub(super) struct FaultLists {
    pub(super) faults: Vec<FaultSummary>,
    pub(super) notes: Vec<FaultSummary>,
}

/// Collects faults.
#[derive(Debug)]
pub(super) struct FaultList {
    summaries: [Option<FaultSummary>; FaultKind::COUNT],
    /// Number of kinds found so far.
    pub(super) kinds: usize,
    /// Names of the parts of a split trace.
    pub(super) parts: Vec<Arc<str>>,
}

/// Maximum number of parts that a report names.
const QUOTED_PARTS: u64 = 20;

impl Default for FaultList {
    fn default() -> Self {
        Self { summaries: [const { None }; FaultKind::COUNT], kinds: 0, parts: Vec::new() }
    }
}

impl FaultList {
    #[cold]
    pub(super) fn count(&mut self, kind: FaultKind, line: u64, text: &str) {
        match &mut self.summaries[kind as usize] {
            Some(fault) => fault.count += 1,
            none => {
                self.kinds += 1;
                let TraceLine { part, line } = TraceLine::of(line);
                let file = (part as usize).checked_sub(1).and_then(|part| self.parts.get(part));
                let file = file.map_or_else(String::new, ToString::to_string);
                *none = Some(FaultSummary { kind, count: 1, line, file, excerpt: excerpt(text) });
            }
        }
    }

    /// Counts a part that is not read. The report names each such part with its line.
    pub(super) fn count_part(&mut self, kind: FaultKind, line: u64, (name, reason): (&str, &str)) {
        let is_first = self.summaries[kind as usize].is_none();
        self.count(kind, line, name);
        let Some(fault) = &mut self.summaries[kind as usize] else { return };
        let line = TraceLine::of(line).line;
        if is_first {
            fault.excerpt += &format!(": {reason}");
        } else if fault.count <= QUOTED_PARTS {
            fault.excerpt += &format!("; line {line}, {}: {reason}", excerpt(name));
        } else if fault.count == QUOTED_PARTS + 1 {
            fault.excerpt += "; and other files";
        }
    }

    /// The faults and notes found.
    pub(super) fn into_lists(self) -> FaultLists {
        let mut list: Vec<FaultSummary> = self.summaries.into_iter().flatten().collect();
        let parts = self.parts;
        list.sort_by_cached_key(|fault| (parts.iter().position(|name| **name == *fault.file), fault.line));
        let (faults, notes) = list.into_iter().partition(|fault| !fault.kind.is_note());
        FaultLists { faults, notes }
    }

    /// The faults and notes so far.
    pub(super) fn faults(&self) -> impl Iterator<Item = &FaultSummary> {
        self.summaries.iter().flatten()
    }
}
