//! Records the spans and events of the crate [`tracing`](https://docs.rs/tracing) into a run, and
//! the tasks of the runtime `tokio`.
//!
//! ```toml
//! [dependencies]
//! tumit-tracing = "0.1"
//! ```
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let mut config = tracer_rt::RecorderConfig::default();
//! # config.folder = Some(folder.path().join("run.tmt"));
//! # tracer_rt::start(config)?;
//! tumit_tracing::init();                       // at the begin of `main`
//!
//! let request = tracing::info_span!("request", path = "/index", status = tracing::field::Empty);
//! let entered = request.enter();
//! tracing::info!(bytes = 4096, "sends the page");
//! request.record("status", 200);
//! drop(entered);
//!
//! tracer_rt::flush();
//! assert_eq!(tracer_rt::counts().written, 4);  // begin, event, new field, end
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program with other layers adds this one to its registry:
//!
//! ```
//! use tracing_subscriber::layer::SubscriberExt as _;
//!
//! let subscriber = tracing_subscriber::registry().with(tumit_tracing::layer());
//! # drop(subscriber);
//! ```
//!
//! # The run
//!
//! The process records as other programs do (see [`tracer_rt`]): the variable `TUMIT_TRACE` gives
//! the run folder, recording ends with the process, and a killed process loses no record.
//!
//! - A **span** is a state of the thread that has entered it. A span that is entered again, such as
//!   that of an async function, has an arrow from its last exit to the next entry. All entries of a
//!   span have its number in the field `span`.
//! - An **event** is a mark on the row of its thread, with its level, target and fields. Numbers
//!   and bools are recorded as they are, and all other values as text.
//! - A call of `Span::record` is a mark with the new values. Later entries of the span also have
//!   these values.
//! - `follows_from` is an arrow to the next entry of the span.
//! - With the feature `log`, [`init`] also records the messages of the crate `log`.
//! - The rules of `std:tokio` show the **tasks** of `tokio`, if the program is compiled with the
//!   feature `tracing` of `tokio` and with `--cfg tokio_unstable`.
//!
//! # Filters
//!
//! [`init`] records the levels and targets that the variable `TUMIT_TRACING` selects, such as
//! `info,my_app::http=debug`. The default is `info`, and everything of the runtime `tokio`. Spans
//! and events that are not selected cost less than a nanosecond. The levels `ERROR` to `TRACE` can
//! also be switched while the program runs, by [`tracer_rt::set_level`] or `tumit level`.
//!
//! # Limits
//!
//! A record contains the first 32 fields of its callsite, and 60,000 bytes of values; longer texts
//! are cut. The spec of a callsite is kept until the process ends. If several threads are in a span
//! at the same time, only its last exit has an arrow.

mod callsite;
mod callsite_spec;
mod layer;
mod span_record;
mod spec_names;
mod standard_specs;
mod tokio_tasks;
mod value_encoding;

use std::str::FromStr as _;

use tracing_core::dispatcher::{self, Dispatch};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;

pub use layer::RecorderLayer;

/// The filter of [`init`] without the variable `TUMIT_TRACING`.
const DEFAULT_FILTER: &str = "info,tokio=trace,runtime=trace";

/// A layer that records all spans and events that it gets. Per-layer filters of
/// `tracing_subscriber` can select them.
#[must_use]
pub const fn layer() -> RecorderLayer {
    RecorderLayer
}

/// Records the spans and events of the program from now on: sets a global subscriber with the layer
/// of [`layer`] and the filter of the variable `TUMIT_TRACING`.
///
/// Returns false if the program has set a global subscriber before, which then stays. A filter that
/// is not valid is reported on standard error and replaced by the default.
///
/// ```no_run
/// tumit_tracing::init();
/// ```
pub fn init() -> bool {
    let subscriber = tracing_subscriber::registry().with(filter()).with(layer());
    let is_set = dispatcher::set_global_default(Dispatch::new(subscriber)).is_ok();
    #[cfg(feature = "log")]
    if is_set {
        // Another logger of the program stays.
        let _ = tracing_log::LogTracer::init();
    }
    is_set
}

fn filter() -> Targets {
    let text = std::env::var("TUMIT_TRACING").unwrap_or_default();
    let parsed = Targets::from_str(if text.is_empty() { DEFAULT_FILTER } else { &text });
    parsed.unwrap_or_else(|error| {
        #[expect(clippy::print_stderr, reason = "the only way to report it")]
        {
            eprintln!(
                "tumit: TUMIT_TRACING: `{text}` is not valid ({error}): write LEVEL or TARGET=LEVEL, separated by \
                 commas; the filter is `{DEFAULT_FILTER}`"
            );
        }
        Targets::from_str(DEFAULT_FILTER).unwrap_or_default()
    })
}
