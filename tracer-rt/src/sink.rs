//! The process's file: definitions first, then full slots, each checksummed, compressed where it pays, and appended by one
//! write. Whatever cannot be written is counted as dropped; the file ends at its last whole block.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use tracer_format::entries::{Anchor, append_site, append_string};
use tracer_format::tags::{append_integer, tag};
use tracer_format::{BlockHeader, BlockKind, Codec, PROCESS_STREAM, block, cause, preamble};

use crate::buffer::Slot;
use crate::level::Registered;
use crate::session::{self, Entry, STATE, State};
use crate::sync::Lock;
use crate::{clock, intern, live};

mod piece;

use piece::Piece;

/// Blocks are stored raw when compression would save less than a tenth.
const WORTHWHILE: usize = 10;
/// What a thread has in a slot that is not full is stored raw below this size: to compress it would cost the program's
/// processors more than the space is worth.
const WORTHWHILE_BYTES: usize = 16 << 10;

pub(crate) static SINK: Lock<Sink> = Lock::new(Sink::closed());

/// The file and what it holds already.
#[derive(Debug)]
pub(crate) struct Sink {
    file: Target,
    /// Length of the file up to its last whole block.
    length: u64,
    /// Sequence number of the next block of the process.
    sequence: u64,
    schemas: usize,
    strings: usize,
    sites: usize,
    records: u64,
    /// At the end, something could not be written that the live file still has.
    left_behind: bool,
    complained: bool,
    /// Buffers, kept from block to block.
    packed: Vec<u8>,
    block: Vec<u8>,
}

#[derive(Debug)]
enum Target {
    /// Not opened yet.
    None,
    Open(File),
    /// Could not be opened.
    Failed,
}

/// Which threads' slots are written out before they are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Live {
    /// Those of threads that filled none since the helper last looked: the others will be written soon anyway.
    Quiet,
    /// All that was recorded before the call.
    SinceTheCall,
    /// All, also of threads that stand in the midst of a record.
    AtEnd,
}

impl Sink {
    const fn closed() -> Self {
        Self {
            file: Target::None,
            length: 0,
            sequence: 0,
            schemas: 0,
            strings: 0,
            sites: 0,
            records: 0,
            left_behind: false,
            complained: false,
            packed: Vec::new(),
            block: Vec::new(),
        }
    }

    /// After a `fork`, in the child: the file is the parent's.
    pub(crate) fn forget(&mut self) {
        *self = Self::closed();
    }

    pub(crate) const fn records_written(&self) -> u64 {
        self.records
    }

    /// Makes the folder and the file, unless it is open.
    pub(crate) fn open(&mut self) -> io::Result<()> {
        match self.file {
            Target::Open(_) => return Ok(()),
            Target::Failed => return Err(io::ErrorKind::Other.into()),
            Target::None => {}
        }
        let opened = self.open_now();
        if opened.is_err() {
            self.file = Target::Failed;
            if let Some(live) = &STATE.lock().live {
                live.remove();
            }
        }
        opened
    }

    fn open_now(&mut self) -> io::Result<()> {
        let state = STATE.lock();
        let (folder, name) = (state.folder.clone().unwrap_or_default(), state.file_name.clone());
        let (tags, anchor) = (state.process_tags.clone(), state.first_anchor);
        drop(state);
        std::fs::create_dir_all(&folder)?;
        let mut file = File::options().read(true).write(true).create_new(true).open(folder.join(name))?;
        file.write_all(&preamble())?;
        self.length = preamble().len() as u64;
        self.file = Target::Open(file);
        self.process_block(BlockKind::Process, 1, &tags, (0, 0))?;
        self.anchor(&anchor)
    }

    /// Someone removed the file, perhaps with its folder: what it held is put there again.
    fn restore(&mut self) {
        let Target::Open(file) = &mut self.file else { return };
        if !file.metadata().is_ok_and(|about| about.nlink() == 0) {
            return;
        }
        let state = STATE.lock();
        let (folder, name) = (state.folder.clone().unwrap_or_default(), state.file_name.clone());
        drop(state);
        let restored = copy_to(file, &folder, &name, self.length);
        let what = format!("`{}` was removed", folder.join(name).display());
        match restored {
            Ok(copy) => {
                self.file = Target::Open(copy);
                session::report(&format!("{what} while the program runs: it is made again"));
            }
            Err(error) => self.complain(&format!("{what}: {error}")),
        }
    }

