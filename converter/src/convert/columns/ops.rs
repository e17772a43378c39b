//! A block of a stream as operations, one entry of eight bytes per record, in order.
//!
//! [`ColumnEvaluator`](crate::convert::columns::evaluate::ColumnEvaluator) fills a block.
//! It is sent to the consumer thread without copying.

use tracer_format::columns::BlockColumns;

use super::single_records::RowBatch;
use crate::rules::LinkKey;
use crate::run::BudgetShare;

/// The common data of all operations of one action, one stream and one container.
#[derive(Clone, Debug)]
pub(crate) struct OpTemplate {
    pub(crate) program: u32,
    /// The position of the action among the columnar actions of the program.
    pub(crate) position: u16,
    /// For links: a key with the link type and the types of the key parts.
    pub(crate) key: LinkKey,
    /// The fields of a record. Only the fields that determine the container have values.
    pub(crate) body: Box<[u8]>,
}

impl OpTemplate {
    /// A placeholder that belongs to no action.
    pub(crate) fn none() -> Self {
        Self { program: u32::MAX, position: 0, key: LinkKey::new(0, std::iter::empty()), body: Box::default() }
    }
}

/// An operation with its timestamp and stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingOp {
    pub(crate) corrected_time: i64,
    /// The value: the number of a value of its type, or the bits of a float. For a wide operation:
    /// the position of its record in the stream.
    pub(crate) bits: u64,
    /// The number of its [`OpTemplate`].
    pub(crate) template: u32,
    pub(crate) stream: u32,
}

/// The time at which an entry is visited, and its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordTurn {
    pub(crate) corrected_time: i64,
    pub(crate) stream: u32,
}

/// A block as operations.
#[derive(Debug, Default)]
pub(crate) struct OpBatch {
    /// One entry per kept record. Kept records are those that become operations or stay records.
    entries: Vec<OpEntry>,
    /// Number of entries already taken.
    position: usize,
    /// The entries of records with several operations. Each such record has a contiguous range.
    grouped_entries: Vec<OpEntry>,
    /// The words of wide operations, and values of more than 32 bits.
    pub(crate) words: Vec<u64>,
    /// The position of the first record of the block in the stream. `places` contains the distances
    /// of kept records from it, and is empty if all records are kept.
    first: u64,
    places: Vec<u32>,
    /// Templates that are new in this block, or changed. The number of each applies from this block
    /// on.
    pub(crate) templates: Vec<(u32, OpTemplate)>,
    /// The records that stay records. `has_records` is whether there are any.
    pub(crate) rows: RowBatch,
    has_records: bool,
    /// Budget memory of this batch.
    pub(crate) memory: BudgetShare,
}

/// The operations of a record, or its index in the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpEntry {
    /// The form of the entry in the upper bits, and the number of the [`OpTemplate`] below. The
    /// form determines the meaning of `bits`.
    head: u32,
    bits: u32,
}

/// The forms of entries: the upper bits of the head.
mod form {
    /// The position of the lowest bit of the form.
    pub(crate) const BITS: u32 = 29;
    /// An operation without a value, or with one of 32 bits, which is in `bits`.
    pub(crate) const SHORT: u32 = 0;
    /// An operation with a value of 64 bits. `bits` is the index of its word.
    pub(crate) const NUMBER: u32 = 1;
    /// A wide operation. `bits` is the index of its first word. The head contains the number of
    /// words, above the number of the template.
    pub(crate) const WIDE: u32 = 2;
    /// Several operations. `bits` is the index of the first entry. The head contains their number
    /// in place of the template.
    pub(crate) const SEVERAL: u32 = 3;
    /// A record that stays a record. `bits` is its index in the rows.
    pub(crate) const RECORD: u32 = 4;
    /// No entry.
    pub(crate) const NOTHING: u32 = 7;
}

/// Number of bits of a template number.
pub(crate) const TEMPLATE_BITS: u32 = 18;
/// A wide operation has fewer words than this.
const MAX_WORDS: usize = 1 << (form::BITS - TEMPLATE_BITS);

impl OpEntry {
    const RECORD: Self = Self { head: form::RECORD << form::BITS, bits: 0 };
    const NOTHING: Self = Self { head: form::NOTHING << form::BITS, bits: 0 };

    fn is_record(self) -> bool {
        self.head == Self::RECORD.head
    }

    const fn start(self) -> usize {
        self.bits as usize
    }

    const fn template(self) -> u32 {
        self.head & ((1 << TEMPLATE_BITS) - 1)
    }

    /// The number of operations of an entry of form `SEVERAL`.
    const fn number(self) -> usize {
        self.template() as usize
    }

    /// The number of words of a wide operation.
    const fn width(self) -> usize {
        self.head as usize >> TEMPLATE_BITS & (MAX_WORDS - 1)
    }
}

/// An entry that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TakenRecord {
    /// An operation with this template and value.
    Operation { template: u32, bits: u32 },
    /// Any other form. This is the index of the entry.
    Other(usize),
}

