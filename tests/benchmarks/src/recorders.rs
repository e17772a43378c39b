//! The recorders, and how each of them records an event and a span.

use std::cell::{Cell, UnsafeCell};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrace::Span;
use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::{LocalParentGuard, LocalSpan};
use fastrace::prelude::Event;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::recorder::{Recorder, WitnessCounters};

tracer_rt::events!("peers.tumit");

/// A recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// No recorder, only clock and stores.
    Limit,
    LimitC,
    TumitMapped,
    TumitPrivate,
    TumitC,
    Lttng,
    Tracy,
    Fastrace,
    Puffin,
    Chrome,
}

impl Tool {
    pub const ALL: [Self; 10] = [
        Self::Limit,
        Self::LimitC,
        Self::TumitMapped,
        Self::TumitPrivate,
        Self::TumitC,
        Self::Lttng,
        Self::Tracy,
        Self::Fastrace,
        Self::Puffin,
        Self::Chrome,
    ];

    /// Name of the tool in the table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Limit => "limit in Rust: clock and stores",
            Self::LimitC => "limit in C",
            Self::TumitMapped => "Tumit, Rust, mapped",
            Self::TumitPrivate => "Tumit, Rust, private",
            Self::TumitC => "Tumit, C",
            Self::Lttng => "LTTng-UST",
            Self::Tracy => "tracy-client",
            Self::Fastrace => "fastrace",
            Self::Puffin => "puffin",
            Self::Chrome => "tracing-chrome",
        }
    }

    /// Argument that selects the tool in a child process.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Limit => "limit",
            Self::LimitC => "limit-c",
            Self::TumitMapped => "mapped",
            Self::TumitPrivate => "private",
            Self::TumitC => "tumit-c",
            Self::Lttng => "lttng",
            Self::Tracy => "tracy",
            Self::Fastrace => "fastrace",
            Self::Puffin => "puffin",
            Self::Chrome => "chrome",
        }
    }

    pub const fn is_c(self) -> bool {
        matches!(self, Self::LimitC | Self::TumitC | Self::Lttng)
    }

    /// Whether an event takes a few dozen instructions.
    pub const fn is_cheap(self) -> bool {
        matches!(self, Self::Limit | Self::LimitC | Self::TumitMapped | Self::TumitPrivate | Self::TumitC)
    }

    /// Whether the tool writes files.
    pub const fn has_files(self) -> bool {
        !matches!(self, Self::Limit | Self::LimitC | Self::Tracy | Self::Fastrace)
    }
}

/// The lower limit of the cost: writes a record of the same 22 bytes into a buffer of the thread,
/// with one bounds check.
pub struct Limit;

struct Buffer {
    at: Cell<usize>,
    last: Cell<u64>,
    bytes: UnsafeCell<[u8; Limit::BYTES]>,
}

thread_local! {
    static BUFFER: Buffer = const {
        Buffer { at: Cell::new(0), last: Cell::new(0), bytes: UnsafeCell::new([0; Limit::BYTES]) }
    };
}

impl Limit {
    const BYTES: usize = 1 << 16;

    #[inline(always)]
    fn record<const BYTES: usize>(id: u16, body: impl FnOnce(&mut [u8; BYTES])) {
        BUFFER.with(|buffer| {
            let mut position = buffer.at.get();
            if position + BYTES > Self::BYTES {
                position = 0;
            }
            let now = clock();
            let delta = now.wrapping_sub(buffer.last.get()) as u32;
            // SAFETY: the buffer has `BYTES` bytes after `position`. Bytes have no alignment. No
            // other reference exists.
            let record = unsafe { &mut *buffer.bytes.get().cast::<u8>().add(position).cast::<[u8; BYTES]>() };
            record[..2].copy_from_slice(&id.to_le_bytes());
            record[2..6].copy_from_slice(&delta.to_le_bytes());
            body(record);
            buffer.last.set(now);
            buffer.at.set(position + BYTES);
        });
    }
}

#[inline(always)]
fn clock() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return tracer_rt::now().ticks();
}

impl Recorder for Limit {
    #[inline(always)]
    fn pair(&mut self, first: u64, second: u64) {
        Self::record::<22>(7, |record| {
            record[6..14].copy_from_slice(&first.to_le_bytes());
            record[14..].copy_from_slice(&second.to_le_bytes());
        });
    }

    #[inline(always)]
    fn span(&mut self) {
        Self::record::<6>(8, |_| {});
        Self::record::<6>(9, |_| {});
    }
}

/// Tumit in Rust.
pub struct Tumit;

impl Tumit {
    pub fn new(folder: &str, buffers: tracer_rt::SlotLocation) -> Self {
        let mut config = tracer_rt::RecorderConfig::default();
        config.folder = Some(folder.into());
        config.buffers = Some(buffers);
        tracer_rt::start(config).expect("it records");
        Self
    }
}

impl Recorder for Tumit {
    #[inline(always)]
    fn pair(&mut self, first: u64, second: u64) {
        on::pair(first, second);
    }

