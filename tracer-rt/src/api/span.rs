//! Spans: a guard records the end of a span that a function of the spec has begun.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fields::Fields;
use crate::record::record;

/// A span that has begun. It records its end when it is dropped, on the thread where it began.
///
/// It belongs to its thread, so it cannot be kept across an `.await` of a future that may move to
/// another thread. `#[traced]` makes one part for each poll instead.
#[derive(Debug)]
#[must_use = "a span ends when its guard is dropped: bind the guard, `let _span = …`"]
pub struct Span<F: Fields + Copy = ()> {
    /// The id that [`record`] takes for the end. 0 if the begin was not recorded.
    end: u32,
    fields: F,
    /// Makes the span belong to its thread: neither `Send` nor `Sync`.
    thread_marker: PhantomData<*const ()>,
}

impl<F: Fields + Copy> Span<F> {
    /// A span with the record id and the fields of its end. The id 0 records no end.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn until_dropped(end: u32, fields: F) -> Self {
        Self { end, fields, thread_marker: PhantomData }
    }

    /// Ends the span with parameters of the end.
    /// The id of that record is `offset` less than the id of the end without parameters.
    #[inline(always)]
    #[doc(hidden)]
    pub fn end_with<G: Fields>(self, offset: u32, fields: G) {
        if self.end != 0 {
            record(self.end - offset, (self.fields, fields));
        }
        std::mem::forget(self);
    }
}

impl<F: Fields + Copy> Drop for Span<F> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.end != 0 {
            record(self.end, self.fields);
        }
    }
}

/// Spans that end when their guard is dropped: all except those with parameters at the end.
#[diagnostic::on_unimplemented(
    message = "`#[traced]` cannot trace the span `{Self}`, because its end has parameters that only the program knows",
    label = "declared with `end {{ … }}` in the spec",
    note = "call the span's function in the body, `let span = …`, and end it by `span.end(…)`"
)]
pub trait SpanEnd {}

impl<F: Fields + Copy> SpanEnd for Span<F> {}

/// Returns the guard unchanged. The bound makes the compiler reject spans whose end has parameters,
/// which `#[traced]` cannot pass.
#[inline(always)]
pub const fn ends_when_dropped<G: SpanEnd>(guard: G) -> G {
    guard
}

static TASKS: AtomicU64 = AtomicU64::new(1);

/// A new number for the parts of one `async` span: 1, 2, 3 …, each returned once per process.
///
/// ```
/// tracer_rt::events!("tests/doc.tumit");
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let mut config = tracer_rt::RecorderConfig::default();
/// # config.folder = Some(folder.path().join("run.tmt"));
/// # tracer_rt::start(config)?;
/// let task = tracer_rt::new_task();
/// drop(com::fetch(task, "/index"));      // as often as needed, on any thread
/// drop(com::fetch(task, "/index"));
/// assert_ne!(tracer_rt::new_task(), task);
/// # Ok(())
/// # }
/// ```
#[must_use]
#[inline]
pub fn new_task() -> u64 {
    TASKS.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_numbered_once() {
        let threads = (0..4).map(|_| std::thread::spawn(|| (0..1_000).map(|_| new_task()).collect::<Vec<_>>()));
        let threads: Vec<_> = threads.collect();
        let mut all: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (1..=4_000).collect::<Vec<_>>());
    }
}