    fn opened(&mut self) -> bool {
        match self.file {
            Target::Open(_) => true,
            Target::Failed => false,
            Target::None => match self.open() {
                Ok(()) => true,
                Err(error) => {
                    let folder = STATE.lock().folder.clone().unwrap_or_default();
                    self.complain(&format!("cannot record in `{}`: {error}", folder.display()));
                    false
                }
            },
        }
    }

    fn complain(&mut self, what: &str) {
        if !self.complained {
            self.complained = true;
            session::report(&format!(
                "{what}; the program goes on, its events are dropped (TUMIT_TRACE names the run folder)"
            ));
        }
    }

    /// Writes all full slots, unless threads fill them faster than that: then at most as many as wait now.
    pub(crate) fn write_full(&mut self) {
        let waiting = STATE.lock().full.len();
        for _ in 0..waiting.max(1) {
            if !self.write_next() {
                return;
            }
        }
    }

    /// Writes the oldest full slot; false when there is none.
    pub(crate) fn write_next(&mut self) -> bool {
        self.opened();
        let mut state = STATE.lock();
        let Some(slot) = state.full.pop_front() else {
            state.forget_the_gone();
            return false;
        };
        // When half of the slots wait, speed counts for more than size.
        let hurry = state.full.len() > state.pool.slots() / 2;
        let mapped = state.live.is_some();
        drop(state);
        if let Some(piece) = Piece::of_sealed(slot)
            && self.write_piece(&piece, if hurry { Codec::Raw } else { Codec::Lz4 }).is_err()
        {
            if mapped && self.is_open() {
                // Safe where it is: until the file takes it, or for ever.
                STATE.lock().full.push_front(slot);
                return false;
            }
            self.give_up(&piece);
        }
        STATE.lock().pool.give(slot);
        true
    }

    /// Writes what was recorded before the call: full slots, and what the threads have in theirs.
    pub(crate) fn flush(&mut self) {
        // Before the first record no folder is known.
        if !STATE.lock().is_recording() {
            return;
        }
        self.write_full();
        self.write_live(Live::SinceTheCall);
    }

    /// About once a second.
    pub(crate) fn tick(&mut self) {
        self.restore();
        self.write_live(Live::Quiet);
        if matches!(self.file, Target::Open(_))
            && let Err(error) = self.anchor(&clock::anchor())
        {
            self.complain(&format!("cannot write the trace: {error}"));
        }
    }

    /// Writes everything and ends the file.
    pub(crate) fn finish(&mut self) {
        self.restore();
        // No thread gets a new slot any more: what is full is finite.
        while self.write_next() {}
        self.write_live(Live::AtEnd);
        while self.write_next() {}
        self.write_untold();
        let mut state = STATE.lock();
        let dropped = state.dropped();
        state.kept = state.live.is_some() && self.is_open() && (!state.full.is_empty() || self.left_behind);
        let kept = state.kept;
        drop(state);
        if !self.opened() || kept {
            // Without an end, readers look into the live file.
            self.file = Target::Failed;
            return;
        }
        let mut tags = Vec::new();
        append_integer(&mut tags, tag::RECORDS_WRITTEN, self.records);
        append_integer(&mut tags, tag::RECORDS_DROPPED, dropped);
        let ended = self
            .definitions()
            .and_then(|()| self.anchor(&clock::anchor()))
            .and_then(|()| self.process_block(BlockKind::End, 2, &tags, (0, 0)));
        match ended {
            Ok(()) => {
                if let Some(live) = &STATE.lock().live {
                    live.remove();
                }
            }
            Err(error) => self.complain(&format!("cannot write the end of the trace: {error}")),
        }
        self.file = Target::Failed;
    }

    /// Writes what the slots of the threads hold and the file does not.
    fn write_live(&mut self, which: Live) {
        // A stream whose slot has nothing new may have filled another one since the call; the tick need not ask.
        let due = |entry: &&Entry| which != Live::Quiet || Piece::is_due(entry);
        let streams: Vec<u32> = STATE.lock().entries.iter().filter(due).map(|entry| entry.stream.index).collect();
        for stream in streams {
            let mut state = STATE.lock();
            // A slot that was filled since the call waits behind others; blocks of one stream stay in their order.
            if let Some(before) = state.full.iter().position(|slot| stream_of(*slot) == stream) {
                drop(state);
                let next = if which == Live::Quiet { 0 } else { before + 1 };
                for _ in 0..next {
                    self.write_next();
                }
                continue;
            }
            let piece = state.entry(stream).and_then(|entry| Piece::of_live(entry, which == Live::AtEnd));
            drop(state);
            if let Some((slot, piece)) = piece {
                let small = piece.payload().len() < WORTHWHILE_BYTES;
                let written = self.write_piece(&piece, if small { Codec::Raw } else { Codec::Lz4 });
                self.settle(slot, &piece, &written, which);
            }
        }
    }

