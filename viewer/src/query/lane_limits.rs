//! Limits of the members and cells of lanes, for callers that divide their requests.

use tumit_paje::{ContainerId, TypeId};

use super::timeline_source::TimelineSource;

/// Number of cells in memory at a time. Each cell may have thousands of shares.
const CELLS_AT_ONCE: usize = 1 << 14;

/// Number of lanes with all their cells in memory at a time.
pub fn lanes_at_once(columns: u32) -> usize {
    (CELLS_AT_ONCE / columns.max(1) as usize).max(1)
}

/// Maximum number of members of a container that exist at the same time; 1 for a container of the
/// trace.
/// A cell of a lane of the container can contain its width times this number. If that exceeds 64
/// bits of nanoseconds, cells store fractions of it: a full cell contains [`i64::MAX`].
pub fn weight(source: &dyn TimelineSource, container: ContainerId, ty: TypeId) -> usize {
    let members = source.members_with(container, ty);
    let mut edges: Vec<(i64, i32)> =
        members.iter().flat_map(|info| [(info.life.from.0, 1), (info.life.to.0, -1)]).collect();
    // At equal timestamps, ends sort before starts.
    edges.sort_unstable();
    let (mut now, mut max_members) = (0, 1);
    for (_, change) in edges {
        now += change;
        max_members = max_members.max(now);
    }
    usize::try_from(max_members).unwrap_or(1)
}
