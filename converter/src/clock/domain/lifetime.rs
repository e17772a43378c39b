//! The time in which a process can have recorded.

use super::stream_extent::TickRange;
use crate::run::ProcessInRun;

/// Margin before the first and after the last timestamp of a process file, in seconds.
const SPARE: f64 = 1.0;
/// The margin of a process without an orderly end, in seconds: its last records may be missing.
const SPARE_OF_UNENDED: f64 = 60.0;
/// Additional margin, as a fraction of the time range of the file.
const SPARE_SHARE: f64 = 0.1;

/// The range of ticks in which a process can have recorded. Its clock has `hz` ticks per second.
/// `None` if its file has no timestamp.
pub(crate) fn lifetime(process: &ProcessInRun, hz: u64) -> Option<TickRange> {
    let anchors = process.anchors.iter().map(|anchor| TickRange { first: anchor.ticks, last: anchor.ticks });
    let blocks = process.streams.iter().flat_map(|stream| &stream.blocks);
    let blocks = blocks.filter(|block| block.header.records > 0);
    let blocks = blocks.map(|block| TickRange { first: block.header.first_ticks, last: block.header.last_ticks });
    let TickRange { first, last } = anchors.chain(blocks).reduce(TickRange::join)?;
    let margin = if process.has_ended { SPARE } else { SPARE_OF_UNENDED };
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a duration"
    )]
    let spare = (margin * hz as f64 + (last.saturating_sub(first)) as f64 * SPARE_SHARE) as u64;
    Some(TickRange { first: first.saturating_sub(spare), last: last.saturating_add(spare) })
}
