//! The faults of a Pajé file: counted by kind, with the first occurrence of each kind.

use std::fmt;
use std::sync::Arc;

use super::split_files::TraceLine;
use crate::diagnostic::{DiagnosticKind, TraceDiagnostic};

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident: $what:literal, $advice:literal;)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FaultKind {
            $($(#[$doc])* $name,)*
        }

        impl FaultKind {
            const COUNT: usize = [$(Self::$name),*].len();

            /// The description of the fault.
            #[must_use]
            pub const fn what(self) -> &'static str {
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
    /// An invalid `%` line.
    Header: "header line that cannot be understood", "write `%EventDef NAME ID`, one `% FIELD TYPE` a line, `%EndEventDef`";
    /// No `%EndEventDef`.
    Unclosed: "event definition that is not closed", "end each definition with `%EndEventDef`";
    /// An event that Pajé does not have.
    UnknownEvent: "definition of an event that Pajé does not have; lines with its id are left out", "use the event names of the Pajé format";
    /// A field type that Pajé does not have.
    FieldType: "field type that Pajé does not have, taken as text", "use date, double, int, hex, string or color";
    /// The same field twice in a definition.
    FieldTwice: "field defined twice, the second taken as a user field", "define each field once";
    /// A mandatory field is missing.
    MissingField: "event definition without a mandatory field; lines with its id are left out", "define all fields that the format asks for";
    /// The same id with other fields.
    IdTwice: "event id defined again with other fields; lines after it follow the new definition", "give each definition an id of its own";
    /// A line with an id that no definition has.
    UnknownId: "line whose id has no definition", "define each event with `%EventDef` before its first line";
    /// Fewer words than fields.
    TooFew: "line with fewer values than its definition has fields", "write all values, with quotes around those with blanks";
    /// More words than fields.
    TooMany: "line with more values than its definition has fields; the rest is left out", "put quotes around values with blanks";
    /// A quote without its partner.
    Quote: "quoted text that is not closed, taken to the end of the line", "close it, and leave quotes out of texts: the format has no escape, and only some readers take `\\\"`";
    /// More than a mebibyte in one line.
    LongLine: "line longer than 1 MiB, cut there", "write one event a line";
    /// Text that is not UTF-8.
    Encoding: "line that is not UTF-8, read as Latin-1", "write UTF-8";
    /// A timestamp that is not a number.
    Date: "date that is no number of seconds, or beyond 146 years", "write seconds as a decimal number, such as 12.000345; `--unit` reads others";
    /// A comma as the decimal sign.
    Comma: "number with a decimal comma", "write a decimal point whatever the locale";
    /// A value of a variable that is not a number.
    Value: "value of a variable that is no finite number", "write a decimal number";
    /// An invalid colour.
    Color: "colour that cannot be understood", "write three numbers from 0 to 1 in quotes";
    /// An invalid shape or size.
    Look: "shape or size of a definition that cannot be understood; the usual one is drawn", "write triangle, diamond, circle, square or line, and a number above 0";
    /// A type that is not defined.
    UnknownType: "line whose type is not defined", "define each type before its first use, and name it by its alias";
    /// A container that was not created.
    UnknownContainer: "line whose container was not created", "create each container before its first use, and name it by its alias";
    /// The name of several containers.
    AmbiguousContainer: "line whose container's name several containers have", "name the container by an alias that no other container has";
    /// A type of another kind than the event needs.
    WrongKind: "line whose type is of another kind than its event needs", "use each type for its own kind: container, state, event, variable or link";
    /// A type defined twice.
    TypeTwice: "type defined again; the first definition counts", "define each type once";
    /// A value defined twice.
    ValueTwice: "value defined again; the first definition counts", "define each value once per type";
    /// A value defined after use.
    LateValue: "value defined after its first use", "define values before they are used: other readers refuse this";
    /// A container created twice.
    ContainerTwice: "container created while another with its identifier exists; the first counts", "give each container an alias of its own";
    /// A container of the root's type.
    Root: "line that creates the root container `0` or another of its type", "leave the root to the reader";
    /// A file of a split trace that cannot be opened.
    MissingPart: "file of a split trace that cannot be read; the rest is read", "keep all files of the trace together, and name them relative to the first one";
    /// A file of a split trace that is not read.
    RefusedPart: "file of a split trace that is refused; the rest is read", "name regular files below the folder of the first file, without `..`";
    /// Files of a split trace where there is no folder.
    UnreadPart: "file of a split trace that is not read, as no folder is known to look in; to read all, give the path of the first file", "write one file";
    // The following faults are notes: the file was read completely.
    /// A trace in several files.
    SplitTrace: "trace in several files", "write one file: `pj_dump` and ViTE read the first alone";
    /// The identifier of a destroyed container is used again.
    IdAgain: "identifier of a destroyed container is used again", "give each container an identifier of its own: `pj_dump` refuses this";
    /// A link key is used again after its pair.
    KeyAgain: "key of a link is used again after its pair", "give each link of a type and container a key of its own: `pj_dump` refuses this";
    /// A name from an older version of the format.
    OldName: "field under an old name", "use the names of format 1.3: `pj_dump` refuses others without its option -n";
    /// Another type than the container's.
    OtherType: "line that destroys a container under another type", "name the container's own type: `pj_dump` refuses others";
    /// A reference by name to a type or container that has an alias.
    ByName: "type or container that is not referred to by its identifier", "write the alias where there is one, and `0` for the root: `pj_dump` refuses others";
    /// `0` as the identifier of another type or container than the root.
    ZeroTaken: "identifier `0`, which is the root's, for another container or type", "take another: `pj_dump` refuses this";
    /// An event id that is not a number.
    IdText: "event id that is no number", "number the definitions: ViTE refuses other ids, and their lines";
    /// A field with an unsuitable type for its name.
    FieldPair: "field whose type does not go with its name", "write `Time date`, `Color color`, `File string`, `Line int`, `double` or `string` for `Value`, `string` for what names something: ViTE drops such a field";
    /// An event that only some readers know.
    RareEvent: "definition of an event that not every reader knows, and that does nothing", "leave it out: `pj_dump` refuses `PajeStartTrace`, ViTE both";
    /// `PajeResetState`.
    Reset: "reset of states", "pop them, or set an idle state: ViTE leaves resets out";
    /// A colour from 0 to 255.
    WideColor: "colour with a number above 1, taken for one from 0 to 255", "write numbers from 0 to 1: others do not divide";
    /// A NUL byte.
    Nul: "NUL byte", "write none: `pj_dump` never ends, and ViTE cuts the line";
    /// A quote or apostrophe outside of quoted text.
    LooseQuote: "quote or apostrophe outside of quoted text", "put texts with an apostrophe in quotes, and write none alone in comments: ViTE loses all that follows";
    /// Apostrophes around a text.
    SingleQuotes: "text in single quotes", "write double quotes: `pj_dump` reads no others";
    /// `\\"` inside a text.
    EscapedQuote: "quote that is escaped by a backslash", "leave quotes out of texts: `pj_dump` and ViTE read no escapes";
    /// A percent sign outside of quoted text.
    Percent: "percent sign outside of quoted text", "put such texts in quotes: ViTE splits them";
    /// `#` inside a word.
    LooseHash: "`#` inside a word, which begins a comment for some readers and not for others", "put such texts in quotes";
    /// A vertical tab or form feed.
    OddBlank: "vertical tab or form feed", "write blanks or tabs: ViTE leaves out lines with others";
    /// The root, destroyed.
    RootEnd: "line that destroys the root container `0`, which ends with the trace", "leave the root to the reader";
    /// Timestamps that decrease.
    Disorder: "line dated before an earlier one", "sort lines by date: the format asks for it, and few readers do it";
    /// A line after the destruction of its container.
    EarlyEnd: "line in a container that an earlier line destroys; it is kept", "write it before the destruction: `pj_dump` leaves it out";
    /// More than 19 fields.
    ManyFields: "definition with more than 19 fields", "define fewer: `pj_dump` and Paje.app read no more";
    /// The field type `float`.
    Float: "field of type `float`", "write `double`: ViTE and Paje.app know no other";
    /// CRLF.
    CarriageReturn: "line that ends in CR and LF", "end lines with LF: ViTE cannot read the definitions else";
    /// A byte order mark.
    ByteOrderMark: "byte order mark", "write none: `pj_dump` refuses it";
    /// Timestamps that are probably not in seconds.
    LongTime: "date far behind the first, if dates are seconds: more than an hour, or 1,000,000 s if all are whole numbers", "write seconds: milliseconds (as StarPU's), microseconds and nanoseconds are read right with `--unit ms`, `us` or `ns`; `--unit s` says that these are seconds";
    /// No LF at the end of the file.
    NoLineEnd: "last line without its end", "end it: ViTE leaves the line out else";
    /// Longer than 4000 bytes.
    Lengthy: "line longer than 4000 bytes", "write shorter ones: ViTE cuts them";
    /// An empty text.
    Empty: "empty text", "write a blank instead: `pj_dump` misreads `\"\"`";
    /// A timestamp before 0.
    Negative: "date before 0", "write dates from 0 on: `pj_dump` takes some for none";
    /// The last line has no timestamp.
    UndatedEnd: "last line without a date", "end with a dated line: `pj_dump` ends the trace at that date";
}

/// A kind of fault, with its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSummary {
    /// Its kind.
    pub kind: FaultKind,
    /// Number of occurrences.
    pub count: u64,
    /// The number of the first line with the fault, from 1.
    pub line: u64,
    /// The part of a split trace with this line, by its name. Empty for the root file.
    pub file: String,
    /// The text at the first occurrence.
    pub found: String,
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
        let (what, advice) = (self.kind.what(), self.kind.advice());
        let of_file = if self.file.is_empty() { String::new() } else { format!(" of {}", self.file) };
        match self.count {
            1 => write!(f, "line {}{of_file}: {what}", self.line)?,
            count => write!(f, "{count} times, first in line {}{of_file}: {what}", self.line)?,
        }
        if !self.found.is_empty() {
            write!(f, " (`{}`)", self.found)?;
        }
        write!(f, "; the producer of the file should {advice}")
    }
}

