//! The stacks of open states.

use std::io;

use super::emitter::Emitter;
use crate::rules::stacks::{StackId, StateStack};
use tumit_paje::{PlainEvent, PlainKind, ValueId};

/// The states that a pop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PopTarget {
    Innermost,
    /// All states down to the innermost one with this value, and that one.
    Value(ValueId),
    /// The value cannot be computed.
    NotComputable,
}

impl Emitter<'_> {
    /// Makes `value` the only open state of a stack.
    pub(super) fn set(&mut self, at: StackId, value: ValueId, stream: u32) -> io::Result<()> {
        self.replace(at, value)?;
        self.gaps.is_certain(&mut self.instances.stacks, at, stream);
        Ok(())
    }

    /// Opens a further state on a stack.
    #[inline]
    pub(super) fn push(&mut self, at: StackId, value: ValueId, stream: u32) {
        self.gaps.note_change(&mut self.instances.stacks, at, stream);
        self.instances.stacks[at].values.push(value);
    }

    /// Ends all states of a stack.
    pub(super) fn reset(&mut self, at: StackId, stream: u32) -> io::Result<()> {
        while !self.instances.stacks[at].values.is_empty() {
            self.pop(at)?;
        }
        self.gaps.is_certain(&mut self.instances.stacks, at, stream);
        Ok(())
    }

    /// Counts a pop without a container. The container may belong to a missing record.
    pub(super) fn pop_nowhere(&mut self, stream: u32) {
        self.counts.pops_of_nothing += u64::from(!self.gaps.has(stream));
    }

    /// Ends the innermost state, or all states down to that with a value.
    #[inline]
    pub(super) fn pop_to(&mut self, at: StackId, target: PopTarget, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[at];
        // Nearly all pops take this path.
        if target == PopTarget::Innermost && !stack.is_unknown && !stack.values.is_empty() {
            self.gaps.note_change(&mut self.instances.stacks, at, stream);
            return self.pop(at);
        }
        self.pop_down(at, target, stream)
    }

    pub(super) fn pop_down(&mut self, at: StackId, target: PopTarget, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[at];
        let open = &stack.values[stack.floor()..];
        let keep = match target {
            PopTarget::Innermost => open.len().checked_sub(1),
            PopTarget::Value(value) => open.iter().rposition(|other| *other == value),
            PopTarget::NotComputable => None,
        };
        let Some(keep) = keep.map(|keep| keep + stack.floor()) else {
            // The pop may end a state of missing records. The states below are then unknown as
            // well.
            if target != PopTarget::NotComputable && self.gaps.may_hide(stack, stream) {
                return self.set_unknown(at);
            }
            self.counts.pops_of_nothing += 1;
            return Ok(());
        };
        self.gaps.note_change(&mut self.instances.stacks, at, stream);
        while self.instances.stacks[at].values.len() > keep {
            self.pop(at)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn pop(&mut self, at: StackId) -> io::Result<()> {
        let stack = &mut self.instances.stacks[at];
        stack.values.pop();
        stack.is_unknown &= !stack.values.is_empty();
        let StateStack { container, ty, .. } = *stack;
        self.counts.paje_events += 1;
        let (kind, time, value) = (PlainKind::PopState, self.now, ValueId(0));
        self.sink.plain_event(PlainEvent { kind, time, container, ty, value })
    }

    /// Makes a value the only one of a stack. All values but the outermost are popped first,
    /// because readers differ in the effect of a set on the values below the top.
    pub(super) fn replace(&mut self, at: StackId, value: ValueId) -> io::Result<()> {
        while self.instances.stacks[at].values.len() > 1 {
            self.pop(at)?;
        }
        let stack = &mut self.instances.stacks[at];
        stack.values.clear();
        stack.values.push(value);
        stack.is_unknown = false;
        Ok(())
    }
}
