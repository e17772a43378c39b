//! The recorded spans of the program.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracer_rt::runtime_specs::{DynamicRecordType, thread_id};
use tracer_rt::{Date, new_task, now};
use tracing_core::span::{Attributes, Id, Record};

use crate::callsite::Callsite;
use crate::callsite_spec::{SPAN_BEGIN, SPAN_END, SPAN_RESUME};
use crate::standard_specs::tracing::tracing_links;
use crate::value_encoding::{FieldEncoder, Signature, merged};

/// Size of the head of an encoded begin: source position and number of the span.
const HEAD_BYTES: usize = 12;

/// A span of the program, with its fields at one time.
///
/// `Span::record` replaces this object by a new one. All objects of a span share its
/// [`SpanProgress`].
#[derive(Debug)]
pub(crate) struct RecordedSpan {
    callsite: &'static Callsite,
    types: &'static [DynamicRecordType],
    signature: Signature,
    /// The head and the encoded fields.
    begin: Vec<u8>,
    pub(crate) progress: Arc<SpanProgress>,
}

/// The times of a span, which all threads change.
#[derive(Debug)]
pub(crate) struct SpanProgress {
    /// Number of the span in its process.
    number: u64,
    /// The base of its record ids while the span is entered.
    base: AtomicU32,
    /// Number of entries without an exit. Several threads may be in a span at once.
    entries: AtomicU32,
    /// Time of the last exit in ticks. 0 before the first exit.
    exit: AtomicU64,
    /// The thread of the last exit. Before the first exit, the thread that created the span.
    thread: AtomicU64,
    /// Time at which the span was created.
    creation: Date,
    has_causes: AtomicBool,
    /// Spans that this span follows, until the next entry.
    causes: Mutex<Vec<SpanCause>>,
}

#[derive(Clone, Copy, Debug)]
struct SpanCause {
    number: u64,
    thread: u64,
    time: Date,
}

impl RecordedSpan {
    /// A new span. `None` if its level is off: then nothing of the span is recorded.
    pub(crate) fn new(callsite: &'static Callsite, attributes: &Attributes<'_>) -> Option<Self> {
        if callsite.is_off() {
            return None;
        }
        let number = new_task();
        let mut head = [0; HEAD_BYTES];
        head[..4].copy_from_slice(&callsite.site.to_le_bytes());
        head[4..].copy_from_slice(&number.to_le_bytes());
        let mut encoder = FieldEncoder::new(&head);
        attributes.record(&mut encoder);
        encoder.finish();
        let (signature, begin) = (encoder.signature, encoder.bytes.as_slice().to_vec());
        encoder.release();
        let types = callsite.records_for(signature).filter(|types| types[SPAN_BEGIN].base() != 0)?;
        let progress = SpanProgress {
            number,
            base: AtomicU32::new(0),
            entries: AtomicU32::new(0),
            exit: AtomicU64::new(0),
            thread: AtomicU64::new(own_thread()),
            creation: now(),
            has_causes: AtomicBool::new(false),
            causes: Mutex::new(Vec::new()),
        };
        Some(Self { callsite, types, signature, begin, progress: Arc::new(progress) })
    }

    /// Records the begin of a part of the span in this thread.
    #[inline]
    pub(crate) fn enter(&self) {
        let (progress, types) = (&*self.progress, self.types);
        let base = types[SPAN_BEGIN].base();
        if base == 0 {
            return;
        }
        if progress.has_causes.load(Ordering::Acquire) {
            progress.record_causes();
        }
        let exit = progress.exit.load(Ordering::Relaxed);
        let entries = progress.entries.fetch_add(1, Ordering::Relaxed);
        if exit == 0 || entries > 0 {
            types[SPAN_BEGIN].record_at(base, &self.begin);
        } else {
            let mut head = [0; HEAD_BYTES + 16];
            head[..HEAD_BYTES].copy_from_slice(&self.begin[..HEAD_BYTES]);
            head[HEAD_BYTES..][..8].copy_from_slice(&progress.thread.load(Ordering::Relaxed).to_le_bytes());
            head[HEAD_BYTES + 8..].copy_from_slice(&exit.to_le_bytes());
            types[SPAN_RESUME].record_parts_at(base, &head, &self.begin[HEAD_BYTES..]);
        }
        progress.base.store(base, Ordering::Relaxed);
    }

    /// Records the end of a part of the span, if its begin was recorded.
    #[inline]
    pub(crate) fn exit(&self) {
        let progress = &*self.progress;
        if progress.entries.load(Ordering::Relaxed) == 0 {
            return;
        }
        progress.entries.fetch_sub(1, Ordering::Relaxed);
        let base = progress.base.load(Ordering::Relaxed);
        if let Some(time) = self.types[SPAN_END].record_at(base, &self.begin[..4]) {
            progress.thread.store(own_thread(), Ordering::Relaxed);
            progress.exit.store(time.ticks(), Ordering::Relaxed);
        }
    }

