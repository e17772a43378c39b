//! The colours and sizes of drawings.

pub(crate) mod palette;
pub(crate) mod size_factors;
pub mod theme;
