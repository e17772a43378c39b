//! [`Writer`]: takes entities from the simulation and hands them to a format as rows.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use rustc_hash::FxHashMap;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, Extra, Shape, Source, TypeId, ValueId};

use super::columns::Columns;
use super::csv;
use super::details::Details;
use super::early::Early;
use super::frames::Frames;
use super::row::{Context, Ends, Form, Kind, Named, Row, Value};
use crate::query::{ContainerInfo, Interval, TypeInfo};
use crate::sim::{EndedLink, EndedState, Entities, Place};

/// How much is gathered before it is written, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Names by number, as the format writes them.
type NameList = Vec<Box<[u8]>>;

/// Where rows go.
pub(crate) enum Out<'o> {
    /// What was written is gone.
    Stream(&'o mut dyn Write),
    /// A file from this byte on: what was written can be taken back.
    File(&'o File, u64),
}

impl<'o> Out<'o> {
    /// A file from where it stands; what is no regular file is a stream.
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

/// Writes rows.
pub(crate) struct Writer<'o, F> {
    form: F,
    out: Out<'o>,
    buffer: Vec<u8>,
    types: NameList,
    values: NameList,
    containers: NameList,
    /// Texts of the keys of links that wait.
    keys: FxHashMap<u64, String>,
    /// The key of the link that is being written.
    key: String,
    details: Details,
    columns: Columns,
    frames: Frames,
    early: Early,
    rows: u64,
}

impl<'o, F: Form> Writer<'o, F> {
    pub(crate) fn new(form: F, out: Out<'o>) -> Self {
        Self {
            form,
            out,
            buffer: Vec::with_capacity(BUFFER_BYTES + 4096),
            types: Vec::new(),
            values: Vec::new(),
            containers: Vec::new(),
            keys: FxHashMap::default(),
            key: String::new(),
            details: Details::default(),
            columns: Columns::default(),
            frames: Frames::default(),
            early: Early::default(),
            rows: 0,
        }
    }

    /// How many were written, without the header.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    fn quoted(&self, name: &str) -> Box<[u8]> {
        let mut quoted = Vec::new();
        self.form.name(name, &mut quoted);
        quoted.into()
    }

    /// Writes a row of an entity; `make` gets the names of types, values and containers.
    fn row(&mut self, detail: u32, make: impl for<'a> FnOnce(&Known<'a>) -> Row<'a>) {
        if F::HAS_HEADER && !self.columns.is_closed() {
            self.begin();
        }
        let Self { form, buffer, types, values, containers, key, details, columns, early, .. } = self;
        let known = Known { types, values, containers, key };
        let row = Row { detail: details.get(detail), ..make(&known) };
        let context = Context { columns, details, containers };
        if F::IS_PEER && Early::takes(&row) {
            return early.keep(&row, |out| form.row(&row, context, out));
        }
        form.row(&row, context, buffer);
        self.rows += 1;
        if detail != 0 {
            self.end(detail);
        }
    }

    /// The same for one of a place.
    #[inline]
    fn placed(&mut self, place: Place, detail: u32, make: impl for<'a> FnOnce(&Known<'a>) -> Row<'a>) {
        if !F::HAS_FRAMES || detail != 0 || !self.columns.is_closed() {
            return self.row(detail, make);
        }
        let Self { form, buffer, types, values, containers, key, details, columns, frames, .. } = self;
        let row = make(&Known { types, values, containers, key });
        let context = Context { columns, details, containers };
        let frame = frames.of((row.kind, place.number), |frame| form.frame(&row, context, frame));
        form.framed(frame, &row, buffer);
        self.rows += 1;
    }

    /// The header.
    fn begin(&mut self) {
        let taken: Vec<&str> = csv::FIXED.into_iter().chain(csv::SOURCE).collect();
        self.columns.close(&taken, &mut self.details.names);
        self.form.header(&self.columns, &mut self.buffer);
    }

    /// An entity has been written: its fields are not needed any more.
    fn end(&mut self, detail: u32) {
        if F::HAS_HEADER
            && let Some(found) = self.details.get(detail)
        {
            for field in &found.fields {
                if self.columns.index_of(field).is_none() {
                    self.columns.late.insert(self.details.names.get(field.name).to_owned());
                    break;
                }
            }
            if found.line.is_some() && !self.columns.source {
                self.columns.late.insert("File".to_owned());
            }
        }
        self.details.forget(detail);
    }
}

