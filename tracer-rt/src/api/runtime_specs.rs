//! Specs that a program makes while it runs, such as those of the callsites of `tracing`.
//!
//! A program that knows its events only at run time describes them by a [`Schema`], and records the
//! encoded fields. [`crate::events!`] is for all other programs: it checks the types of fields.
//!
//! ```
//! use tracer_rt::format::schema::{FieldInfo, LevelInfo, RecordKind, SCHEMA_VERSION, Scalar};
//! use tracer_rt::format::{FieldType, RecordType, Schema};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let step = RecordType {
//!     name: "step".into(),
//!     level: 0,
//!     kind: RecordKind::Event,
//!     has_location: false,
//!     fields: vec![FieldInfo { name: "n".into(), ty: FieldType::One(Scalar::U32) }],
//! };
//! let schema = Schema {
//!     version: SCHEMA_VERSION,
//!     name: "app".into(),
//!     levels: vec![LevelInfo { name: "APP".into(), is_enabled: true }],
//!     records: vec![step],
//!     ..Schema::default()
//! };
//!
//! # let folder = tempfile::tempdir()?;
//! # let mut config = tracer_rt::RecorderConfig::default();
//! # config.folder = Some(folder.path().join("run.tmt"));
//! # tracer_rt::start(config)?;
//! let types = tracer_rt::runtime_specs::register(&schema).expect("not in a signal handler");
//! types[0].record(&7u32.to_le_bytes());
//! tracer_rt::flush();
//! assert_eq!(tracer_rt::counts().written, 1);
//! # Ok(())
//! # }
//! ```

use tracer_format::{RecordType, Schema};

use super::intern::site_of_text;
use super::level_switches;
use crate::fields::{Date, EncodedFields, SourceSite};
use crate::levels::level_table::{Level, Provider};
use crate::record::record_with_timestamp;
use crate::stream::count_stray_drop;

pub use crate::threads::thread_id;

/// A record type of a registered schema.
///
/// The caller gives the encoded fields of a record, as `FORMAT.md` describes: packed and
/// little-endian. Those of a `located` type begin with the number of the source position
/// ([`source_position`]), four bytes. The recorder does not check them. Readers count records with
/// other bytes as damaged.
#[derive(Clone, Copy, Debug)]
pub struct DynamicRecordType {
    level: &'static Level,
    /// The index of the record type in the schema.
    number: u32,
}

impl DynamicRecordType {
    /// A number that encodes the first record id of the schema and the stream of its records. 0 if
    /// the level is off. For [`Self::record_at`].
    #[inline]
    #[must_use]
    pub fn base(&self) -> u32 {
        self.level.base()
    }

    /// Records an event with the encoded fields, if its level is on. Returns the timestamp of the
    /// record, or `None` if it was not recorded.
    #[inline]
    pub fn record(&self, fields: &[u8]) -> Option<Date> {
        let base = self.base();
        if base == 0 {
            return None;
        }
        self.record_at(base, fields)
    }

    /// Records an event as [`Self::record`] does. The encoded fields are in two slices.
    #[inline]
    pub fn record_parts(&self, first: &[u8], second: &[u8]) -> Option<Date> {
        match self.base() {
            0 => None,
            base => self.record_parts_at(base, first, second),
        }
    }

    /// Records an event as [`Self::record_at`] does. The encoded fields are in two slices.
    #[inline]
    pub fn record_parts_at(&self, base: u32, first: &[u8], second: &[u8]) -> Option<Date> {
        date_of(record_with_timestamp(base + self.number, (EncodedFields(first), EncodedFields(second))))
    }

    /// Records an event with an earlier result of [`Self::base`] other than 0, even if the level is
    /// off now. Use it for the end of a span whose begin was recorded.
    #[inline]
    pub fn record_at(&self, base: u32, fields: &[u8]) -> Option<Date> {
        date_of(record_with_timestamp(base + self.number, EncodedFields(fields)))
    }
}

#[inline]
fn date_of(ticks: u64) -> Option<Date> {
    (ticks != 0).then_some(Date(ticks))
}

/// The provider in the levels of all schemas here. It is empty: [`register`] registers the provider
/// of a schema before its first record, so that no record has to.
static REGISTERED: Provider = Provider::new("", &[], 0, &[]);

/// Whether this thread may register a schema. It may not in a signal handler, nor in an allocator
/// that the recorder calls.
#[must_use]
pub fn can_register() -> bool {
    level_switches::can_register()
}

/// Registers a schema. Returns its record types in their order.
///
/// The schema and its levels are kept until the process ends, so a program registers each schema
/// once. A process has 65,519 record types at most. If none is left, the recorder prints a message,
/// and the levels of the schema are off.
///
/// Takes the locks of the recorder and allocates memory. `None` if [`can_register`] is false, or if
/// a record has a level that the schema lacks; the record is then counted as dropped.
#[must_use]
pub fn register(schema: &Schema) -> Option<Vec<DynamicRecordType>> {
    let is_complete = schema.records.iter().all(|record| (record.level as usize) < schema.levels.len());
    if !is_complete || !can_register() {
        count_stray_drop();
        return None;
    }
    let leak_text = |text: &str| -> &'static str { Box::leak(text.into()) };
    let count = u16::try_from(schema.records.len()).unwrap_or(u16::MAX);
    let levels: Vec<(&'static str, bool, &'static Level)> = schema
        .levels
        .iter()
        .map(|level| (leak_text(&level.name), level.is_enabled, &*Box::leak(Box::new(Level::new(&REGISTERED)))))
        .collect();
    let record_type =
        |(record, number): (&RecordType, u32)| DynamicRecordType { level: levels[record.level as usize].2, number };
    let types: Vec<_> = schema.records.iter().zip(0..u32::from(count)).map(record_type).collect();
    let bytes: &'static [u8] = Box::leak(schema.encode().into());
    let provider = Provider::new(leak_text(&schema.name), bytes, count, Box::leak(levels.into_boxed_slice()));
    let is_registered = level_switches::register(Box::leak(Box::new(provider)));
    if !is_registered {
        count_stray_drop();
    }
    is_registered.then_some(types)
}

/// The number of a source position, for records of `located` types. 0 in a signal handler.
///
/// Takes a lock, so the caller keeps the number. The file name is kept until the process ends.
#[must_use]
pub fn source_position(file: &str, line: u32) -> u32 {
    let SourceSite(number) = site_of_text(file, line);
    number
}

impl crate::fields::InternedText {
    /// The number of the text in this process, as records contain it.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }
}
