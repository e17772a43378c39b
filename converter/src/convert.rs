//! The conversion of a run: records → timestamps → merge → rules → sink.
//!
//! A conversion makes up to two passes over the records. The first pass finds the facts that the
//! first line of output needs: link endpoints without a partner, computed values, names of
//! containers, and the range of timestamps that actions set themselves. It is skipped if no rule
//! needs it, or if the sink accepts these facts later (`single_pass`).
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::clock::CorrectionMethod;
//! use tumit_converter::convert::{ConvertOptions, convert};
//! use tumit_converter::run::OpenRun;
//! use tumit_paje::write::PajeWriter;
//!
//! let mut options = ConvertOptions::default();
//! options.clock = CorrectionMethod::None;
//! let report = convert(&OpenRun::open(path)?, &options, &mut PajeWriter::new(Vec::new()))?;
//! assert_eq!((report.counts.records, report.end.0), (2, 1000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod columns;
pub(crate) mod first_pass;
mod job;
pub(crate) mod merge_pass;
pub(crate) mod operation_numbers;
pub(crate) mod options;
mod outputs;
mod paje_pass;
pub(crate) mod planning;
pub(crate) mod read_ahead;
pub(crate) mod run_facts;
mod second_pass;
mod single_pass;
pub(crate) mod template_lines;
pub(crate) mod time_order;

use crate::report::ConversionReport;
use crate::run::OpenRun;
use outputs::rule_conversion::convert_rules;
use outputs::rules_with_text;
use tumit_paje::PajeSink;

pub use options::{ConvertError, ConvertOptions, ProgressFn};
pub(crate) use outputs::corrected_timestamps;
pub use outputs::{ClockCheck, check_clocks, convert_to_text, own_paje_output};
pub use run_facts::{launches, wall_clock};

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
    match rules_with_text::output_beside_rules(run, options) {
        Some(output) => rules_with_text::convert(run, options, &output, sink),
        None => convert_rules(run, options, sink),
    }
}
