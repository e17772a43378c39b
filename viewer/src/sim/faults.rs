//! Diagnostics about operations of the trace, counted by kind and reported as sentences.

use tumit_paje::read::TraceLine;

use super::SimFault;
use crate::query::GlobalNanos;

macro_rules! faults {
    ($($name:ident: $one:literal, $many:literal, $advice:literal;)*) => {
        /// A kind of diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "its sentence says it")]
        pub enum Fault {
            $($name,)*
        }

        /// The sentences for one and for several occurrences, without the number.
        const SENTENCES: &[(&str, &str)] = &[$(($one, $many),)*];

        const ALL: &[Fault] = &[$(Fault::$name,)*];

        impl Fault {
            /// The problem, as a sentence about one occurrence without the number.
            #[must_use]
            pub const fn what(self) -> &'static str {
                match self { $(Self::$name => $one,)* }
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
    TooMany: "operation was left out: a trace may hold 4,294,967,295 entities",
        "operations were left out: a trace may hold 4,294,967,295 entities",
        "trace a shorter part";
    TypeDefinition: "type definition was left out: it is out of order, or names types that do not exist",
        "type definitions were left out: they are out of order, or name types that do not exist",
        "define each type once, after its parent";
    ValueDefinition: "value definition was left out: it is out of order, or names another type than before",
        "value definitions were left out: they are out of order, or name another type than before",
        "define each value once, for one type";
    UnknownType: "operation was left out: its type does not exist or is of another kind",
        "operations were left out: their types do not exist or are of another kind",
        "use each type for its own kind: state, event, variable or link";
    UnknownValue: "operation was left out: its value does not exist or is of another type",
        "operations were left out: their values do not exist or are of another type",
        "define each value for the type that it is used with";
    DeadContainer: "operation was left out: its container has ended or never existed",
        "operations were left out: their containers have ended or never existed",
        "use a container only between its creation and its destruction, and destroy it once";
    DeadLinkEnd: "link starts or ends at a container that has ended; it is kept",
        "ends of links are at containers that have ended; the links are kept",
        "end a container after the last link that starts or ends there";
    CreatedAgain: "creation was left out: that container exists already",
        "creations were left out: those containers exist already",
        "create each container once";
    ForeignType: "container holds something whose type was declared for containers of another type; it is kept",
        "times something stands in a container for whose type it was not declared; it is kept",
        "use a type only in containers of the type that it was defined under (a link: between those that it names)";
    StateOrder: "change of a state is dated before the one that precedes it, and was moved to that date",
        "changes of states are dated before the ones that precede them, and were moved to those dates",
        "write the events of a container in the order of their dates";
    EmptyPop: "pop of a state found no state to end",
        "pops of states found no state to end",
        "pop only what was pushed or set";
    TooDeep: "state is nested deeper than 65,536 and not shown",
        "states are nested deeper than 65,536 and not shown",
        "nest fewer states, or write the pops if they are missing";
    VariableOrder: "value of a variable is dated before the one that precedes it, and replaces that one",
        "values of variables are dated before the ones that precede them, and replace those",
        "write the events of a container in the order of their dates";
    NeverSet: "variable was changed before it was set, and starts from 0",
        "variables were changed before they were set, and start from 0",
        "set each variable before it adds to it or subtracts from it";
    NotFinite: "value of a variable was left out: it is not a finite number",
        "values of variables were left out: they are not finite numbers",
        "keep variables within the numbers of 64-bit floats";
    EventOrder: "point event is dated before the one that precedes it, and was sorted in",
        "point events are dated before the ones that precede them, and were sorted in",
        "write the events of a container in the order of their dates";
    KeyInUse: "link uses a key that is still in use; the pairs were made in order of arrival",
        "links use keys that are still in use; the pairs were made in order of arrival",
        "give each link of a type and container a key of its own";
    LinkValue: "link has another value at its end than at its start; the start's is shown",
        "links have other values at their ends than at their starts; the starts' are shown",
        "give both ends of a link the same value";
    IncompleteLink: "link has only a start or only an end, and is not shown",
        "links have only a start or only an end, and are not shown",
        "write both ends of each link, with the same key, type and container";
    LateCreation: "date is before the creation of the container that holds it; the container begins then",
        "dates are before the creation of the containers that hold them; the containers begin then",
        "create a container before the first event in it";
    EarlyDestruction: "container ends before the last date in it; it was kept until then",
        "containers end before the last dates in them; they were kept until then",
        "destroy a container after the last event in it";
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
    of: [FaultRecord; ALL.len()],
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
            of: [FaultRecord { count: 0, line: 0, time: NO_TIME }; ALL.len()],
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
        let of = &mut self.of[fault as usize];
        if of.count == 0 {
            self.kinds += 1;
        }
        if of.count == 0 || (line, time) < (of.line, of.time) {
            (of.line, of.time) = (line, time);
        }
        of.count += 1;
    }

    /// The kinds that have occurred.
    pub(crate) fn found(&self) -> impl Iterator<Item = SimFault> {
        ALL.iter().zip(&self.of).filter(|(_, of)| of.count > 0).map(|(&fault, &FaultRecord { count, line, time })| {
            let part = (TraceLine::of(line).part as usize).checked_sub(1).and_then(|part| self.parts.get(part));
            let time = (time != NO_TIME).then_some(GlobalNanos(time));
            SimFault { fault, count, line, file: part.cloned().unwrap_or_default(), time }
        })
    }
}

/// A sentence with the number of occurrences, the problem, the position of the first one, and the
/// advice.
pub(crate) fn sentence(SimFault { fault, count, line, file, time }: &SimFault) -> String {
    let (fault, count, line) = (*fault, *count, TraceLine::of(*line).line);
    let (one, many) = SENTENCES[fault as usize];
    let of_file = if file.is_empty() { String::new() } else { format!(" of {file}") };
    let first = if count == 1 { "" } else { "the first " };
    let place = match (line, time) {
        (1.., _) => format!(" ({first}in line {}{of_file})", grouped(line)),
        #[expect(clippy::cast_precision_loss, reason = "to be read")]
        (0, Some(time)) => format!(" ({first}at {:.9} s)", time.0 as f64 * 1e-9),
        (0, None) => String::new(),
    };
    let what = if count == 1 { one } else { many };
    format!("{} {what}{place}; the producer should {}", grouped(count), fault.advice())
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
