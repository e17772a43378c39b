//! The values of one variable in one container over time.

use tumit_paje::VariableOp;
use tumit_paje::time::GlobalNanos;

use super::entity_sink::{EntityPlace, EntitySink};
use super::faults::{Fault, FaultCounts};
use crate::query::{TimeRange, TimestampExtent};

/// The current value of a variable.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct VariableState {
    place: EntityPlace,
    /// The creation of the container.
    creation_time: i64,
    /// The first timestamp here, or `born` if that is earlier.
    first: i64,
    /// The start of the current value, and the value.
    current_value: Option<(i64, f64)>,
}

impl VariableState {
    /// A variable without a value, in a container that was created at `creation_time`.
    pub(crate) fn new(place: EntityPlace, creation_time: i64) -> Self {
        Self { place, creation_time, first: creation_time, current_value: None }
    }

    /// Changes the value. With `is_any`, the value may become infinite or NaN.
    pub(crate) fn change(
        &mut self,
        time: i64,
        (op, value): (VariableOp, f64),
        is_any: bool,
        faults: &mut FaultCounts,
        out: &mut impl EntitySink,
    ) {
        if self.current_value.is_none() && op != VariableOp::Set {
            faults.count(Fault::NeverSet);
        }
        let old_value = self.current_value.map_or(0.0, |(_, value)| value);
        let new = match op {
            VariableOp::Set => value,
            VariableOp::Add => old_value + value,
            VariableOp::Subtract => old_value - value,
        };
        if !is_any && !new.is_finite() {
            return faults.count(Fault::NotFinite);
        }
        if time < self.creation_time {
            faults.count(Fault::LateCreation);
            // If there is a value already, later timestamps are not before it.
            if self.current_value.is_none() {
                self.first = time;
            }
        }
        match &mut self.current_value {
            Some((last, current)) if time <= *last => {
                if time < *last {
                    faults.count(Fault::VariableOrder);
                }
                *current = new;
            }
            now => {
                if let Some((start, value)) = now.replace((time, new)) {
                    out.sample(self.place, TimeRange { from: GlobalNanos(start), to: GlobalNanos(time) }, value);
                }
            }
        }
    }

    /// From the first timestamp here, or the container's creation if that is earlier, to the last
    /// timestamp.
    pub(crate) fn extent(&self) -> TimestampExtent {
        TimestampExtent { first: self.first, last: self.current_value.map_or(self.first, |(start, _)| start) }
    }

    /// Ends the variable, because its container has ended.
    pub(crate) fn end(&mut self, end: i64, out: &mut impl EntitySink) {
        if let Some((start, value)) = self.current_value.take() {
            out.sample(self.place, TimeRange { from: GlobalNanos(start), to: GlobalNanos(end) }, value);
        }
    }
}
