//! [`Dependences`]: the events before which units may have waited for another unit.
//!
//! - A *receive* ends after its message was sent.
//! - A *send* that waits for its receiver ends after the receive begins (*late receiver*).
//! - A part of a *collective operation* ends after the parts begin on which it depends.
//! - A *wait for a lock* ends after its holder releases the lock.

use std::sync::Arc;

use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{EntityId, QueryError};
use tumit_viewer::stats::collective::{Collective, CollectivePart};

use crate::analysis::collectives::CollectiveSet;
use crate::analysis::innermost_state::{InnermostState, innermost_state};
use crate::analysis::lock_waits::{LockWait, lock_waits};
use crate::analysis::message_names::{is_nonblocking_send, is_receive, is_send};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::UnitMessage;

/// A unit at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitMoment {
    /// Index of the unit.
    pub unit: u32,
    /// The time in nanoseconds.
    pub time: i64,
}

/// The reason of a dependence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DependenceReason {
    /// A receive needs its message.
    Message(EntityId),
    /// A send needs its receiver.
    Receiver(EntityId),
    /// A collective operation needs another unit.
    Collective,
    /// A unit needs a lock that another one holds.
    Lock,
}

/// Whether the end of a dependent state is determined by the other unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DependenceStrength {
    /// The other unit determines it.
    Certain,
    /// The unit seems to wait, but its own work may determine the end.
    Probable,
    /// The unit does not seem to wait, but the other unit may determine the end, such as the sender
    /// of a message that arrived shortly before it was received.
    Possible,
    /// The unit seems to wait, but possibly for another unit than the one that is given.
    Unknown,
}

/// The dependence of the end of a state on another unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dependence {
    /// The point of the other unit.
    pub(crate) source: UnitMoment,
    /// The start of the dependent state, or the start of its examined part.
    pub(crate) start: i64,
    /// The time at which the unit stops waiting and continues to work.
    pub(crate) reached: i64,
    /// The time at which the dependent part of the unit ends: that of the receive, or the end of
    /// the send, of the collective operation or of the wait for a lock.
    pub(crate) end: i64,
    /// The reason.
    pub(crate) reason: DependenceReason,
    /// Whether the unit waited.
    pub(crate) strength: DependenceStrength,
}

impl Dependence {
    /// Whether the unit seems to have waited for the other one.
    pub(crate) fn is_wait(&self) -> bool {
        self.strength != DependenceStrength::Possible
    }
}

/// An event before which a unit may have waited.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DependentEvent {
    /// The receive of a message, by its index.
    Receive(u32),
    /// The send of a message, by its index.
    Send(u32),
    /// The end of a part of a collective operation.
    Collective {
        /// Index of the operation.
        operation: u32,
        /// Index of the part.
        part: u32,
    },
    /// The end of a wait for a lock, by its index.
    Lock(u32),
}

/// The events of an execution before which units may have waited.
#[derive(Debug)]
pub(crate) struct Dependences<'a> {
    execution: &'a Execution,
    messages: &'a [UnitMessage],
    collectives: &'a CollectiveSet,
    locks: Arc<Vec<LockWait>>,
}

impl<'a> Dependences<'a> {
    /// Takes the messages, collective operations and waits for locks of an execution.
    ///
    /// # Errors
    /// If the source fails.
    pub(crate) fn new(execution: &'a Execution, collectives: &'a CollectiveSet) -> Result<Self, PerspectiveError> {
        let messages = match execution.messages() {
            Ok(messages) => messages.list(),
            Err(PerspectiveError::NoData { .. }) => &[],
            Err(error) => return Err(error),
        };
        Ok(Self { execution, messages, collectives, locks: lock_waits(execution)? })
    }

    /// The waits for locks whose release the trace does not show: unit, start, end.
    pub(crate) fn waits_without_release(&self) -> impl Iterator<Item = (u32, i64, i64)> {
        let waits = self.locks.iter().filter(|wait| wait.release.is_none());
        waits.map(|wait| (wait.unit, wait.life.from.0, wait.life.to.0))
    }

