//! [`OrderedItem`]: a record or an action of a stream in order of time.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::rules::RecordProgram;
use crate::run::RecordPosition;

/// The records and gaps of a stream that become items.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemSelection {
    /// Selects record types by their compiled rules. Records of a type without rules are always
    /// items.
    pub(crate) selects: fn(&RecordProgram) -> bool,
    /// Whether gaps between records and marks of truncated records are items, too.
    pub(crate) gaps: bool,
}

impl ItemSelection {
    /// All records, without gaps.
    pub(crate) const RECORDS: Self = Self { selects: |_| true, gaps: false };
    /// All records and the gaps between them.
    pub(crate) const ALL: Self = Self { selects: |_| true, gaps: true };
}

/// A record, or one action of it that has a timestamp of its own.
#[derive(Debug)]
pub(crate) struct OrderedItem {
    /// The corrected timestamp at which the item is processed.
    pub(crate) corrected_time: i64,
    /// The raw timestamp from which `corrected_time` is computed.
    pub(crate) raw: i64,
    /// The raw timestamp of the record.
    pub(crate) record_time: i64,
    /// The action. `None` for all actions without a timestamp of their own.
    pub(crate) single_action: Option<u16>,
    /// Order among the items of one record.
    pub(crate) rank: u16,
    pub(crate) position: RecordPosition,
    /// The block of the record, if it is not the current block of the reader.
    pub(crate) block: Option<HeldBlock>,
}

/// A decoded block that is kept while its records wait.
pub(crate) type HeldBlock = Rc<Vec<u8>>;

/// A record or a gap of a stream, as it is read.
#[derive(Debug)]
pub(crate) struct TimedRecord {
    /// Its raw timestamp, not less than those of the records before it.
    pub(crate) raw: i64,
    pub(crate) position: RecordPosition,
    /// The bytes of a gap. `None` for a record: its bytes are in the current block of the reader.
    pub(crate) block: Option<HeldBlock>,
}

impl OrderedItem {
    /// The item of all actions of a record without a timestamp of their own.
    pub(crate) fn of_record(corrected_time: i64, record: TimedRecord) -> Self {
        let TimedRecord { raw, position, block } = record;
        Self { corrected_time, raw, record_time: raw, single_action: None, rank: 0, position, block }
    }

    fn position(&self) -> ItemPosition {
        let position = &self.position;
        ItemPosition { raw: self.raw, ordinal: position.ordinal, is_record: !position.is_gap(), rank: self.rank }
    }
}

/// The position of an item in its stream. The order of the fields is the order of comparison.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ItemPosition {
    raw: i64,
    ordinal: u64,
    /// A gap comes before the record that follows it.
    is_record: bool,
    rank: u16,
}

impl PartialEq for OrderedItem {
    fn eq(&self, other: &Self) -> bool {
        self.position() == other.position()
    }
}

impl Eq for OrderedItem {}

impl PartialOrd for OrderedItem {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedItem {
    fn cmp(&self, other: &Self) -> Ordering {
        self.position().cmp(&other.position())
    }
}
