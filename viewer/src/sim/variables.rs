//! The course of one variable in one container.

use tumit_paje::VariableOp;
use tumit_paje::time::GlobalNanos;

use super::entities::{Entities, Place};
use super::faults::{Fault, Faults};
use crate::query::Interval;

/// Its present value.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Variable {
    place: Place,
    /// When the container was created,
    born: i64,
    /// and the first date here, if that is earlier.
    first: i64,
    /// Since when, and what it is.
    now: Option<(i64, f64)>,
}

impl Variable {
    /// Of a container that was created then.
    pub(crate) fn new(place: Place, born: i64) -> Self {
        Self { place, born, first: born, now: None }
    }

    /// With `any`, its value may leave the finite numbers.
    pub(crate) fn change(
        &mut self,
        time: i64,
        (op, value): (VariableOp, f64),
        any: bool,
        faults: &mut Faults,
        out: &mut impl Entities,
    ) {
        if self.now.is_none() && op != VariableOp::Set {
            faults.count(Fault::NeverSet);
        }
        let old = self.now.map_or(0.0, |(_, value)| value);
        let new = match op {
            VariableOp::Set => value,
            VariableOp::Add => old + value,
            VariableOp::Subtract => old - value,
        };
        if !any && !new.is_finite() {
            return faults.count(Fault::NotFinite);
        }
        if time < self.born {
            faults.count(Fault::LateCreation);
            // Later ones are moved to it.
            if self.now.is_none() {
                self.first = time;
            }
        }
        match &mut self.now {
            Some((last, current)) if time <= *last => {
                if time < *last {
                    faults.count(Fault::VariableOrder);
                }
                *current = new;
            }
            now => {
                if let Some((start, value)) = now.replace((time, new)) {
                    out.sample(self.place, Interval { from: GlobalNanos(start), to: GlobalNanos(time) }, value);
                }
            }
        }
    }

    /// The first date here or that of the container's creation, and the last one.
    pub(crate) fn reach(&self) -> (i64, i64) {
        (self.first, self.now.map_or(self.first, |(start, _)| start))
    }

    /// Its container has ended.
    pub(crate) fn end(&mut self, end: i64, out: &mut impl Entities) {
        if let Some((start, value)) = self.now.take() {
            out.sample(self.place, Interval { from: GlobalNanos(start), to: GlobalNanos(end) }, value);
        }
    }
}