/// Names for a row.
struct Known<'a> {
    types: &'a NameList,
    values: &'a NameList,
    containers: &'a NameList,
    /// Of the link.
    key: &'a str,
}

impl<'a> Known<'a> {
    fn ty(&self, ty: TypeId) -> &'a [u8] {
        self.types.get(ty.index()).map_or(&[], |name| name)
    }

    fn value(&self, value: ValueId) -> Value<'a> {
        Value::Name(self.values.get(value.index()).map_or(&[], |name| name))
    }

    fn container(&self, container: ContainerId) -> Named<'a> {
        Named { name: self.containers.get(container.index()).map_or(&[], |name| name), number: container.0 }
    }

    fn row(&self, kind: Kind, container: ContainerId, ty: TypeId, life: Interval, value: Value<'a>) -> Row<'a> {
        Row {
            kind,
            container: self.container(container),
            ty: self.ty(ty),
            type_id: ty,
            early: 0,
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

/// Sets the name of a number; numbers are dense but for the faults of a trace.
fn set(names: &mut NameList, at: usize, name: Box<[u8]>) {
    if names.len() <= at {
        names.resize_with(at + 1, Box::default);
    }
    names[at] = name;
}

impl<F: Form> Entities for Writer<'_, F> {
    fn announce(&mut self, shape: &Shape<'_>) {
        if F::HAS_HEADER {
            self.columns.announce(shape);
        }
    }

    fn define_type(&mut self, ty: &TypeInfo) {
        let name = self.quoted(&ty.name);
        set(&mut self.types, ty.id.index(), name);
    }

    fn define_value(&mut self, value: ValueId, name: &str) {
        let name = self.quoted(name);
        set(&mut self.values, value.index(), name);
    }

    fn create(&mut self, container: &ContainerInfo) {
        let name = self.quoted(&container.name);
        set(&mut self.containers, container.id.index(), name);
    }

    fn detail(&mut self, extra: &[Extra<'_>], source: Option<Source<'_>>) -> u32 {
        // `pj_dump` shows them only when asked.
        if self.form.has_details() { self.details.add(extra, source) } else { 0 }
    }

    fn join(&mut self, start: u32, end: u32) -> u32 {
        self.details.join(start, end)
    }

    fn forget(&mut self, detail: u32) {
        self.details.forget(detail);
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
        let life = Interval { from, to: container.life.to };
        self.row(detail, |known| Row {
            number: Some(id.0),
            ..known.row(Kind::Container, parent, ty, life, Value::Name(known.container(id).name))
        });
    }

    fn state(&mut self, place: Place, state: EndedState) {
        self.placed(place, state.detail, |known| Row {
            imbrication: Some(state.depth),
            early: state.early,
            ..known.row(Kind::State, place.container, place.ty, state.life, known.value(state.value))
        });
    }

    fn event(&mut self, place: Place, time: GlobalNanos, value: ValueId, detail: u32) {
        let life = Interval { from: time, to: time };
        self.placed(place, detail, |known| known.row(Kind::Event, place.container, place.ty, life, known.value(value)));
    }

    fn sample(&mut self, place: Place, life: Interval, value: f64) {
        self.placed(place, 0, |known| known.row(Kind::Variable, place.container, place.ty, life, Value::Number(value)));
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
        let life = Interval { from: link.start_time, to: link.end_time };
        let link = *link;
        self.row(link.detail, |known| Row {
            link: Some(Ends { start: known.container(link.start), end: known.container(link.end), key: known.key }),
            ..known.row(Kind::Link, link.container, link.ty, life, known.value(link.value))
        });
    }

    fn can_begin_anew(&self) -> bool {
        matches!(self.out, Out::File(..))
    }

    fn begin_anew(&mut self) -> io::Result<()> {
        let Out::File(mut file, from) = self.out else { return Err(io::ErrorKind::Unsupported.into()) };
        file.set_len(from)?;
        file.seek(SeekFrom::Start(from))?;
        self.buffer.clear();
        self.types.clear();
        self.values.clear();
        self.containers.clear();
        self.keys.clear();
        self.frames.clear();
        self.early = Early::default();
        (self.details, self.columns, self.rows) = (Details::default(), Columns::default(), 0);
        Ok(())
    }

    fn after(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER_BYTES {
            return Ok(());
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.rows += self.early.drain(&mut self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}
