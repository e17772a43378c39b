//! Diagnostics about operations of the trace, counted by kind and reported as sentences.

use tumit_paje::read::TraceLine;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

use crate::query::GlobalNanos;

macro_rules! faults {
    ($($name:ident: $singular:literal, $plural:literal, $advice:literal;)*) => {
        /// A kind of diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "the sentence of each kind explains it")]
        pub enum Fault {
            $($name,)*
        }

        /// The sentences for one and for several occurrences, without the number.
        const SENTENCES: &[(&str, &str)] = &[$(($singular, $plural),)*];

        const ALL: &[Fault] = &[$(Fault::$name,)*];

        impl Fault {
            /// The problem, as a sentence about one occurrence without the number.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => $singular,)* }
            }

            /// Whether the fault concerns links only.
            #[must_use]
            pub(crate) const fn is_of_links(self) -> bool {
                matches!(self, Self::DeadLinkEnd | Self::KeyInUse | Self::LinkValue | Self::IncompleteLink)
            }

            /// The advice for the producer of the trace.
            #[must_use]
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice,)* }
            }
        }
    };
}

faults! {
    TooMany: "operation was ignored: a trace may contain at most 4,294,967,295 entities",
        "operations were ignored: a trace may contain at most 4,294,967,295 entities",
        "trace a shorter time range";
    TypeDefinition: "type definition was ignored: it is out of order, or names types that do not exist",
        "type definitions were ignored: they are out of order, or name types that do not exist",
        "define each type once, after its parent";
    ValueDefinition: "value definition was ignored: it is out of order, or names another type than the first definition",
        "value definitions were ignored: they are out of order, or name another type than the first definition",
        "define each value once, for one type";
    UnknownType: "operation was ignored: its type does not exist or is of another kind",
        "operations were ignored: their types do not exist or are of another kind",
        "use each type only for its kind: state, event, variable or link";
    UnknownValue: "operation was ignored: its value does not exist or is of another type",
        "operations were ignored: their values do not exist or are of another type",
        "define each value for the type that it is used with";
    DeadContainer: "operation was ignored: its container has ended or never existed",
        "operations were ignored: their containers have ended or never existed",
        "use a container only between its creation and its destruction, and destroy it once";
    DeadLinkEnd: "link has an endpoint at a container that has ended; the link is kept",
        "endpoints of links are at containers that have ended; the links are kept",
        "end a container after the last link that starts or ends there";
    CreatedAgain: "creation was ignored: the container already exists",
        "creations were ignored: the containers already exist",
        "create each container once";
    ForeignType: "entity is in a container of another type than its type was declared for; it is kept",
        "entities are in containers of another type than their types were declared for; they are kept",
        "use a type only in containers of the type for which it is defined (a link type: between the container types that it names)";
    StateOrder: "change of a state has a timestamp before that of the preceding change, and was moved to it",
        "changes of states have timestamps before those of the preceding changes, and were moved to them",
        "write the events of a container in the order of their timestamps";
    EmptyPop: "pop of a state found no state to end",
        "pops of states found no state to end",
        "pop only what was pushed or set";
    TooDeep: "state is nested deeper than 65,536 levels and not shown",
        "states are nested deeper than 65,536 levels and not shown",
        "nest fewer states, or write the pops if they are missing";
    VariableOrder: "value of a variable has a timestamp before that of the preceding value, and replaces it",
        "values of variables have timestamps before those of the preceding values, and replace them",
        "write the events of a container in the order of their timestamps";
    NeverSet: "variable was changed before it was set, and starts from 0",
        "variables were changed before they were set, and start from 0",
        "set each variable before adding to it or subtracting from it";
    NotFinite: "value of a variable was ignored: it is not a finite number",
        "values of variables were ignored: they are not finite numbers",
        "keep variables within the range of 64-bit floats";
    EventOrder: "point event has a timestamp before that of the preceding event, and was sorted",
        "point events have timestamps before those of the preceding events, and were sorted",
        "write the events of a container in the order of their timestamps";
    KeyInUse: "link uses a key that is still in use; endpoints were paired in the order of the file",
        "links use keys that are still in use; endpoints were paired in the order of the file",
        "give each link of a type and container a unique key";
    LinkValue: "link has another value at its end than at its start; the value of the start is shown",
        "links have other values at their ends than at their starts; the values of the starts are shown",
        "give both endpoints of a link the same value";
    IncompleteLink: "link has only one endpoint: views show a start as pending until the end of the trace, and no end",
        "links have only one endpoint: views show starts as pending until the end of the trace, and no ends",
        "write both endpoints of each link, with the same key, type and container";
    LateCreation: "timestamp is before the creation of its container; the start of the container was moved to it",
        "timestamps are before the creation of their containers; the starts of the containers were moved to them",
        "create a container before the first event in it";
    EarlyDestruction: "container ends before the last timestamp in it; its end was moved to this timestamp",
        "containers end before the last timestamps in them; their ends were moved to these timestamps",
        "destroy a container after the last event in it";
}

