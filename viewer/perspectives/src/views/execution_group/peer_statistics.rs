//! [`PeerStatistics`]: the messages between a unit and each of its peers, and the time for which
//! each peer blocks the unit.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, TimeRange};

use crate::analysis::innermost_state::innermost_state;
use crate::chart::{AxisUnit, ChartTable, TableValue};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{UnitMessage, UnitMessages};
use crate::views::measured_messages::{MessageSum, number, signed_number};

/// The messages between a unit and a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PeerSums {
    sent_messages: MessageSum,
    received_messages: MessageSum,
    /// The time for which the unit is in a receive before the peer sends, in nanoseconds.
    blocked_time: i64,
}

/// The messages between a unit and its peers.
#[derive(Debug, Default)]
pub(crate) struct PeerStatistics {
    by_peer: BTreeMap<u32, PeerSums>,
}

/// A time for which a receive is blocked.
#[derive(Clone, Copy)]
struct BlockedReceive {
    peer: u32,
    nanos: i64,
}

impl PeerStatistics {
    /// The messages of a unit that are sent or received in a time range.
    pub(crate) fn new(
        execution: &Execution,
        messages: &UnitMessages,
        unit: usize,
        range: TimeRange,
    ) -> Result<Self, PerspectiveError> {
        let mut by_peer: BTreeMap<u32, PeerSums> = BTreeMap::new();
        for message in messages.sent_by(unit, range) {
            by_peer.entry(message.to).or_default().sent_messages.add(message);
        }
        // Of several messages that end in one state, the one that is sent last decides.
        let mut receives: FxHashMap<EntityId, BlockedReceive> = FxHashMap::default();
        for message in messages.received_by(unit, range) {
            by_peer.entry(message.from).or_default().received_messages.add(message);
            if let Some((state, blocked)) = blocked_receive(execution, unit, message, range.from.0)? {
                let longest = receives.entry(state).or_insert(blocked);
                if blocked.nanos > longest.nanos {
                    *longest = blocked;
                }
            }
        }
        for blocked in receives.into_values() {
            by_peer.entry(blocked.peer).or_default().blocked_time += blocked.nanos;
        }
        Ok(Self { by_peer })
    }

    /// A row per peer, the one that blocks the unit longest first.
    pub(crate) fn table(&self, execution: &Execution, has_sizes: bool) -> ChartTable {
        let mut table = ChartTable::new(&[
            ("peer", AxisUnit::Count),
            ("blocked, s", AxisUnit::Nanos),
            ("messages sent", AxisUnit::Count),
            ("bytes sent", AxisUnit::Bytes),
            ("messages received", AxisUnit::Count),
            ("bytes received", AxisUnit::Bytes),
        ]);
        let mut peers: Vec<(&u32, &PeerSums)> = self.by_peer.iter().collect();
        peers.sort_by_key(|(_, sums)| std::cmp::Reverse(sums.blocked_time));
        let bytes = |sum: MessageSum| TableValue::from(has_sizes.then(|| number(sum.bytes)));
        table.rows.extend(peers.into_iter().map(|(peer, sums)| {
            vec![
                execution.units().list()[*peer as usize].name.as_str().into(),
                signed_number(sums.blocked_time).into(),
                number(sums.sent_messages.count).into(),
                bytes(sums.sent_messages),
                number(sums.received_messages.count).into(),
                bytes(sums.received_messages),
            ]
        }));
        table
    }
}

/// The time from the start of a receive, but not before `from`, to the send of its message.
fn blocked_receive(
    execution: &Execution,
    unit: usize,
    message: &UnitMessage,
    from: i64,
) -> Result<Option<(EntityId, BlockedReceive)>, PerspectiveError> {
    let state = innermost_state(execution, unit, message.receive_time.saturating_sub(1))?;
    let Some(state) = state.filter(|state| state.category != ActivityCategory::Busy) else { return Ok(None) };
    let nanos = message.send_time.min(state.life.to.0).saturating_sub(state.life.from.0.max(from));
    Ok((nanos > 0).then_some((state.id, BlockedReceive { peer: message.from, nanos })))
}
