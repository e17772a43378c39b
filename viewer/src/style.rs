//! The colours and sizes of drawings.

pub(crate) mod palette;
pub(crate) mod sizes;
pub mod theme;