    /// Notes that a part of a slot is in the file, or is not.
    fn settle(&mut self, slot: *const Slot, piece: &Piece, written: &io::Result<()>, which: Live) {
        let mut state = STATE.lock();
        let mapped = state.live.is_some() && self.is_open();
        if let Some(entry) = state.entry(piece.stream) {
            entry.pending = None;
        }
        let lost = which == Live::AtEnd && !mapped;
        self.left_behind |= which == Live::AtEnd && written.is_err();
        if written.is_ok() || lost {
            piece.commit(slot);
        }
        drop(state);
        if written.is_err() && lost {
            self.give_up(piece);
        }
    }

    /// Tells of losses after which a stream wrote nothing more.
    fn write_untold(&mut self) {
        let mut state = STATE.lock();
        let pieces: Vec<Piece> = state.entries.iter_mut().filter_map(Piece::of_losses).collect();
        drop(state);
        for piece in pieces {
            let _ = self.write_piece(&piece, Codec::Raw);
        }
    }

    fn write_piece(&mut self, piece: &Piece, codec: Codec) -> io::Result<()> {
        let written = if self.opened() { self.try_piece(piece, codec) } else { Err(io::ErrorKind::Other.into()) };
        match &written {
            Ok(()) => self.records += u64::from(piece.records),
            Err(error) => self.complain(&format!("cannot write the trace: {error}")),
        }
        written
    }

    /// Counts what could not be written as lost.
    fn give_up(&mut self, piece: &Piece) {
        if let Some(entry) = STATE.lock().entry(piece.stream) {
            let (count, bytes) = (u64::from(piece.records), piece.payload().len() as u64);
            entry.stream.lose(count, bytes, (piece.first, piece.last), cause::WRITE_FAILED);
        }
    }

    const fn is_open(&self) -> bool {
        matches!(self.file, Target::Open(_))
    }

    /// Writes the names that are new, if the file can be written.
    pub(crate) fn write_names(&mut self) {
        if self.opened()
            && let Err(error) = self.definitions()
        {
            self.complain(&format!("cannot write the trace: {error}"));
        }
    }

    fn try_piece(&mut self, piece: &Piece, codec: Codec) -> io::Result<()> {
        self.definitions()?;
        let header = BlockHeader {
            kind: BlockKind::Records as u8,
            stream: piece.stream,
            records: piece.records,
            sequence: piece.sequence,
            dropped: piece.dropped,
            first_ticks: piece.first,
            last_ticks: piece.last,
            ..BlockHeader::default()
        };
        self.append(header, piece.payload(), codec)
    }

    /// Writes the specs, strings, sites and thread names that are new. Called before each block of records: what these use
    /// was made known before they were sealed.
    fn definitions(&mut self) -> io::Result<()> {
        let logged = live::log_used();
        let state = STATE.lock();
        let schemas: Vec<_> = state.levels.registered_from(self.schemas).iter().map(Registered::payload).collect();
        let streams = untold_streams(&state);
        drop(state);
        for schema in schemas {
            self.process_block(BlockKind::Schema, 1, &schema, (0, 0))?;
            self.schemas += 1;
        }
        for (stream, payload) in streams {
            let header = BlockHeader {
                kind: BlockKind::Stream as u8,
                stream,
                records: 1,
                sequence: self.sequence,
                ..BlockHeader::default()
            };
            self.append(header, &payload, Codec::Raw)?;
            self.sequence += 1;
            if let Some(entry) = STATE.lock().entry(stream) {
                entry.told = true;
            }
        }
        if intern::has_more(self.strings, self.sites) {
            self.names()?;
        }
        live::log_written(logged);
        Ok(())
    }

