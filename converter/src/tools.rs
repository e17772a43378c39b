//! Tools that read or rewrite a run without converting it.
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
//! use tumit_converter::run::OpenRun;
//! use tumit_converter::tools::repair::FileRepair;
//!
//! let run = OpenRun::open(path)?;
//! assert!(run.processes.iter().all(|process| FileRepair::of(process).is_none()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cut;
pub mod dump;
pub mod info;
pub mod join;
pub mod records;
pub mod repair;
pub mod sort;
