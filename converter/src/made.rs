//! A block of a stream as operations ([`Maker`](crate::ready::Maker) makes it): for each record type what becomes of its records, column by column,
//! beside the order in which they come. It goes over to who does the operations as it is: nothing is written down per operation.

use std::ops::Range;

use tracer_format::columns::Columns;

use crate::lane::Chunk;
use crate::ready::Act;

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

/// A block as operations: for each record type what becomes of its records, column by column, and the order of the records.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// By record that becomes something: the position of its type in `kinds`.
    order: Vec<u16>,
    /// How many of them were taken.
    at: usize,
    kinds: Vec<Kind>,
    sources: Vec<Source>,
    /// Of wide operations.
    pub(crate) words: Vec<u64>,
    /// Position of the block's first record in the stream, and from there of those that become something; none of those when all do.
    first: u64,
    places: Vec<u32>,
    /// What operations have in common that say these numbers from now on.
    pub(crate) acts: Vec<(u32, Act)>,
    /// The records that stay records, and how many of them were taken.
    pub(crate) chunk: Chunk,
    kept: usize,
}

/// A record type. That and what it becomes is looked at for each record, of another stream each time: small, so that those of all streams are near.
#[derive(Clone, Copy, Debug)]
struct Kind {
    id: u16,
    /// A piece of the sources.
    from: u32,
    to: u32,
    /// How many of its records were taken.
    next: u32,
}

impl Kind {
    fn sources(self) -> Range<usize> {
        self.from as usize..self.to as usize
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
    /// There are none: the records stay records.
    Record,
    /// The same, all of them.
    Same(u64),
    /// A value.
    Values(Vec<u32>),
    /// The bits of a float.
    Numbers(Vec<u64>),
    /// Words: where the first ones begin, and how many each has.
    Words(usize, usize),
}

/// Memory of columns that were taken.
#[derive(Debug, Default)]
pub(crate) struct Room {
    values: Vec<Vec<u32>>,
    numbers: Vec<Vec<u64>>,
}

impl Room {
    pub(crate) fn values(&mut self) -> Vec<u32> {
        let mut values = self.values.pop().unwrap_or_default();
        values.clear();
        values
    }

