//! Columnar evaluation: turns the columns of a block into operations with timestamps.
//!
//! The reader thread runs the parts of the rules that do not depend on other streams, one record
//! type at a time. A record type stays in record form if one of its actions, or a value in this
//! block, has no columnar form.

use tracer_format::columns::{BlockColumns, ColumnBytes, TypeRecords};

use super::ops::{BatchBuilder, OpBatch, OpSource, OpTemplate, OpValues, TEMPLATE_BITS};
use crate::convert::planning::plan::{ConversionPlan, RecordOrigin};
use crate::rules::{
    ColumnarAction, ColumnarValue, ExprCode, FieldCell, KeyPart, KnownValues, LinkKey, OperandSource, RecordProgram,
    RecordScope, RuleModel, Symbols, WideWords, constant_value,
};
use tumit_paje::{TypeId, ValueId};

/// The pass that the operations are for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PassKind<'p> {
    /// No operations: all records stay records.
    Records,
    /// The first pass needs only link endpoints.
    FirstPass,
    /// The second pass emits Pajé operations.
    SecondPass(&'p RuleModel),
    /// A single pass emits Pajé operations. Operations refer to values by name, because values have
    /// no numbers yet.
    SinglePass,
}

/// Evaluates columns. Each reader thread has one for all its streams.
#[derive(Debug)]
pub(crate) struct ColumnEvaluator<'p> {
    plan: &'p ConversionPlan<'p>,
    pass_kind: PassKind<'p>,
    value_cache: KnownValues,
    numbers: TemplateNumbers,
    arranger: BatchBuilder,
    scratch: Vec<u64>,
    /// For each record of the last block that is kept: its ticks since the start of the block.
    pub(crate) ticks: Vec<u64>,
}

/// Maximum number of templates. A run with more pairs of stream and action evaluates the other
/// records one by one.
const MAX_TEMPLATES: u32 = 1 << TEMPLATE_BITS;

/// The numbers of new templates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TemplateNumbers {
    next: u32,
    /// The distance between two consecutive numbers.
    step: u32,
}