    #[inline(always)]
    fn span(&mut self) {
        let _span = on::step();
    }

    fn flush(&mut self) {
        tracer_rt::flush();
    }

    fn end(&mut self) {
        tracer_rt::finish();
    }
}

/// Tracy without a viewer. All events stay in the program's memory. An event with numbers is a zone
/// with two values.
pub struct Tracy(tracy_client::Client);

impl Tracy {
    pub fn new() -> Self {
        Self(tracy_client::Client::start())
    }
}

impl Recorder for Tracy {
    #[inline(always)]
    fn pair(&mut self, first: u64, second: u64) {
        let zone = self.0.clone().span(tracy_client::span_location!("pair"), 0);
        zone.emit_value(first);
        zone.emit_value(second);
    }

    #[inline(always)]
    fn span(&mut self) {
        let _zone = self.0.clone().span(tracy_client::span_location!("step"), 0);
    }
}

/// Fastrace with a reporter that only counts its input. The values of Fastrace are texts. New roots
/// are created regularly, because Fastrace keeps spans until their root ends.
pub struct Fastrace {
    calls: u32,
    parent: Option<(LocalParentGuard, Span)>,
}

struct CountingReporter(Option<WitnessCounters>);

impl Reporter for CountingReporter {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        let events: usize = spans.iter().map(|span| span.events.len()).sum();
        if let Some(witness) = &self.0 {
            witness.0[1].fetch_add(events as u64, Ordering::Relaxed);
        }
    }
}

impl Fastrace {
    const CALLS: u32 = 1000;

    pub fn new(witness: Option<WitnessCounters>) -> Self {
        let config = Config::default().report_interval(Duration::from_millis(10));
        fastrace::set_reporter(CountingReporter(witness), config);
        Self { calls: Self::CALLS, parent: None }
    }

    #[inline(always)]
    fn root(&mut self) {
        self.calls += 1;
        if self.calls > Self::CALLS {
            self.calls = 0;
            // The guard is dropped first, because it passes its spans to the root.
            self.parent = None;
            let root = Span::root("root", SpanContext::random());
            let guard = root.set_local_parent();
            self.parent = Some((guard, root));
        }
    }
}

impl Recorder for Fastrace {
    #[inline(always)]
    fn pair(&mut self, first: u64, second: u64) {
        self.root();
        LocalSpan::add_event(
            Event::new("pair").with_properties(|| [("first", first.to_string()), ("second", second.to_string())]),
        );
    }

    #[inline(always)]
    fn span(&mut self) {
        self.root();
        let _span = LocalSpan::enter_with_local_parent("step");
    }

    fn flush(&mut self) {
        self.parent = None;
        self.calls = Self::CALLS;
        fastrace::flush();
    }
}

/// Puffin, with its frames written to a compressed file. Its scopes contain a text. A frame has
/// 1,000 scopes.
pub struct Puffin {
    calls: u32,
}

impl Puffin {
    pub fn new(path: &str) -> Self {
        let file = Mutex::new(BufWriter::new(File::create(path).expect("a writable folder")));
        let sink = move |frame: Arc<puffin::FrameData>| {
            let mut file = file.lock().expect("no panic inside");
            frame.write_into(None, &mut *file).expect("a writable file");
            file.flush().expect("a writable file");
        };
        puffin::GlobalProfiler::lock().add_sink(Box::new(sink));
        puffin::set_scopes_on(true);
        Self { calls: 0 }
    }

    #[inline(always)]
    fn frame(&mut self) {
        self.calls += 1;
        if self.calls == 1000 {
            self.flush();
        }
    }
}

impl Recorder for Puffin {
    #[inline(always)]
    fn pair(&mut self, first: u64, second: u64) {
        {
            puffin::profile_scope!("pair", format!("{first} {second}"));
        }
        self.frame();
    }

    #[inline(always)]
    fn span(&mut self) {
        {
            puffin::profile_scope!("step");
        }
        self.frame();
    }

    fn flush(&mut self) {
        self.calls = 0;
        puffin::GlobalProfiler::lock().new_frame();
    }
}

/// A subscriber of `tracing` that writes Chrome's format.
pub struct Chrome {
    guard: Option<tracing_chrome::FlushGuard>,
}

impl Chrome {
    pub fn new(path: &str) -> Self {
        let (layer, guard) = tracing_chrome::ChromeLayerBuilder::new().file(path).include_args(true).build();
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::set_global_default(subscriber).expect("the first one");
        Self { guard: Some(guard) }
    }
}

impl Recorder for Chrome {
    #[inline(always)]
    fn pair(&mut self, first: u64, second: u64) {
        tracing::info!(first, second, "pair");
    }

    #[inline(always)]
    fn span(&mut self) {
        let _span = tracing::info_span!("step").entered();
    }

    fn flush(&mut self) {
        if let Some(guard) = &self.guard {
            guard.flush();
        }
    }

    fn end(&mut self) {
        self.guard = None;
    }
}
