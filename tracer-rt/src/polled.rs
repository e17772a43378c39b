//! What `#[traced]` makes of an async function: one span for each poll. The guard lives within a poll, so that the future
//! may be moved between threads, and may be dropped at any time.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::buffer::record;
use crate::fields::{Choices, Counted, Enumerated, Fields, Slice};
use crate::level::Level;
use crate::span::Span;

/// Makes the parts of a span, one after the other.
pub trait Part {
    /// Ends the part when dropped.
    type Guard;

    /// Begins a part.
    fn begin(&self) -> Self::Guard;
}

/// The arguments of a span, kept from its call: each part records them.
#[derive(Clone, Debug)]
pub struct Parts<F, E = ()> {
    level: &'static Level,
    begin: u16,
    end: u16,
    /// None when the level was off at the call: what was not begun then is not recorded later.
    at_begin: Option<F>,
    at_end: E,
}

impl<F, E> Parts<F, E> {
    /// For generated code: ids count from the provider's base.
    #[inline]
    pub const fn new(level: &'static Level, begin: u16, end: u16, at_begin: F, at_end: E) -> Self {
        Self { level, begin, end, at_begin: Some(at_begin), at_end }
    }

    /// For generated code: a span that is not recorded.
    #[inline]
    pub const fn none(level: &'static Level, at_end: E) -> Self {
        Self { level, begin: 0, end: 0, at_begin: None, at_end }
    }
}

impl<F: Fields + Clone, E: Fields + Copy> Part for Parts<F, E> {
    type Guard = Span<E>;

    #[inline]
    fn begin(&self) -> Span<E> {
        let Some(at_begin) = &self.at_begin else { return Span::until_dropped(0, self.at_end) };
        let base = self.level.base();
        if base == 0 {
            return Span::until_dropped(0, self.at_end);
        }
        record(base + self.begin, at_begin.clone());
        Span::until_dropped(base + self.end, self.at_end)
    }
}

/// A span of a level that is not compiled.
#[derive(Clone, Copy, Debug)]
pub struct Unrecorded;

impl Part for Unrecorded {
    type Guard = ();

    #[inline(always)]
    fn begin(&self) {}
}

/// A future each poll of which is a part of a span.
#[derive(Debug)]
pub struct Polled<P, F> {
    parts: P,
    future: F,
}

impl<P: Part, F: Future> Polled<P, F> {
    /// For generated code.
    #[inline]
    pub const fn new(parts: P, future: F) -> Self {
        Self { parts, future }
    }
}

impl<P: Part, F: Future> Future for Polled<P, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out: `parts` is only looked at, and `future` is pinned again at once.
        let this = unsafe { self.get_unchecked_mut() };
        let _part = this.parts.begin();
        // SAFETY: it is pinned with the whole, which has no `Drop` and gives no other access to it.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        future.poll(context)
    }
}

/// Gives an async block its type before its statements are looked at, as a function's signature does. Never called.
#[must_use]
pub fn never<T>() -> T {
    unreachable!("it stands behind `if false`")
}

macro_rules! kept {
    ($($(#[$doc:meta])* $name:ident $(<$element:ident: $bound:path>)? of $slice:ty as $borrowed:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name $(<$element>)? (Arc<$slice>);

        impl $(<$element: $bound + Copy>)? $name $(<$element>)? {
            /// Copies it: the function may give away what it was borrowed from.
            #[must_use]
            pub fn new(values: &$slice) -> Self {
                Self(values.into())
            }
        }

        impl $(<$element: $bound + Copy>)? Fields for $name $(<$element>)? {
            #[inline]
            fn bytes(&self) -> usize {
                $borrowed(&self.0).bytes()
            }

            #[inline]
            unsafe fn store(self, at: *mut u8) {
                // SAFETY: the caller's promise, passed on.
                unsafe { $borrowed(&self.0).store(at) };
            }
        }
    )*};
}
kept! {
    /// A `string` or `bytes`, kept.
    KeptBytes of [u8] as Counted;
    /// A counted array, kept.
    KeptSlice<T: Fields> of [T] as Slice;
    /// A counted array of an enum's values, kept.
    KeptChoices<E: Enumerated> of [E] as Choices;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_stored_as_what_was_borrowed() {
        fn packed(fields: impl Fields) -> Vec<u8> {
            let mut out = vec![0; fields.bytes()];
            // SAFETY: the vector has the bytes asked for.
            unsafe { fields.store(out.as_mut_ptr()) };
            out
        }
        assert_eq!(packed((KeptBytes::new(b"hi"), 7u8)), packed((Counted(b"hi"), 7u8)));
        assert_eq!(packed(KeptSlice::new(&[1u16, 2])), packed(Slice(&[1u16, 2])));
    }
}