    /// Visits all events with their unit and their time. A send has the time of its begin, because
    /// its end is found by [`Self::of_event`] only.
    pub(crate) fn visit(&self, mut visit: impl FnMut(u32, i64, DependentEvent)) {
        for (message, index) in self.messages.iter().zip(0_u32..) {
            if !is_awaited(self.execution, message) {
                continue;
            }
            visit(message.to, message.receive_time, DependentEvent::Receive(index));
            if message.send_time < message.receive_time {
                visit(message.from, message.send_time, DependentEvent::Send(index));
            }
        }
        for (operation, number) in self.collectives.list.iter().zip(0_u32..) {
            for (part, part_number) in operation.parts.iter().zip(0_u32..) {
                let event = DependentEvent::Collective { operation: number, part: part_number };
                visit(part.unit, part.leave, event);
            }
        }
        for (wait, index) in self.locks.iter().zip(0_u32..).filter(|(wait, _)| wait.release.is_some()) {
            visit(wait.unit, wait.life.to.0, DependentEvent::Lock(index));
        }
    }

    /// The dependence of an event, if there is one.
    ///
    /// # Errors
    /// If the source fails.
    pub(crate) fn of_event(&self, event: DependentEvent) -> Result<Option<Dependence>, QueryError> {
        match event {
            DependentEvent::Receive(index) => self.of_receive(&self.messages[index as usize]),
            DependentEvent::Send(index) => self.of_send(&self.messages[index as usize]),
            DependentEvent::Collective { operation, part } => {
                let operation = &self.collectives.list[operation as usize];
                Ok(operation.parts.get(part as usize).and_then(|part| of_part(operation, part)))
            }
            DependentEvent::Lock(index) => Ok(self.locks.get(index as usize).and_then(of_lock_wait)),
        }
    }

    fn receiving_state(&self, message: &UnitMessage) -> Result<Option<InnermostState>, QueryError> {
        innermost_state(self.execution, message.to as usize, message.receive_time.saturating_sub(1))
    }

    /// A message that is received before it is sent, because the clocks are wrong, takes no time.
    fn of_receive(&self, message: &UnitMessage) -> Result<Option<Dependence>, QueryError> {
        let send_time = message.send_time.min(message.receive_time);
        let (start, strength) = match self.receiving_state(message)? {
            // The receive has no duration, or its state hides its wait.
            Some(state) if state.category == ActivityCategory::Busy => (send_time, DependenceStrength::Possible),
            Some(state) if send_time > state.life.from.0 => {
                // Before a receive without duration, the unit may be in the state of another call.
                // The end of that call does not depend on the message.
                let is_wait = state.category == ActivityCategory::Idle || has_name(self.execution, &state, is_receive);
                let strength = match message.send_time <= message.receive_time {
                    true if is_wait => DependenceStrength::Certain,
                    true => DependenceStrength::Probable,
                    false => DependenceStrength::Unknown,
                };
                (state.life.from.0, strength)
            }
            Some(state) => (state.life.from.0, DependenceStrength::Possible),
            // A unit without a state waits.
            None => (send_time, DependenceStrength::Probable),
        };
        Ok(Some(Dependence {
            source: UnitMoment { unit: message.from, time: send_time },
            start,
            reached: message.receive_time,
            end: message.receive_time,
            reason: DependenceReason::Message(message.id),
            strength,
        }))
    }

    /// A send waits if it begins before the receive, and lasts until then.
    fn of_send(&self, message: &UnitMessage) -> Result<Option<Dependence>, QueryError> {
        let receive = self.receiving_state(message)?;
        let Some((send, begin)) = late_receiver(self.execution, message, receive)? else { return Ok(None) };
        let end = send.life.to.0;
        // A message that is complete only after its send cannot be complete before the send ends.
        // The exchange before the transfer takes no longer than the transfer. A longer wait is
        // therefore not a part of this exchange.
        let is_certain = end >= message.receive_time && end - begin <= begin - message.send_time;
        let strength = match is_certain {
            // The send ends as the receive begins, possibly by chance.
            _ if end == begin => DependenceStrength::Unknown,
            true => DependenceStrength::Certain,
            false => DependenceStrength::Probable,
        };
        Ok(Some(Dependence {
            source: UnitMoment { unit: message.to, time: begin },
            start: message.send_time,
            reached: begin,
            end,
            reason: DependenceReason::Receiver(message.id),
            strength,
        }))
    }
}

