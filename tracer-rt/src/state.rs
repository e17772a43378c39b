//! What the threads and the helper share: slots, streams and names, from the first record to the end.

pub(crate) mod flight_recorder;
pub(crate) mod stream_entry;
mod streams;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread::Thread;
use std::time::Duration;

use tracer_format::entries::Anchor;

use crate::config::Config;
use crate::cursor::Cursor;
use crate::fault_injection;
use crate::levels::table::Levels;
use crate::live_file::{Live, Region};
use crate::locks::{Lock, bit};
use crate::self_trace;
use crate::slots::Slot;
use crate::slots::pool::{self, Pool};
use crate::slots::write::{REPEATED, TRUNCATED};
use crate::stream::{STRAYS, Stream};
use flight_recorder::Ring;
use stream_entry::{Entry, Names};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Idle,
    Recording,
    Finished,
}

/// What the threads and the helper share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) config: Option<Config>,
    /// The run folder, absolute, once recording.
    pub(crate) folder: Option<PathBuf>,
    /// The run folder has the default name, so the recorder prints the name at the end.
    pub(crate) tells_folder: bool,
    /// Name of the process's file in it, and the tags that it begins with.
    pub(crate) file_name: String,
    pub(crate) process_tags: Vec<u8>,
    /// The live file, where slots are mapped.
    pub(crate) live: Option<Live>,
    /// Private memory for slots, or where the parent's live file was mapped.
    pub(crate) region: Option<Region>,
    /// The process ended recording, and the live file holds what the file could not take.
    pub(crate) kept: bool,
    /// The process's id, and the first reading of its clocks, once recording.
    pub(crate) process_id: [u8; 16],
    pub(crate) first_anchor: Anchor,
    /// Short for the text that says which clock the process reads.
    pub(crate) clock_domain: u64,
    /// What was chosen for samples of clocks.
    pub(crate) sync_exchanges: u32,
    pub(crate) sync_interval: Duration,
    /// Process id of the parent that was forked.
    pub(crate) parent: Option<[u8; 16]>,
    pub(crate) pool: Pool,
    /// Slots to be written, oldest first.
    pub(crate) full: VecDeque<*const Slot>,
    /// What the flight recorder keeps.
    pub(crate) ring: Ring,
    /// Streams by their index; those that are written out and gone leave.
    pub(crate) entries: Vec<Entry>,
    pub(crate) next_stream: u32,
    /// Streams for signal handlers, which cannot ask for memory.
    #[expect(clippy::vec_box, reason = "a handler must not ask for the memory of the box")]
    pub(crate) spares: Vec<Box<Stream>>,
    /// Streams of threads that live.
    pub(crate) alive: usize,
    /// What streams that left had dropped.
    dropped_by_the_gone: u64,
    pub(crate) levels: Levels,
    pub(crate) helper: Option<Thread>,
    pub(crate) thread_key: Option<libc::pthread_key_t>,
    pub(crate) hooked: bool,
}

// SAFETY: the pointers are to slots, which are never unmapped, and to cursors, which outlive their entries' use.
unsafe impl Send for State {}

/// Samples of clocks, where nothing else is said.
pub(crate) const SYNC_EXCHANGES: u32 = 300;
pub(crate) const SYNC_INTERVAL: Duration = Duration::from_secs(60);

pub(crate) static STATE: Lock<State> = Lock::new(
    bit::STATE,
    State {
        phase: Phase::Idle,
        config: None,
        folder: None,
        tells_folder: false,
        file_name: String::new(),
        process_tags: Vec::new(),
        live: None,
        region: None,
        kept: false,
        process_id: [0; 16],
        first_anchor: Anchor { ticks: 0, monotonic_nanos: 0, real_nanos: 0, bracket: 0 },
        clock_domain: 0,
        sync_exchanges: SYNC_EXCHANGES,
        sync_interval: SYNC_INTERVAL,
        parent: None,
        pool: Pool::empty(),
        full: VecDeque::new(),
        ring: Ring::new(),
        spares: Vec::new(),
        alive: 0,
        entries: Vec::new(),
        next_stream: 0,
        dropped_by_the_gone: 0,
        levels: Levels::new(self_trace::LEVEL),
        helper: None,
        thread_key: None,
        hooked: false,
    },
);

