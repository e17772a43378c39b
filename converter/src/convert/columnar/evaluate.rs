//! From the columns of a block to operations, each with its date: what of the rules does not depend on other streams is done here, type by
//! type, in the thread that reads ahead. Record types of which an arrow, or a value in this block, is not plain go on as records.

use tracer_format::columns::Columns;

use super::ops::{ACT_BITS, Act, Arranger, Made, Said, Source};
use crate::convert::plan::Plan;
use crate::rules::{
    Cell, Code, KeyPart, KnownValues, LinkKey, Model, Part, Program, Ready, ReadyValue, Scope, Symbols, Wide, fixed,
};
use tumit_paje::{TypeId, ValueId};

/// What operations are made for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'p> {
    /// Nothing: all are records.
    Records,
    /// The first pass, which wants the ends of links.
    Survey,
    /// The second pass for Pajé.
    Picture(&'p Model),
    /// The only pass for Pajé: values are told by their names, as nobody knows their numbers yet.
    Once,
}

/// Makes operations; one for all streams that a thread reads.
#[derive(Debug)]
pub(crate) struct Maker<'p> {
    plan: &'p Plan<'p>,
    purpose: Purpose<'p>,
    known: KnownValues,
    numbers: Numbers,
    arranger: Arranger,
    scratch: Vec<u64>,
    /// By record of the block that was made last that becomes something: ticks from the beginning of the block.
    pub(crate) ticks: Vec<u64>,
}

/// Acts at most: a run with more streams times arrows has the others read record by record.
const MOST_ACTS: u32 = 1 << ACT_BITS;

/// The numbers that new acts get.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    next: u32,
    /// The distance between two of them.
    step: u32,
}

impl Numbers {
    /// Those of one maker among several.
    pub(crate) fn of(maker: usize, makers: usize) -> Self {
        let short = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self { next: short(maker), step: short(makers) }
    }
}

/// The acts that a stream has.
#[derive(Debug, Default)]
pub(crate) struct Acts(Vec<Kept>);

/// By record id and position among the ready arrows: the number of an act, and its body.
type Kept = ((u16, u16), u32, Box<[u8]>);

impl<'p> Maker<'p> {
    pub(crate) fn new(plan: &'p Plan<'p>, purpose: Purpose<'p>, numbers: Numbers) -> Self {
        Self {
            plan,
            purpose,
            known: KnownValues::default(),
            numbers,
            arranger: Arranger::default(),
            scratch: Vec::new(),
            ticks: Vec::new(),
        }
    }

    /// Makes what can be made of a block of a stream. Linear.
    pub(crate) fn make(
        &mut self,
        columns: &Columns,
        (stream, first): (usize, u64),
        is_wanted: impl Fn(u16) -> bool,
        acts: &mut Acts,
        made: &mut Made,
    ) {
        made.clear(first);
        self.arranger.clear();
        for (id, count) in columns.kinds() {
            if !is_wanted(id) || count == 0 {
                self.arranger.add_nothing(count);
                continue;
            }
            let sources = self.operations(columns, id, stream, acts, made);
            if sources.and_then(|sources| self.arranger.add(count, sources, made)).is_none() {
                self.arranger.add_records(id);
            }
        }
        self.arranger.arrange(columns, made, &mut self.ticks);
    }

    /// Whether records of this type stayed records in the block that was made last.
    pub(crate) fn keeps(&self, id: u16) -> bool {
        self.arranger.keeps(id)
    }

    /// The operations of the records of a type; `None` when something is not plain.
    fn operations(
        &mut self,
        columns: &Columns,
        id: u16,
        stream: usize,
        acts: &mut Acts,
        made: &mut Made,
    ) -> Option<Vec<Source>> {
        if columns.kinds().filter(|(its, count)| *its == id && *count > 0).count() > 1 {
            return None;
        }
        let plan = self.plan;
        let number = plan.program_number(stream, id)?;
        let program = plan.programs.get(number)?;
        let ready = match self.purpose {
            Purpose::Records => return None,
            Purpose::Survey => program.ready_links.as_ref()?,
            Purpose::Picture(_) | Purpose::Once => program.ready.as_ref()?,
        };
        let block = Block { plan, program, columns, id, stream };
        let mut arrows = Vec::with_capacity(ready.len());
        for (position, ready) in (0u16..).zip(ready) {
            let body = block.body(ready)?;
            let start = match &ready.wide {
                Some(wide) => self.wide(&block, wide, &ready.value, &mut made.words)?,
                None => 0,
            };
            let key = match &ready.wide {
                Some(wide) => block.key(wide),
                None => LinkKey::new(0, std::iter::empty()),
            };
            let act = Act { program: u32::try_from(number).ok()?, ready: position, key, body };
            let act = self.act(acts, id, act, &mut made.acts)?;
            let said = match &ready.wide {
                Some(wide) => Said::Words(start, wide.width()),
                None => self.said(&block, &ready.value, &mut made.words)?,
            };
            arrows.push(Source { act, said });
        }
        Some(arrows)
    }

    /// The number of an act. One of another container takes over the number: from this block on, the stream's operations are there.
    fn act(&mut self, acts: &mut Acts, id: u16, act: Act, fresh: &mut Vec<(u32, Act)>) -> Option<u32> {
        let known = acts.0.iter_mut().find(|(place, ..)| *place == (id, act.ready));
        if let Some((_, number, body)) = known {
            if **body != *act.body {
                body.clone_from(&act.body);
                fresh.push((*number, act));
            }
            return Some(*number);
        }
        if self.numbers.next >= MOST_ACTS {
            return None;
        }
        let number = self.numbers.next;
        self.numbers.next = number.saturating_add(self.numbers.step);
        acts.0.push(((id, act.ready), number, act.body.clone()));
        fresh.push((number, act));
        Some(number)
    }

