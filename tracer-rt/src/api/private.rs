//! The only names that expanded code may use. Not for hand-written programs: anything here may change.
#![doc(hidden)]

pub use crate::buffer::record;
pub use crate::fault::{ABOUT_TO_WRITE, ARMED, HELD};
pub use crate::fields::{Choice, Choices, Counted, Enumerated, Fields, Slice, Text};
pub use crate::intern::{Site, site};
pub use crate::level::{Level, Provider};
pub use crate::polled::{KeptBytes, KeptChoices, KeptSlice, KeptText, Part, Parts, Polled, Unrecorded, never};
pub use crate::span::{EndsWhenDropped, ends_when_dropped};
