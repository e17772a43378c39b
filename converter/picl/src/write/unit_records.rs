//! [`UnitRecord`]: a record to write, independent of the format.

use std::io;

use crate::model::{PiclEndpoint, StateFields, TraceUnit};
use crate::node_activity::Activity;

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PiclStyle {
    /// The new format.
    #[default]
    New,
    /// The compact form of the old format. Its times have microseconds.
    OldCompact,
    /// The verbose form of the old format.
    OldVerbose,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnitRecord {
    Start,
    Finish,
    Stop,
    /// An activity begins. Its message is optional.
    Begin(Activity, Option<PiclEndpoint>, StateFields),
    /// An activity ends. Its message is optional.
    End(Activity, Option<PiclEndpoint>, StateFields),
    TaskBegin(i64, StateFields),
    TaskEnd(i64, StateFields),
    Mark(i64, String),
    /// A list of marks, as text.
    MarkList(String),
    Text(String),
    /// A record of new PICL: its type, its event and its data.
    Other(i64, i64, String),
    /// A record of old PICL: its type and its data.
    OldRecord(i64, String),
    /// A message without an activity.
    Send(PiclEndpoint),
    Receive(PiclEndpoint),
}

/// The unit and the time of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputPlace {
    pub(super) unit: TraceUnit,
    pub(super) time: i64,
}

/// Writes records in a format.
pub(super) trait PiclRecordWriter: Send {
    /// Appends the lines of a record. Returns `false` if the format has no such record.
    fn record(&mut self, place: OutputPlace, record: &UnitRecord, out: &mut Vec<u8>) -> bool;

    /// Whether the record of the begin of a receive has the message.
    fn receives_first(&self) -> bool;

    /// Whether the format has a type of record of old PICL, or the event that is not one.
    fn has_record(&self, old_record: Option<i64>) -> bool;

    /// Whether the format has events for the categories idle and overhead.
    fn has_categories(&self) -> bool;

    /// Appends the definition of a subset of nodes. Returns `false` if the format has none.
    fn subset(&mut self, subset: i64, nodes: &[i64], out: &mut Vec<u8>) -> bool;

    /// Appends the name of a task or mark.
    fn label(&mut self, number: i64, name: &str, out: &mut Vec<u8>) -> bool;
}

/// Size of the output buffer in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes the buffer if it is full or if `always` is set.
pub(super) fn flush(out: &mut dyn io::Write, buffer: &mut Vec<u8>, always: bool) -> io::Result<()> {
    if always || buffer.len() >= BUFFER_BYTES {
        out.write_all(buffer)?;
        buffer.clear();
    }
    Ok(())
}
