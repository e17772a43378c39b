//! Reads PICL and Alog traces as Pajé operations, and writes PICL.
//!
//! PICL is the format of ParaGraph, an older viewer of parallel programs. Its old format has a
//! compact and a verbose form. Alog is the text format of Upshot. `docs/picl.md` lists the entities
//! of the records.
//!
//! ```
//! use tumit_paje::write::PajeWriter;
//! use tumit_picl::{PiclReader, TraceFormat};
//!
//! let trace = b"\
//! -3 -901 0.0 0 0 0
//! -3 -901 0.0 1 0 0
//! -3 -21 0.1 0 0 4 2 64 7 1 0
//! -4 -21 0.2 0 0 0
//! -3 -52 0.1 1 0 3 2 7 0 0
//! -4 -52 0.3 1 0 4 2 64 7 0 0
//! -4 -901 0.4 0 0 0
//! -4 -901 0.4 1 0 0
//! ";
//! let format = TraceFormat::of(trace).ok_or("not a trace")?;
//! let mut writer = PajeWriter::new(Vec::new());
//! let report = PiclReader::new(&trace[..], format).read(&mut writer)?;
//! assert!(report.faults.is_empty());
//! assert!(String::from_utf8(writer.into_inner())?.contains("\"wait\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alog;
mod bounded_lines;
mod emission;
mod model;
mod new_picl;
mod node_activity;
mod node_clock;
mod old_picl;
mod picl_faults;
mod picl_reader;
mod record_words;
mod trace_format;
mod write;

pub use picl_faults::{PiclFault, PiclFaultKind};
pub use picl_reader::{PiclReadError, PiclReader, PiclReport, announce};
pub use trace_format::TraceFormat;
pub use write::{OmittedEntities, PiclStyle, PiclWriter};
