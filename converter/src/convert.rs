//! The conversion of a run: records → timestamps → merge → rules → sink.
//!
//! A conversion makes up to two passes over the records. The first pass finds the facts that the
//! first line of output needs: link endpoints without a partner, computed values, and the range of
//! timestamps that actions set themselves. It is skipped if no rule needs it, or if the sink
//! accepts these facts later (`single_pass`).

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

use crate::report::ConversionReport;
use crate::run::OpenRun;
use rule_conversion::convert_rules;
use tumit_paje::PajeSink;

pub use clock_check::{ClockCheck, check_clocks};
pub use options::{ConvertError, ConvertOptions, DEFAULT_MEMORY, ProgressFn};
pub use text_output::{convert_to_text, own_paje_output};
pub(crate) use timestamps::fine_dates;

/// Sends the Pajé operations of a run to `sink`: definitions first, then all events in order of
/// time.
///
/// Memory use is that of one or a few blocks per stream, of the containers, and of the open links.
///
/// # Errors
/// If the run cannot be read or the sink fails. Damage and dropped records are in the report.
pub fn convert(
    run: &OpenRun,
    options: &ConvertOptions,
    sink: &mut dyn PajeSink,
) -> Result<ConversionReport, ConvertError> {
    match combined::output_beside_rules(run, options) {
        Some(output) => combined::convert(run, options, &output, sink),
        None => convert_rules(run, options, sink),
    }
}
