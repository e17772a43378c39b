//! [`RowWriter`]: receives entities from the simulation and passes them to a format as rows.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, FieldSet, SourcePosition, TypeId, ValueId};

use super::csv;
use super::details::RowDetailTable;
use super::early_rows::EarlyRows;
use super::extra_columns::ExtraColumns;
use super::row::{CellValue, EntityRow, LinkColumns, NamedContainer, RowContext, RowForm};
use super::row_frames::{FramePlace, RowFrames};
use super::row_kind::RowKind;
use crate::query::{ContainerInfo, TimeRange, TypeInfo};
use crate::sim::{EndedLink, EndedState, EntityPlace, EntitySink};

/// Number of buffered bytes per write.
const BUFFER_BYTES: usize = 1 << 16;

/// Names by number, as the format writes them.
type NameList = Vec<Box<[u8]>>;

pub(crate) enum RowOutput<'o> {
    /// Written data cannot be removed.
    Stream(&'o mut dyn Write),
    /// A file, and the byte at which the rows begin. Written data can be removed.
    File(&'o File, u64),
}

impl<'o> RowOutput<'o> {
    /// Uses a file from its current position. A file that is not regular is a stream.
    pub(crate) fn of_file(file: &'o mut &'o File) -> io::Result<Self> {
        if !file.metadata()?.is_file() {
            return Ok(Self::Stream(file));
        }
        let from = file.stream_position()?;
        Ok(Self::File(file, from))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stream(out) => out.write_all(bytes),
            Self::File(file, _) => file.write_all(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(out) => out.flush(),
            Self::File(file, _) => file.flush(),
        }
    }
}

pub(crate) struct RowWriter<'o, F> {
    form: F,
    out: RowOutput<'o>,
    buffer: Vec<u8>,
    types: NameList,
    values: NameList,
    containers: NameList,
    /// Texts of the keys of pending links.
    keys: FxHashMap<u64, String>,
    /// The key of the link that is being written.
    key: String,
    details: RowDetailTable,
    columns: ExtraColumns,
    frames: RowFrames,
    early_rows: EarlyRows,
    rows: u64,
}

impl<'o, F: RowForm> RowWriter<'o, F> {
    pub(crate) fn new(form: F, out: RowOutput<'o>) -> Self {
        Self {
            form,
            out,
            buffer: Vec::with_capacity(BUFFER_BYTES + 4096),
            types: Vec::new(),
            values: Vec::new(),
            containers: Vec::new(),
            keys: FxHashMap::default(),
            key: String::new(),
            details: RowDetailTable::default(),
            columns: ExtraColumns::default(),
            frames: RowFrames::default(),
            early_rows: EarlyRows::default(),
            rows: 0,
        }
    }

    /// Number of written rows without the header.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn columns(&self) -> &ExtraColumns {
        &self.columns
    }

    fn quote_name(&self, name: &str) -> Box<[u8]> {
        let mut text = Vec::new();
        self.form.name(name, &mut text);
        text.into()
    }

    /// Writes a row of an entity. `make_row` receives the names of types, values and containers.
    fn row(&mut self, detail: u32, make_row: impl for<'a> FnOnce(&NameTable<'a>) -> EntityRow<'a>) {
        if F::HAS_HEADER && !self.columns.is_closed() {
            self.begin();
        }
        let Self { form, buffer, types, values, containers, key, details, columns, early_rows, .. } = self;
        let names = NameTable { types, values, containers, key };
        let row = EntityRow { detail: details.get(detail), ..make_row(&names) };
        let context = RowContext { columns, details, containers };
        if F::IS_PEER && EarlyRows::is_early(&row) {
            return early_rows.store(&row, |out| form.row(&row, context, out));
        }
        form.row(&row, context, buffer);
        self.rows += 1;
        if detail != 0 {
            self.end(detail);
        }
    }

    /// Writes a row with the frame of its place, if possible.
    #[inline]
    fn write_in_frame(
        &mut self,
        place: EntityPlace,
        detail: u32,
        make_row: impl for<'a> FnOnce(&NameTable<'a>) -> EntityRow<'a>,
    ) {
        if !F::HAS_FRAMES || detail != 0 || !self.columns.is_closed() {
            return self.row(detail, make_row);
        }
        let Self { form, buffer, types, values, containers, key, details, columns, frames, .. } = self;
        let row = make_row(&NameTable { types, values, containers, key });
        let context = RowContext { columns, details, containers };
        let frame =
            frames.of(FramePlace { kind: row.kind, number: place.number }, |frame| form.frame(&row, context, frame));
        form.row_in_frame(frame, &row, buffer);
        self.rows += 1;
    }

    /// Writes the header.
    fn begin(&mut self) {
        let reserved: Vec<&str> = csv::FIXED.into_iter().chain(csv::SOURCE).collect();
        self.columns.close(&reserved, &mut self.details.names);
        self.form.header(&self.columns, &mut self.buffer);
    }

    /// Frees the fields of an entity that has been written.
    fn end(&mut self, detail: u32) {
        if F::HAS_HEADER
            && let Some(detail_text) = self.details.get(detail)
        {
            for field in &detail_text.fields {
                if self.columns.index_of(field).is_none() {
                    self.columns.late_names.insert(self.details.names.get(field.name).to_owned());
                    break;
                }
            }
            if detail_text.line.is_some() && !self.columns.source {
                self.columns.late_names.insert("File".to_owned());
            }
        }
        self.details.free_row(detail);
    }
}

