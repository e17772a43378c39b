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
    pub(super) fn set(&mut self, stack: StackId, value: ValueId, stream: u32) -> io::Result<()> {
        self.replace(stack, value)?;
        self.gaps.is_certain(&mut self.instances.stacks, stack, stream);
        Ok(())
    }

    /// Opens a further state on a stack.
    #[inline]
    pub(super) fn push(&mut self, stack: StackId, value: ValueId, stream: u32) {
        self.gaps.note_change(&mut self.instances.stacks, stack, stream);
        self.instances.stacks[stack].values.push(value);
    }

    /// Ends all states of a stack.
    pub(super) fn reset(&mut self, stack: StackId, stream: u32) -> io::Result<()> {
        while !self.instances.stacks[stack].values.is_empty() {
            self.pop(stack)?;
        }
        self.gaps.is_certain(&mut self.instances.stacks, stack, stream);
        Ok(())
    }

    /// Counts a pop without a container. The container may belong to a missing record.
    pub(super) fn pop_nowhere(&mut self, stream: u32) {
        self.counts.pops_of_nothing += u64::from(!self.gaps.has(stream));
    }

    /// Ends the innermost state, or all states down to that with a value.
    #[inline]
    pub(super) fn pop_to(&mut self, state_stack: StackId, target: PopTarget, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[state_stack];
        // Nearly all pops take this path.
        if target == PopTarget::Innermost && !stack.is_unknown && !stack.values.is_empty() {
            self.gaps.note_change(&mut self.instances.stacks, state_stack, stream);
            return self.pop(state_stack);
        }
        self.pop_down(state_stack, target, stream)
    }

    pub(super) fn pop_down(&mut self, state_stack: StackId, target: PopTarget, stream: u32) -> io::Result<()> {
        let stack = &self.instances.stacks[state_stack];
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
                return self.set_unknown(state_stack);
            }
            self.counts.pops_of_nothing += 1;
            return Ok(());
        };
        self.gaps.note_change(&mut self.instances.stacks, state_stack, stream);
        while self.instances.stacks[state_stack].values.len() > keep {
            self.pop(state_stack)?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn pop(&mut self, stack: StackId) -> io::Result<()> {
        let stack = &mut self.instances.stacks[stack];
        stack.values.pop();
        stack.is_unknown &= !stack.values.is_empty();
        let StateStack { container, ty, .. } = *stack;
        self.counts.paje_events += 1;
        let (kind, time, value) = (PlainKind::PopState, self.time, ValueId(0));
        self.sink.plain_event(PlainEvent { kind, time, container, ty, value })
    }

    /// Makes a value the only one of a stack. All values but the outermost are popped first,
    /// because readers differ in the effect of a set on the values below the top.
    pub(super) fn replace(&mut self, stack: StackId, value: ValueId) -> io::Result<()> {
        while self.instances.stacks[stack].values.len() > 1 {
            self.pop(stack)?;
        }
        let stack = &mut self.instances.stacks[stack];
        stack.values.clear();
        stack.values.push(value);
        stack.is_unknown = false;
        Ok(())
    }
}
