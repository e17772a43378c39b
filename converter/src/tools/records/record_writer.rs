//! Writes a process file: a copy of another file's tables, and the records that a tool supplies.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tracer_format::columns::RecordShape;
use tracer_format::record::DroppedRecords;
use tracer_format::record_values::{AnyRecord, Content, FieldMismatch, TypedRecord};
use tracer_format::tags::{append_integer, append_tag, tag};
use tracer_format::write::{FileWriter, StreamTags};
use tracer_format::{BlockKind, FIRST_RESERVED_ID, ID_DROPPED, PROCESS_STREAM, cause};

use crate::convert::run_facts::gaps::MissingRecords;
use crate::run::ProcessInRun;

/// Writes the file of one process.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: FileWriter<BufWriter<File>>,
    /// Number of records that the process dropped, if it ended in order.
    dropped_records: Option<u64>,
    /// Added schemas for newly made records: their address in memory, and the id of their first
    /// type.
    added_schemas: Vec<(&'static [u8], u16)>,
    /// The first id after those of all schemas.
    next_base: u16,
    body: Vec<u8>,
    /// By stream, in order of time: gaps of the original that are not reported in the copy yet.
    gaps: BTreeMap<u32, VecDeque<DroppedRecords>>,
}

/// Ends of a process and its threads, in ticks.
#[derive(Debug, Default)]
pub(crate) struct EndTicks {
    /// The orderly end of the process.
    pub(crate) process: Option<u64>,
    /// The last known timestamp of the process.
    pub(crate) last_known: Option<u64>,
    /// By stream: the end of its thread, if it is known.
    pub(crate) threads: BTreeMap<u32, u64>,
}

impl EndTicks {
    /// The ends that the recorder wrote.
    pub(crate) fn of(process: &ProcessInRun) -> Self {
        let threads = process.streams.iter().filter_map(|stream| Some((stream.number, stream.end?.0)));
        Self {
            process: process.end.map(|end| end.0),
            last_known: process.last_known_ticks(),
            threads: threads.collect(),
        }
    }
}

