//! How much memory making an index takes does not depend on the length of the trace: counted by allocation, not seen by chance.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]
#![allow(unsafe_code, reason = "a global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering};

use converter::paje::{ContainerId, KeyId, Look, PajeEvent, Sink, TypeId, TypeKind, ValueId};
use viewer::index::{Index, Key};
use viewer::query::{GlobalNanos, TimelineSource as _};

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
fn send(sink: &mut dyn Sink, states: u64) -> std::io::Result<()> {
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

/// The most bytes that there were while an index was made.
fn most(states: u64) -> isize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.tmtx");
    let before = BYTES.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    Index::write_within(&path, Key::default(), "trace", MEMORY, |sink| send(sink, states)).unwrap();
    let most = MOST.load(Ordering::Relaxed) - before;
    let summary = Index::map_file(&path, Key::default()).unwrap().summary();
    assert_eq!((summary.states, summary.links, summary.events), (states, states.div_ceil(8), states.div_ceil(8)));
    most
}

#[test]
fn memory_does_not_grow_with_the_length_of_the_trace() {
    let (short, long) = (most(250_000), most(750_000));
    println!("250,000 states: {short} bytes; 750,000: {long}");
    // Checksums, directories and what links share grow a little; all rows would grow threefold.
    assert!(long < 2 * short, "{short} bytes grew to {long}");
    // A dozen buffers of files, which are as large whatever the memory, are most of it.
    assert!(long < 24 * MEMORY.cast_signed(), "{long} bytes");
}
