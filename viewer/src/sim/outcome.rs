//! The result of a simulation, and the store made from it.

use tumit_paje::TraceDiagnostic;

use super::containers::ContainerParts;
use super::simulation::Simulation;
use crate::query::{ContainerInfo, RawValue, TimestampExtent, TypeInfo};
use crate::store::{StoreParts, TraceStore};

/// The result of a simulation.
#[derive(Debug)]
pub(crate) struct SimOutcome<E> {
    pub(crate) entities: E,
    pub(crate) name: String,
    pub(crate) types: Vec<TypeInfo>,
    pub(crate) values: Vec<RawValue>,
    pub(crate) containers: Vec<ContainerInfo>,
    /// Numbers of the containers' extra fields, by container id.
    pub(crate) container_details: Vec<u32>,
    /// First and last timestamp of the trace.
    pub(crate) extent: TimestampExtent,
    pub(crate) diagnostics: Vec<TraceDiagnostic>,
    pub(crate) wall_clock: Option<i64>,
}

impl<E> Simulation<E> {
    /// Ends the simulation. Call [`Self::end`] (or
    /// [`PajeSink::finish`](tumit_paje::PajeSink::finish)) first.
    pub(crate) fn into_outcome(self) -> SimOutcome<E> {
        let mut diagnostics = self.diagnostics;
        diagnostics.extend(self.faults.faults().map(|fault| fault.diagnostic()));
        let ContainerParts { containers, details: container_details } = self.containers.into_parts();
        let extent = TimestampExtent { first: self.first, last: self.last };
        SimOutcome {
            entities: self.entities,
            name: self.name,
            types: self.types,
            values: self.values,
            containers,
            container_details,
            extent: if extent.is_empty() { TimestampExtent::instant(0) } else { extent },
            diagnostics,
            wall_clock: self.wall_clock,
        }
    }
}

impl Simulation {
    /// Makes a store. Call [`Self::end`] (or [`PajeSink::finish`](tumit_paje::PajeSink::finish))
    /// first.
    #[must_use]
    pub fn into_store(self) -> TraceStore {
        let SimOutcome {
            entities,
            name,
            types,
            values,
            containers,
            container_details,
            extent,
            diagnostics,
            wall_clock,
        } = self.into_outcome();
        StoreParts {
            name,
            types,
            values,
            containers,
            container_details,
            states: entities.states,
            marks: entities.marks,
            variables: entities.variables,
            links: entities.links,
            open_links: entities.open_links,
            details: entities.details,
            extent,
            diagnostics,
            wall_clock,
        }
        .seal()
    }
}
