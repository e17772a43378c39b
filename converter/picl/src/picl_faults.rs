//! [`PiclFault`]: the faults of a trace, counted by kind.

use std::collections::BTreeMap;
use std::fmt;

use tumit_paje::{DiagnosticKind, DiagnosticSeverity, MAX_EXCERPT_CHARS, TraceDiagnostic, excerpt};

/// The bytes of a line that contain its excerpt and the character after it.
const MAX_EXCERPT_BYTES: usize = 4 * (MAX_EXCERPT_CHARS + 1);

/// The constant properties of a kind of fault.
struct PiclFaultProperties {
    name: &'static str,
    severity: DiagnosticSeverity,
    subject: DiagnosticKind,
    description: &'static str,
    advice: &'static str,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $severity:ident, $subject:ident, $description:literal, $advice:literal;)*) => {
        /// The kinds of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum PiclFaultKind {
            $($(#[$doc])* $name,)*
        }

        const PROPERTIES: &[PiclFaultProperties] = &[$(PiclFaultProperties {
            name: stringify!($name),
            severity: DiagnosticSeverity::$severity,
            subject: DiagnosticKind::$subject,
            description: $description,
            advice: $advice,
        }),*];
    };
}

kinds! {
    /// A line without the type, the time or the node of a record.
    Head: Error, Damage, "expected the start of a record, with its type, time and node, but found another line; it is skipped", "repair or delete the line";
    /// An unknown type of record. Its data is kept as text.
    UnknownKey: Warning, Record, "unknown type of record or event; its data is shown as text", "check that the file was not damaged, or ignore the record";
    /// Fewer data than the record needs.
    MissingData: Error, Damage, "record with fewer numbers than its type needs; it is skipped", "write all fields of the record";
    /// More data than the record needs, or another number of values than it announces.
    DataCount: Warning, Record, "record whose number of values is not the expected one; the record is used", "write the number of values that follow";
    /// A damaged list of marks.
    DamagedMarks: Error, Damage, "list of trace marks that is damaged; its numbers are shown as text", "use a PICL library that writes trace_marks records correctly";
    /// A list of marks that was lost when it was written.
    LostMarks: Error, Loss, "list of trace marks that was lost when the trace was recorded", "give the trace library more memory";
    /// An end without a beginning.
    EndWithoutBegin: Warning, Operation, "end of an event or block that has not begun; it is ignored", "record the trace from the start of the event";
    /// A beginning without an end.
    BeginWithoutEnd: Warning, Operation, "event or block that does not end; it lasts until the end of the trace", "record the trace until the event ends";
    /// A send without a receive.
    UnmatchedSend: Warning, Link, "message that is sent, but not received; views show it as pending until the end of the trace", "trace all nodes, and all types of records, until the end";
    /// A receive without a send.
    UnmatchedReceive: Warning, Link, "message that is received, but not sent; it is not shown", "trace all nodes, and all types of records, from the start";
    /// A receive before its send.
    EarlyReceive: Warning, Link, "message that is received before it is sent, because the clocks of two nodes differ; views draw it backwards, and its transfer takes no time", "record the trace with synchronised clocks: Tumit corrects the clocks of its own runs only, so `--clock` and `--causal` do not change this trace";
    /// Units with different numbers of parts in collective operations.
    UnequalParts: Warning, Operation, "collective operations with different numbers of parts in their nodes; waits in them are not examined", "trace all nodes, and all types of records, from the start";
    /// The memory of the trace library was full.
    TraceFull: Warning, Loss, "memory of the trace library was full; the rest of this node is missing", "give the trace library more memory";
    /// An invalid state definition of Alog.
    StateDefinition: Error, Damage, "state definition without start event, end event, colour and name; it is skipped", "write `-13 0 START END 0 0 COLOR:PATTERN NAME`";
    /// A definition of Alog after the first event.
    LateDefinition: Warning, Record, "definition after the first event; it is used for later events only", "write all definitions at the start of the file";
}

impl PiclFaultKind {
    /// The name of the kind in machine-readable output. It never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// The description of the fault: the expected text, and the found one.
    #[must_use]
    pub const fn description(self) -> &'static str {
        self.properties().description
    }

    /// The remedy.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        self.properties().advice
    }

    /// The effect on the trace.
    #[must_use]
    pub const fn severity(self) -> DiagnosticSeverity {
        self.properties().severity
    }

    const fn properties(self) -> &'static PiclFaultProperties {
        &PROPERTIES[self as usize]
    }
}

/// A kind of fault, with its first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PiclFault {
    /// Its kind.
    pub kind: PiclFaultKind,
    /// Number of occurrences.
    pub count: u64,
    /// The number of the first line with the fault, from 1.
    pub line: u64,
    /// The text at the first occurrence.
    pub excerpt: String,
}

