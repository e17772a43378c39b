//! From the columns of a block to operations, each with its date: what of the rules does not depend on other streams is done here, type by
//! type, in the thread that reads ahead. Record types of which an arrow, or a value in this block, is not plain go on as records.

use tracer_format::columns::Columns;

use crate::paje::{TypeId, ValueId};
use crate::plan::Plan;
use crate::rules::{
    Cell, Code, KeyPart, KnownValues, LinkKey, Model, Part, Program, Ready, ReadyValue, Scope, Symbols, Wide, fixed,
};

/// Whose turn it is, in order of date: an operation, or a record of the stream's chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) date: i64,
    /// The value of an operation: the number of a value of its type, or the bits of a float. Of a wide one, the place of its words.
    pub(crate) bits: u64,
    /// The number of its [`Act`], or [`RECORD`].
    pub(crate) act: u32,
    pub(crate) stream: u32,
}

/// A turn that is a record's.
pub(crate) const RECORD: u32 = u32::MAX;
/// In the number of an act: its operations are wide.
pub(crate) const WIDE: u32 = 1 << 31;
/// Where in the place of words their number begins.
const WIDTH_AT: u32 = 48;

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

/// What operations are made for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'p> {
    /// Nothing: all are records.
    Records,
    /// The first pass, which wants the ends of links.
    Survey,
    /// The second pass for Pajé.
    Picture(&'p Model),
}

/// Makes operations; one for all streams.
#[derive(Debug)]
pub(crate) struct Maker<'p> {
    plan: &'p Plan<'p>,
    purpose: Purpose<'p>,
    known: KnownValues,
    /// How many acts have a number.
    acts: u32,
    /// Acts that are new, for whoever does the operations.
    pub(crate) fresh: Vec<(u32, Act)>,
    /// By record type of the block that is being made.
    kinds: Vec<Kind>,
    sources: Vec<Source>,
    records: Vec<u16>,
    room: Vec<Vec<u64>>,
    scratch: Vec<u64>,
    /// By turn of the block that was made last: ticks from the beginning of the block. The turns have no dates yet.
    pub(crate) ticks: Vec<u64>,
    /// The same by record.
    all_ticks: Vec<u64>,
}

/// Acts at most: a run with more streams times arrows has the others read record by record.
const MOST_ACTS: u32 = 1 << 18;

/// The acts that a stream has.
#[derive(Debug, Default)]
pub(crate) struct Acts(Vec<Kept>);

/// By record id and position among the ready arrows: the number of an act, and its body.
type Kept = ((u16, u16), u32, Box<[u8]>);

/// A block as operations.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) turns: Vec<Turn>,
    pub(crate) words: Vec<u64>,
    /// By turn, where that is of interest: the position of its record in the block.
    pub(crate) places: Vec<u32>,
    /// It is known that the stream has no more.
    pub(crate) is_last: bool,
}

impl Made {
    pub(crate) fn clear(&mut self) {
        self.turns.clear();
        self.words.clear();
        self.places.clear();
        self.is_last = false;
    }
}

/// What becomes of the records of a type.
#[derive(Debug)]
enum What {
    Nothing,
    Records,
    Operations(Vec<Operations>),
}

/// The operations of an arrow.
#[derive(Debug)]
struct Operations {
    act: u32,
    bits: Bits,
}

#[derive(Debug)]
enum Bits {
    Same(u64),
    /// One for each.
    Each(Vec<u64>),
    /// Words: where the first ones begin, and how many each has.
    Wide(usize, usize),
}

/// What a record type's records become, as it is looked up record by record: without a question that depends on the type.
#[derive(Debug)]
struct Kind {
    /// A piece of the sources, and how many records were met.
    from: usize,
    to: usize,
    next: usize,
}

/// What turns of a record type say: number `next * step` of the bits.
#[derive(Debug)]
struct Source {
    act: u32,
    step: usize,
    bits: Vec<u64>,
}

