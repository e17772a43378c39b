//! How much memory making an index takes does not depend on the length of the trace: counted by allocation, not seen by chance.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]
#![allow(unsafe_code, reason = "a global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, BufReader, Read, Write as _};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tumit_paje::read::Reader;
use tumit_paje::{ContainerId, KeyId, Look, PajeEvent, Sink, TypeId, TypeKind, ValueId};
use tumit_viewer::index::{Index, Key};
use tumit_viewer::query::{GlobalNanos, TimelineSource as _};

/// Bytes that all threads have together, and the most that they had.
static BYTES: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

struct Counting;

impl Counting {
    fn change(by: isize) {
        let now = BYTES.fetch_add(by, Ordering::Relaxed) + by;
        MOST.fetch_max(now, Ordering::Relaxed);
    }
}

fn bytes(layout: Layout) -> isize {
    layout.size().cast_signed()
}

// SAFETY: all is left to the system's allocator; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::change(bytes(layout));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::change(-bytes(layout));
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::change(size.cast_signed() - bytes(layout));
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const THREADS: u32 = 8;
const VALUES: u32 = 100;
const MEMORY: usize = 1 << 18;

/// States on some threads, an event and a link with a key of its own for every eighth of them, made as they are taken.
fn send(sink: &mut dyn Sink, states: u64) -> io::Result<()> {
    let (thread, activity, message, mark) = (TypeId(1), TypeId(2), TypeId(3), TypeId(4));
    let mut define = |ty, kind, parent| {
        sink.event(&PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, look: Look::NONE })
    };
    define(thread, TypeKind::Container, TypeId::ROOT)?;
    define(activity, TypeKind::State, thread)?;
    define(message, TypeKind::Link { start: thread, end: thread }, TypeId::ROOT)?;
    define(mark, TypeKind::Event, thread)?;
    for value in 0..VALUES + 2 {
        let ty = [activity, message, mark][value.saturating_sub(VALUES - 1) as usize];
        sink.event(&PajeEvent::DefineValue {
            value: ValueId(value),
            ty,
            name: "value",
            color: None,
            look: Look::NONE,
        })?;
    }
    let begin = GlobalNanos(0);
    for number in 1..=THREADS {
        let (container, parent) = (ContainerId(number), ContainerId::ROOT);
        sink.event(&PajeEvent::CreateContainer {
            time: begin,
            container,
            ty: thread,
            parent,
            name: "thread",
            extra: &[],
        })?;
    }
    let (extra, source): (&[_], _) = (&[], None);
    for step in 0..states {
        // Irregular, and the same each time.
        let random = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let time = GlobalNanos((step * 1000 + random % 1000).cast_signed());
        let container = ContainerId(1 + (random % u64::from(THREADS)) as u32);
        let value = ValueId((random / 64 % u64::from(VALUES)) as u32);
        sink.event(&PajeEvent::SetState { time, container, ty: activity, value, extra, source })?;
        if step % 8 == 0 {
            sink.event(&PajeEvent::NewEvent { time, container, ty: mark, value: ValueId(VALUES + 1), extra, source })?;
            let (holder, ty, value, key) = (ContainerId::ROOT, message, ValueId(VALUES), KeyId(step));
            let late = GlobalNanos(time.0 + 700);
            sink.event(&PajeEvent::StartLink {
                time,
                container: holder,
                ty,
                value,
                start: container,
                key,
                extra,
                source,
            })?;
            let end = ContainerId(1);
            sink.event(&PajeEvent::EndLink { time: late, container: holder, ty, value, end, key, extra, source })?;
        }
    }
    sink.finish(GlobalNanos((states * 1000).cast_signed()))
}

/// What is counted is counted for one test at a time.
static COUNTED: Mutex<()> = Mutex::new(());

/// The most bytes that there were while an index was made, and the index.
fn most(send: impl FnOnce(&mut dyn Sink) -> io::Result<()>) -> (isize, Index) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.tmtx");
    let before = BYTES.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    Index::write_within(&path, Key::default(), "trace", MEMORY, send).unwrap();
    let most = MOST.load(Ordering::Relaxed) - before;
    (most, Index::map_file(&path, Key::default()).unwrap())
}

#[test]
fn memory_does_not_grow_with_the_length_of_the_trace() {
    let _alone = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let [short, long] = [250_000, 750_000].map(|states| {
        let (most, index) = most(|sink| send(sink, states));
        let summary = index.summary();
        assert_eq!((summary.states, summary.links, summary.events), (states, states.div_ceil(8), states.div_ceil(8)));
        most
    });
    println!("250,000 states: {short} bytes; 750,000: {long}");
    // Checksums, directories and what links share grow a little; all rows would grow threefold.
    assert!(long < 2 * short, "{short} bytes grew to {long}");
    // A dozen buffers of files, which are as large whatever the memory, are most of it.
    assert!(long < 24 * MEMORY.cast_signed(), "{long} bytes");
}

/// A Pajé file of links that all wait: their ends come long after, in another order, and a tenth never.
struct Waiting {
    links: u64,
    line: u64,
    text: Vec<u8>,
    at: usize,
}

impl Waiting {
    fn new(links: u64) -> Self {
        let header = include_str!("header.paje");
        let tree = "0 P 0 P\n4 L 0 P P M\n5 l L M \"1 1 1\"\n6 0 p 0 P p\n";
        Self { links, line: 0, text: [header, "\n", tree].concat().into_bytes(), at: 0 }
    }
}

impl Read for Waiting {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            self.text.clear();
            self.at = 0;
            let (line, links) = (self.line, self.links);
            let key = (line % links).wrapping_mul(7_919) % links;
            match line / links {
                0 => writeln!(self.text, "15 {line}e-6 0 L p l key{line}")?,
                1 if key.is_multiple_of(10) => {}
                1 => writeln!(self.text, "16 {line}e-6 0 L p l key{key}")?,
                _ => return Ok(0),
            }
            self.line += 1;
        }
        let taken = (&self.text[self.at..]).read(to)?;
        self.at += taken;
        Ok(taken)
    }
}

#[test]
fn memory_does_not_grow_with_the_links_that_wait() {
    let _alone = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let [short, long] = [120_000, 240_000].map(|links| {
        let (most, index) = most(|sink| {
            let reader = Reader::new(BufReader::new(Waiting::new(links)));
            reader.read(sink).map_err(io::Error::other)?;
            Ok(())
        });
        let summary = index.summary();
        assert_eq!(summary.links, links / 10 * 9);
        let told = format!("{},000 links have only a start", links / 10_000);
        assert!(summary.remarks.iter().any(|remark| remark.starts_with(&told)), "{:?}", summary.remarks);
        most
    });
    println!("120,000 links: {short} bytes; 240,000: {long}");
    // Of each there are 12 bits that say whether it is in a file, and of each 32 where: twice, as the reader has them, too.
    assert!(long - short < 120_000 * 12, "{short} bytes grew to {long}");
}