impl PiclFault {
    /// The diagnostic of this fault.
    #[must_use]
    pub fn diagnostic(&self) -> TraceDiagnostic {
        let make = match self.kind.severity() {
            DiagnosticSeverity::Error => TraceDiagnostic::error,
            DiagnosticSeverity::Warning => TraceDiagnostic::warning,
            DiagnosticSeverity::Note => TraceDiagnostic::note,
        };
        make(self.kind.properties().subject, self.to_string()).at_line("", self.line)
    }
}

impl fmt::Display for PiclFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => write!(f, "line {}: ", self.line)?,
            count => write!(f, "{count} times, first in line {}: ", self.line)?,
        }
        f.write_str(self.kind.description())?;
        if !self.excerpt.is_empty() {
            write!(f, " (`{}`)", self.excerpt)?;
        }
        write!(f, "; to correct this, {}", self.kind.advice())
    }
}

/// Counts faults. In strict mode, the first one stops the reader.
#[derive(Debug)]
pub(crate) struct PiclFaultCounts {
    is_strict: bool,
    faults: [Option<PiclFault>; PROPERTIES.len()],
    /// Messages that are received before they are sent, by sender and receiver.
    early_messages: BTreeMap<(u32, u32), EarlyMessages>,
}

/// The messages of a pair of units that are received before they are sent.
#[derive(Clone, Debug)]
struct EarlyMessages {
    fault: PiclFault,
    /// The longest time between a receive and its send, in nanoseconds.
    max_length: u64,
}

/// Maximum number of pairs of units that are reported separately.
const MAX_PAIRS: usize = 20;

/// The first fault of a trace that is read in strict mode.
#[derive(Debug)]
pub(crate) struct StrictFault(pub(crate) PiclFault);

impl PiclFaultCounts {
    pub(crate) fn new(is_strict: bool) -> Self {
        Self { is_strict, faults: [const { None }; PROPERTIES.len()], early_messages: BTreeMap::new() }
    }

    #[cold]
    pub(crate) fn count(&mut self, kind: PiclFaultKind, line: u64, text: &[u8]) -> Result<(), StrictFault> {
        if let Some(fault) = &mut self.faults[kind as usize] {
            fault.count += 1;
            // Faults of messages are found in order of time.
            fault.line = fault.line.min(line);
            return Ok(());
        }
        let start = text.get(..MAX_EXCERPT_BYTES).unwrap_or(text);
        let excerpt = excerpt(String::from_utf8_lossy(start).trim());
        let fault = PiclFault { kind, count: 1, line, excerpt };
        self.faults[kind as usize] = Some(fault.clone());
        if self.is_strict { Err(StrictFault(fault)) } else { Ok(()) }
    }

    /// Counts a message that is received some nanoseconds before it is sent. `excerpt` names
    /// the sender and the receiver.
    pub(crate) fn count_early(
        &mut self,
        pair: (u32, u32),
        excerpt: &str,
        (line, nanos): (u64, u64),
    ) -> Result<(), StrictFault> {
        let kind = PiclFaultKind::EarlyReceive;
        let messages = self.early_messages.entry(pair).or_insert_with(|| EarlyMessages {
            fault: PiclFault { kind, count: 0, line, excerpt: excerpt.to_owned() },
            max_length: 0,
        });
        messages.fault.count += 1;
        messages.fault.line = messages.fault.line.min(line);
        messages.max_length = messages.max_length.max(nanos);
        if self.is_strict { Err(StrictFault(messages.report())) } else { Ok(()) }
    }

    /// All faults, sorted by their first lines.
    pub(crate) fn into_list(self) -> Vec<PiclFault> {
        let mut messages: Vec<EarlyMessages> = self.early_messages.into_values().collect();
        messages.sort_by_key(|early| std::cmp::Reverse(early.max_length));
        let unlisted_pairs = messages.split_off(messages.len().min(MAX_PAIRS));
        let mut list: Vec<PiclFault> = self.faults.into_iter().flatten().collect();
        list.extend(messages.iter().map(EarlyMessages::report));
        if let Some(first) = unlisted_pairs.first() {
            let count = unlisted_pairs.iter().map(|early| early.fault.count).sum();
            let line = unlisted_pairs.iter().map(|early| early.fault.line).min().unwrap_or(0);
            let pairs = if unlisted_pairs.len() == 1 { "pair" } else { "pairs" };
            let text = format!("{} other {pairs} of nodes, {}", unlisted_pairs.len(), time_text(first.max_length));
            list.push(PiclFault { kind: PiclFaultKind::EarlyReceive, count, line, excerpt: text });
        }
        list.sort_by_key(|fault| fault.line);
        list
    }
}

impl EarlyMessages {
    fn report(&self) -> PiclFault {
        PiclFault { excerpt: format!("{}, {}", self.fault.excerpt, time_text(self.max_length)), ..self.fault.clone() }
    }
}

/// The longest time between a receive and its send, for a report.
fn time_text(nanos: u64) -> String {
    format!("at most {}.{:03} µs before", nanos / 1000, nanos % 1000)
}
