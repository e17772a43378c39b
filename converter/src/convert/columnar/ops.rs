//! A block of a stream as operations ([`Maker`](crate::convert::columnar::evaluate::Maker) makes it): for each record, in order, eight bytes that tell what becomes of it.
//! It goes over to who does the operations as it is.

use tracer_format::columns::Columns;

use super::single_records::Chunk;
use crate::rules::LinkKey;
use crate::run::Memory;

/// What the operations of an arrow have in common that a stream makes in one container.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) program: u32,
    /// Its position among the ready arrows of the program.
    pub(crate) ready: u16,
    /// Of links: a key with the link type and the kinds of its keys.
    pub(crate) key: LinkKey,
    /// The fields of a record, of which those that tell the container have their values.
    pub(crate) body: Box<[u8]>,
}

impl Act {
    /// Of no arrow.
    pub(crate) fn none() -> Self {
        Self { program: u32::MAX, ready: 0, key: LinkKey::new(0, std::iter::empty()), body: Box::default() }
    }
}

/// An operation, when it is its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) date: i64,
    /// The value of an operation: the number of a value of its type, or the bits of a float. Of a wide one, the position of its record in the
    /// stream.
    pub(crate) bits: u64,
    /// The number of its [`Act`].
    pub(crate) act: u32,
    pub(crate) stream: u32,
}

/// A block as operations.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// By record that becomes something.
    entries: Vec<Entry>,
    /// How many of them were taken.
    at: usize,
    /// Those of records that become several operations, each with as many as it becomes.
    more: Vec<Entry>,
    /// Of wide operations, and values that have more than 32 bits.
    pub(crate) words: Vec<u64>,
    /// Position of the block's first record in the stream, and from there of those that become something; none of those when all do.
    first: u64,
    places: Vec<u32>,
    /// What operations have in common that say these numbers from now on.
    pub(crate) acts: Vec<(u32, Act)>,
    /// The records that stay records, and whether there are any.
    pub(crate) chunk: Chunk,
    keeps: bool,
    /// Budget memory of this batch.
    pub(crate) memory: Memory,
}

/// What becomes of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Which form that is, and what is in `bits`; beside, the number of the [`Act`].
    head: u32,
    bits: u32,
}

/// The kinds of entries, by the upper bits of their heads.
mod form {
    /// Where these bits begin.
    pub(crate) const BITS: u32 = 29;
    /// An operation that has no value, or one of 32 bits.
    pub(crate) const SHORT: u32 = 0;
    /// An operation with a value of 64 bits, which is a word at this place.
    pub(crate) const NUMBER: u32 = 1;
    /// A wide operation, whose words begin at this place; how many it has stands above the number of the act.
    pub(crate) const WIDE: u32 = 2;
    /// Several operations, of which the entries begin at this place; how many is the number.
    pub(crate) const SEVERAL: u32 = 3;
    /// It stays a record, at this place of the chunk.
    pub(crate) const RECORD: u32 = 4;
    /// There is none.
    pub(crate) const NOTHING: u32 = 7;
}

/// Bits of the number of an act.
pub(crate) const ACT_BITS: u32 = 18;
/// A wide operation has fewer words.
const MOST_WORDS: usize = 1 << (form::BITS - ACT_BITS);

impl Entry {
    const RECORD: Self = Self { head: form::RECORD << form::BITS, bits: 0 };
    const NOTHING: Self = Self { head: form::NOTHING << form::BITS, bits: 0 };

    fn is_record(self) -> bool {
        self.head == Self::RECORD.head
    }

    const fn start(self) -> usize {
        self.bits as usize
    }

    const fn act(self) -> u32 {
        self.head & ((1 << ACT_BITS) - 1)
    }

    /// How many operations, of several.
    const fn number(self) -> usize {
        self.act() as usize
    }

    /// How many words, of a wide one.
    const fn width(self) -> usize {
        self.head as usize >> ACT_BITS & (MOST_WORDS - 1)
    }
}

/// A record that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Taken {
    /// It becomes an operation with this act and value.
    Operation { act: u32, bits: u32 },
    /// It becomes something else: it was at this place.
    Other(usize),
}

