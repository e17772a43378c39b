//! The recorder's state, and the static that contains it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread::Thread;
use std::time::Duration;

use tracer_format::entries::ClockAnchor;

use super::kept_slots::KeptSlots;
use super::stream_entry::{StreamEntry, StreamNames};
use crate::config::RecorderConfig;
use crate::cursor::ThreadCursor;
use crate::fault_injection;
use crate::levels::level_table::LevelTable;
use crate::live_file::{LiveFile, MappedRegion};
use crate::locks::{RecorderLock, bit};
use crate::self_trace;
use crate::slots::SlotHeader;
use crate::slots::pool::{self, SlotPool};
use crate::slots::record_bytes::{REPEATED, TRUNCATED};
use crate::stream::{STRAYS, ThreadStream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionPhase {
    Idle,
    Recording,
    Finished,
}

/// The state shared by the threads and the writer thread.
#[derive(Debug)]
pub(crate) struct RecorderState {
    pub(crate) phase: SessionPhase,
    pub(crate) config: Option<RecorderConfig>,
    /// The run folder, absolute, once recording.
    pub(crate) folder: Option<PathBuf>,
    /// The run folder has the default name, so the recorder prints the name at the end.
    pub(crate) prints_folder: bool,
    /// Name of the process's file in the run folder.
    pub(crate) file_name: String,
    /// The tags at the start of that file.
    pub(crate) process_tags: Vec<u8>,
    /// The live file in which the slots are mapped.
    pub(crate) live: Option<LiveFile>,
    /// Private memory for slots, or the address range of the parent's live file.
    pub(crate) region: Option<MappedRegion>,
    /// The process ended recording, and the live file contains records that the file could not
    /// take.
    pub(crate) keeps_live_file: bool,
    /// The process's id, set at the start of recording.
    pub(crate) process_id: [u8; 16],
    /// The first reading of the clocks, made at the start of recording.
    pub(crate) first_anchor: ClockAnchor,
    /// Hash of the clock domain, the text that identifies the process's clock.
    pub(crate) clock_domain: u64,
    /// Number of exchanges with a peer in a sample of clocks.
    pub(crate) sync_exchanges: u32,
    /// Minimum time between two samples at synchronization points.
    pub(crate) sync_interval: Duration,
    /// Process id of the parent if this process is a forked child.
    pub(crate) parent: Option<[u8; 16]>,
    pub(crate) pool: SlotPool,
    /// Full slots that wait for the writer thread, oldest first.
    pub(crate) full_slots: VecDeque<*const SlotHeader>,
    /// Full slots of the flight recorder.
    pub(crate) flight_recorder: KeptSlots,
    /// Streams in order of their index.
    /// A stream is removed when its thread has ended and its records are written.
    pub(crate) entries: Vec<StreamEntry>,
    pub(crate) next_stream: u32,
    /// Spare streams for signal handlers, which cannot allocate.
    #[expect(clippy::vec_box, reason = "a signal handler must not allocate the box")]
    pub(crate) spares: Vec<Box<ThreadStream>>,
    /// Number of streams of running threads.
    pub(crate) live_threads: usize,
    /// Number of records dropped by streams that were removed.
    dropped_by_removed_streams: u64,
    pub(crate) levels: LevelTable,
    pub(crate) writer_thread: Option<Thread>,
    pub(crate) thread_key: Option<libc::pthread_key_t>,
    pub(crate) hooked: bool,
}

// SAFETY: the pointers are to slots, which are never unmapped, and to cursors, which outlive their
// entries' use.
unsafe impl Send for RecorderState {}

/// Defaults for samples of clocks.
pub(crate) const SYNC_EXCHANGES: u32 = 300;
pub(crate) const SYNC_INTERVAL: Duration = Duration::from_secs(60);

pub(crate) static STATE: RecorderLock<RecorderState> = RecorderLock::new(
    bit::STATE,
    RecorderState {
        phase: SessionPhase::Idle,
        config: None,
        folder: None,
        prints_folder: false,
        file_name: String::new(),
        process_tags: Vec::new(),
        live: None,
        region: None,
        keeps_live_file: false,
        process_id: [0; 16],
        first_anchor: ClockAnchor { ticks: 0, monotonic_nanos: 0, real_nanos: 0, bracket: 0 },
        clock_domain: 0,
        sync_exchanges: SYNC_EXCHANGES,
        sync_interval: SYNC_INTERVAL,
        parent: None,
        pool: SlotPool::empty(),
        full_slots: VecDeque::new(),
        flight_recorder: KeptSlots::new(),
        spares: Vec::new(),
        live_threads: 0,
        entries: Vec::new(),
        next_stream: 0,
        dropped_by_removed_streams: 0,
        levels: LevelTable::new(self_trace::LEVEL),
        writer_thread: None,
        thread_key: None,
        hooked: false,
    },
);

impl RecorderState {
    pub(crate) fn is_recording(&self) -> bool {
        self.phase == SessionPhase::Recording
    }

    pub(crate) fn entry(&mut self, stream: u32) -> Option<&mut StreamEntry> {
        let index = self.entries.binary_search_by_key(&stream, |entry| entry.stream.index).ok()?;
        self.entries.get_mut(index)
    }

    /// Whether slots are getting scarce, so that the writer thread should run at once.
    /// This is rare enough that a thread that fills slots makes no system call for it.
    pub(crate) fn is_urgent(&self) -> bool {
        let slots = self.pool.slots();
        self.full_slots.len() >= (slots / 4).max(1) || pool::available() <= slots / 4
    }

    /// Takes a free slot for a record of `bytes` bytes.
    /// It is a part of a slot if there are many threads, or for the first slot of a stream while
    /// others have many slots. The reason is that most threads record little.
    pub(crate) fn take_slot(&mut self, bytes: usize, is_first: bool) -> Option<*const SlotHeader> {
        let slots = self.pool.slots();
        let has_many_threads = self.live_threads > slots / 2 || (is_first && pool::available() < slots - slots / 4);
        if bytes > pool::MAX_PART_RECORD_BYTES {
            return self.pool.take();
        }
        if has_many_threads { self.pool.take_part() } else { self.pool.take().or_else(|| self.pool.take_part()) }
    }

    /// The names that a thread has in another of its streams, because the program may have set them
    /// after that stream began.
    pub(crate) fn names_of(&self, cursor: &ThreadCursor) -> Option<StreamNames> {
        self.entries.iter().find(|entry| std::ptr::eq(entry.cursor, cursor)).map(|entry| entry.names.clone())
    }

    /// Removes those of the given streams that are gone. Adds their dropped records to the sum.
    /// `streams` is sorted.
    pub(crate) fn remove_streams(&mut self, streams: &[u32]) {
        let mut dropped = 0;
        self.entries.retain(|entry| {
            let is_removed = entry.is_finished() && streams.binary_search(&entry.stream.index).is_ok();
            dropped += if is_removed && !fault_injection::is_injected("exited threads are not counted") {
                entry.stream.dropped_records()
            } else {
                0
            };
            !is_removed
        });
        self.dropped_by_removed_streams += dropped;
    }

    /// Number of records dropped so far.
    pub(crate) fn dropped_records(&self) -> u64 {
        let alive: u64 = self.entries.iter().map(|entry| entry.stream.dropped_records()).sum();
        alive + self.dropped_by_removed_streams + STRAYS.load(Ordering::Relaxed)
    }

    /// Number of records in slots that will not be written any more. 0 before the end of recording.
    pub(crate) fn unwritten_at_the_end(&self) -> u64 {
        if self.phase != SessionPhase::Finished {
            return 0;
        }
        let live = self.entries.iter().map(|entry| entry.stream.slot.load(Ordering::Relaxed).cast_const());
        // SAFETY: a stream's slot is null or a slot of the pool, as are those of the queues. Slots
        // are never unmapped.
        let heads = live
            .chain(self.full_slots.iter().copied())
            .chain(self.flight_recorder.iter())
            .filter_map(|slot| unsafe { slot.as_ref() });
        heads.map(|head| u64::from(head.unwritten_records())).sum()
    }

    /// Resets the state in a forked child, which has one thread and no writer thread.
    /// The parent writes its own unwritten records. The child's first record opens a new file in
    /// the same folder.
    pub(crate) fn begin_child(&mut self) {
        if self.phase == SessionPhase::Recording {
            self.phase = SessionPhase::Idle;
            self.parent = Some(self.process_id);
        }
        if let Some(live) = self.live.take() {
            self.region = live.release_in_child();
        }
        self.full_slots.clear();
        self.flight_recorder.clear();
        // Not freed: a signal handler may have interrupted a record of another thread, which no
        // longer exists.
        std::mem::forget(std::mem::take(&mut self.entries));
        self.keeps_live_file = false;
        self.next_stream = 0;
        self.live_threads = 0;
        self.dropped_by_removed_streams = 0;
        if let Some(config) = &mut self.config {
            config.folder = None;
        }
        self.writer_thread = None;
        STRAYS.store(0, Ordering::Relaxed);
        REPEATED.store(0, Ordering::Relaxed);
        TRUNCATED.store(0, Ordering::Relaxed);
    }
}
