//! The future that `#[traced]` makes of an async function: one span per poll.
//!
//! The guard exists only during a poll, so that the future may move between threads and may be
//! dropped at any time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::fields::{Choices, CountedBytes, EnumField, Fields, Slice, Text};
use crate::levels::level_table::Level;
use crate::record::record;

use super::span::{Span, SpanEnd};

/// Creates the parts of a span, one after another.
pub trait SpanParts {
    /// The guard of a part, which ends the part when dropped.
    type Guard;

    /// Records the begin of a part in the calling thread.
    fn begin_part(&self) -> Self::Guard;
}

/// The arguments of a span, kept from its call. Each part records them.
#[derive(Clone, Debug)]
pub struct SpanArguments<F, E = ()> {
    level: &'static Level,
    begin: u32,
    end: u32,
    /// None if the level was off at the call: such a span is not recorded later either.
    at_begin: Option<F>,
    at_end: E,
}

impl<F, E> SpanArguments<F, E> {
    /// Creates the arguments of a span, for generated code. The ids count from the base of the
    /// provider.
    #[inline]
    pub const fn new(level: &'static Level, begin: u32, end: u32, at_begin: F, at_end: E) -> Self {
        Self { level, begin, end, at_begin: Some(at_begin), at_end }
    }

    /// Creates a span that is not recorded, for generated code.
    #[inline]
    pub const fn unrecorded_span(level: &'static Level, at_end: E) -> Self {
        Self { level, begin: 0, end: 0, at_begin: None, at_end }
    }
}

impl<F: Fields + Clone, E: Fields + Copy> SpanParts for SpanArguments<F, E> {
    type Guard = Span<E>;

    #[inline]
    fn begin_part(&self) -> Span<E> {
        let Some(at_begin) = &self.at_begin else { return Span::until_dropped(0, self.at_end) };
        let base = self.level.base();
        if base == 0 {
            return Span::until_dropped(0, self.at_end);
        }
        record(base + self.begin, at_begin.clone());
        Span::until_dropped(base + self.end, self.at_end)
    }
}

impl<F, E> SpanEnd for SpanArguments<F, E> {}

/// The parts of a span whose level is compiled to nothing (`off = [...]`): none is recorded.
#[derive(Clone, Copy, Debug)]
pub struct NoSpanParts;

impl SpanParts for NoSpanParts {
    type Guard = ();

    #[inline(always)]
    fn begin_part(&self) {}
}

impl SpanEnd for NoSpanParts {}

/// A future with a span part for each poll.
#[derive(Debug)]
pub struct TracedFuture<P, F> {
    parts: P,
    future: F,
}

impl<P: SpanParts, F: Future> TracedFuture<P, F> {
    /// Wraps a future, for generated code.
    #[inline]
    pub const fn new(parts: P, future: F) -> Self {
        Self { parts, future }
    }
}

impl<P: SpanParts, F: Future> Future for TracedFuture<P, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out: `parts` is only borrowed, and `future` is pinned again at
        // once.
        let this = unsafe { self.get_unchecked_mut() };
        let _part = this.parts.begin_part();
        // SAFETY: `future` is pinned with the whole struct, which has no `Drop` and gives no other
        // access to it.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        future.poll(context)
    }
}

/// Gives an async block its type before the compiler checks its statements, as a signature does.
/// Never called.
#[must_use]
pub fn uncalled<T>() -> T {
    unreachable!("the code is inside `if false`")
}