    fn names(&mut self) -> io::Result<()> {
        // A payload of a reasonable size; long tables take several blocks.
        const PAYLOAD_BYTES: usize = 1 << 20;
        loop {
            let tables = intern::TABLES.lock();
            let (mut strings, mut sites) = (Vec::new(), Vec::new());
            let (mut string_count, mut site_count) = (0, 0);
            for text in tables.strings_from(self.strings) {
                if strings.len() >= PAYLOAD_BYTES {
                    break;
                }
                string_count += 1;
                append_string(&mut strings, (self.strings + string_count) as u32, text.as_bytes());
            }
            for site in tables.sites_from(self.sites) {
                if sites.len() >= PAYLOAD_BYTES {
                    break;
                }
                site_count += 1;
                append_site(&mut sites, (self.sites + site_count) as u32, site.line(), site.file().as_bytes());
            }
            drop(tables);
            if string_count == 0 && site_count == 0 {
                return Ok(());
            }
            if string_count > 0 {
                self.process_block(BlockKind::Strings, string_count as u32, &strings, (0, 0))?;
                self.strings += string_count;
            }
            if site_count > 0 {
                self.process_block(BlockKind::Sites, site_count as u32, &sites, (0, 0))?;
                self.sites += site_count;
            }
        }
    }

    fn anchor(&mut self, anchor: &Anchor) -> io::Result<()> {
        self.process_block(BlockKind::Anchors, 1, &anchor.encode(), (anchor.ticks, anchor.ticks))
    }

    fn process_block(&mut self, kind: BlockKind, entries: u32, payload: &[u8], dates: (u64, u64)) -> io::Result<()> {
        let header = BlockHeader {
            kind: kind as u8,
            stream: PROCESS_STREAM,
            records: entries,
            sequence: self.sequence,
            first_ticks: dates.0,
            last_ticks: dates.1,
            ..BlockHeader::default()
        };
        let codec = if payload.len() < 256 { Codec::Raw } else { Codec::Lz4 };
        self.append(header, payload, codec)?;
        self.sequence += 1;
        Ok(())
    }

    /// Appends a block by one write. When that fails, the file ends where it did before.
    fn append(&mut self, mut header: BlockHeader, payload: &[u8], codec: Codec) -> io::Result<()> {
        let Target::Open(file) = &mut self.file else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut stored = payload;
        if codec == Codec::Lz4 {
            // Only ever grows: what is there from before needs no zeros again.
            let room = lz4_flex::block::get_maximum_output_size(payload.len()).max(self.packed.len());
            self.packed.resize(room, 0);
            // The buffer is large enough for anything; should it fail all the same, the payload stays as it is.
            let packed = lz4_flex::block::compress_into(payload, &mut self.packed).unwrap_or(usize::MAX);
            if packed < payload.len() - payload.len() / WORTHWHILE {
                stored = &self.packed[..packed];
                header.codec = Codec::Lz4 as u8;
            }
        }
        header.raw_bytes = payload.len() as u32;
        header.stored_bytes = stored.len() as u32;
        self.block.clear();
        block::append_block(&mut self.block, &header, stored);
        let written =
            live::within_limit(self.length + self.block.len() as u64).and_then(|()| file.write_all(&self.block));
        if let Err(error) = written {
            truncate(file, self.length);
            return Err(error);
        }
        self.length += self.block.len() as u64;
        Ok(())
    }
}

fn copy_to(file: &mut File, folder: &Path, name: &str, bytes: u64) -> io::Result<File> {
    std::fs::create_dir_all(folder)?;
    let mut copy = File::options().read(true).write(true).create_new(true).open(folder.join(name))?;
    file.seek(io::SeekFrom::Start(0))?;
    let copied = io::copy(&mut Read::take(&mut *file, bytes), &mut copy);
    file.seek(io::SeekFrom::Start(bytes))?;
    copied.map(|_| copy)
}

/// Cuts off a block that was written in part; the next one then starts there.
fn truncate(file: &mut File, length: u64) {
    // Should this fail too, readers find the next block by its magic.
    if file.set_len(length).is_ok() {
        let _ = file.seek(io::SeekFrom::Start(length));
    }
}

fn stream_of(slot: *const Slot) -> u32 {
    // SAFETY: slots are never unmapped.
    unsafe { &*slot }.stream.load(Ordering::Relaxed)
}

fn untold_streams(state: &State) -> Vec<(u32, Vec<u8>)> {
    let untold = state.entries.iter().filter(|entry| !entry.told);
    untold.map(|entry| (entry.stream.index, entry.tags())).collect()
}
