//! The time in which a process can have recorded.

use crate::input::Process;

/// A process may answer so long before the first thing that its file tells, and behind the last; seconds.
const SPARE: f64 = 1.0;
/// Where it did not end in order, its file may lack so much.
const SPARE_OF_UNENDED: f64 = 60.0;
/// And this part of what its file tells.
const SPARE_SHARE: f64 = 0.1;

/// The ticks between which a process can have asked and answered; its clock has `hz` of them in a second.
pub(super) fn life(process: &Process, hz: u64) -> Option<(u64, u64)> {
    let anchors = process.anchors.iter().map(|anchor| (anchor.ticks, anchor.ticks));
    let blocks = process.streams.iter().flat_map(|stream| &stream.blocks);
    let blocks = blocks.filter(|block| block.header.records > 0);
    let blocks = blocks.map(|block| (block.header.first_ticks, block.header.last_ticks));
    let told = anchors.chain(blocks);
    let (first, last) = told.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
    let spare = if process.ended { SPARE } else { SPARE_OF_UNENDED };
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration"
    )]
    let spare = (spare * hz as f64 + (last.saturating_sub(first)) as f64 * SPARE_SHARE) as u64;
    Some((first.saturating_sub(spare), last.saturating_add(spare)))
}