impl<'p> Maker<'p> {
    pub(crate) fn new(plan: &'p Plan<'p>, purpose: Purpose<'p>) -> Self {
        Self {
            plan,
            purpose,
            known: KnownValues::default(),
            acts: 0,
            fresh: Vec::new(),
            kinds: Vec::new(),
            sources: Vec::new(),
            records: Vec::new(),
            room: Vec::new(),
            scratch: Vec::new(),
            ticks: Vec::new(),
            all_ticks: Vec::new(),
        }
    }

    /// Makes what can be made of a block of a stream. Linear.
    ///
    /// Afterwards [`Self::records`] tells which types are still records.
    pub(crate) fn make(
        &mut self,
        columns: &Columns,
        (stream, first_ordinal): (usize, u64),
        is_wanted: impl Fn(u16) -> bool,
        acts: &mut Acts,
        with_places: bool,
        made: &mut Made,
    ) {
        made.clear();
        self.kinds.clear();
        self.records.clear();
        self.room.extend(self.sources.drain(..).map(|source| source.bits));
        let mut has_words = false;
        for (id, count) in columns.kinds() {
            let what = match is_wanted(id) && count > 0 {
                true => self.operations(columns, id, stream, acts, &mut made.words).unwrap_or(What::Records),
                false => What::Nothing,
            };
            let from = self.sources.len();
            match what {
                What::Nothing => {}
                What::Records => {
                    self.records.push(id);
                    self.add(RECORD, Bits::Same(0), 0);
                }
                What::Operations(arrows) => arrows.into_iter().for_each(|Operations { act, bits }| {
                    has_words |= matches!(bits, Bits::Wide(..));
                    self.add(act, bits, count);
                }),
            }
            self.kinds.push(Kind { from, to: self.sources.len(), next: 0 });
        }
        let Self { kinds, sources, ticks, all_ticks, .. } = self;
        columns.ticks(all_ticks);
        ticks.clear();
        ticks.reserve(columns.records());
        made.turns.reserve(columns.records());
        let stream = u32::try_from(stream).unwrap_or(u32::MAX);
        for (place, (kind, its_ticks)) in columns.order().zip(&*all_ticks).enumerate() {
            let Some(kind) = kinds.get_mut(kind) else { return };
            let number = kind.next;
            kind.next += 1;
            for Source { act, step, bits } in sources.get(kind.from..kind.to).unwrap_or_default() {
                let bits = bits.get(number * step).copied().unwrap_or_default();
                ticks.push(*its_ticks);
                made.turns.push(Turn { date: 0, bits, act: *act, stream });
                if with_places {
                    made.places.push(u32::try_from(place).unwrap_or(u32::MAX));
                }
                if has_words && *act & WIDE != 0 && *act != RECORD {
                    // The first word of each.
                    if let Some(word) = made.words.get_mut(start_of(bits)) {
                        *word = first_ordinal + place as u64;
                    }
                }
            }
        }
    }

    /// Adds what the turns of some records say.
    fn add(&mut self, act: u32, bits: Bits, count: usize) {
        let (step, bits) = match bits {
            Bits::Same(one) => {
                let mut bits = self.room();
                bits.push(one);
                (0, bits)
            }
            Bits::Each(bits) => (1, bits),
            Bits::Wide(start, width) => {
                let mut bits = self.room();
                bits.extend((0..count).map(|at| (start + at * width) as u64 | (width as u64) << WIDTH_AT));
                (1, bits)
            }
        };
        self.sources.push(Source { act, step, bits });
    }

    /// By record of the block that was made last: ticks from the beginning of the block.
    pub(crate) fn all_ticks(&self) -> &[u64] {
        &self.all_ticks
    }

    /// The types of which the records stay records in the block that was made last.
    pub(crate) fn records(&self) -> &[u16] {
        &self.records
    }