impl State {
    pub(crate) fn is_recording(&self) -> bool {
        self.phase == Phase::Recording
    }

    pub(crate) fn entry(&mut self, stream: u32) -> Option<&mut Entry> {
        let at = self.entries.binary_search_by_key(&stream, |entry| entry.stream.index).ok()?;
        self.entries.get_mut(at)
    }

    /// Whether the helper should look at once, not only when it does anyway: slots are getting scarce. Seldom enough that a
    /// thread that fills slots makes no system call for it.
    pub(crate) fn is_urgent(&self) -> bool {
        let slots = self.pool.slots();
        self.full.len() >= (slots / 4).max(1) || pool::available() <= slots / 4
    }

    /// Takes a free slot for a record of so many bytes. With many threads, and for the first records of one while others have many slots, it
    /// is a part of one: most threads are short.
    pub(crate) fn take_slot(&mut self, bytes: usize, is_first: bool) -> Option<*const Slot> {
        let slots = self.pool.slots();
        let many = self.alive > slots / 2 || (is_first && pool::available() < slots - slots / 4);
        if bytes > pool::MAX_PART_RECORD_BYTES {
            return self.pool.take();
        }
        if many { self.pool.take_part() } else { self.pool.take().or_else(|| self.pool.take_part()) }
    }

    /// The names that a thread has in another stream of it: they may have been given after that stream began.
    pub(crate) fn names_of(&self, cursor: &Cursor) -> Option<Names> {
        self.entries.iter().find(|entry| std::ptr::eq(entry.cursor, cursor)).map(|entry| entry.names.clone())
    }

    /// Lets go of those of these streams, by their indexes in order, that are gone. What they dropped stays in the sum.
    pub(crate) fn forget(&mut self, streams: &[u32]) {
        let mut dropped = 0;
        self.entries.retain(|entry| {
            let forgotten = entry.is_gone() && streams.binary_search(&entry.stream.index).is_ok();
            dropped += if forgotten && !fault_injection::injected("the gone are not counted") {
                entry.stream.dropped()
            } else {
                0
            };
            !forgotten
        });
        self.dropped_by_the_gone += dropped;
    }

    /// Records dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        let alive: u64 = self.entries.iter().map(|entry| entry.stream.dropped()).sum();
        alive + self.dropped_by_the_gone + STRAYS.load(Ordering::Relaxed)
    }

    /// After the end of recording: records in slots that nobody writes out any more.
    pub(crate) fn unwritten_at_the_end(&self) -> u64 {
        if self.phase != Phase::Finished {
            return 0;
        }
        let live = self.entries.iter().map(|entry| entry.stream.slot.load(Ordering::Relaxed).cast_const());
        // SAFETY: a stream's slot is null or, as those of the queue, one of the pool, which is never unmapped.
        let heads =
            live.chain(self.full.iter().copied()).chain(self.ring.iter()).filter_map(|slot| unsafe { slot.as_ref() });
        heads.map(|head| u64::from(head.unwritten())).sum()
    }

    /// After a `fork`, in the child: it has one thread and no helper. What its parent had not written is the parent's to
    /// write; the child's first record opens a file of its own in the same folder.
    pub(crate) fn begin_child(&mut self) {
        if self.phase == Phase::Recording {
            self.phase = Phase::Idle;
            self.parent = Some(self.process_id);
        }
        if let Some(live) = self.live.take() {
            self.region = live.disown();
        }
        self.full.clear();
        self.ring.clear();
        // Not freed: a signal handler may have interrupted a record of another thread, which exists no more.
        std::mem::forget(std::mem::take(&mut self.entries));
        self.kept = false;
        self.next_stream = 0;
        self.alive = 0;
        self.dropped_by_the_gone = 0;
        if let Some(config) = &mut self.config {
            config.folder = None;
        }
        self.helper = None;
        STRAYS.store(0, Ordering::Relaxed);
        REPEATED.store(0, Ordering::Relaxed);
        TRUNCATED.store(0, Ordering::Relaxed);
    }
}
