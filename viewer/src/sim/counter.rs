//! [`EntityCounts`]: counts entities without storing them.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ExtraField, SourcePosition, ValueId};

use super::entity_sink::{EndedLink, EndedState, EntityPlace, EntitySink};
use crate::query::{ContainerInfo, TimeRange};

/// Numbers of entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "the names explain the counts")]
#[non_exhaustive]
pub struct EntityCounts {
    /// Number of containers without the root.
    pub containers: u64,
    pub states: u64,
    pub events: u64,
    /// Number of values of variables.
    pub samples: u64,
    pub links: u64,
}

impl EntitySink for EntityCounts {
    fn can_restart(&self) -> bool {
        true
    }

    fn restart(&mut self) -> io::Result<()> {
        *self = Self::default();
        Ok(())
    }

    fn create(&mut self, container: &ContainerInfo) {
        self.containers += u64::from(container.id != container.parent);
    }

    fn detail(&mut self, _: &[ExtraField<'_>], _: Option<SourcePosition<'_>>) -> u32 {
        0
    }

    fn join(&mut self, _: u32, _: u32) -> u32 {
        0
    }

    fn state(&mut self, _: EntityPlace, _: EndedState) {
        self.states += 1;
    }

    fn event(&mut self, _: EntityPlace, _: GlobalNanos, _: ValueId, _: u32) {
        self.events += 1;
    }

    fn sample(&mut self, _: EntityPlace, _: TimeRange, _: f64) {
        self.samples += 1;
    }

    fn link(&mut self, _: &EndedLink) {
        self.links += 1;
    }
}