    /// The operations of the records of a type; `None` when something is not plain.
    fn operations(
        &mut self,
        columns: &Columns,
        id: u16,
        stream: usize,
        acts: &mut Acts,
        words: &mut Vec<u64>,
    ) -> Option<What> {
        if columns.kinds().filter(|(its, count)| *its == id && *count > 0).count() > 1 {
            return None;
        }
        let plan = self.plan;
        let number = plan.program_number(stream, id)?;
        let program = plan.programs.get(number)?;
        let ready = match self.purpose {
            Purpose::Records => return None,
            Purpose::Survey => program.ready_links.as_ref()?,
            Purpose::Picture(_) => program.ready.as_ref()?,
        };
        let block = Block { plan, program, columns, id, stream };
        let mut arrows = Vec::with_capacity(ready.len());
        for (position, ready) in (0u16..).zip(ready) {
            let body = block.body(ready)?;
            let bits = match (&ready.wide, &ready.value) {
                (Some(wide), value) => self.wide(&block, wide, value, words)?,
                (None, ReadyValue::Declared) => Bits::Same(0),
                (None, value) => self.values(&block, value)?,
            };
            let key = match &ready.wide {
                Some(wide) => block.key(wide),
                None => LinkKey::new(0, std::iter::empty()),
            };
            let act = Act { program: u32::try_from(number).ok()?, ready: position, key, body };
            let act = self.act(acts, id, act)? | if ready.wide.is_some() { WIDE } else { 0 };
            arrows.push(Operations { act, bits });
        }
        Some(What::Operations(arrows))
    }

    /// The number of an act. One of another container takes over the number: the stream has no operations left that say it.
    fn act(&mut self, acts: &mut Acts, id: u16, act: Act) -> Option<u32> {
        let known = acts.0.iter_mut().find(|(place, ..)| *place == (id, act.ready));
        if let Some((_, number, body)) = known {
            if **body != *act.body {
                body.clone_from(&act.body);
                self.fresh.push((*number, act));
            }
            return Some(*number);
        }
        if self.acts >= MOST_ACTS {
            return None;
        }
        let number = self.acts;
        self.acts += 1;
        acts.0.push(((id, act.ready), number, act.body.clone()));
        self.fresh.push((number, act));
        Some(number)
    }

    fn room(&mut self) -> Vec<u64> {
        let mut room = self.room.pop().unwrap_or_default();
        room.clear();
        room
    }

    /// The values of the records of a type, as an operation says them.
    fn values(&mut self, block: &Block<'_>, value: &ReadyValue) -> Option<Bits> {
        match value {
            ReadyValue::Declared => Some(Bits::Same(0)),
            ReadyValue::Number(Part::Fixed(code)) => {
                let number = fixed(code, &block.scope(&[]), &Symbols::default()).number();
                Some(Bits::Same(number.unwrap_or(f64::NAN).to_bits()))
            }
            ReadyValue::Named(ty, Part::Fixed(code)) => {
                let mut symbols = Symbols::default();
                let name = fixed(code, &block.scope(&[]), &symbols).key("", &mut symbols);
                Some(Bits::Same(self.value(*ty, name)?))
            }
            ReadyValue::Number(Part::Cell(cell)) => {
                let mut bits = self.room();
                block.words(cell, &mut bits)?;
                bits.iter_mut().for_each(|bits| *bits = cell.val(*bits).number().unwrap_or(f64::NAN).to_bits());
                Some(Bits::Each(bits))
            }
            ReadyValue::Named(ty, Part::Cell(cell)) => {
                let mut bits = self.room();
                block.words(cell, &mut bits)?;
                self.name(&mut bits, *ty, cell)?;
                Some(Bits::Each(bits))
            }
        }
    }

    /// Replaces names by the values that they stand for.
    fn name(&mut self, words: &mut [u64], ty: TypeId, cell: &Cell) -> Option<()> {
        for word in words {
            *word = self.value(ty, cell.key(*word))?;
        }
        Some(())
    }

    fn value(&mut self, ty: TypeId, name: KeyPart) -> Option<u64> {
        let Purpose::Picture(model) = self.purpose else { return None };
        let ValueId(value) = self.known.value(model, ty, name)?;
        Some(value.into())
    }

