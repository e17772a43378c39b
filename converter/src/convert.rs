//! The conversion of a run: records → dates → merge → rules → sink.
//!
//! Two passes over the records. The first finds what must be known before the first line (ends of links without other
//! end, computed values, how far the dates of arrows reach); it is left out when no rule asks for it, and where what it finds
//! may be told later (`at_once`).

mod at_once;
mod by_rules;
mod clock_check;
mod combined;
mod endings;
mod fine_dates;
mod first;
mod job;
mod labels;
mod lines;
mod paje_pass;
mod places;
mod second_pass;
mod shapes;
pub(crate) mod survey;
mod text_output;

use crate::paje::Sink;
use crate::report::Report;
use crate::run::Run;
use by_rules::convert_rules;

pub use crate::options::{ConvertError, DEFAULT_MEMORY, Options, Progress};
pub use clock_check::{ClockCheck, check_clocks};
pub(crate) use fine_dates::fine_dates;
pub use text_output::{convert_to_text, own_paje_output};

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
