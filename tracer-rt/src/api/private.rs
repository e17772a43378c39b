//! The only names that expanded code may use. Not for hand-written programs: anything here may
//! change.
#![doc(hidden)]

pub use super::intern::site;
pub use super::span::{SpanEnd, ends_when_dropped};
pub use super::traced_future::{
    KeptBytes, KeptChoices, KeptSlice, KeptText, NoSpanParts, SpanArguments, SpanParts, TracedFuture, uncalled,
};
pub use crate::fault_injection::{ABOUT_TO_WRITE, ARMED, HELD};
pub use crate::fields::SourceSite;
pub use crate::fields::{Choice, Choices, CountedBytes, EnumField, Fields, Slice, Text};
pub use crate::levels::level_table::{Level, Provider};
pub use crate::record::record;
