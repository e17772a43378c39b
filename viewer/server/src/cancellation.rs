//! The trace for one question: it answers as long as somebody waits.
//!
//! A page that is moved asks anew and hangs up on what it asked before. Whatever computes an answer asks the trace many times over: the next
//! time it is told that nobody waits, and ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tumit_viewer::filter::Layer;
use tumit_viewer::query::{QueryError, TimelineSource, TypeId};

/// Whether whoever asked has gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gone(Arc<AtomicBool>);

/// Kept by the one who waits.
#[derive(Debug)]
pub(crate) struct Waiting(Gone);

impl Waiting {
    pub(crate) fn new() -> (Self, Gone) {
        let gone = Gone::default();
        (Self(gone.clone()), gone)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct Awaited {
    pub(crate) source: Arc<dyn TimelineSource>,
    pub(crate) gone: Gone,
}

impl Layer for Awaited {
    fn inner(&self) -> &dyn TimelineSource {
        self.source.as_ref()
    }

    fn asked(&self) -> Result<&dyn TimelineSource, QueryError> {
        if self.gone.0.load(Ordering::Relaxed) { Err(QueryError::NotAwaited) } else { Ok(self.source.as_ref()) }
    }

    // It changes nothing, so the source's own ways to sums and counts are right, and faster.
    fn keeps(&self, _: TypeId) -> bool {
        true
    }
}
