//! [`WaitState`]: a time in which a unit waits for another one, with its cause.
//!
//! The patterns are those of Scalasca (Geimer et al., "The Scalasca performance toolset
//! architecture", 2010), found from states, links and collective operations:
//!
//! - *late sender*: a receive begins before the message is sent;
//! - *late receiver*: a send begins before the receive, and lasts until it;
//! - *collective*: a unit enters a collective operation before the unit that it depends on, such as
//!   the last one of a barrier or the root of a broadcast;
//! - *lock*: a unit waits for a lock, which another one holds.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::collectives::CollectiveSet;
//! use tumit_perspectives::analysis::wait_states::{WaitKind, wait_states};
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let operations = CollectiveSet::new(&execution)?;
//! let waits = wait_states(&execution, &operations, execution.extent())?;
//! assert_eq!((waits[0].kind, waits[0].nanos()), (WaitKind::LateSender, 2_000_000_000));
//! assert_eq!((waits[1].kind, waits[1].nanos()), (WaitKind::Collective, 1_500_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, QueryError, TimeRange, ValueId};

use crate::analysis::collectives::{CollectiveSet, is_nonblocking, state_at_end};
use crate::analysis::dependences::{is_awaited, late_receiver};
use crate::analysis::innermost_state::{InnermostState, innermost_state};
use crate::analysis::lock_waits::{LockWait, lock_waits};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::UnitMessage;

/// The pattern of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the module explains the variants")]
#[non_exhaustive]
pub enum WaitKind {
    LateSender,
    LateReceiver,
    Collective,
    Lock,
}

/// A time in which a unit waits for another one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WaitState {
    /// The pattern.
    pub kind: WaitKind,
    /// Index of the unit that waits.
    pub unit: u32,
    /// The state in which it waits.
    pub state: EntityId,
    /// The value of the state.
    pub value: ValueId,
    /// Start of the wait in nanoseconds.
    pub from: i64,
    /// End of the wait in nanoseconds.
    pub to: i64,
    /// Index of the unit for which it waits, if it is known.
    pub cause: Option<u32>,
}

impl WaitState {
    /// Duration in nanoseconds.
    pub fn nanos(&self) -> i64 {
        self.to.saturating_sub(self.from)
    }
}

/// Finds the waits that begin in a time range, by start. A state has at most one wait of each kind:
/// of several messages that end in it, the last one to be sent decides. Its waits for messages do
/// not overlap, so that their sum counts no time twice.
///
/// # Errors
/// If the source fails.
pub fn wait_states(
    execution: &Execution,
    collectives: &CollectiveSet,
    range: TimeRange,
) -> Result<Vec<WaitState>, PerspectiveError> {
    let mut by_state: BTreeMap<(WaitKind, EntityId), WaitState> = BTreeMap::new();
    let mut add = |wait: Option<WaitState>| {
        let Some(wait) = wait.filter(|wait| wait.from < wait.to && range.from.0 <= wait.from && wait.from < range.to.0)
        else {
            return;
        };
        let longest = by_state.entry((wait.kind, wait.state)).or_insert(wait);
        if wait.to > longest.to {
            *longest = wait;
        }
    };
    match execution.messages() {
        Ok(messages) => {
            for message in messages.list().iter().filter(|message| is_awaited(execution, message)) {
                let receive = innermost_state(execution, message.to as usize, message.receive_time.saturating_sub(1))?;
                add(late_sender(message, receive));
                add(late_receiver_wait(execution, message, receive)?);
            }
        }
        Err(PerspectiveError::NoData { .. }) => {}
        Err(error) => return Err(error),
    }
    collective_waits(execution, collectives, &mut add)?;
    for &LockWait { unit, state, value, life, holder, .. } in lock_waits(execution)?.iter() {
        let (from, to) = (life.from.0, life.to.0);
        add(Some(WaitState { kind: WaitKind::Lock, unit, state, value, from, to, cause: holder }));
    }
    // A state that waits for a lock and ends with a message is one wait. If the holder is unknown,
    // the sender is its cause: it woke the unit.
    let locks: Vec<EntityId> = by_state.keys().filter(|key| key.0 == WaitKind::Lock).map(|key| key.1).collect();
    for state in locks {
        if let Some(late) = by_state.remove(&(WaitKind::LateSender, state))
            && let Some(lock) = by_state.get_mut(&(WaitKind::Lock, state))
        {
            lock.cause = lock.cause.or(late.cause);
        }
    }
    count_once(&mut by_state);
    let mut waits: Vec<WaitState> = by_state.into_values().collect();
    waits.sort_by_key(|wait| (wait.from, wait.unit));
    Ok(waits)
}

/// A state that sends and receives, such as `MPI_Sendrecv`, waits for both partners at the same
/// time. Its wait for the receiver begins when its wait for the sender has ended.
fn count_once(by_state: &mut BTreeMap<(WaitKind, EntityId), WaitState>) {
    let late_senders: Vec<WaitState> =
        by_state.values().filter(|wait| wait.kind == WaitKind::LateSender).copied().collect();
    for late_sender in late_senders {
        let key = (WaitKind::LateReceiver, late_sender.state);
        let Some(late_receiver) = by_state.get_mut(&key) else { continue };
        late_receiver.from = late_receiver.from.max(late_sender.to);
        if late_receiver.from >= late_receiver.to {
            by_state.remove(&key);
        }
    }
}

/// The receiver waits from the begin of the receive to the send.
fn late_sender(message: &UnitMessage, receive: Option<InnermostState>) -> Option<WaitState> {
    let state = receive.filter(|state| state.category != ActivityCategory::Busy)?;
    Some(WaitState {
        kind: WaitKind::LateSender,
        unit: message.to,
        state: state.id,
        value: state.value,
        from: state.life.from.0,
        to: message.send_time.min(message.receive_time),
        cause: Some(message.from),
    })
}

/// The sender waits from the send to the begin of the receive, if the send lasts until then.
fn late_receiver_wait(
    execution: &Execution,
    message: &UnitMessage,
    receive: Option<InnermostState>,
) -> Result<Option<WaitState>, QueryError> {
    Ok(late_receiver(execution, message, receive)?.map(|(send, begin)| WaitState {
        kind: WaitKind::LateReceiver,
        unit: message.from,
        state: send.id,
        value: send.value,
        from: message.send_time.max(send.life.from.0),
        to: begin,
        cause: Some(message.to),
    }))
}

/// Each unit waits until the units have entered on which it depends. Operations with an unknown
/// root have no waits. The wait for a non-blocking operation belongs to the state in which the unit
/// waits, because one state can wait for several operations.
fn collective_waits(
    execution: &Execution,
    collectives: &CollectiveSet,
    visit: &mut impl FnMut(Option<WaitState>),
) -> Result<(), QueryError> {
    for operation in &collectives.list {
        let is_nonblocking = is_nonblocking(execution, operation);
        for part in &operation.parts {
            let Some(awaited) = operation.wait_cause(part) else { continue };
            let waiting_state = if is_nonblocking { state_at_end(execution, part)? } else { None };
            let (state, value) = waiting_state.map_or((part.state, operation.value), |state| (state.id, state.value));
            visit(Some(WaitState {
                kind: WaitKind::Collective,
                unit: part.unit,
                state,
                value,
                from: part.wait_from,
                to: awaited.enter.min(part.leave),
                cause: Some(awaited.unit),
            }));
        }
    }
    Ok(())
}
