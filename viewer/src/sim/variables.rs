//! The course of one variable in one container.

use converter::paje::{ContainerId, TypeId, VariableOp};

use super::faults::{Fault, Faults};
use crate::store::RawVariable;

/// Its values so far.
#[derive(Debug)]
pub(super) struct Variable {
    container: ContainerId,
    ty: TypeId,
    samples: RawVariable,
    /// When its container ended.
    pub(super) end: Option<i64>,
}

impl Variable {
    pub(super) fn new(container: ContainerId, ty: TypeId) -> Self {
        Self { container, ty, samples: RawVariable::default(), end: None }
    }

    pub(super) fn change(&mut self, time: i64, op: VariableOp, value: f64, faults: &mut Faults) {
        let old = self.samples.values.last().copied();
        if old.is_none() && op != VariableOp::Set {
            faults.count(Fault::NeverSet);
        }
        let old = old.unwrap_or(0.0);
        let new = match op {
            VariableOp::Set => value,
            VariableOp::Add => old + value,
            VariableOp::Subtract => old - value,
        };
        if !new.is_finite() {
            return faults.count(Fault::NotFinite);
        }
        match (self.samples.dates.last(), self.samples.values.last_mut()) {
            (Some(&last), Some(current)) if time <= last => {
                if time < last {
                    faults.count(Fault::VariableOrder);
                }
                *current = new;
            }
            _ => {
                self.samples.dates.push(time);
                self.samples.values.push(new);
            }
        }
    }

    /// The later of a date and the last one here.
    pub(super) fn last_date(&self, time: i64) -> i64 {
        self.samples.dates.last().map_or(time, |&last| last.max(time))
    }

    pub(super) fn into_raw(self, last: i64) -> (ContainerId, TypeId, RawVariable, i64) {
        (self.container, self.ty, self.samples, self.end.unwrap_or(last))
    }
}
