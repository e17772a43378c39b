//! Records of a run as values of generated types (`tracer_rt::records!`), read and written file by
//! file. Tools that filter, sort or correct runs use this module.
//!
//! ```text
//! tracer_rt::records!("taktuk.tumit");
//!
//! let run = Run::open("run.tmt")?;
//! for process in 0..run.processes.len() {
//!     let mut reader = Reader::<taktuk::Trace>::new(&run, process)?;
//!     let mut writer = Writer::copy(&run.processes[process], Path::new("long.tmt"))?;
//!     while let Some(recorded) = reader.next()? {
//!         let short = matches!(&recorded.record, taktuk::Record::Post(post) if post.bytes < 1024);
//!         if !short {
//!             writer.write(&recorded)?;
//!         }
//!     }
//!     writer.finish()?;
//! }
//! ```

mod record_reader;
mod record_writer;

pub use record_reader::{ReadOrder, RecordReader};
pub(crate) use record_writer::{ClockTags, EndTicks, end_tags, process_tags};
pub use record_writer::{RecordWriter, WriteError};