impl TemplateNumbers {
    /// The numbers of one of several evaluators. Different evaluators have different numbers.
    pub(crate) fn of(evaluator: usize, evaluators: usize) -> Self {
        let limited = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self { next: limited(evaluator), step: limited(evaluators) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct StreamTemplates(Vec<TemplateEntry>);

#[derive(Debug)]
struct TemplateEntry {
    /// The record id.
    id: u16,
    /// The position among the columnar actions of the record type.
    position: u16,
    number: u32,
    body: Box<[u8]>,
}

impl<'p> ColumnEvaluator<'p> {
    pub(crate) fn new(plan: &'p ConversionPlan<'p>, pass_kind: PassKind<'p>, numbers: TemplateNumbers) -> Self {
        Self {
            plan,
            pass_kind,
            value_cache: KnownValues::default(),
            numbers,
            arranger: BatchBuilder::default(),
            scratch: Vec::new(),
            ticks: Vec::new(),
        }
    }

    /// Evaluates a block of a stream. Linear in the number of records.
    pub(crate) fn evaluate(
        &mut self,
        columns: &BlockColumns,
        (stream, first): (usize, u64),
        is_wanted: impl Fn(u16) -> bool,
        templates: &mut StreamTemplates,
        batch: &mut OpBatch,
    ) {
        batch.clear(first);
        self.arranger.clear();
        for TypeRecords { id, count } in columns.kinds() {
            if !is_wanted(id) || count == 0 {
                self.arranger.add_nothing(count);
                continue;
            }
            let sources = self.operations(columns, id, stream, templates, batch);
            if sources.and_then(|sources| self.arranger.add(count, sources, batch)).is_none() {
                self.arranger.add_records(id);
            }
        }
        self.arranger.arrange(columns, batch, &mut self.ticks);
    }

    /// Whether records of this type stayed records in the last block.
    pub(crate) fn keeps_records(&self, id: u16) -> bool {
        self.arranger.keeps_records(id)
    }

    /// The operations of the records of one type. `None` if one of them has no columnar form.
    fn operations(
        &mut self,
        columns: &BlockColumns,
        id: u16,
        stream: usize,
        templates: &mut StreamTemplates,
        batch: &mut OpBatch,
    ) -> Option<Vec<OpSource>> {
        if columns.kinds().filter(|kind| kind.id == id && kind.count > 0).count() > 1 {
            return None;
        }
        let plan = self.plan;
        let number = plan.program_number(stream, id)?;
        let program = plan.programs.get(number)?;
        let columnar_actions = match self.pass_kind {
            PassKind::Records => return None,
            PassKind::FirstPass => program.columnar_links.as_ref()?,
            PassKind::SecondPass(_) | PassKind::SinglePass => program.columnar_actions.as_ref()?,
        };
        let block = TypeBlock { plan, program, columns, id, stream };
        let mut actions = Vec::with_capacity(columnar_actions.len());
        for (position, columnar) in (0u16..).zip(columnar_actions) {
            let body = block.body(columnar)?;
            let start = match &columnar.wide_words {
                Some(wide) => self.evaluate_wide(&block, wide, &columnar.value, &mut batch.words)?,
                None => 0,
            };
            let key = match &columnar.wide_words {
                Some(wide) => block.key(wide),
                None => LinkKey::new(0, std::iter::empty()),
            };
            let template = OpTemplate { program: u32::try_from(number).ok()?, position, key, body };
            let template = self.template(templates, id, template, &mut batch.templates)?;
            let op_values = match &columnar.wide_words {
                Some(wide) => OpValues::Words { first: start, per_record: wide.width() },
                None => self.evaluate_values(&block, &columnar.value, &mut batch.words)?,
            };
            actions.push(OpSource { template, op_values });
        }
        Some(actions)
    }

    /// The number of a template. If the container of a known template changes, the template keeps
    /// its number, and the new template applies from this block on.
    fn template(
        &mut self,
        templates: &mut StreamTemplates,
        id: u16,
        template: OpTemplate,
        new_values: &mut Vec<(u32, OpTemplate)>,
    ) -> Option<u32> {
        let is_entry = |entry: &&mut TemplateEntry| entry.id == id && entry.position == template.position;
        if let Some(entry) = templates.0.iter_mut().find(is_entry) {
            if *entry.body != *template.body {
                entry.body.clone_from(&template.body);
                new_values.push((entry.number, template));
            }
            return Some(entry.number);
        }
        if self.numbers.next >= MAX_TEMPLATES {
            return None;
        }
        let number = self.numbers.next;
        self.numbers.next = number.saturating_add(self.numbers.step);
        let body = template.body.clone();
        templates.0.push(TemplateEntry { id, position: template.position, number, body });
        new_values.push((number, template));
        Some(number)
    }

    /// The values of the operations of a record type. Values of more than 32 bits are appended to
    /// `words`.
    fn evaluate_values(
        &mut self,
        block: &TypeBlock<'_>,
        value: &ColumnarValue,
        words: &mut Vec<u64>,
    ) -> Option<OpValues> {
        let start = words.len();
        Some(match value {
            ColumnarValue::Declared => OpValues::Same(0),
            ColumnarValue::Number(OperandSource::Fixed(code)) => {
                let number = constant_value(code, &block.scope(&[]), &Symbols::default()).number();
                words.push(number.unwrap_or(f64::NAN).to_bits());
                OpValues::Numbers { first: start, step: 0 }
            }
            ColumnarValue::Named(ty, OperandSource::Fixed(code)) => {
                let mut symbols = Symbols::default();
                let name = constant_value(code, &block.scope(&[]), &symbols).key("", &mut symbols);
                match self.pass_kind {
                    PassKind::SinglePass => (name != KeyPart::None).then_some(OpValues::Same(0))?,
                    _ => OpValues::Same(self.value(*ty, name)?),
                }
            }
            ColumnarValue::Number(OperandSource::Cell(cell)) => {
                block.words(cell, words)?;
                let numbers = &mut words[start..];
                numbers.iter_mut().for_each(|bits| *bits = cell.val(*bits).number().unwrap_or(f64::NAN).to_bits());
                OpValues::Numbers { first: start, step: 1 }
            }
            ColumnarValue::Named(_, OperandSource::Cell(cell))
                if matches!(self.pass_kind, PassKind::SinglePass) && !cell.is_name() =>
            {
                block.words(cell, words)?;
                OpValues::Numbers { first: start, step: 1 }
            }
            ColumnarValue::Named(ty, OperandSource::Cell(cell)) => {
                let mut names = std::mem::take(&mut self.scratch);
                names.clear();
                let values = block.words(cell, &mut names).and_then(|()| self.values(*ty, cell, &names));
                self.scratch = names;
                OpValues::Values(values?)
            }
        })
    }

    /// The numbers of the values that a column names. In a single pass: the names themselves.
    fn values(&mut self, ty: TypeId, cell: &FieldCell, names: &[u64]) -> Option<Vec<u32>> {
        let mut values = self.arranger.values();
        values.reserve(names.len());
        if matches!(self.pass_kind, PassKind::SinglePass) {
            values.extend(names.iter().map(|name| u32::try_from(*name).unwrap_or(u32::MAX)));
            return Some(values);
        }
        for name in names {
            values.push(self.value(ty, cell.key(*name))?);
        }
        Some(values)
    }

    fn value(&mut self, ty: TypeId, name: KeyPart) -> Option<u32> {
        let PassKind::SecondPass(model) = self.pass_kind else { return None };
        let ValueId(value) = self.value_cache.value(&model.values, ty, name)?;
        Some(value)
    }

    /// Appends the words of wide operations to `words`. Returns the index of the first one.
    fn evaluate_wide(
        &mut self,
        block: &TypeBlock<'_>,
        wide_words: &WideWords,
        value: &ColumnarValue,
        words: &mut Vec<u64>,
    ) -> Option<usize> {
        let (width, count) = (wide_words.width(), block.count()?);
        let mut numbers = Vec::new();
        let op_values = if wide_words.value { Some(self.evaluate_values(block, value, &mut numbers)?) } else { None };
        let start = words.len();
        words.resize(start + width * count, 0);
        let mut rows = WideRows { words: &mut words[start..], width, position: 0 };
        if wide_words.site {
            let sites = block.columns.column(block.id, 0)?.bytes;
            rows.put(sites.as_chunks().0.iter().map(|site| u32::from_le_bytes(*site).into()));
        }
        match op_values {
            None | Some(OpValues::Words { .. }) => {}
            Some(OpValues::Same(bits)) => rows.put(std::iter::repeat(bits.into())),
            Some(OpValues::Values(values)) => rows.put(values.iter().map(|value| u64::from(*value))),
            Some(OpValues::Numbers { step: 0, .. }) => rows.put(std::iter::repeat(numbers.first().copied()?)),
            Some(OpValues::Numbers { .. }) => rows.put(numbers.iter().copied()),
        }
        let mut column = std::mem::take(&mut self.scratch);
        let mut is_whole = true;
        for part in &wide_words.keys {
            match part {
                OperandSource::Fixed(code) => rows.put(std::iter::repeat(block.fixed_key(code).word().value)),
                OperandSource::Cell(cell) => {
                    column.clear();
                    is_whole &= block.words(cell, &mut column).is_some();
                    rows.put(column.iter().map(|word| cell.key(*word).word().value));
                }
            }
        }
        for cell in &wide_words.fields {
            column.clear();
            is_whole &= block.words(cell, &mut column).is_some();
            rows.put(column.iter().copied());
        }
        self.scratch = column;
        is_whole.then_some(start)
    }
}

/// The words of wide operations, one row per operation.
struct WideRows<'w> {
    words: &'w mut [u64],
    /// Number of words per row.
    width: usize,
    /// The index in each row that is filled next.
    position: usize,
}

impl WideRows<'_> {
    /// Fills the next word of all rows.
    fn put(&mut self, column: impl Iterator<Item = u64>) {
        for (row, word) in self.words.chunks_exact_mut(self.width.max(1)).zip(column) {
            if let Some(target) = row.get_mut(self.position) {
                *target = word;
            }
        }
        self.position += 1;
    }
}

/// The records of one type of a block.
struct TypeBlock<'b> {
    plan: &'b ConversionPlan<'b>,
    program: &'b RecordProgram,
    columns: &'b BlockColumns,
    id: u16,
    stream: usize,
}