/// What becomes of a record: one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'m> {
    /// It stays a record, at this place of the chunk.
    Record(&'m Chunk, usize),
    /// An operation.
    Operation(Turn),
    /// A wide one, with its words.
    Wide(Turn, &'m [u64]),
}

impl Made {
    /// Records of a chunk that was put together record by record.
    pub(crate) fn of_records(chunk: Chunk) -> Self {
        let mut entries = vec![Entry::RECORD; chunk.dates.len()];
        number_records(&mut entries);
        Self { entries, chunk, keeps: true, ..Self::default() }
    }

    /// Whether all records were taken of which something becomes.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.entries.len()
    }

    /// The position in the stream of one of those that become something.
    #[inline]
    pub(crate) fn ordinal(&self, at: usize) -> u64 {
        self.first + self.places.get(at).map_or(at as u64, |place| u64::from(*place))
    }

    /// Begins a block whose first record has this position in the stream.
    pub(crate) fn clear(&mut self, first: u64) {
        let Self { entries, more, words, places, acts, .. } = self;
        entries.clear();
        more.clear();
        words.clear();
        places.clear();
        acts.clear();
        self.chunk = Chunk::default();
        (self.at, self.first, self.keeps) = (0, first, false);
    }

    /// Of values by record that becomes something, those of records that stay records; `None` when there are no such records.
    pub(crate) fn of_kept<T: Copy>(&self, values: &[T]) -> Option<Vec<T>> {
        let some = self.entries.iter().zip(values).filter(|(entry, _)| entry.is_record());
        self.keeps.then(|| some.map(|(_, value)| *value).collect())
    }

    /// Takes the next record, which is due now. What becomes of it is an operation with a short value, nearly always; else
    /// [`Self::steps`] tell it.
    #[inline]
    pub(crate) fn take(&mut self) -> Taken {
        let at = self.at;
        self.at += 1;
        match self.entries.get(at) {
            Some(Entry { head, bits }) if head >> form::BITS == form::SHORT => {
                Taken::Operation { act: *head, bits: *bits }
            }
            _ => Taken::Other(at),
        }
    }

    /// Visits what becomes of a record that was taken.
    ///
    /// # Errors
    /// Those of `visit`.
    pub(crate) fn steps<E>(
        &self,
        at: usize,
        (date, stream): (i64, u32),
        visit: &mut impl FnMut(Step<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(&entry) = self.entries.get(at) else { return Ok(()) };
        let several = match entry.head >> form::BITS {
            form::SEVERAL => self.more.get(entry.start()..entry.start() + entry.number()).unwrap_or_default(),
            _ => std::slice::from_ref(&entry),
        };
        for entry in several {
            let turn = |bits| Turn { date, bits, act: entry.act(), stream };
            visit(match entry.head >> form::BITS {
                form::SHORT => Step::Operation(turn(entry.bits.into())),
                form::NUMBER => Step::Operation(turn(self.words.get(entry.start()).copied().unwrap_or_default())),
                form::WIDE => {
                    let words = self.words.get(entry.start()..entry.start() + entry.width()).unwrap_or_default();
                    Step::Wide(turn(self.ordinal(at)), words)
                }
                form::RECORD => Step::Record(&self.chunk, entry.start()),
                _ => continue,
            })?;
        }
        Ok(())
    }
}

/// Numbers the records that stay records.
fn number_records(entries: &mut [Entry]) {
    for (number, entry) in (0u32..).zip(entries.iter_mut().filter(|entry| entry.is_record())) {
        entry.bits = number;
    }
}

/// What becomes of the records of a type by one arrow.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) act: u32,
    pub(crate) said: Said,
}

/// What operations say, one for each record.
#[derive(Debug)]
pub(crate) enum Said {
    /// The same, all of them.
    Same(u32),
    /// A value.
    Values(Vec<u32>),
    /// Words, such as the bits of a float: that at this place, and as many steps behind it as there were records before.
    Numbers(usize, usize),
    /// Several words: where the first ones begin, and how many each has.
    Words(usize, usize),
}

/// Puts the entries of a block together, from what becomes of each record type.
#[derive(Debug, Default)]
pub(crate) struct Arranger {
    /// By record type, in the order of the columns: the head of the entries, and which of the bits are the next.
    kinds: Vec<(u32, u32)>,
    /// Bits of entries, type by type.
    bits: Vec<u32>,
    /// Record types that stay records.
    kept: Vec<u16>,
    /// There are records that become nothing.
    leaves_out: bool,
    /// Memory of columns.
    room: Vec<Vec<u32>>,
}

impl Arranger {
    /// An empty column.
    pub(crate) fn values(&mut self) -> Vec<u32> {
        self.room.pop().unwrap_or_default()
    }

