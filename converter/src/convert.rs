//! The conversion of a run: records → dates → merge → rules → sink.
//!
//! Two passes over the records. The first finds what must be known before the first line (ends of links without other
//! end, computed values, how far the dates of arrows reach); it is left out when no rule asks for it, and where what it finds
//! may be told later (`at_once`).

mod clock_check;
pub(crate) mod columnar;
mod combined;
pub(crate) mod first_pass;
pub mod gaps;
mod job;
mod labels;
pub mod launches;
pub(crate) mod losses;
pub(crate) mod merge;
pub(crate) mod merge_pass;
pub(crate) mod options;
mod paje_pass;
pub(crate) mod plan;
pub(crate) mod read_ahead;
pub(crate) mod rule_conversion;
pub(crate) mod rule_match;
mod second_pass;
pub(crate) mod single_pass;
pub(crate) mod text_lines;
mod text_output;
pub(crate) mod thread_ends;
pub(crate) mod time_order;
pub(crate) mod timestamps;
pub mod wall_clock;

use crate::report::Report;
use crate::run::Run;
use rule_conversion::convert_rules;
use tumit_paje::Sink;

pub use clock_check::{ClockCheck, check_clocks};
pub use options::{ConvertError, DEFAULT_MEMORY, Options, Progress};
pub use text_output::{convert_to_text, own_paje_output};
pub(crate) use timestamps::fine_dates;

/// Sends the Pajé operations of a run to `sink`: definitions first, then everything in order of date.
///
/// Memory is that of one or a few blocks per stream, of the containers, and of the links in flight.
///
/// # Errors
/// When the run cannot be read or the sink cannot go on. Damage and losses are in the report.
pub fn convert(run: &Run, options: &Options, sink: &mut dyn Sink) -> Result<Report, ConvertError> {
    match combined::output_beside_rules(run, options) {
        Some(output) => combined::convert(run, options, &output, sink),
        None => convert_rules(run, options, sink),
    }
}