/// Collects faults.
#[derive(Debug)]
pub(super) struct FaultList {
    found: [Option<FaultSummary>; FaultKind::COUNT],
    /// Number of kinds found so far.
    pub(super) kinds: usize,
    /// Names of the parts of a split trace.
    pub(super) parts: Vec<Arc<str>>,
}

/// Maximum number of parts that a report names.
const QUOTED_PARTS: u64 = 20;
/// Maximum number of characters of a line that a report quotes.
const QUOTED: usize = 80;

impl Default for FaultList {
    fn default() -> Self {
        Self { found: [const { None }; FaultKind::COUNT], kinds: 0, parts: Vec::new() }
    }
}

impl FaultList {
    #[cold]
    pub(super) fn count(&mut self, kind: FaultKind, line: u64, found: &str) {
        match &mut self.found[kind as usize] {
            Some(fault) => fault.count += 1,
            none => {
                let mut short: String =
                    found.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).take(QUOTED).collect();
                if found.chars().nth(QUOTED).is_some() {
                    short.push('…');
                }
                self.kinds += 1;
                let TraceLine { part, line } = TraceLine::of(line);
                let file = (part as usize).checked_sub(1).and_then(|part| self.parts.get(part));
                let file = file.map_or_else(String::new, ToString::to_string);
                *none = Some(FaultSummary { kind, count: 1, line, file, found: short });
            }
        }
    }

    /// Counts a part that is not read. The report names each such part with its line.
    pub(super) fn count_part(&mut self, kind: FaultKind, line: u64, (name, why): (&str, &str)) {
        let is_first = self.found[kind as usize].is_none();
        self.count(kind, line, name);
        let Some(fault) = &mut self.found[kind as usize] else { return };
        let line = TraceLine::of(line).line;
        if is_first {
            fault.found += &format!(": {why}");
        } else if fault.count <= QUOTED_PARTS {
            let name: String = name.chars().filter(|letter| !letter.is_control()).take(QUOTED).collect();
            fault.found += &format!("; line {line}, {name}: {why}");
        } else if fault.count == QUOTED_PARTS + 1 {
            fault.found += "; and others";
        }
    }

    /// The faults and the notes. Each list is in order of the first lines.
    pub(super) fn into_lists(self) -> (Vec<FaultSummary>, Vec<FaultSummary>) {
        let mut list: Vec<FaultSummary> = self.found.into_iter().flatten().collect();
        let parts = self.parts;
        list.sort_by_cached_key(|fault| (parts.iter().position(|name| **name == *fault.file), fault.line));
        list.into_iter().partition(|fault| !fault.kind.is_note())
    }

    /// The faults and notes so far.
    pub(super) fn found(&self) -> impl Iterator<Item = &FaultSummary> {
        self.found.iter().flatten()
    }
}
