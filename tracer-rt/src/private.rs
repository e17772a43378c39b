//! The only names that expanded code may use. Not for hand-written programs: anything here may change.
#![doc(hidden)]

pub use crate::buffer::record;
pub use crate::fields::{Choice, Choices, Counted, Enumerated, Fields, Slice};
pub use crate::intern::{Site, site};
pub use crate::level::{Level, Provider};

/// A span that has begun: records its end when dropped, on the thread where it began.
#[derive(Debug)]
#[must_use = "a span ends where its guard is dropped: bind it, `let _span = …`"]
pub struct Span<F: Fields + Copy = ()> {
    /// Record id of the end; 0 when the begin was not recorded.
    end: u16,
    fields: F,
    /// A span belongs to its thread.
    here: std::marker::PhantomData<*const ()>,
}

impl<F: Fields + Copy> Span<F> {
    /// A span whose end has this record id and these fields; id 0 records none.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn until_dropped(end: u16, fields: F) -> Self {
        Self { end, fields, here: std::marker::PhantomData }
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
