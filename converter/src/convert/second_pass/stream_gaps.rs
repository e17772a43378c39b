//! [`StreamGaps`]: the gaps of each stream, and the stacks of states that they affect.

use rustc_hash::FxHashMap;

use crate::rules::stacks::{StackId, StateStack, StateStacks};
use tumit_paje::{TypeId, ValueId};

/// Shorter lists of stacks are not compacted.
const MIN_COMPACTED_STACKS: usize = 64;

/// The gaps of each stream, and the stacks that a gap would affect.
#[derive(Debug, Default)]
pub(crate) struct StreamGaps {
    streams: Vec<AffectedStacks>,
    /// The value for unknown states, by type.
    pub(super) values: FxHashMap<TypeId, ValueId>,
}

#[derive(Debug, Default)]
pub(super) struct AffectedStacks {
    pub(super) gaps: u32,
    /// Stacks that this stream changed last, and some that other streams have changed since.
    pub(super) stacks: Vec<StackId>,
    /// Maximum length of the list before it is compacted.
    limit: u32,
}

impl StreamGaps {
    pub(super) fn of(&mut self, stream: u32) -> &mut AffectedStacks {
        let index = stream as usize;
        if self.streams.len() <= index {
            self.streams.resize_with(index + 1, AffectedStacks::default);
        }
        &mut self.streams[index]
    }

    /// Whether records of a stream are missing so far.
    pub(crate) fn has(&self, stream: u32) -> bool {
        self.streams.get(stream as usize).is_some_and(|concerned| concerned.gaps > 0)
    }

    /// Notes that a record of this stream changes a stack.
    #[inline]
    pub(crate) fn note_change(&mut self, stacks: &mut StateStacks, stack: StackId, stream: u32) {
        if stacks[stack].stream != stream {
            self.takes_over(stacks, stack, stream);
        }
    }

    #[cold]
    fn takes_over(&mut self, stacks: &mut StateStacks, stack: StackId, stream: u32) {
        stacks[stack].stream = stream;
        let concerned = self.of(stream);
        concerned.stacks.push(stack);
        if concerned.stacks.len() > MIN_COMPACTED_STACKS.max(concerned.limit as usize) {
            concerned.remove_settled(stacks, stream);
        }
    }

    /// Notes that a record of this stream determines the open states of a stack.
    #[inline]
    pub(crate) fn is_certain(&mut self, stacks: &mut StateStacks, stack: StackId, stream: u32) {
        self.note_change(stacks, stack, stream);
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stacks[stack].gaps = gaps;
    }

    /// Whether a stack may have more open states than are known.
    pub(crate) fn may_hide(&self, stack: &StateStack, stream: u32) -> bool {
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stack.is_unknown || gaps > stack.gaps
    }
}

impl AffectedStacks {
    /// Removes stacks that other streams have changed since, stacks of ended containers, and
    /// duplicates. Amortised O(log n) per addition.
    pub(super) fn remove_settled(&mut self, stacks: &StateStacks, stream: u32) {
        // The order is by container, and independent of the positions of the stacks.
        self.stacks.sort_unstable_by_key(|stack| (stacks[*stack].instance, *stack));
        self.stacks.dedup();
        // A stack of an ended container has no stream. Its position may belong to another container
        // by now.
        self.stacks.retain(|stack| stacks[*stack].stream == stream);
        self.limit = u32::try_from(2 * self.stacks.len()).unwrap_or(u32::MAX);
    }
}
