//! The number of an entity in the store.

/// Number in the store of the entity at `index` of a lane.
pub(crate) fn number(base: u32, index: usize) -> u32 {
    base + index as u32
}
