//! What the threads and the helper share: slots, streams and names, from the first record to the end.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::Thread;
use std::time::Duration;

use tracer_format::entries::Anchor;
use tracer_format::live::LiveLayout;
use tracer_format::tags::{append_integer, append_tag, tag};
use tracer_format::{BlockKind, PROCESS_STREAM};

use crate::buffer::{Cursor, REPEATED, SLOT_BYTES, Slot, TRUNCATED};
use crate::config::Config;
use crate::intern::{TABLES, Tables};
use crate::level::{Levels, Registered};
use crate::live::{self, Buffers, Live, Region};
use crate::pool::{self, Pool};
use crate::ring::{self, Ring};
use crate::session::{self, report};
use crate::stream::{Entry, Names, Stream};
use crate::sync::{Lock, bit};
use crate::thread::{self, STRAYS};
use crate::{clock, fault, fork, helper, nested, process};

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
    region: Option<Region>,
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
    hooked: bool,
}

// SAFETY: the pointers are to slots, which are never unmapped, and to cursors, which outlive their entries' use.
unsafe impl Send for State {}

/// The value of the tag `BUFFERS` for private memory where a live file was asked for and could not be made.
const FELL_BACK: u64 = 2;
/// Memory that the slots leave to others.
const SPARE_BYTES: usize = 4 << 20;
/// Samples of clocks, where nothing else is said.
const SYNC_EXCHANGES: u32 = 300;
const SYNC_INTERVAL: Duration = Duration::from_secs(60);

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
        levels: Levels::new(),
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

    /// Makes all that recording needs but the file: folder, buffers, and a first note of the names.
    pub(crate) fn prepare(&mut self) -> bool {
        const MEMORY_BYTES: usize = 16 << 20;
        let config = self.config.clone().unwrap_or_default().or_environment();
        // A forked child records into its parent's, unless it asks for another.
        let own = self.config.as_ref().and_then(|config| config.folder.clone());
        let folder = own.or_else(|| self.folder.take()).or(config.folder);
        self.tells_folder = folder.is_none();
        let folder = folder.unwrap_or_else(process::default_folder);
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        self.first_anchor = clock::anchor();
        (self.process_id, self.file_name) = process::new_name(&folder);
        self.levels.set_policies(config.policies.clone());
        self.sync_exchanges = config.sync_exchanges.unwrap_or(SYNC_EXCHANGES);
        self.sync_interval = config.sync_interval.unwrap_or(SYNC_INTERVAL);
        self.levels.register_own();
        let slots = Pool::slots_in(config.memory_bytes.unwrap_or(MEMORY_BYTES));
        let asked = config.buffers.unwrap_or(Buffers::Mapped);
        let tables = TABLES.lock();
        let mut live = None;
        if asked == Buffers::Mapped && self.is_room_for(slots, SPARE_BYTES) {
            match (self.make_live(&folder, config.live_folder.as_deref(), slots, &tables), &config.live_folder) {
                (Ok(made), _) => live = Some(made),
                (Err(error), Some(asked)) => report(&format!(
                    "cannot make a live file in `{}`: {error}; the program goes on with private buffers",
                    asked.display()
                )),
                (Err(_), None) => {}
            }
        }
        let (base, slots) = match &live {
            Some(live) => (live.slots(), slots),
            None => match self.map_slots(slots) {
                Ok(mapped) => mapped,
                Err(error) => {
                    report(&format!("cannot record: no memory for buffers ({error}); events are dropped"));
                    self.phase = Phase::Finished;
                    return false;
                }
            },
        };
        self.pool.serve(base, slots);
        self.full.reserve(slots * pool::PIECES);
        self.ring.reserve(slots * pool::PIECES);
        let domain = process::clock_domain(&self.process_id, config.clock_domain);
        self.clock_domain = process::short(&domain);
        let mut tags = process::tags(&self.process_id, self.parent.as_ref(), &domain);
        let buffers = if live.is_none() && asked == Buffers::Mapped { FELL_BACK } else { asked as u64 };
        append_integer(&mut tags, tag::BUFFERS, buffers);
        if let Some(path) = live.as_ref().map(Live::path).filter(|path| path.parent() != Some(&folder)) {
            append_tag(&mut tags, tag::LIVE_PATH, path.as_os_str().as_encoded_bytes());
        }
        if let Some(live) = &live {
            live.publish();
            // Before there was a place to count them.
            live::count_lost(0, STRAYS.load(Ordering::Relaxed));
            live::log(BlockKind::Process, PROCESS_STREAM, 1, &tags);
            for provider in self.levels.registered_from(0) {
                provider.log();
            }
            tables.log();
        }
        (self.process_tags, self.folder, self.live) = (tags, Some(folder), live);
        true
    }

    fn make_live(
        &mut self,
        folder: &Path,
        elsewhere: Option<&Path>,
        slots: usize,
        tables: &Tables,
    ) -> std::io::Result<Live> {
        const LOG_BYTES: std::ops::RangeInclusive<usize> = 64 << 10..=1 << 20;
        let schemas: usize = self.levels.registered_from(0).iter().map(Registered::log_bytes).sum();
        let log_bytes =
            LOG_BYTES.end().min(&(slots * SLOT_BYTES / 16)).max(LOG_BYTES.start()) + schemas + tables.log_bytes();
        let layout = LiveLayout {
            process_id: self.process_id,
            slot_bytes: SLOT_BYTES as u32,
            slots: slots as u32,
            log_bytes: u32::try_from(log_bytes).map_err(std::io::Error::other)?,
        };
        std::fs::create_dir_all(folder)?;
        let place = elsewhere.unwrap_or_else(|| live::folder_for(folder));
        std::fs::create_dir_all(place)?;
        let path = std::path::absolute(place)?.join(&self.file_name).with_extension("live");
        Live::make(path, layout, self.region.as_ref())
    }

    /// Whether so many slots leave the program, and the recorder's own lists, which end the program where there is no memory, so much. Those
    /// that are there already take nothing more.
    fn is_room_for(&self, slots: usize, spare: usize) -> bool {
        let bytes = slots * SLOT_BYTES;
        self.region.as_ref().is_some_and(|region| region.bytes == bytes) || live::is_room_for(bytes + spare)
    }

    /// Private memory for so many slots; for half as many, and so on, where limits allow no more, or where all memory of the program is locked: then
    /// as much again is left.
    fn map_slots(&mut self, wanted: usize) -> std::io::Result<(*mut u8, usize)> {
        const LEAST_BYTES: usize = 1 << 20;
        let (mut slots, mut spare) = (wanted, SPARE_BYTES);
        while !self.is_room_for(slots, spare) && slots / 2 * SLOT_BYTES >= LEAST_BYTES {
            slots /= 2;
            spare = slots * SLOT_BYTES;
        }
        let base = live::map_private(slots * SLOT_BYTES, self.region.as_ref())?;
        if slots < wanted {
            let (wanted, got) = (wanted * SLOT_BYTES, slots * SLOT_BYTES);
            report(&format!("no memory for buffers of {wanted} bytes; the program goes on with {got}"));
        }
        self.region = Some(Region { base, bytes: slots * SLOT_BYTES });
        Ok((base, slots))
    }

    /// From now on threads get slots.
    pub(crate) fn record(&mut self) {
        session::own_process();
        self.hook();
        nested::prepare(self);
        ring::watch_panics();
        self.phase = Phase::Recording;
        self.helper = helper::spawn();
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

    /// Adds a stream; false when the live file has no room to note it.
    pub(crate) fn add_stream(
        &mut self,
        cursor: &Cursor,
        class: usize,
        tid: u64,
        names: Names,
    ) -> (*const Stream, bool) {
        let stream = Box::new(Stream::new(self.next_stream, class));
        self.next_stream += 1;
        let address = &raw const *stream;
        let entry = Entry::new(stream, cursor, tid, names);
        let logged = entry.log();
        self.entries.push(entry);
        self.alive += 1;
        nested::prepare(self);
        (address, logged)
    }

    /// Lets go of those of these streams, by their indexes in order, that are gone. What they dropped stays in the sum.
    pub(crate) fn forget(&mut self, streams: &[u32]) {
        let mut dropped = 0;
        self.entries.retain(|entry| {
            let forgotten = entry.is_gone() && streams.binary_search(&entry.stream.index).is_ok();
            dropped +=
                if forgotten && !fault::injected("the gone are not counted") { entry.stream.dropped() } else { 0 };
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
        session::disown_process();
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

    /// Asks the system to tell of the end of threads, of the process, and of forks. Once.
    fn hook(&mut self) {
        if self.hooked {
            return;
        }
        self.hooked = true;
        self.thread_key = thread::thread_key();
        fork::watch();
        // SAFETY: the handler is a function of this library, which is never unloaded before the process ends.
        unsafe { libc::atexit(session::at_exit) };
    }
}