/// Whether the receiver of a message may wait for it. It does not if the value of the link is
/// ignored: the sender writes to the memory of the receiver, or reads it.
pub(crate) fn is_awaited(execution: &Execution, message: &UnitMessage) -> bool {
    execution.categories().category(message.value) != ActivityCategory::Ignored
}

/// The state of a sender that waits for the receiver, and the begin of the receive. `None` if the
/// sender does not wait.
///
/// # Errors
/// If the source fails.
pub(crate) fn late_receiver(
    execution: &Execution,
    message: &UnitMessage,
    receive: Option<InnermostState>,
) -> Result<Option<(InnermostState, i64)>, QueryError> {
    let Some(receive) = receive.filter(|state| state.category != ActivityCategory::Busy) else { return Ok(None) };
    let begin = receive.life.from.0;
    if begin <= message.send_time {
        return Ok(None);
    }
    let send = innermost_state(execution, message.from as usize, message.send_time)?;
    let send = send.filter(|send| send.category != ActivityCategory::Busy && send.life.to.0 >= begin);
    // Of several containers, such as workers, the one that sleeps is not the one that sends.
    let groups = execution.units().list().get(message.from as usize).map_or(0, |unit| unit.groups.len());
    let send = send.filter(|send| groups < 2 || has_name(execution, send, is_send));
    let send = send.filter(|send| !has_name(execution, send, is_nonblocking_send));
    Ok(send.map(|send| (send, begin)))
}

fn has_name(execution: &Execution, state: &InnermostState, is_name: impl Fn(&str) -> bool) -> bool {
    execution.model().values.get(state.value.index()).is_some_and(|value| is_name(&value.name))
}

/// The dependence of a wait for a lock on its release.
fn of_lock_wait(wait: &LockWait) -> Option<Dependence> {
    let release = wait.release?;
    Some(Dependence {
        source: UnitMoment { unit: release.unit, time: release.time },
        start: wait.life.from.0,
        reached: release.time,
        end: wait.life.to.0,
        reason: DependenceReason::Lock,
        strength: if release.is_certain { DependenceStrength::Certain } else { DependenceStrength::Unknown },
    })
}

/// The dependence of a part of a collective operation: on the last part for which it waits. If the
/// root is unknown, the others can only have waited for the last unit.
fn of_part(operation: &Collective, part: &CollectivePart) -> Option<Dependence> {
    // The unit worked until the operation was complete.
    if part.wait_from >= part.leave && part.enter < part.leave {
        return None;
    }
    let later = |other: &CollectivePart| other.unit != part.unit && other.enter > part.wait_from;
    let has_unknown_root = operation.kind.has_root() && operation.root().is_none();
    let (awaited, strength) = if has_unknown_root {
        (operation.last_entered().filter(|last| later(last))?, DependenceStrength::Unknown)
    } else if let Some(awaited) = operation.wait_cause(part) {
        (awaited, DependenceStrength::Certain)
    } else {
        // The data of the root may have arrived after the member entered.
        let root = operation.root().filter(|root| root.unit != part.unit && !part.is_root)?;
        (root, DependenceStrength::Possible)
    };
    // Otherwise the clocks are wrong.
    (awaited.enter <= part.leave).then_some(Dependence {
        source: UnitMoment { unit: awaited.unit, time: awaited.enter },
        start: part.wait_from,
        reached: awaited.enter,
        end: part.leave,
        reason: DependenceReason::Collective,
        strength,
    })
}