    pub(crate) fn numbers(&mut self) -> Vec<u64> {
        let mut numbers = self.numbers.pop().unwrap_or_default();
        numbers.clear();
        numbers
    }
}

/// What becomes of a record: one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'m> {
    /// It stays a record, at this place of the chunk.
    Record(&'m Chunk, usize),
    /// An operation; with words if it is wide.
    Operation(Turn, Option<&'m [u64]>),
}

impl Made {
    /// Records of a chunk that was put together record by record.
    pub(crate) fn of_records(chunk: Chunk) -> Self {
        let order = vec![0; chunk.dates.len()];
        let (kinds, sources) = (vec![Kind { id: 0, from: 0, to: 1, next: 0 }], vec![Source::RECORD]);
        Self { order, kinds, sources, chunk, ..Self::default() }
    }

    /// Whether all records were taken of which something becomes.
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.order.len()
    }

    /// The position in the stream of one of those that become something.
    #[inline]
    pub(crate) fn ordinal(&self, at: usize) -> u64 {
        self.first + self.places.get(at).map_or(at as u64, |place| u64::from(*place))
    }

    /// Begins a block whose first record has this position in the stream; memory of columns goes to `room`.
    pub(crate) fn clear(&mut self, first: u64, room: &mut Room) {
        for Source { said, .. } in self.sources.drain(..) {
            match said {
                Said::Values(values) => room.values.push(values),
                Said::Numbers(numbers) => room.numbers.push(numbers),
                Said::Record | Said::Same(_) | Said::Words(..) => {}
            }
        }
        let Self { order, kinds, words, places, acts, .. } = self;
        order.clear();
        kinds.clear();
        words.clear();
        places.clear();
        acts.clear();
        self.chunk = Chunk::default();
        (self.at, self.kept, self.first) = (0, 0, first);
    }

    /// Adds the next record type of the block, and what becomes of its records.
    pub(crate) fn add(&mut self, id: u16, sources: impl IntoIterator<Item = Source>) {
        let short = |length| u32::try_from(length).unwrap_or(u32::MAX);
        let from = short(self.sources.len());
        self.sources.extend(sources);
        self.kinds.push(Kind { id, from, to: short(self.sources.len()), next: 0 });
    }

    /// Takes over the order of the records of which something becomes, and fills in the ticks of each from the beginning of the block. Linear.
    pub(crate) fn put_in_order(&mut self, columns: &Columns, ticks: &mut Vec<u64>) {
        let Self { order, kinds, places, .. } = self;
        if columns.kinds().zip(&*kinds).all(|((_, count), kind)| count == 0 || kind.from < kind.to) {
            order.extend(columns.order());
            return columns.ticks(ticks);
        }
        ticks.clear();
        for (place, (kind, its_ticks)) in (0u32..).zip(columns.order().zip(columns.each_ticks())) {
            if kinds.get(usize::from(kind)).is_some_and(|kind| kind.from < kind.to) {
                order.push(kind);
                places.push(place);
                ticks.push(its_ticks);
            }
        }
    }

    /// Whether records of this type stay records.
    pub(crate) fn keeps(&self, id: u16) -> bool {
        self.kinds.iter().any(|kind| kind.id == id && self.is_kept(kind))
    }

    fn is_kept(&self, kind: &Kind) -> bool {
        matches!(self.sources.get(kind.sources()), Some([Source { said: Said::Record, .. }]))
    }

    /// Of values by record that becomes something, those of records that stay records; `None` when there are no such records.
    pub(crate) fn of_kept<T: Copy>(&self, values: &[T]) -> Option<Vec<T>> {
        let kept: Vec<bool> = self.kinds.iter().map(|kind| self.is_kept(kind)).collect();
        let is_one = |kind: u16| kept.get(usize::from(kind)).copied().unwrap_or(false);
        let some = self.order.iter().zip(values).filter(|(kind, _)| is_one(**kind));
        kept.contains(&true).then(|| some.map(|(_, value)| *value).collect())
    }

    /// Takes the next record, which is due now, and visits what becomes of it.
    ///
    /// # Errors
    /// Those of `visit`; the record is taken, too.
    #[inline]
    pub(crate) fn take<E>(
        &mut self,
        (date, stream): (i64, u32),
        mut visit: impl FnMut(Step<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { order, at, kinds, sources, words, chunk, kept, .. } = self;
        let Some(kind) = order.get(*at).and_then(|kind| kinds.get_mut(usize::from(*kind))) else { return Ok(()) };
        let (number, place) = (kind.next as usize, *at);
        kind.next += 1;
        *at += 1;
        for Source { act, said } in sources.get(kind.sources()).unwrap_or_default() {
            let turn = |bits| Turn { date, bits, act: *act, stream };
            visit(match said {
                Said::Same(bits) => Step::Operation(turn(*bits), None),
                Said::Values(values) => {
                    Step::Operation(turn(values.get(number).copied().unwrap_or_default().into()), None)
                }
                Said::Numbers(numbers) => Step::Operation(turn(numbers.get(number).copied().unwrap_or_default()), None),
                Said::Words(start, width) => {
                    let start = start + number * width;
                    let ordinal = self.first + self.places.get(place).map_or(place as u64, |place| u64::from(*place));
                    Step::Operation(turn(ordinal), Some(words.get(start..start + width).unwrap_or_default()))
                }
                Said::Record => {
                    *kept += 1;
                    Step::Record(chunk, *kept - 1)
                }
            })?;
        }
        Ok(())
    }
}

impl Source {
    /// Records stay records.
    pub(crate) const RECORD: Self = Self { act: u32::MAX, said: Said::Record };
}
