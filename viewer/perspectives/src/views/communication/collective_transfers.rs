//! [`CollectiveTransfers`]: the data of collective operations as messages between units.
//!
//! A root sends to each member, or receives from it. In an operation of kind `all-to-all`, each
//! member sends to each other one, and its bytes are divided equally among them. Networks may carry
//! the data on other routes.

use std::collections::BTreeMap;

use tumit_paje::collective::CollectiveKind;
use tumit_viewer::query::QueryError;
use tumit_viewer::stats::collective::Collective;
use tumit_viewer::text::time_display::group_digits;

use crate::analysis::collectives::CollectiveSet;
use crate::execution::Execution;
use crate::view::{TimeMode, ViewRequest};
use crate::views::measured_messages::{MessageSum, SumsByPair, message_range};

#[derive(Debug, Default)]
pub(super) struct CollectiveTransfers {
    /// The sums by sender and receiver.
    pub(super) sums: SumsByPair,
    operations: u64,
    unknown_roots: u64,
    /// A note if some of the operations are guessed.
    guess_note: Option<String>,
}

/// Operations of kind `all-to-all` with the same members.
#[derive(Debug, Default)]
struct ExchangeSum {
    operations: u64,
    /// The bytes that each member sends to each other one.
    bytes: Vec<u64>,
}

impl CollectiveTransfers {
    /// The transfers of the operations that are in progress at the time cursor, or that begin in
    /// the visible time range. `node` maps units to rows. O(parts), and O(members²) for each set of
    /// members of operations of kind `all-to-all`.
    pub(super) fn new(
        execution: &Execution,
        request: &ViewRequest,
        node: impl Fn(u32) -> u32,
    ) -> Result<Self, QueryError> {
        let set = CollectiveSet::new(execution)?;
        let range = message_range(execution, request.visible_range());
        let is_visible = |operation: &&Collective| {
            let begin = operation.parts.first().map_or(i64::MAX, |part| part.enter);
            let end = operation.parts.iter().map(|part| part.leave).max().unwrap_or(i64::MIN);
            match request.mode {
                TimeMode::At => begin <= request.time.0 && request.time.0 < end,
                _ => range.from.0 <= begin && begin < range.to.0,
            }
        };
        let shown = || set.list.iter().filter(is_visible).filter(|operation| operation.kind != CollectiveKind::Barrier);
        let mut transfers = Self { guess_note: set.guess_note(execution.model(), shown()), ..Self::default() };
        let mut exchanges: BTreeMap<Vec<u32>, ExchangeSum> = BTreeMap::new();
        for operation in shown() {
            transfers.operations += 1;
            if operation.kind == CollectiveKind::AllToAll {
                add_exchange(operation, &mut exchanges);
                continue;
            }
            transfers.unknown_roots += u64::from(operation.root().is_none());
            for (sender, receiver) in operation.transfers() {
                let member = if sender.is_root { receiver } else { sender };
                let sum = MessageSum { count: 1, bytes: member.bytes.unwrap_or(0) };
                transfers.sums.entry((node(sender.unit), node(receiver.unit))).or_default().combine(sum);
            }
        }
        for (members, ExchangeSum { operations, bytes }) in exchanges {
            for (sender, bytes) in members.iter().zip(bytes) {
                for receiver in members.iter().filter(|receiver| *receiver != sender) {
                    let sum = MessageSum { count: operations, bytes };
                    transfers.sums.entry((node(*sender), node(*receiver))).or_default().combine(sum);
                }
            }
        }
        Ok(transfers)
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec![match self.operations {
            1 => "1 collective operation is shown as messages between its members.".to_owned(),
            count => {
                format!("{} collective operations are shown as messages between their members.", group_digits(count))
            }
        }];
        match self.unknown_roots {
            0 => {}
            1 => notes.push("1 operation is left out, because its root is unknown.".to_owned()),
            count => {
                notes
                    .push(format!("{} operations are left out, because their roots are unknown.", group_digits(count)));
            }
        }
        notes.extend(self.guess_note.clone());
        notes
    }
}

fn add_exchange(operation: &Collective, exchanges: &mut BTreeMap<Vec<u32>, ExchangeSum>) {
    let mut parts: Vec<(u32, u64)> = operation.parts.iter().map(|part| (part.unit, part.bytes.unwrap_or(0))).collect();
    parts.sort_unstable();
    parts.dedup_by_key(|part| part.0);
    let others = (parts.len() as u64).saturating_sub(1).max(1);
    let sum = exchanges.entry(parts.iter().map(|part| part.0).collect()).or_default();
    sum.operations += 1;
    sum.bytes.resize(parts.len(), 0);
    sum.bytes.iter_mut().zip(parts).for_each(|(sum, part)| *sum = sum.saturating_add(part.1 / others));
}
