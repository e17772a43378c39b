//! The ticks of a clock that was set, as if it had not been set.

/// What a clock was set by, from some of its ticks on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// The first tick that it did not show before,
    pub(crate) ticks: u64,
    /// and by how many ticks the clock was set forward.
    pub(crate) by: i64,
}

/// The ticks of a clock as if it had never been set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sets(Vec<Region>);

/// Between two times that a clock was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Its first tick,
    pub(crate) ticks: u64,
    /// what is added to its ticks,
    pub(crate) more: i64,
    /// and what they are at least then, as ticks never go back.
    pub(crate) least: u64,
}

impl Sets {
    /// By ticks.
    pub(crate) fn new(sets: &[Set]) -> Self {
        let mut made = Self::default();
        let mut more = 0i64;
        for set in sets {
            let least = made.unset(set.ticks.saturating_sub(1));
            more = more.saturating_sub(set.by);
            made.0.push(Region { ticks: set.ticks, more, least });
        }
        made
    }

    /// What lies behind each time that it was set, by ticks.
    pub(crate) fn regions(&self) -> &[Region] {
        &self.0
    }

    /// What the clock would have shown. It never decreases. O(log of how often the clock was set).
    pub(crate) fn unset(&self, ticks: u64) -> u64 {
        let at = self.0.partition_point(|region| region.ticks <= ticks);
        let Some(region) = at.checked_sub(1).map(|at| &self.0[at]) else { return ticks };
        ticks.saturating_add_signed(region.more).max(region.least)
    }
}
