//! Converts a recorded run to the stream of [`tumit_paje::PajeEvent`]s that the viewer simulates.
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
//! use tumit_converter::convert::{ConvertOptions, convert};
//! use tumit_converter::run::OpenRun;
//! use tumit_paje::write::PajeWriter;
//!
//! let run = OpenRun::open(path)?;
//! let mut writer = PajeWriter::new(Vec::new());
//! let report = convert(&run, &ConvertOptions::default(), &mut writer)?;
//! assert_eq!(report.counts.records, 2);
//! assert!(report.is_clean());
//! assert!(String::from_utf8(writer.into_inner())?.contains("step"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clock;
pub mod convert;
pub(crate) mod naming;
pub mod report;
mod rules;
pub mod run;
#[cfg(test)]
mod test_streams;
pub mod tools;
