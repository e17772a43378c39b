//! Makes a store from events or from Pajé text in memory.

use tumit_paje::PajeEvent;

use super::simulation::Simulation;
use crate::query::GlobalNanos;
use crate::store::TraceStore;

impl TraceStore {
    /// Simulates a list of events. The trace ends at the largest timestamp. This is for programs
    /// that generate events, and for tests.
    pub fn from_events<'a>(name: &str, events: impl IntoIterator<Item = PajeEvent<'a>>) -> Self {
        let mut simulation = Simulation::new(name);
        let mut end = GlobalNanos(0);
        for event in events {
            end = event.time().map_or(end, |time| time.max(end));
            simulation.process(&event);
        }
        simulation.end(end);
        simulation.into_store()
    }

    /// Reads and simulates the content of a Pajé file.
    ///
    /// # Errors
    /// If the text is not a Pajé file.
    pub fn from_paje(name: &str, text: &[u8]) -> Result<Self, tumit_paje::read::PajeReadError> {
        let mut simulation = Simulation::new(name);
        let report = tumit_paje::read::read(text, &mut simulation)?;
        simulation.report(report.errors());
        Ok(simulation.into_store())
    }
}