/// Names for a row.
struct NameTable<'a> {
    types: &'a NameList,
    values: &'a NameList,
    containers: &'a NameList,
    /// The key of the link.
    key: &'a str,
}

impl<'a> NameTable<'a> {
    fn ty(&self, ty: TypeId) -> &'a [u8] {
        self.types.get(ty.index()).map_or(&[], |name| name)
    }

    fn value(&self, value: ValueId) -> CellValue<'a> {
        CellValue::Name(self.values.get(value.index()).map_or(&[], |name| name))
    }

    fn container(&self, container: ContainerId) -> NamedContainer<'a> {
        NamedContainer { name: self.containers.get(container.index()).map_or(&[], |name| name), number: container.0 }
    }

    fn row(
        &self,
        kind: RowKind,
        container: ContainerId,
        ty: TypeId,
        life: TimeRange,
        value: CellValue<'a>,
    ) -> EntityRow<'a> {
        EntityRow {
            kind,
            container: self.container(container),
            ty: self.ty(ty),
            type_id: ty,
            early_position: 0,
            start: life.from.0,
            end: life.to.0,
            imbrication: None,
            value,
            number: None,
            link: None,
            detail: None,
        }
    }
}

/// Sets the name of a number. Numbers are dense, except in a trace with errors.
fn set(names: &mut NameList, index: usize, name: Box<[u8]>) {
    if names.len() <= index {
        names.resize_with(index + 1, Box::default);
    }
    names[index] = name;
}

impl<F: RowForm> EntitySink for RowWriter<'_, F> {
    fn announce(&mut self, shape: &FieldSet<'_>) {
        if F::HAS_HEADER {
            self.columns.announce(shape);
        }
    }

    fn define_type(&mut self, ty: &TypeInfo) {
        let name = self.quote_name(&ty.name);
        set(&mut self.types, ty.id.index(), name);
    }

    fn define_value(&mut self, value: ValueId, name: &str) {
        let name = self.quote_name(name);
        set(&mut self.values, value.index(), name);
    }

    fn create(&mut self, container: &ContainerInfo) {
        let name = self.quote_name(&container.name);
        set(&mut self.containers, container.id.index(), name);
    }

    fn detail(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32 {
        // `pj_dump` prints them only if requested.
        if self.form.has_details() { self.details.add(extra, source) } else { 0 }
    }

    fn join(&mut self, start: u32, end: u32) -> u32 {
        self.details.join(start, end)
    }

    fn free_detail(&mut self, detail: u32) {
        self.details.free_row(detail);
    }

    fn name_key(&mut self, key: u64, text: &str) {
        self.keys.insert(key, text.to_owned());
    }

    fn forget_key(&mut self, key: u64) {
        self.keys.remove(&key);
    }

    fn container(&mut self, container: &ContainerInfo, detail: u32) {
        let ContainerInfo { id, ty, parent, .. } = *container;
        let from = if id == ContainerId::ROOT && F::IS_PEER { GlobalNanos(0) } else { container.life.from };
        let life = TimeRange { from, to: container.life.to };
        self.row(detail, |names| EntityRow {
            number: Some(id.0),
            ..names.row(RowKind::Container, parent, ty, life, CellValue::Name(names.container(id).name))
        });
    }

    fn state(&mut self, place: EntityPlace, state: EndedState) {
        self.write_in_frame(place, state.detail, |names| EntityRow {
            imbrication: Some(state.depth),
            early_position: state.early_position,
            ..names.row(RowKind::State, place.container, place.ty, state.life, names.value(state.value))
        });
    }

    fn event(&mut self, place: EntityPlace, time: GlobalNanos, value: ValueId, detail: u32) {
        let life = TimeRange { from: time, to: time };
        self.write_in_frame(place, detail, |names| {
            names.row(RowKind::Event, place.container, place.ty, life, names.value(value))
        });
    }

    fn sample(&mut self, place: EntityPlace, life: TimeRange, value: f64) {
        self.write_in_frame(place, 0, |names| {
            names.row(RowKind::Variable, place.container, place.ty, life, CellValue::Number(value))
        });
    }

    fn link(&mut self, link: &EndedLink) {
        self.key.clear();
        match self.keys.get(&link.key) {
            Some(text) => self.key.push_str(text),
            None => {
                self.key.push('k');
                self.key.push_str(itoa::Buffer::new().format(link.key));
            }
        }
        let life = TimeRange { from: link.start_time, to: link.end_time };
        let link = *link;
        self.row(link.detail, |names| EntityRow {
            link: Some(LinkColumns {
                start: names.container(link.start),
                end: names.container(link.end),
                key: names.key,
            }),
            ..names.row(RowKind::Link, link.container, link.ty, life, names.value(link.value))
        });
    }

    fn can_restart(&self) -> bool {
        matches!(self.out, RowOutput::File(..))
    }

    fn restart(&mut self) -> io::Result<()> {
        let RowOutput::File(mut file, from) = self.out else { return Err(io::ErrorKind::Unsupported.into()) };
        file.set_len(from)?;
        file.seek(SeekFrom::Start(from))?;
        self.buffer.clear();
        self.types.clear();
        self.values.clear();
        self.containers.clear();
        self.keys.clear();
        self.frames.clear();
        self.early_rows = EarlyRows::default();
        (self.details, self.columns, self.rows) = (RowDetailTable::default(), ExtraColumns::default(), 0);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.rows += self.early_rows.drain(&mut self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}