    /// Begins a block.
    pub(crate) fn clear(&mut self) {
        self.kinds.clear();
        self.bits.clear();
        self.kept.clear();
        self.leaves_out = false;
    }

    /// The next type has so many records, which become nothing.
    pub(crate) fn add_nothing(&mut self, count: usize) {
        self.leaves_out |= count > 0;
        self.kinds.push((Entry::NOTHING.head, 0));
    }

    /// The records of the next type stay records.
    pub(crate) fn add_records(&mut self, id: u16) {
        self.kinds.push((Entry::RECORD.head, 0));
        self.kept.push(id);
    }

    /// The next type has so many records, which become operations. `None` when they are too many to be told by entries.
    pub(crate) fn add(&mut self, count: usize, mut sources: Vec<Source>, made: &mut Made) -> Option<()> {
        if sources.is_empty() {
            self.add_nothing(count);
            return Some(());
        }
        let next = u32::try_from(self.bits.len()).ok()?;
        if let [source] = &mut sources[..] {
            let head = self.put(count, source)?;
            self.kinds.push((head, next));
            return Some(());
        }
        let (first, several) = (made.more.len(), sources.len());
        made.more.resize(first.checked_add(several.checked_mul(count)?)?, Entry::NOTHING);
        let short = |number: usize| u32::try_from(number).ok();
        short(made.more.len())?;
        for (place, source) in sources.iter_mut().enumerate() {
            let from = self.bits.len();
            let head = self.put(count, source)?;
            let rows = made.more[first..].chunks_exact_mut(several);
            rows.zip(&self.bits[from..]).for_each(|(row, bits)| row[place] = Entry { head, bits: *bits });
            self.bits.truncate(from);
        }
        let several = short(several).filter(|several| *several < 1 << ACT_BITS)?;
        self.kinds.push((form::SEVERAL << form::BITS | several, next));
        self.bits.extend((0..count).map_while(|number| short(first + number * several as usize)));
        Some(())
    }

    /// Appends the bits of the entries of so many records; gives back their head.
    fn put(&mut self, count: usize, Source { act, said }: &mut Source) -> Option<u32> {
        let Self { bits, room, .. } = self;
        let mut steps = |start: usize, step: usize| {
            let last = step.checked_mul(count)?.checked_add(start)?;
            let (start, step, _) = (u32::try_from(start).ok()?, u32::try_from(step).ok()?, u32::try_from(last).ok()?);
            bits.extend((0..).map(|number| start + step * number).take(count));
            Some(())
        };
        Some(match said {
            Said::Same(value) => {
                bits.resize(bits.len() + count, *value);
                *act
            }
            Said::Values(values) => {
                let all = bits.len() + count;
                bits.append(values);
                bits.resize(all, 0);
                room.push(std::mem::take(values));
                *act
            }
            Said::Numbers(start, step) => {
                steps(*start, *step)?;
                form::NUMBER << form::BITS | *act
            }
            Said::Words(start, width) => {
                steps(*start, *width)?;
                let width = u32::try_from(*width).ok().filter(|width| (*width as usize) < MOST_WORDS)?;
                form::WIDE << form::BITS | width << ACT_BITS | *act
            }
        })
    }

    /// Whether records of this type stay records.
    pub(crate) fn keeps(&self, id: u16) -> bool {
        self.kept.contains(&id)
    }

    /// Fills in the entries of a block, and the ticks of each record that becomes something, from the beginning of the block. Linear.
    pub(crate) fn arrange(&mut self, columns: &Columns, made: &mut Made, ticks: &mut Vec<u64>) {
        let Self { kinds, bits, kept, leaves_out, .. } = self;
        let mut entry = |kind: u16| {
            let Some((head, next)) = kinds.get_mut(usize::from(kind)) else { return Entry::NOTHING };
            let bits = bits.get(*next as usize).copied().unwrap_or_default();
            *next += 1;
            Entry { head: *head, bits }
        };
        let Made { entries, places, keeps, .. } = made;
        *keeps = !kept.is_empty();
        if *leaves_out {
            ticks.clear();
            for (place, (kind, its_ticks)) in (0u32..).zip(columns.order().zip(columns.each_ticks())) {
                let entry = entry(kind);
                if entry.head != Entry::NOTHING.head {
                    entries.push(entry);
                    places.push(place);
                    ticks.push(its_ticks);
                }
            }
        } else {
            entries.extend(columns.order().map(entry));
            columns.ticks(ticks);
        }
        if *keeps {
            number_records(entries);
        }
    }
}