/// A kind of error in the trace, and its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimFault {
    /// Its kind.
    pub fault: Fault,
    /// Number of occurrences.
    pub count: u64,
    /// The line of the first occurrence, in the form of [`TraceLine`], if
    /// [`PajeSink::at_line`](tumit_paje::PajeSink::at_line) reported lines; otherwise 0.
    pub line: u64,
    /// The part of a split trace that contains the line. Empty for the root file.
    pub file: String,
    /// The timestamp of the first occurrence, if an operation with a timestamp came before.
    pub time: Option<GlobalNanos>,
}

impl SimFault {
    /// The diagnostic: an error. Its text has the number of occurrences, the line or timestamp of
    /// the first one, and advice.
    #[must_use]
    pub fn diagnostic(&self) -> TraceDiagnostic {
        let kind = if self.fault.is_of_links() { DiagnosticKind::Link } else { DiagnosticKind::Operation };
        TraceDiagnostic::error(kind, sentence(self)).at_line(&self.file, TraceLine::of(self.line).line)
    }
}

/// The occurrences of one kind.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct FaultRecord {
    count: u64,
    /// The line and the timestamp of the first occurrence.
    line: u64,
    time: i64,
}

/// Number of occurrences of each kind.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct FaultCounts {
    records: [FaultRecord; ALL.len()],
    /// The current line; 0 if lines are unknown.
    pub(crate) line: u64,
    /// The timestamp of the current operation, or of the last one that has a timestamp.
    pub(crate) time: i64,
    /// Number of kinds that have occurred.
    pub(crate) kinds: usize,
    /// Names of the parts of a split trace.
    pub(crate) parts: Vec<String>,
}

/// Stands for no timestamp so far.
const NO_TIME: i64 = i64::MIN;

impl Default for FaultCounts {
    fn default() -> Self {
        Self {
            records: [FaultRecord { count: 0, line: 0, time: NO_TIME }; ALL.len()],
            line: 0,
            time: NO_TIME,
            kinds: 0,
            parts: Vec::new(),
        }
    }
}

impl FaultCounts {
    #[cold]
    pub(crate) fn count(&mut self, fault: Fault) {
        self.count_at(fault, (self.line, self.time));
    }

    /// Counts an occurrence at an earlier line and timestamp than the current ones.
    pub(crate) fn count_at(&mut self, fault: Fault, (line, time): (u64, i64)) {
        let record = &mut self.records[fault as usize];
        if record.count == 0 {
            self.kinds += 1;
        }
        if record.count == 0 || (line, time) < (record.line, record.time) {
            (record.line, record.time) = (line, time);
        }
        record.count += 1;
    }

    /// The kinds that have occurred.
    pub(crate) fn faults(&self) -> impl Iterator<Item = SimFault> {
        ALL.iter().zip(&self.records).filter(|(_, of)| of.count > 0).map(
            |(&fault, &FaultRecord { count, line, time })| {
                let part = (TraceLine::of(line).part as usize).checked_sub(1).and_then(|part| self.parts.get(part));
                let time = (time != NO_TIME).then_some(GlobalNanos(time));
                SimFault { fault, count, line, file: part.cloned().unwrap_or_default(), time }
            },
        )
    }
}

/// A sentence with the number of occurrences, the problem, the position of the first one, and the
/// advice.
fn sentence(SimFault { fault, count, line, file, time }: &SimFault) -> String {
    let (fault, count, line) = (*fault, *count, TraceLine::of(*line).line);
    let (singular, plural) = SENTENCES[fault as usize];
    let of_file = if file.is_empty() { String::new() } else { format!(" of {file}") };
    let first = if count == 1 { "" } else { "the first " };
    let place = match (line, time) {
        (1.., _) => format!(" ({first}in line {}{of_file})", with_commas(line)),
        #[expect(clippy::cast_precision_loss, reason = "the time is only displayed")]
        (0, Some(time)) => format!(" ({first}at {:.9} s)", time.0 as f64 * 1e-9),
        (0, None) => String::new(),
    };
    let noun_phrase = if count == 1 { singular } else { plural };
    format!("{} {noun_phrase}{place}; the producer should {}", with_commas(count), fault.advice())
}

/// A number with commas between thousands.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (digit_index, digit) in digits.chars().enumerate() {
        if digit_index > 0 && (digits.len() - digit_index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
