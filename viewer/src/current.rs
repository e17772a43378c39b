//! [`Current`]: a trace that is replaced by a newer part of itself while it is read or written.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use converter::paje::PajeEvent;

use crate::query::TimelineSource;
use crate::store::Store;

/// How much of a trace is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// All of it.
    #[default]
    Final,
    /// Its beginning: it is being read.
    Reading {
        /// Steps done: bytes of a Pajé file, records of a run (which is read twice).
        done: u64,
        /// Steps in all; 0 when nobody knows.
        total: u64,
    },
    /// What has been written so far; more may come.
    Growing {
        /// Processes of a run that have not ended: the dates of their records are provisional.
        open: usize,
        /// Processes in all; 0 for a Pajé file, which does not tell who writes it. All its dates are final.
        processes: usize,
    },
    /// There is nothing of it yet; why, in words.
    Awaited(String),
    /// What was read before, of which the file is no longer there; what became of it, in words.
    Kept(String),
}

impl Standing {
    /// Where it stands, in words; `None` when it is final.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        Some(match self {
            Self::Final => return None,
            // What is left to be done after the last step is not nothing.
            Self::Reading { .. } => match self.percent() {
                Some(percent) => format!("partial, {percent} % read"),
                None => "partial, being read".to_owned(),
            },
            Self::Growing { processes: 0, .. } => "following the file".to_owned(),
            Self::Growing { open: 0, .. } => "following; all processes have ended".to_owned(),
            Self::Growing { open, processes } => {
                format!("following; {open} of {processes} processes go on, their dates are provisional")
            }
            Self::Awaited(why) => why.clone(),
            Self::Kept(why) => format!("{why}: what was read before is shown"),
        })
    }

    /// Hundredths that have been read, where that is known; 100 is never reached.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        match *self {
            Self::Reading { done, total } if total > 0 => {
                Some(u64::try_from(u128::from(done) * 100 / u128::from(total)).unwrap_or(99).min(99))
            }
            _ => None,
        }
    }
}

/// A trace as it is at one moment.
#[derive(Clone)]
#[non_exhaustive]
pub struct Now {
    /// What answers questions.
    pub source: Arc<dyn TimelineSource>,
    /// Another number for another source, rising.
    pub generation: u64,
    /// How much of the trace that is.
    pub standing: Standing,
}

impl fmt::Debug for Now {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Now")
            .field("generation", &self.generation)
            .field("standing", &self.standing)
            .finish_non_exhaustive()
    }
}

/// A trace that may be replaced by a newer picture of itself. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Current(Arc<RwLock<Now>>);

impl From<Arc<dyn TimelineSource>> for Current {
    fn from(source: Arc<dyn TimelineSource>) -> Self {
        Self(Arc::new(RwLock::new(Now { source, generation: 1, standing: Standing::Final })))
    }
}

impl Current {
    /// A trace of which nothing is known yet but its name.
    #[must_use]
    pub fn empty(name: &str, standing: Standing) -> Self {
        let current =
            Self::from(Arc::new(Store::from_events(name, [] as [PajeEvent<'_>; 0])) as Arc<dyn TimelineSource>);
        current.stand(standing);
        current
    }

    /// As it is now. What was given stays as it is.
    #[must_use]
    pub fn now(&self) -> Now {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The source of this moment.
    #[must_use]
    pub fn source(&self) -> Arc<dyn TimelineSource> {
        self.now().source
    }

    /// Shows something newer.
    pub fn put(&self, source: Arc<dyn TimelineSource>, standing: Standing) {
        let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let generation = now.generation + 1;
        let before = std::mem::replace(&mut *now, Now { source, generation, standing });
        drop(now);
        // It may be large: nobody waits until it is gone.
        drop(before);
    }

    /// Tells that the same source stands for another part of the trace.
    pub fn stand(&self, standing: Standing) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).standing = standing;
    }
}
