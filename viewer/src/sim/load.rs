//! A store from events or Pajé text in memory.

use tumit_paje::PajeEvent;

use super::Simulation;
use crate::query::GlobalNanos;
use crate::store::Store;

impl Store {
    /// Simulates a list of events. The trace ends at the largest date. For programs that make their own, and for tests.
    pub fn from_events<'a>(name: &str, events: impl IntoIterator<Item = PajeEvent<'a>>) -> Self {
        let mut simulation = Simulation::new(name);
        let mut end = GlobalNanos(0);
        for event in events {
            end = event.time().map_or(end, |time| time.max(end));
            simulation.take(&event);
        }
        simulation.end(end);
        simulation.into_store()
    }

    /// Reads and simulates a Pajé file that is in memory.
    ///
    /// # Errors
    /// When it is no Pajé file at all.
    pub fn from_paje(name: &str, text: &[u8]) -> Result<Self, tumit_paje::read::ReadError> {
        let mut simulation = Simulation::new(name);
        let report = tumit_paje::read::read(text, &mut simulation)?;
        simulation.fault(report.remarks());
        Ok(simulation.into_store())
    }
}