impl<'b> TypeBlock<'b> {
    fn count(&self) -> Option<usize> {
        self.columns.kinds().find(|kind| kind.id == self.id).map(|kind| kind.count)
    }

    fn scope<'a>(&'a self, body: &'a [u8]) -> RecordScope<'a> {
        self.plan.scope(self.stream, self.program, 0, RecordOrigin::default(), body)
    }

    fn fixed_key(&self, code: &ExprCode) -> KeyPart {
        self.scope(&[]).key(code, &mut String::new(), &mut Symbols::default())
    }

    /// Appends the values of a column as words.
    fn words(&self, cell: &FieldCell, out: &mut Vec<u64>) -> Option<()> {
        let ColumnBytes { width, bytes } = self.columns.column(self.id, cell.part)?;
        if cell.scalar.bytes() != Some(width) {
            return None;
        }
        cell.words(bytes, self.plan.facts_of(self.stream), &self.program.enums, out)
    }

    /// A link key with the types of its parts and zeros as values.
    fn key(&self, wide_words: &WideWords) -> LinkKey {
        let keys = wide_words.keys.iter().map(|part| match part {
            OperandSource::Fixed(code) => self.fixed_key(code),
            OperandSource::Cell(cell) => cell.key(0),
        });
        LinkKey::new(wide_words.link, keys)
    }

    /// A body with the field values that determine the container. `None` if these differ between
    /// records of the block.
    fn body(&self, action: &ColumnarAction) -> Option<Box<[u8]>> {
        let mut body = Vec::new();
        for cell in &action.container_keys {
            let ColumnBytes { width, bytes } = self.columns.column(self.id, cell.part)?;
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
