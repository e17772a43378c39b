//! The open states: a stack for each living container and each of its state types. One list
//! contains all stacks, because most operations change one of them.

use std::ops::{Index, IndexMut, Range};

use smallvec::SmallVec;

use tumit_paje::{ContainerId, TypeId, ValueId};

/// The open states of one type in one container.
#[derive(Clone, Debug)]
pub(crate) struct StateStack {
    /// Outermost first.
    pub(crate) values: SmallVec<[ValueId; 4]>,
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    /// The number of the container's instance.
    pub(crate) instance: u32,
    /// The stream that changed the stack last.
    pub(crate) stream: u32,
    /// The number of gaps of that stream when it last determined the open states.
    pub(crate) gaps: u32,
    /// Whether the outermost value stands for unknown open states.
    pub(crate) is_unknown: bool,
}

/// The value of `stream` before the first change of a stack.
pub(crate) const NO_STREAM: u32 = u32::MAX;

impl StateStack {
    fn new(container: ContainerId, ty: TypeId, instance: u32) -> Self {
        let (values, stream, gaps, is_unknown) = (SmallVec::new(), NO_STREAM, 0, false);
        Self { values, container, ty, instance, stream, gaps, is_unknown }
    }

    /// The number of states that cannot be popped: the unknown one.
    pub(crate) fn floor(&self) -> usize {
        usize::from(self.is_unknown)
    }
}

/// The index of a stack in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StackId(pub(crate) u32);

/// All stacks. The stacks of a container are contiguous. The places of an ended container are
/// reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateStacks {
    stacks: Vec<StateStack>,
    /// By number of stacks: the first index of each free range of this length.
    free_ranges: Vec<Vec<u32>>,
}

impl StateStacks {
    /// Adds the stacks of a new container. Returns the first one.
    pub(crate) fn add(&mut self, container: ContainerId, instance: u32, types: &[TypeId]) -> StackId {
        let new = types.iter().map(|ty| StateStack::new(container, *ty, instance));
        if let Some(first) = self.free_ranges.get_mut(types.len()).and_then(Vec::pop) {
            self.stacks[first as usize..].iter_mut().zip(new).for_each(|(target, stack)| *target = stack);
            return StackId(first);
        }
        let first = StackId(u32::try_from(self.stacks.len()).unwrap_or(u32::MAX));
        self.stacks.extend(new);
        first
    }

    /// Frees the stacks of an ended container.
    pub(crate) fn end(&mut self, stacks: Range<u32>) {
        for stack in &mut self.stacks[stacks.start as usize..stacks.end as usize] {
            *stack = StateStack::new(ContainerId::ROOT, stack.ty, stack.instance);
        }
        let count = stacks.len();
        if count > 0 {
            self.free_ranges.resize_with(self.free_ranges.len().max(count + 1), Vec::new);
            self.free_ranges[count].push(stacks.start);
        }
    }

    /// Whether a stack still belongs to this container.
    #[inline]
    pub(crate) fn is_of(&self, StackId(index): StackId, container: ContainerId) -> bool {
        self.stacks.get(index as usize).is_some_and(|stack| stack.container == container)
    }
}

impl Index<StackId> for StateStacks {
    type Output = StateStack;

    #[inline]
    fn index(&self, StackId(index): StackId) -> &StateStack {
        &self.stacks[index as usize]
    }
}

impl IndexMut<StackId> for StateStacks {
    #[inline]
    fn index_mut(&mut self, StackId(index): StackId) -> &mut StateStack {
        &mut self.stacks[index as usize]
    }
}