    /// Appends the words of wide operations.
    fn wide(&mut self, block: &Block<'_>, wide: &Wide, value: &ReadyValue, words: &mut Vec<u64>) -> Option<Bits> {
        let (width, count, start) = (wide.width(), block.count()?, words.len());
        words.resize(start + width * count, 0);
        let out = &mut words[start..];
        // The first word is the record's position, which is not known yet.
        let mut at = 1;
        let mut put = |column: &mut dyn Iterator<Item = u64>| {
            out.iter_mut().skip(at).step_by(width).zip(column).for_each(|(place, word)| *place = word);
            at += 1;
        };
        if wide.site {
            let (_, sites) = block.columns.column(block.id, 0)?;
            put(&mut sites.as_chunks().0.iter().map(|site| u32::from_le_bytes(*site).into()));
        }
        if wide.value {
            match self.values(block, value)? {
                Bits::Same(bits) => put(&mut std::iter::repeat(bits)),
                Bits::Each(bits) => {
                    put(&mut bits.iter().copied());
                    self.room.push(bits);
                }
                Bits::Wide(..) => return None,
            }
        }
        let mut column = std::mem::take(&mut self.scratch);
        let mut is_whole = true;
        for part in &wide.keys {
            match part {
                Part::Fixed(code) => put(&mut std::iter::repeat(block.fixed_key(code).word().1)),
                Part::Cell(cell) => {
                    column.clear();
                    is_whole &= block.words(cell, &mut column).is_some();
                    put(&mut column.iter().map(|word| cell.key(*word).word().1));
                }
            }
        }
        for cell in &wide.fields {
            column.clear();
            is_whole &= block.words(cell, &mut column).is_some();
            put(&mut column.iter().copied());
        }
        self.scratch = column;
        is_whole.then_some(Bits::Wide(start, width))
    }
}

/// The records of one type of a block.
struct Block<'b> {
    plan: &'b Plan<'b>,
    program: &'b Program,
    columns: &'b Columns,
    id: u16,
    stream: usize,
}

impl<'b> Block<'b> {
    fn count(&self) -> Option<usize> {
        self.columns.kinds().find(|(id, _)| *id == self.id).map(|(_, count)| count)
    }

    fn scope<'a>(&'a self, body: &'a [u8]) -> Scope<'a> {
        self.plan.scope(self.stream, self.program, 0, (0, 0), body)
    }

    fn fixed_key(&self, code: &Code) -> KeyPart {
        let mut symbols = Symbols::default();
        fixed(code, &self.scope(&[]), &symbols).key("", &mut symbols)
    }

    /// Appends the words of a column.
    fn words(&self, cell: &Cell, out: &mut Vec<u64>) -> Option<()> {
        let (width, bytes) = self.columns.column(self.id, cell.part)?;
        if cell.scalar.bytes() != Some(width) {
            return None;
        }
        cell.words(bytes, self.plan.facts_of(self.stream), &self.program.enums, out)
    }

    /// A key with the kinds of the keys of a link.
    fn key(&self, wide: &Wide) -> LinkKey {
        let keys = wide.keys.iter().map(|part| match part {
            Part::Fixed(code) => self.fixed_key(code),
            Part::Cell(cell) => cell.key(0),
        });
        LinkKey::new(wide.link, keys)
    }

    /// The fields of a record, of which those that tell the container are those of all records of the block; `None` when they differ.
    fn body(&self, ready: &Ready) -> Option<Box<[u8]>> {
        let mut body = Vec::new();
        for cell in &ready.on {
            let (width, bytes) = self.columns.column(self.id, cell.part)?;
            let value = bytes.get(..width).filter(|_| cell.scalar.bytes() == Some(width))?;
            if bytes[width..] != bytes[..bytes.len() - width] {
                return None;
            }
            body.resize(body.len().max(cell.start + width), 0);
            body[cell.start..cell.start + width].copy_from_slice(value);
        }
        Some(body.into())
    }
}

/// The words of a wide operation, and what its turn says when they are at `to`.
#[inline]
pub(crate) fn words_of(bits: u64, words: &[u64], to: usize) -> (&[u64], u64) {
    let (start, width) = (start_of(bits), (bits >> WIDTH_AT) as usize);
    (words.get(start..start + width).unwrap_or(&[]), to as u64 | (width as u64) << WIDTH_AT)
}

const fn start_of(bits: u64) -> usize {
    (bits & ((1 << WIDTH_AT) - 1)) as usize
}
