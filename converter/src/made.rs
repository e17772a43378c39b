//! A block of a stream as operations ([`Maker`](crate::ready::Maker) makes it): for each record type what becomes of its records, column by column,
//! beside the order in which they come. It goes over to who does the operations as it is: nothing is written down per operation.

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

/// A record type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    id: u16,
    /// A piece of the sources.
    from: usize,
    to: usize,
    /// How many of its records were taken.
    next: usize,
}

/// What the operations of an arrow say.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) act: u32,
    pub(crate) bits: Bits,
}

#[derive(Debug)]
pub(crate) enum Bits {
    /// No operation: the records stay records.
    Record,
    Same(u64),
    /// One for each.
    Each(Vec<u64>),
    /// Words: where the first ones begin, and how many each has.
    Wide(usize, usize),
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
    pub(crate) fn clear(&mut self, first: u64, room: &mut Vec<Vec<u64>>) {
        for source in self.sources.drain(..) {
            if let Bits::Each(bits) = source.bits {
                room.push(bits);
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
        let from = self.sources.len();
        self.sources.extend(sources);
        self.kinds.push(Kind { id, from, to: self.sources.len(), next: 0 });
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
        matches!(self.sources.get(kind.from..kind.to), Some([Source { bits: Bits::Record, .. }]))
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
        let (number, place) = (kind.next, *at);
        kind.next += 1;
        *at += 1;
        for Source { act, bits } in sources.get(kind.from..kind.to).unwrap_or_default() {
            let turn = |bits| Turn { date, bits, act: *act, stream };
            visit(match bits {
                Bits::Same(bits) => Step::Operation(turn(*bits), None),
                Bits::Each(bits) => Step::Operation(turn(bits.get(number).copied().unwrap_or_default()), None),
                Bits::Wide(start, width) => {
                    let start = start + number * width;
                    let ordinal = self.first + self.places.get(place).map_or(place as u64, |place| u64::from(*place));
                    Step::Operation(turn(ordinal), Some(words.get(start..start + width).unwrap_or_default()))
                }
                Bits::Record => {
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
    pub(crate) const RECORD: Self = Self { act: u32::MAX, bits: Bits::Record };
}