/// One step in processing a record.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NextOp<'m> {
    /// The record itself, at this index of the rows.
    Record(&'m RowBatch, usize),
    /// An operation with a short or 64-bit value.
    Operation(PendingOp),
    /// A wide operation with its words.
    Wide(PendingOp, &'m [u64]),
}

impl OpBatch {
    /// The entries of rows that were assembled record by record.
    pub(crate) fn from_rows(rows: RowBatch) -> Self {
        let mut entries = vec![OpEntry::RECORD; rows.corrected_times.len()];
        number_records(&mut entries);
        Self { entries, rows, has_records: true, ..Self::default() }
    }

    /// Whether all entries are taken.
    pub(crate) fn is_done(&self) -> bool {
        self.position >= self.entries.len()
    }

    /// The position in the stream of the record of an entry.
    #[inline]
    pub(crate) fn ordinal(&self, index: usize) -> u64 {
        self.first + self.places.get(index).map_or(index as u64, |position| u64::from(*position))
    }

    /// Starts a block. `first` is the position of its first record in the stream.
    pub(crate) fn clear(&mut self, first: u64) {
        let Self { entries, grouped_entries, words, places, templates, .. } = self;
        entries.clear();
        grouped_entries.clear();
        words.clear();
        places.clear();
        templates.clear();
        self.rows = RowBatch::default();
        (self.position, self.first, self.has_records) = (0, first, false);
    }

    /// Selects from `values`, one per entry, those of records that stay records. `None` if there
    /// are no such records.
    pub(crate) fn row_values<T: Copy>(&self, values: &[T]) -> Option<Vec<T>> {
        let some = self.entries.iter().zip(values).filter(|(entry, _)| entry.is_record());
        self.has_records.then(|| some.map(|(_, value)| *value).collect())
    }

    /// Takes the next entry. Nearly all entries are short operations. [`Self::steps`] decodes the
    /// others.
    #[inline]
    pub(crate) fn take_record(&mut self) -> TakenRecord {
        let position = self.position;
        self.position += 1;
        match self.entries.get(position) {
            Some(OpEntry { head, bits }) if head >> form::BITS == form::SHORT => {
                TakenRecord::Operation { template: *head, bits: *bits }
            }
            _ => TakenRecord::Other(position),
        }
    }

    /// Visits the steps of an entry that was taken, in its turn.
    ///
    /// # Errors
    /// The errors of `visit`.
    pub(crate) fn steps<E>(
        &self,
        position: usize,
        RecordTurn { corrected_time, stream }: RecordTurn,
        visit: &mut impl FnMut(NextOp<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&entry) = self.entries.get(position) else { return Ok(()) };
        let several = match entry.head >> form::BITS {
            form::SEVERAL => {
                self.grouped_entries.get(entry.start()..entry.start() + entry.number()).unwrap_or_default()
            }
            _ => std::slice::from_ref(&entry),
        };
        for entry in several {
            let pending = |bits| PendingOp { corrected_time, bits, template: entry.template(), stream };
            visit(match entry.head >> form::BITS {
                form::SHORT => NextOp::Operation(pending(entry.bits.into())),
                form::NUMBER => NextOp::Operation(pending(self.words.get(entry.start()).copied().unwrap_or_default())),
                form::WIDE => {
                    let words = self.words.get(entry.start()..entry.start() + entry.width()).unwrap_or_default();
                    NextOp::Wide(pending(self.ordinal(position)), words)
                }
                form::RECORD => NextOp::Record(&self.rows, entry.start()),
                _ => continue,
            })?;
        }
        Ok(())
    }
}

/// Numbers the records that stay records, from 0.
fn number_records(entries: &mut [OpEntry]) {
    for (number, entry) in (0u32..).zip(entries.iter_mut().filter(|entry| entry.is_record())) {
        entry.bits = number;
    }
}

/// The operations of one record type by one action.
#[derive(Debug)]
pub(crate) struct OpSource {
    pub(crate) template: u32,
    pub(crate) op_values: OpValues,
}

/// The values of operations, one per record.
#[derive(Debug)]
pub(crate) enum OpValues {
    /// The same value for all.
    Same(u32),
    /// A value for each record.
    Values(Vec<u32>),
    /// Words, such as the bits of a float. `first` is the index of the first word, and `step` the
    /// distance between the words of consecutive records (0 if all share one word).
    Numbers { first: usize, step: usize },
    /// Several words per record. `first` is the index of the first word.
    Words { first: usize, per_record: usize },
}

/// The entries of one record type.
#[derive(Clone, Copy, Debug)]
struct TypeEntries {
    head: u32,
    /// The index of its next element in [`BatchBuilder::bits`].
    next: u32,
}

/// Assembles the entries of a block from the operations of each record type.
#[derive(Debug, Default)]
pub(crate) struct BatchBuilder {
    /// For each record type, in the order of the columns.
    kinds: Vec<TypeEntries>,
    /// The `bits` of entries, type by type.
    bits: Vec<u32>,
    /// The ids of record types that stay records.
    record_ids: Vec<u16>,
    /// Whether some records have no entry.
    leaves_out: bool,
    /// Unused columns, kept to reuse their memory.
    room: Vec<Vec<u32>>,
}

impl BatchBuilder {
    /// An empty column.
    pub(crate) fn values(&mut self) -> Vec<u32> {
        self.room.pop().unwrap_or_default()
    }

    /// Starts a block.
    pub(crate) fn clear(&mut self) {
        self.kinds.clear();
        self.bits.clear();
        self.record_ids.clear();
        self.leaves_out = false;
    }

    /// Adds a record type with `count` records that need no entries.
    pub(crate) fn add_nothing(&mut self, count: usize) {
        self.leaves_out |= count > 0;
        self.kinds.push(TypeEntries { head: OpEntry::NOTHING.head, next: 0 });
    }

    /// Adds a record type that stays in record form.
    pub(crate) fn add_records(&mut self, id: u16) {
        self.kinds.push(TypeEntries { head: OpEntry::RECORD.head, next: 0 });
        self.record_ids.push(id);
    }

    /// Adds a record type with `count` records that become operations. `None` if the entries cannot
    /// represent them.
    pub(crate) fn add(&mut self, count: usize, mut sources: Vec<OpSource>, op_batch: &mut OpBatch) -> Option<()> {
        if sources.is_empty() {
            self.add_nothing(count);
            return Some(());
        }
        let next = u32::try_from(self.bits.len()).ok()?;
        if let [source] = &mut sources[..] {
            let head = self.put(count, source)?;
            self.kinds.push(TypeEntries { head, next });
            return Some(());
        }
        let (first, several) = (op_batch.grouped_entries.len(), sources.len());
        op_batch.grouped_entries.resize(first.checked_add(several.checked_mul(count)?)?, OpEntry::NOTHING);
        let short = |number: usize| u32::try_from(number).ok();
        short(op_batch.grouped_entries.len())?;
        for (position, source) in sources.iter_mut().enumerate() {
            let from = self.bits.len();
            let head = self.put(count, source)?;
            let rows = op_batch.grouped_entries[first..].chunks_exact_mut(several);
            rows.zip(&self.bits[from..]).for_each(|(row, bits)| row[position] = OpEntry { head, bits: *bits });
            self.bits.truncate(from);
        }
        let several = short(several).filter(|several| *several < 1 << TEMPLATE_BITS)?;
        self.kinds.push(TypeEntries { head: form::SEVERAL << form::BITS | several, next });
        self.bits.extend((0..count).map_while(|number| short(first + number * several as usize)));
        Some(())
    }

    /// Appends the `bits` of the entries of `count` records. Returns their head.
    fn put(&mut self, count: usize, OpSource { template, op_values }: &mut OpSource) -> Option<u32> {
        let Self { bits, room, .. } = self;
        let mut steps = |start: usize, step: usize| {
            let last = step.checked_mul(count)?.checked_add(start)?;
            let (start, step, _) = (u32::try_from(start).ok()?, u32::try_from(step).ok()?, u32::try_from(last).ok()?);
            bits.extend((0..).map(|number| start + step * number).take(count));
            Some(())
        };
        Some(match op_values {
            OpValues::Same(value) => {
                bits.resize(bits.len() + count, *value);
                *template
            }
            OpValues::Values(values) => {
                let length = bits.len() + count;
                bits.append(values);
                bits.resize(length, 0);
                room.push(std::mem::take(values));
                *template
            }
            OpValues::Numbers { first: start, step } => {
                steps(*start, *step)?;
                form::NUMBER << form::BITS | *template
            }
            OpValues::Words { first: start, per_record: width } => {
                steps(*start, *width)?;
                let width = u32::try_from(*width).ok().filter(|width| (*width as usize) < MAX_WORDS)?;
                form::WIDE << form::BITS | width << TEMPLATE_BITS | *template
            }
        })
    }

    /// Whether records of this type stay records.
    pub(crate) fn keeps_records(&self, id: u16) -> bool {
        self.record_ids.contains(&id)
    }

    /// Fills the entries of a block and the ticks of each kept record since the start of the block.
    /// Linear in the number of records.
    pub(crate) fn arrange(&mut self, columns: &BlockColumns, op_batch: &mut OpBatch, ticks: &mut Vec<u64>) {
        let Self { kinds, bits, record_ids, leaves_out, .. } = self;
        let mut entry = |kind: u16| {
            let Some(TypeEntries { head, next }) = kinds.get_mut(usize::from(kind)) else { return OpEntry::NOTHING };
            let bits = bits.get(*next as usize).copied().unwrap_or_default();
            *next += 1;
            OpEntry { head: *head, bits }
        };
        let OpBatch { entries, places, has_records, .. } = op_batch;
        *has_records = !record_ids.is_empty();
        if *leaves_out {
            ticks.clear();
            for (position, (kind, its_ticks)) in (0u32..).zip(columns.order().zip(columns.ticks())) {
                let entry = entry(kind);
                if entry.head != OpEntry::NOTHING.head {
                    entries.push(entry);
                    places.push(position);
                    ticks.push(its_ticks);
                }
            }
        } else {
            entries.extend(columns.order().map(entry));
            columns.write_ticks(ticks);
        }
        if *has_records {
            number_records(entries);
        }
    }
}