macro_rules! kept {
    ($($(#[$doc:meta])* $name:ident $(<$element:ident: $bound:path>)? of $slice:ty as $borrowed:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name $(<$element>)? (Arc<$slice>);

        impl $(<$element: $bound + Copy>)? $name $(<$element>)? {
            /// Copies the values, because the function may give away the owner of the slice.
            #[must_use]
            pub fn new(values: &$slice) -> Self {
                Self(values.into())
            }
        }

        impl $(<$element: $bound + Copy>)? Fields for $name $(<$element>)? {
            const CAN_BE_CUT: bool = true;

            #[inline]
            fn bytes(&self) -> usize {
                $borrowed(&self.0).bytes()
            }

            #[inline]
            unsafe fn store(self, target: *mut u8) {
                // SAFETY: the caller guarantees it.
                unsafe { $borrowed(&self.0).store(target) };
            }

            fn bytes_at_most(&self, max_bytes: usize) -> usize {
                $borrowed(&self.0).bytes_at_most(max_bytes)
            }

            fn bytes_cut(&self, max_bytes: usize) -> usize {
                $borrowed(&self.0).bytes_cut(max_bytes)
            }

            unsafe fn store_cut(self, target: *mut u8, max_bytes: usize) {
                // SAFETY: the caller guarantees it.
                unsafe { $borrowed(&self.0).store_cut(target, max_bytes) };
            }
        }
    )*};
}
kept! {
    /// An owned copy of a `bytes` field.
    KeptBytes of [u8] as CountedBytes;
    /// A `string`, kept.
    KeptText of [u8] as Text;
    /// A counted array, kept.
    KeptSlice<T: Fields> of [T] as Slice;
    /// A counted array of an enum's values, kept.
    KeptChoices<E: EnumField> of [E] as Choices;
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::Waker;

    use super::*;
    use crate::fields::TruncatedFields;

    /// Counts its parts, and stores whether a part is in progress.
    #[derive(Default)]
    struct PartCounter {
        start_count: Cell<u32>,
        is_running: Rc<Cell<bool>>,
    }

    struct PollFlag(Rc<Cell<bool>>);

    impl Drop for PollFlag {
        fn drop(&mut self) {
            assert!(self.0.replace(false));
        }
    }

    impl SpanParts for &PartCounter {
        type Guard = PollFlag;

        fn begin_part(&self) -> PollFlag {
            self.start_count.set(self.start_count.get() + 1);
            assert!(!self.is_running.replace(true), "parts do not overlap");
            PollFlag(Rc::clone(&self.is_running))
        }
    }

    /// Pending for `polls` polls. It must not move after the first poll.
    struct PendingFuture<'a> {
        polls: u32,
        is_running: &'a Cell<bool>,
        address: Option<usize>,
        _unmovable: std::marker::PhantomPinned,
    }

    impl Future for PendingFuture<'_> {
        type Output = &'static str;

        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<&'static str> {
            // SAFETY: the fields are not pinned, and nothing is moved out.
            let this = unsafe { self.get_unchecked_mut() };
            let address = std::ptr::from_mut(this).addr();
            assert_eq!(*this.address.get_or_insert(address), address);
            assert!(this.is_running.get(), "the guard lives as long as the poll");
            if this.polls == 0 {
                return Poll::Ready("done");
            }
            this.polls -= 1;
            Poll::Pending
        }
    }

    impl Drop for PendingFuture<'_> {
        fn drop(&mut self) {
            assert!(!self.is_running.get(), "no part is open between polls");
        }
    }

    #[test]
    fn each_poll_is_a_part() {
        for dropped_after in 1..=4 {
            let parts = PartCounter::default();
            let running = Rc::clone(&parts.is_running);
            let future =
                PendingFuture { polls: 3, is_running: &running, address: None, _unmovable: std::marker::PhantomPinned };
            let mut polled = pin!(TracedFuture::new(&parts, future));
            for poll in 1..=dropped_after {
                let result = polled.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert_eq!(result, if poll == 4 { Poll::Ready("done") } else { Poll::Pending });
                assert_eq!((parts.start_count.get(), parts.is_running.get()), (poll, false));
            }
        }
    }

    #[test]
    fn owned_values_are_stored_like_borrowed_ones() {
        fn packed(fields: impl Fields) -> Vec<u8> {
            let mut out = vec![0; fields.bytes()];
            // SAFETY: the vector has `bytes()` bytes.
            unsafe { fields.store(out.as_mut_ptr()) };
            out
        }
        assert_eq!(packed((KeptBytes::new(b"hi"), 7u8)), packed((CountedBytes(b"hi"), 7u8)));
        assert_eq!(packed(KeptSlice::new(&[1u16, 2])), packed(Slice(&[1u16, 2])));
        let cut = |text: KeptText| packed(TruncatedFields::new((text, 7u8), 6).unwrap());
        assert_eq!(cut(KeptText::new("éé".as_bytes())), packed((Text("é".as_bytes()), 7u8)));
    }
}