    /// What the operations of the records of a type say; what has more than 32 bits is appended to `words`.
    fn said(&mut self, block: &Block<'_>, value: &ReadyValue, words: &mut Vec<u64>) -> Option<Said> {
        let start = words.len();
        Some(match value {
            ReadyValue::Declared => Said::Same(0),
            ReadyValue::Number(Part::Fixed(code)) => {
                let number = fixed(code, &block.scope(&[]), &Symbols::default()).number();
                words.push(number.unwrap_or(f64::NAN).to_bits());
                Said::Numbers(start, 0)
            }
            ReadyValue::Named(ty, Part::Fixed(code)) => {
                let mut symbols = Symbols::default();
                let name = fixed(code, &block.scope(&[]), &symbols).key("", &mut symbols);
                match self.purpose {
                    Purpose::Once => (name != KeyPart::None).then_some(Said::Same(0))?,
                    _ => Said::Same(self.value(*ty, name)?),
                }
            }
            ReadyValue::Number(Part::Cell(cell)) => {
                block.words(cell, words)?;
                let numbers = &mut words[start..];
                numbers.iter_mut().for_each(|bits| *bits = cell.val(*bits).number().unwrap_or(f64::NAN).to_bits());
                Said::Numbers(start, 1)
            }
            ReadyValue::Named(_, Part::Cell(cell)) if matches!(self.purpose, Purpose::Once) && !cell.is_name() => {
                block.words(cell, words)?;
                Said::Numbers(start, 1)
            }
            ReadyValue::Named(ty, Part::Cell(cell)) => {
                let mut names = std::mem::take(&mut self.scratch);
                names.clear();
                let values = block.words(cell, &mut names).and_then(|()| self.values(*ty, cell, &names));
                self.scratch = names;
                Said::Values(values?)
            }
        })
    }

    /// The values that the names of a column stand for, or where there is one pass, the names.
    fn values(&mut self, ty: TypeId, cell: &Cell, names: &[u64]) -> Option<Vec<u32>> {
        let mut values = self.arranger.values();
        values.reserve(names.len());
        if matches!(self.purpose, Purpose::Once) {
            values.extend(names.iter().map(|name| u32::try_from(*name).unwrap_or(u32::MAX)));
            return Some(values);
        }
        for name in names {
            values.push(self.value(ty, cell.key(*name))?);
        }
        Some(values)
    }

    fn value(&mut self, ty: TypeId, name: KeyPart) -> Option<u32> {
        let Purpose::Picture(model) = self.purpose else { return None };
        let ValueId(value) = self.known.value(&model.values, ty, name)?;
        Some(value)
    }

    /// Appends the words of wide operations; gives back where they begin.
    fn wide(&mut self, block: &Block<'_>, wide: &Wide, value: &ReadyValue, words: &mut Vec<u64>) -> Option<usize> {
        let (width, count) = (wide.width(), block.count()?);
        let mut numbers = Vec::new();
        let said = if wide.value { Some(self.said(block, value, &mut numbers)?) } else { None };
        let start = words.len();
        words.resize(start + width * count, 0);
        let mut rows = Rows { words: &mut words[start..], width, at: 0 };
        if wide.site {
            let (_, sites) = block.columns.column(block.id, 0)?;
            rows.put(sites.as_chunks().0.iter().map(|site| u32::from_le_bytes(*site).into()));
        }
        match said {
            None | Some(Said::Words(..)) => {}
            Some(Said::Same(bits)) => rows.put(std::iter::repeat(bits.into())),
            Some(Said::Values(values)) => rows.put(values.iter().map(|value| u64::from(*value))),
            Some(Said::Numbers(_, 0)) => rows.put(std::iter::repeat(numbers.first().copied()?)),
            Some(Said::Numbers(..)) => rows.put(numbers.iter().copied()),
        }
        let mut column = std::mem::take(&mut self.scratch);
        let mut is_whole = true;
        for part in &wide.keys {
            match part {
                Part::Fixed(code) => rows.put(std::iter::repeat(block.fixed_key(code).word().1)),
                Part::Cell(cell) => {
                    column.clear();
                    is_whole &= block.words(cell, &mut column).is_some();
                    rows.put(column.iter().map(|word| cell.key(*word).word().1));
                }
            }
        }
        for cell in &wide.fields {
            column.clear();
            is_whole &= block.words(cell, &mut column).is_some();
            rows.put(column.iter().copied());
        }
        self.scratch = column;
        is_whole.then_some(start)
    }
}

/// The words of wide operations, row by row.
struct Rows<'w> {
    words: &'w mut [u64],
    /// Of a row.
    width: usize,
    /// The place in the rows that is filled next.
    at: usize,
}

impl Rows<'_> {
    /// Fills in the next word of all rows.
    fn put(&mut self, column: impl Iterator<Item = u64>) {
        for (row, word) in self.words.chunks_exact_mut(self.width.max(1)).zip(column) {
            if let Some(place) = row.get_mut(self.at) {
                *place = word;
            }
        }
        self.at += 1;
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
        self.scope(&[]).key(code, &mut String::new(), &mut Symbols::default())
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