/// Reasons why a record or file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The system could not write.
    #[error("{}: {source}", file.display())]
    Write {
        /// The file that was being written.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file's layout cannot hold a value.
    #[error(transparent)]
    FieldMismatch(#[from] FieldMismatch),
    /// Too many kinds of events in one file.
    #[error("{}: no record ids are left for another spec", file.display())]
    NoIds {
        /// The file that has no ids left.
        file: PathBuf,
    },
    /// The file to be written is the one that is read.
    #[error("{}: this file is being read; write to another folder", file.display())]
    Same {
        /// The path that was given for reading and for writing.
        file: PathBuf,
    },
}

impl RecordWriter {
    /// Begins a copy of a process in `folder`, which is created if necessary. Everything but the
    /// records is copied. The copy reports the gaps of the original at the same places.
    ///
    /// # Errors
    /// When the file cannot be created, or is the one that is read.
    pub fn copy(process: &ProcessInRun, folder: &Path) -> Result<Self, WriteError> {
        Self::copy_of(process, folder, |_| true, &MissingRecords::of(process), &EndTicks::of(process))
    }

    /// As [`Self::copy`], for the streams that `is_kept` selects, with the given numbers of missing
    /// records and the given ends.
    pub(crate) fn copy_of(
        process: &ProcessInRun,
        folder: &Path,
        is_kept: impl Fn(u32) -> bool,
        missing_records: &MissingRecords,
        ends: &EndTicks,
    ) -> Result<Self, WriteError> {
        let path = folder.join(process.own_file_name());
        let error = |source| WriteError::Write { file: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(error)?;
        if let (Ok(source_path), Ok(created_path)) = (process.path.canonicalize(), path.canonicalize())
            && source_path == created_path
        {
            return Err(WriteError::Same { file: path });
        }
        let mut file = FileWriter::new(BufWriter::new(crate::run::output_permissions::create(&path).map_err(error)?))
            .map_err(error)?;
        let dropped_records = process.has_ended.then(|| process.dropped_records());
        file.end_with(0, missing_records.records, end_tags(process, ends.process));
        let shapes = process.providers.iter().flat_map(|provider| (provider.base..).zip(&provider.schema.records));
        let id_ends =
            process.providers.iter().map(|provider| usize::from(provider.base) + provider.schema.records.len());
        let next_base = id_ends.max().and_then(|end| u16::try_from(end).ok()).unwrap_or(1);
        shapes.filter_map(|(id, kind)| RecordShape::of(id, kind)).for_each(|shape| file.set_layout(shape));
        let mut gaps: BTreeMap<u32, VecDeque<DroppedRecords>> = BTreeMap::new();
        for gap in &missing_records.gaps {
            gaps.entry(gap.stream).or_default().extend(gap.count_record);
        }
        let mut writer =
            Self { path, file, dropped_records, added_schemas: Vec::new(), next_base, body: Vec::new(), gaps };
        writer
            .tables(process, is_kept, ends)
            .map_err(|source| WriteError::Write { file: writer.path.clone(), source })?;
        Ok(writer)
    }

    fn tables(&mut self, process: &ProcessInRun, is_kept: impl Fn(u32) -> bool, ends: &EndTicks) -> io::Result<()> {
        let file = &mut self.file;
        let last_known = ends.last_known.filter(|_| ends.process.is_none());
        let tags = process_tags(process, &ClockTags::of(process), last_known);
        file.block(BlockKind::Process, PROCESS_STREAM, 1, &tags)?;
        for provider in &process.providers {
            let ids = u32::try_from(provider.schema.records.len()).unwrap_or(0);
            file.schema(provider.base, ids, &provider.schema.encode())?;
        }
        for (id, text) in (0u32..).zip(&process.strings) {
            if let Some(text) = text {
                file.names().set_string(id, text);
            }
        }
        for (id, site) in (0u32..).zip(&process.sites) {
            if let Some(site) = site {
                file.names().set_site(id, &site.file, site.line);
            }
        }
        let sync: Vec<u8> = process.sync.iter().flat_map(tracer_format::entries::SyncSample::encode).collect();
        let anchors: Vec<u8> = process.anchors.iter().flat_map(tracer_format::entries::ClockAnchor::encode).collect();
        for (kind, count, bytes) in
            [(BlockKind::Sync, process.sync.len(), sync), (BlockKind::Anchors, process.anchors.len(), anchors)]
        {
            if count > 0 {
                file.block(kind, PROCESS_STREAM, u32::try_from(count).unwrap_or(u32::MAX), &bytes)?;
            }
        }
        let is_part = !process.streams.iter().all(|stream| is_kept(stream.number));
        for stream in process.streams.iter().filter(|stream| is_kept(stream.number)) {
            let end = ends.threads.get(&stream.number).copied();
            // Readers number threads without names. If streams are left out, each keeps its number
            // from the whole run.
            let name = if is_part { stream.thread_name() } else { stream.name.clone() };
            file.stream(stream.number, &StreamTags { end, thread_name: &name, ..stream.tags() })?;
        }
        Ok(())
    }

    /// Writes a record. A record that was read has the layout of its file. A newly made record has
    /// the layout of its spec.
    ///
    /// A record that was read belongs into a copy of its own process.
    ///
    /// # Errors
    /// When the system cannot write, or the file's layout cannot hold a value. In the
    /// second case the record is left out.
    pub fn write<'a, R: AnyRecord<'a>>(&mut self, record: &TypedRecord<'a, R>) -> Result<(), WriteError> {
        let head = &record.head;
        let id = match (record.id(), record.record.content()) {
            (_, Content::Dropped(_)) => ID_DROPPED,
            (Some(id), _) => id,
            (None, Content::Event(event)) => {
                let spec = event.spec();
                let base = self.base(spec.schema, spec.types.len())?;
                base + u16::try_from(event.kind()).unwrap_or(0)
            }
            (None, Content::Unknown(_)) => return Err(WriteError::NoIds { file: self.path.clone() }),
        };
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let encoded = record.encode(self.file.names(), &mut body);
        self.report_gaps(head.stream, head.ticks)?;
        let result = encoded.map_err(WriteError::from).and_then(|()| {
            self.file.set_dropped(head.stream, head.dropped);
            let written = self.file.record(head.stream, id, head.ticks, &body);
            written.map_err(|source| WriteError::Write { file: self.path.clone(), source })
        });
        self.body = body;
        result
    }

    /// Writes a record of the process unchanged. `body` contains the bytes after id and delta.
    pub(crate) fn write_raw(&mut self, stream: u32, id: u16, ticks: u64, body: &[u8]) -> Result<(), WriteError> {
        self.report_gaps(stream, ticks)?;
        let written = self.file.record(stream, id, ticks, body);
        written.map_err(|source| WriteError::Write { file: self.path.clone(), source })
    }

    /// Reports that `count` records between two timestamps could not be read.
    pub(crate) fn report_unreadable(
        &mut self,
        stream: u32,
        count: u64,
        first_ticks: u64,
        last_ticks: u64,
    ) -> Result<(), WriteError> {
        let record = DroppedRecords { count, bytes: 0, first_ticks, last_ticks, cause: cause::DAMAGED };
        self.write_raw(stream, ID_DROPPED, first_ticks, &record.encode())
    }

    /// Reports the gaps of a stream up to `end`, in ticks.
    fn report_gaps(&mut self, stream: u32, end: u64) -> Result<(), WriteError> {
        let Some(gaps) = self.gaps.get_mut(&stream) else { return Ok(()) };
        while let Some(record) = gaps.front().copied().filter(|record| record.last_ticks <= end) {
            gaps.pop_front();
            let written = self.file.add_dropped(stream, record.last_ticks, &record);
            written.map_err(|source| WriteError::Write { file: self.path.clone(), source })?;
        }
        Ok(())
    }

    /// Sets the number of records of a stream that were dropped up to here.
    pub(crate) fn set_dropped(&mut self, stream: u32, records: u64) {
        self.file.set_dropped(stream, records);
    }

    /// The id of the first type of a spec. Writes the schema of the spec at its first use.
    fn base(&mut self, schema: &'static [u8], types: usize) -> Result<u16, WriteError> {
        if let Some((_, base)) = self.added_schemas.iter().find(|(added, _)| *added == schema) {
            return Ok(*base);
        }
        let base = self.next_base;
        let end = u16::try_from(usize::from(base) + types).ok().filter(|end| *end <= FIRST_RESERVED_ID);
        let end = end.ok_or_else(|| WriteError::NoIds { file: self.path.clone() })?;
        let written = self.file.schema(base, u32::from(end - base), schema);
        written.map_err(|source| WriteError::Write { file: self.path.clone(), source })?;
        self.next_base = end;
        self.added_schemas.push((schema, base));
        Ok(base)
    }

    /// Ends the file. Without this call, its last blocks are missing.
    ///
    /// # Errors
    /// When the system cannot write.
    pub fn finish(mut self) -> Result<(), WriteError> {
        let streams: Vec<u32> = self.gaps.keys().copied().collect();
        for stream in streams {
            self.report_gaps(stream, u64::MAX)?;
        }
        let Self { path, file, dropped_records, .. } = self;
        file.finish(dropped_records).map(drop).map_err(|source| WriteError::Write { file: path, source })
    }
}

/// The tags of a process that describe its clock.
pub(crate) struct ClockTags<'p> {
    pub(crate) kind: Option<u64>,
    pub(crate) hz: u64,
    pub(crate) domain: &'p str,
}

impl<'p> ClockTags<'p> {
    fn of(process: &'p ProcessInRun) -> Self {
        let kind = process.clock_kind.map(|kind| kind as u64);
        Self { kind, hz: process.clock_hz, domain: &process.clock_domain }
    }
}

/// The tags of a process in a copy with this clock. `last_known` is the last known timestamp of a
/// process without an orderly end, in ticks of the copy.
pub(crate) fn process_tags(process: &ProcessInRun, clock: &ClockTags<'_>, last_known: Option<u64>) -> Vec<u8> {
    let mut tags = Vec::new();
    append_tag(&mut tags, tag::PROCESS_ID, &process.id);
    for (tag, id) in [(tag::PARENT_ID, &process.parent_id), (tag::MERGED_RUN, &process.merged_run)] {
        if let Some(id) = id {
            append_tag(&mut tags, tag, id);
        }
    }
    append_integer(&mut tags, tag::PID, process.pid);
    if let Some(parent) = process.parent_pid {
        append_integer(&mut tags, tag::PARENT_PID, parent);
    }
    for (tag, number) in [(tag::RANK, process.rank), (tag::RANKS, process.ranks), (tag::CLOCK_KIND, clock.kind)] {
        if let Some(number) = number {
            append_integer(&mut tags, tag, number);
        }
    }
    append_integer(&mut tags, tag::CLOCK_HZ, clock.hz);
    if let Some(ticks) = last_known {
        append_integer(&mut tags, tag::LAST_KNOWN, ticks);
    }
    for (tag, text) in [
        (tag::HOST, process.host.as_str()),
        (tag::CLOCK_DOMAIN, clock.domain),
        (tag::COMMAND, process.command.as_str()),
        (tag::WRITER, process.writer.as_str()),
        (tag::JOB, process.job.as_str()),
        (tag::LAUNCH, process.launch.as_str()),
    ] {
        if !text.is_empty() {
            append_tag(&mut tags, tag, text.as_bytes());
        }
    }
    if let Some(buffers) = process.buffers.filter(|_| !process.has_ended && process.has_missing_buffers()) {
        append_integer(&mut tags, tag::BUFFERS, buffers);
    }
    tags
}

/// The tags of the end of a copy. They preserve the truncations, repeated timestamps and damage of
/// the original. `end` is the timestamp of the end of the process, in ticks of the copy.
pub(crate) fn end_tags(process: &ProcessInRun, end: Option<u64>) -> Vec<u8> {
    let mut tags = Vec::new();
    if let Some(end) = end {
        append_integer(&mut tags, tag::PROCESS_END, end);
    }
    if process.truncated_records > 0 {
        append_integer(&mut tags, tag::RECORDS_TRUNCATED, process.truncated_records);
    }
    if process.repeated_timestamps > 0 {
        append_integer(&mut tags, tag::REPEATED_TIMESTAMPS, process.repeated_timestamps);
    }
    if process.clock_wraps > 0 {
        append_integer(&mut tags, tag::CLOCK_WRAPS, process.clock_wraps);
    }
    let old_repair = process.repair.unwrap_or_default();
    let damaged_bytes = process.torn_ranges.bytes.saturating_add(old_repair.damaged_bytes);
    if process.repair.is_some() || damaged_bytes > 0 {
        let state = if old_repair.without_live { 2 } else { u64::from(old_repair.has_no_end) };
        append_integer(&mut tags, tag::REPAIRED, state);
        append_integer(&mut tags, tag::REPAIRED_DAMAGE, damaged_bytes);
        append_integer(&mut tags, tag::REPAIRED_RECORDS, old_repair.live_records);
    }
    tags
}
