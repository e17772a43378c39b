//! [`UnitRecord`]: a record to write, independent of the format.

use std::io;

use crate::model::{PiclEndpoint, TraceUnit};
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
    Begin(Activity, Option<PiclEndpoint>),
    /// An activity ends. Its message is optional.
    End(Activity, Option<PiclEndpoint>),
    /// A task begins. Its location and parameter are optional.
    TaskBegin(i64, Option<(i64, i64)>),
    TaskEnd(i64),
    Mark(i64, String),
    /// A list of marks, as text.
    MarkList(String),
    Text(String),
    /// The trace level, or a definition: its record, its event and its data.
    Other(i64, i64, String),
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
