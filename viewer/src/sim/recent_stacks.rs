//! [`RecentStacks`]: a cache of the stacks that operations use.

use tumit_paje::{ContainerId, TypeId};

/// A cache of recently used stacks of living containers, by container and type. Nearly all
/// operations use one of them again.
#[derive(Clone, Debug)]
pub(crate) struct RecentStacks(Box<[CachedStack; RECENT]>);

/// The stack of a container and type.
#[derive(Clone, Copy, Debug)]
struct CachedStack {
    container: ContainerId,
    ty: TypeId,
    /// Its index, or [`NO_STACK`].
    stack: u32,
}

/// Number of slots of the cache.
const RECENT: usize = 1 << 11;
/// Stands for no stack.
const NO_STACK: u32 = u32::MAX;

impl Default for RecentStacks {
    fn default() -> Self {
        Self::new()
    }
}

impl RecentStacks {
    pub(crate) fn new() -> Self {
        let none = CachedStack { container: ContainerId::ROOT, ty: TypeId::ROOT, stack: NO_STACK };
        Self(Box::new([none; RECENT]))
    }

    /// The slot of a container and type. Consecutive containers and types get nearby slots, so few
    /// share a slot.
    #[inline]
    const fn place(container: ContainerId, ty: TypeId) -> usize {
        (container.0.wrapping_mul(5).wrapping_add(ty.0)) as usize % RECENT
    }

    #[inline]
    pub(crate) fn get(&self, container: ContainerId, ty: TypeId) -> Option<usize> {
        let entry = self.0[Self::place(container, ty)];
        let is_hit = entry.container == container && entry.ty == ty && entry.stack != NO_STACK;
        is_hit.then_some(entry.stack as usize)
    }

    pub(crate) fn note(&mut self, container: ContainerId, ty: TypeId, stack: u32) {
        self.0[Self::place(container, ty)] = CachedStack { container, ty, stack };
    }

    /// Removes a stack of an ended container.
    pub(crate) fn remove(&mut self, container: ContainerId, ty: TypeId) {
        let entry = &mut self.0[Self::place(container, ty)];
        if entry.container == container {
            entry.stack = NO_STACK;
        }
    }
}
