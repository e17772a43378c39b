//! A trace for one request, with queries that fail once the client has disconnected.
//!
//! A page sends a new request when it moves, and closes the connection of the previous one. The
//! computation of an answer makes many queries to the trace. Its next query fails after the client
//! has disconnected, and the computation ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tumit_viewer::filter::FilterLayer;
use tumit_viewer::query::{EntityId, NestedLaneGroup, QueryError, TimelineSource, TypeId};

/// A flag: the client has disconnected.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Whether the client has disconnected.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The clients that wait for a shared computation.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingClients(Arc<Mutex<Vec<CancelFlag>>>);

impl WaitingClients {
    pub(crate) fn add(&self, client: CancelFlag) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|flag| !flag.is_set());
        clients.push(client);
    }

    /// Whether all clients have disconnected.
    fn have_all_left(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().all(CancelFlag::is_set)
    }
}

/// Held as long as the client waits. Dropping it sets the flag.
#[derive(Debug, Default)]
pub(crate) struct ClientGuard(CancelFlag);

impl ClientGuard {
    /// The flag that the drop sets.
    pub(crate) fn cancel_flag(&self) -> CancelFlag {
        self.0.clone()
    }
}

impl Drop for ClientGuard {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

pub(crate) struct PendingAnswer {
    pub(crate) source: Arc<dyn TimelineSource>,
    pub(crate) cancel: CancelFlag,
}

impl FilterLayer for PendingAnswer {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.source.as_ref()
    }

    fn checked_source(&self) -> Result<&dyn TimelineSource, QueryError> {
        if self.cancel.is_set() { Err(QueryError::Cancelled) } else { Ok(self.source.as_ref()) }
    }

    // This layer changes nothing. The source's own sums and counts are therefore correct, and
    // faster.
    fn keeps_entities(&self, _: TypeId) -> bool {
        true
    }

    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        self.source.state_lane_groups()
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.checked_source()?.number_fields(ids, field)
    }
}

/// A trace for several requests, with queries that fail once all their clients have disconnected.
pub(crate) struct SharedAnswer {
    pub(crate) source: Arc<dyn TimelineSource>,
    pub(crate) clients: WaitingClients,
}

impl FilterLayer for SharedAnswer {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.source.as_ref()
    }

    fn checked_source(&self) -> Result<&dyn TimelineSource, QueryError> {
        if self.clients.have_all_left() { Err(QueryError::Cancelled) } else { Ok(self.source.as_ref()) }
    }

    fn keeps_entities(&self, _: TypeId) -> bool {
        true
    }

    fn state_lane_groups(&self) -> Vec<NestedLaneGroup> {
        self.source.state_lane_groups()
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        self.checked_source()?.number_fields(ids, field)
    }
}
