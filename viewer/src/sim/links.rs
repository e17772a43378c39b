//! Processes the endpoints of links.

use tumit_paje::{ContainerId, ExtraField, KeyId, SourcePosition, TypeId, ValueId};

use super::entity_sink::EntitySink;
use super::faults::Fault;
use super::pending_links::SimLinkEndpoint;
use super::simulation::Simulation;

/// One endpoint of a link, as an operation gives it.
pub(super) struct LinkOperation<'a> {
    pub(super) starts: bool,
    pub(super) time: i64,
    /// The container that holds the link.
    pub(super) holder: ContainerId,
    pub(super) ty: TypeId,
    pub(super) value: ValueId,
    /// The container of the endpoint.
    pub(super) end: ContainerId,
    pub(super) key: KeyId,
    pub(super) extra: &'a [ExtraField<'a>],
    pub(super) source: Option<SourcePosition<'a>>,
}

impl<E: EntitySink> Simulation<E> {
    /// Processes an endpoint, which may complete a link.
    pub(super) fn link_endpoint(&mut self, operation: &LinkOperation<'_>) {
        let &LinkOperation { starts, time, holder, ty, value, end, key, extra, source } = operation;
        if self.can_link(starts, holder, ty, value, end) {
            let detail = self.detail(extra, source);
            self.entities.wait(detail);
            let line = self.faults.line;
            let endpoint = SimLinkEndpoint { starts, time, value, container: end, holder, detail, key, line };
            let pair = self.links.add_endpoint((holder, ty), endpoint, &mut self.faults, &mut self.entities);
            if let Some(extent) = pair {
                if !self.mimics_pj_dump && extent.first < self.containers.from(holder) && holder != ContainerId::ROOT {
                    self.faults.count(Fault::LateCreation);
                }
                self.containers.extend_content(holder, extent);
            }
        }
    }
}
