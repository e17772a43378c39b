//! What states are open: a stack for each living container and state type that it holds, all in one list, as most operations change one.

use std::ops::{Index, IndexMut, Range};

use smallvec::SmallVec;

use tumit_paje::{ContainerId, TypeId, ValueId};

/// The open states of one type in one container.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// Outermost first.
    pub(crate) values: SmallVec<[ValueId; 4]>,
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    /// The number of the container's instance.
    pub(crate) instance: u32,
    /// The stream whose records changed it last.
    pub(crate) stream: u32,
    /// How many gaps that stream had when it was last certain what is open.
    pub(crate) gaps: u32,
    /// The outermost stands for whatever is open below: nobody knows what.
    pub(crate) is_unknown: bool,
}

/// No stream has changed a stack yet.
pub(crate) const NO_STREAM: u32 = u32::MAX;

impl Stack {
    fn new(container: ContainerId, ty: TypeId, instance: u32) -> Self {
        let (values, stream, gaps, is_unknown) = (SmallVec::new(), NO_STREAM, 0, false);
        Self { values, container, ty, instance, stream, gaps, is_unknown }
    }

    /// How many states cannot be popped: the unknown one.
    pub(crate) fn floor(&self) -> usize {
        usize::from(self.is_unknown)
    }
}

/// A place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StackId(pub(crate) u32);

/// All stacks. Those of a container lie side by side; the places of one that has ended are used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    all: Vec<Stack>,
    /// By number of stacks: the first of those that a container left which had as many.
    free: Vec<Vec<u32>>,
}

impl Stacks {
    /// Adds those of a new container; gives back the first.
    pub(crate) fn add(&mut self, container: ContainerId, instance: u32, types: &[TypeId]) -> StackId {
        let new = types.iter().map(|ty| Stack::new(container, *ty, instance));
        if let Some(first) = self.free.get_mut(types.len()).and_then(Vec::pop) {
            self.all[first as usize..].iter_mut().zip(new).for_each(|(place, stack)| *place = stack);
            return StackId(first);
        }
        let first = StackId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.extend(new);
        first
    }

    /// The container of these has ended.
    pub(crate) fn end(&mut self, stacks: Range<u32>) {
        for stack in &mut self.all[stacks.start as usize..stacks.end as usize] {
            *stack = Stack::new(ContainerId::ROOT, stack.ty, stack.instance);
        }
        let count = stacks.len();
        if count > 0 {
            self.free.resize_with(self.free.len().max(count + 1), Vec::new);
            self.free[count].push(stacks.start);
        }
    }

    /// Whether a stack is still that of this container.
    #[inline]
    pub(crate) fn is_of(&self, StackId(at): StackId, container: ContainerId) -> bool {
        self.all.get(at as usize).is_some_and(|stack| stack.container == container)
    }
}

impl Index<StackId> for Stacks {
    type Output = Stack;

    #[inline]
    fn index(&self, StackId(at): StackId) -> &Stack {
        &self.all[at as usize]
    }
}

impl IndexMut<StackId> for Stacks {
    #[inline]
    fn index_mut(&mut self, StackId(at): StackId) -> &mut Stack {
        &mut self.all[at as usize]
    }
}
