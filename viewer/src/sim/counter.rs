//! [`Tally`]: counts entities and keeps none.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{Extra, Source, ValueId};

use super::entities::{EndedLink, EndedState, Entities, Place};
use crate::query::{ContainerInfo, Interval};

/// How many there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "named after what is counted")]
pub struct Tally {
    /// Without the root.
    pub containers: u64,
    pub states: u64,
    pub events: u64,
    /// Values of variables.
    pub samples: u64,
    pub links: u64,
}

impl Entities for Tally {
    fn can_begin_anew(&self) -> bool {
        true
    }

    fn begin_anew(&mut self) -> io::Result<()> {
        *self = Self::default();
        Ok(())
    }

    fn create(&mut self, container: &ContainerInfo) {
        self.containers += u64::from(container.id != container.parent);
    }

    fn detail(&mut self, _: &[Extra<'_>], _: Option<Source<'_>>) -> u32 {
        0
    }

    fn join(&mut self, _: u32, _: u32) -> u32 {
        0
    }

    fn state(&mut self, _: Place, _: EndedState) {
        self.states += 1;
    }

    fn event(&mut self, _: Place, _: GlobalNanos, _: ValueId, _: u32) {
        self.events += 1;
    }

    fn sample(&mut self, _: Place, _: Interval, _: f64) {
        self.samples += 1;
    }

    fn link(&mut self, _: &EndedLink) {
        self.links += 1;
    }
}
