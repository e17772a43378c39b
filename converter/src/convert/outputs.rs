//! The results that are computed from a run: Pajé operations, text outputs, both together,
//! corrected timestamps, and a check of the clocks.

mod clock_check;
pub(crate) mod rule_conversion;
pub(crate) mod rules_with_text;
mod text_output;
mod timestamps;

pub use clock_check::{ClockCheck, check_clocks};
pub use text_output::{convert_to_text, own_paje_output};
pub(crate) use timestamps::corrected_timestamps;
