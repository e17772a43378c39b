//! [`CurrentTrace`]: the source of a page. It is replaced while the trace is read or written.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_viewer::input::current_trace::{CurrentTrace, TraceAvailability};
//! use tumit_viewer::query::TimelineSource;
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let trace = format!("{header}{body}");
//! # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
//! let source: Arc<dyn TimelineSource> = Arc::new(store);
//! let current = CurrentTrace::from(Arc::clone(&source));
//! let before = current.snapshot();
//! current.put(source, TraceAvailability::Final);
//! assert!(current.snapshot().generation > before.generation);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use tumit_paje::PajeEvent;

use crate::query::TimelineSource;
use crate::store::TraceStore;

/// How much of a trace is available.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceAvailability {
    /// The whole trace.
    #[default]
    Final,
    /// The beginning of the trace, while it is read.
    Reading {
        /// Steps done: bytes of a Pajé file, or records of a run (a run is read twice).
        processed_bytes: u64,
        /// The number of all steps. 0 if unknown.
        total: u64,
    },
    /// The part that has been written so far. More can follow.
    Growing {
        /// Number of processes that still run. The timestamps of their records are provisional.
        running_processes: usize,
        /// The number of processes. 0 for a Pajé file, because its writers are unknown. Its
        /// timestamps are final.
        processes: usize,
    },
    /// Nothing yet. The text gives the reason.
    Awaited(String),
    /// The part that was read before the file disappeared. The text gives the reason.
    Interrupted(String),
}

impl TraceAvailability {
    /// The state as a sentence. `None` if the trace is final.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        Some(match self {
            Self::Final => return None,
            // Work remains after the last step, so the sentence does not claim 100 %.
            Self::Reading { .. } => match self.percent() {
                Some(percent) => format!("partial, {percent} % read"),
                None => "partial, reading".to_owned(),
            },
            Self::Growing { processes: 0, .. } => "following the file".to_owned(),
            Self::Growing { running_processes: 0, .. } => "following; all processes have ended".to_owned(),
            Self::Growing { running_processes, processes } => {
                format!(
                    "following; {running_processes} of {processes} processes still run, and their timestamps are provisional"
                )
            }
            Self::Awaited(reason) => reason.clone(),
            Self::Interrupted(why) => format!("{why}: the part read so far is shown"),
        })
    }

    /// The percentage that has been read, if known. At most 99.
    pub(crate) fn percent(&self) -> Option<u64> {
        match *self {
            Self::Reading { processed_bytes, total } if total > 0 => {
                Some(u64::try_from(u128::from(processed_bytes) * 100 / u128::from(total)).unwrap_or(99).min(99))
            }
            _ => None,
        }
    }
}

/// A trace at one moment.
#[derive(Clone)]
#[non_exhaustive]
pub struct TraceSnapshot {
    /// It never changes. Later contents are in another source.
    pub source: Arc<dyn TimelineSource>,
    /// The number of the source. It increases with each new source.
    pub generation: u64,
    /// How much of the trace the source has.
    pub availability: TraceAvailability,
}

impl fmt::Debug for TraceSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSnapshot")
            .field("generation", &self.generation)
            .field("availability", &self.availability)
            .finish_non_exhaustive()
    }
}

/// A trace with a source that can be replaced by a newer one. Clones share the source.
#[derive(Clone, Debug)]
pub struct CurrentTrace(Arc<RwLock<TraceSnapshot>>);

impl From<Arc<dyn TimelineSource>> for CurrentTrace {
    fn from(source: Arc<dyn TimelineSource>) -> Self {
        Self(Arc::new(RwLock::new(TraceSnapshot { source, generation: 1, availability: TraceAvailability::Final })))
    }
}

impl CurrentTrace {
    /// A trace without contents; only its name is known.
    pub(crate) fn empty(name: &str, availability: TraceAvailability) -> Self {
        let current =
            Self::from(Arc::new(TraceStore::from_events(name, [] as [PajeEvent<'_>; 0])) as Arc<dyn TimelineSource>);
        current.set_availability(availability);
        current
    }

    /// The present source. A source that was returned before stays valid.
    #[must_use]
    pub fn snapshot(&self) -> TraceSnapshot {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The present source.
    #[must_use]
    pub fn source(&self) -> Arc<dyn TimelineSource> {
        self.snapshot().source
    }

    /// Replaces the source by a newer one.
    pub fn put(&self, source: Arc<dyn TimelineSource>, availability: TraceAvailability) {
        let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let generation = now.generation + 1;
        let before = std::mem::replace(&mut *now, TraceSnapshot { source, generation, availability });
        drop(now);
        // The old source can be large. It is dropped after the lock is released.
        drop(before);
    }

    /// Changes the state and keeps the source.
    pub(crate) fn set_availability(&self, availability: TraceAvailability) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).availability = availability;
    }
}
