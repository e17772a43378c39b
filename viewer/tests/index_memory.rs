//! The memory for building an index does not depend on the length of the trace. The test counts
//! allocations, so that its result is reproducible.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]
#![allow(unsafe_code, reason = "a global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, BufReader, Read, Write as _};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tumit_paje::read::PajeReader;
use tumit_paje::{ContainerId, DrawStyle, KeyId, PajeEvent, PajeSink, PajeTypeKind, TypeId, ValueId};
use tumit_viewer::index::{IndexKey, IndexReader};
use tumit_viewer::query::{GlobalNanos, TimelineSource as _};

/// The allocated bytes of all threads. `MOST` is their maximum.
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

// SAFETY: all calls are forwarded to the system's allocator; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::change(bytes(layout));
        // SAFETY: the caller's guarantee is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::change(-bytes(layout));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::change(size.cast_signed() - bytes(layout));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const THREADS: u32 = 8;
const VALUES: u32 = 100;
const MEMORY: usize = 1 << 18;

/// Sends states on some threads, with an event and a link with its own key for every eighth state.
/// The data are generated on the fly.
fn send(sink: &mut dyn PajeSink, states: u64) -> io::Result<()> {
    let (thread, activity, message, mark) = (TypeId(1), TypeId(2), TypeId(3), TypeId(4));
    let mut define = |ty, kind, parent| {
        sink.event(&PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, style: DrawStyle::NONE })
    };
    define(thread, PajeTypeKind::Container, TypeId::ROOT)?;
    define(activity, PajeTypeKind::State, thread)?;
    define(message, PajeTypeKind::Link { start: thread, end: thread }, TypeId::ROOT)?;
    define(mark, PajeTypeKind::Event, thread)?;
    for value in 0..VALUES + 2 {
        let ty = [activity, message, mark][value.saturating_sub(VALUES - 1) as usize];
        sink.event(&PajeEvent::DefineValue {
            value: ValueId(value),
            ty,
            name: "value",
            color: None,
            style: DrawStyle::NONE,
            category: None,
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
        // Irregular, but reproducible.
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

/// Only one test counts at a time.
static COUNTED: Mutex<()> = Mutex::new(());

/// The maximum number of bytes while an index is built, and the index.
fn most(send: impl FnOnce(&mut dyn PajeSink) -> io::Result<()>) -> (isize, IndexReader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.tmtx");
    let before = BYTES.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    IndexReader::write_within(&path, IndexKey::default(), "trace", MEMORY, send).unwrap();
    let most = MOST.load(Ordering::Relaxed) - before;
    (most, IndexReader::map_file(&path, IndexKey::default()).unwrap())
}

#[test]
fn memory_does_not_grow_with_the_length_of_the_trace() {
    let _lock = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let [short, long] = [250_000, 750_000].map(|states| {
        let (most, index) = most(|sink| send(sink, states));
        let summary = index.summary();
        assert_eq!((summary.states, summary.links, summary.events), (states, states.div_ceil(8), states.div_ceil(8)));
        most
    });
    println!("250,000 states: {short} bytes; 750,000: {long}");
    // Checksums, directories and shared data of links grow slightly; all rows would grow threefold.
    assert!(long < 2 * short, "{short} bytes grew to {long}");
    // Most of it is a dozen file buffers with a size that does not depend on `MEMORY`.
    assert!(long < 24 * MEMORY.cast_signed(), "{long} bytes");
}

/// A Pajé file with links that are all pending at the same time. Their ends come much later in
/// another order, and a tenth of them never.
struct PendingLinkFile {
    links: u64,
    line: u64,
    text: Vec<u8>,
    position: usize,
}

impl PendingLinkFile {
    fn new(links: u64) -> Self {
        let header = include_str!("header.paje");
        let tree = "0 P 0 P\n4 L 0 P P M\n5 l L M \"1 1 1\"\n6 0 p 0 P p\n";
        Self { links, line: 0, text: [header, "\n", tree].concat().into_bytes(), position: 0 }
    }
}

impl Read for PendingLinkFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.position == self.text.len() {
            self.text.clear();
            self.position = 0;
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
        let count = (&self.text[self.position..]).read(to)?;
        self.position += count;
        Ok(count)
    }
}

#[test]
fn memory_does_not_grow_with_open_links() {
    let _lock = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
    let [short, long] = [120_000, 240_000].map(|links| {
        let (most, index) = most(|sink| {
            let reader = PajeReader::new(BufReader::new(PendingLinkFile::new(links)));
            reader.read(sink).map_err(io::Error::other)?;
            Ok(())
        });
        let summary = index.summary();
        assert_eq!(summary.links, links / 10 * 9);
        let message = format!("{},000 links have only one endpoint", links / 10_000);
        assert!(
            summary.diagnostics.iter().any(|diagnostic| diagnostic.text.starts_with(&message)),
            "{:?}",
            summary.diagnostics
        );
        most
    });
    println!("120,000 links: {short} bytes; 240,000: {long}");
    // Each link needs 12 bits for whether it is in a file, and 32 bits for its position: twice,
    // because the reader has them, too.
    assert!(long - short < 120_000 * 12, "{short} bytes grew to {long}");
}
