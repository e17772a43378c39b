//! Time as a type: never a bare number, never a float before the text edge.

/// A date in the ticks of one process's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalTicks(pub u64);

/// A date on the run's one time line, in nanoseconds from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalNanos(pub i64);