    /// Records new values of fields. Returns the span with these values.
    pub(crate) fn with_new_fields(&self, values: &Record<'_>) -> Self {
        let mut encoder = FieldEncoder::new(&self.begin[..HEAD_BYTES]);
        values.record(&mut encoder);
        encoder.finish();
        if let Some(types) = self.callsite.new_fields_for(encoder.signature) {
            types[0].record(&encoder.bytes);
        }
        let old = (self.signature, &self.begin[HEAD_BYTES..]);
        let (signature, fields) = merged(old, (encoder.signature, &encoder.bytes[HEAD_BYTES..]));
        encoder.release();
        let mut begin = self.begin[..HEAD_BYTES].to_vec();
        begin.extend(fields);
        let progress = Arc::clone(&self.progress);
        match self.callsite.records_for(signature) {
            Some(types) => Self { callsite: self.callsite, types, signature, begin, progress },
            None => {
                let (signature, begin) = (self.signature, self.begin.clone());
                Self { callsite: self.callsite, types: self.types, signature, begin, progress }
            }
        }
    }
}

impl SpanProgress {
    /// Notes that this span follows `cause`, for the next entry.
    pub(crate) fn follow(&self, cause: &Self) {
        let exit = cause.exit.load(Ordering::Relaxed);
        let is_entered = cause.entries.load(Ordering::Relaxed) > 0;
        let (thread, time) = match (is_entered, exit) {
            (true, _) => (own_thread(), now()),
            (false, 0) => (cause.thread.load(Ordering::Relaxed), cause.creation),
            (false, ticks) => (cause.thread.load(Ordering::Relaxed), Date::from_ticks(ticks)),
        };
        let mut causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        causes.push(SpanCause { number: cause.number, thread, time });
        self.has_causes.store(true, Ordering::Release);
    }

    #[cold]
    fn record_causes(&self) {
        let mut causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_causes.store(false, Ordering::Relaxed);
        let causes = std::mem::take(&mut *causes);
        for SpanCause { number, thread, time } in causes {
            tracing_links::follows_from(self.number, number, thread, time);
        }
    }
}

/// The kernel's id of the calling thread, from a system call at the first use.
fn own_thread() -> u64 {
    thread_local! {
        static THREAD: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    THREAD.with(|thread| {
        if thread.get() == 0 {
            thread.set(thread_id());
        }
        thread.get()
    })
}

/// Data of a span, found by its id.
#[derive(Debug)]
pub(crate) struct SpanEntry<T> {
    id: u64,
    /// The span is closed, or has other data now.
    is_old: AtomicBool,
    pub(crate) data: T,
}

impl<T> SpanEntry<T> {
    pub(crate) fn new(id: &Id, data: T) -> Self {
        Self { id: id.into_u64(), is_old: AtomicBool::new(false), data }
    }

    /// Makes all threads search for the data of the span again.
    pub(crate) fn expire(&self) {
        self.is_old.store(true, Ordering::Release);
    }
}

/// The latest spans of a thread, because the search in the registry takes most of the time of an
/// entry.
#[derive(Debug)]
pub(crate) struct SpanCache<T>([RefCell<Option<Arc<SpanEntry<T>>>>; CACHED_SPANS]);

const CACHED_SPANS: usize = 16;

impl<T> SpanCache<T> {
    pub(crate) const fn new() -> Self {
        Self([const { RefCell::new(None) }; CACHED_SPANS])
    }

    /// Runs `work` with the data of a span. `search` finds data that are not in the cache.
    #[inline]
    pub(crate) fn with(
        &self,
        id: &Id,
        search: impl FnOnce() -> Option<Arc<SpanEntry<T>>>,
        work: impl FnOnce(&Arc<SpanEntry<T>>),
    ) {
        let number = id.into_u64();
        let place = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60;
        let Ok(mut cached) = self.0[place as usize % CACHED_SPANS].try_borrow_mut() else {
            // A signal handler, or a value that is formatted, enters a span here.
            if let Some(entry) = search() {
                work(&entry);
            }
            return;
        };
        let is_valid = |entry: &Arc<SpanEntry<T>>| entry.id == number && !entry.is_old.load(Ordering::Acquire);
        if !cached.as_ref().is_some_and(is_valid) {
            *cached = search();
        }
        if let Some(entry) = &*cached {
            work(entry);
        }
    }
}
