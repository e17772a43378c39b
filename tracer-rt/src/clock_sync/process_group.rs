//! Samples among many processes.
//! One process per clock, its leader, takes part. Two leaders meet if their numbers differ in one
//! bit.
//!
//! Process 0 collects the identity of each process and sends each one its meetings, so that the
//! other processes need not know all clocks. In round `k` leader `i` meets leader `i XOR 2^k`, and
//! the lower number asks. Rounds are in order, so that there are no circular waits.

use std::io;
use std::time::{Duration, Instant};

use super::exchange::{self, SyncHello, out_of_step, pack, receive, settle_burst};
use super::sync_link::SyncLink;
use crate::reentrancy::run_unnested;
use crate::state::STATE;

/// Identifies these messages.
const PLAN: u64 = 0x7402;
const POINT: u64 = 0x7403;
/// Instead of a leader's number: the process is not a leader.
const NONE: u32 = u32::MAX;

/// Processes that take samples together. All of them call the same functions in the same order.
#[derive(Debug)]
pub struct SyncGroup<L> {
    link: L,
    me: u32,
    size: u32,
    /// Number of sync points since the last samples.
    points: u64,
    /// The sync point at which process 0 next checks the time.
    next_check: u64,
    /// Time of the last samples.
    start: Instant,
}

/// The meetings of a process, for each round one or none.
struct SyncSchedule {
    leader: u32,
    burst: u32,
    exchanges: u32,
    meetings: Vec<Option<SyncMeeting>>,
}

/// The peer of a round: its number in the group, and its process id.
#[derive(Clone, Copy)]
struct SyncMeeting {
    peer: u32,
    id: u64,
}

/// The decision of process 0 at a sync point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SyncDecision {
    /// Whether samples are due.
    is_due: bool,
    /// The sync point of the next check.
    next_check: u64,
}

impl<L: SyncLink> SyncGroup<L> {
    /// Creates the group of `size` processes, numbered from 0.
    /// This process is `me`. The link reaches all others by these numbers.
    pub fn new(link: L, me: u32, size: u32) -> Self {
        Self { link, me, size, points: 0, next_check: 1, start: Instant::now() }
    }

    /// Returns the link, for the program's own use.
    pub fn into_inner(self) -> L {
        self.link
    }

    /// Takes samples now.
    /// All processes call it. The number of exchanges of process 0 applies to all.
    ///
    /// # Errors
    /// Errors of the link, or an unexpected message of a peer.
    pub fn sync(&mut self) -> io::Result<()> {
        (self.points, self.next_check, self.start) = (0, 1, Instant::now());
        if self.size < 2 {
            return Ok(());
        }
        let plan = if self.me == 0 { self.plan_all()? } else { self.receive_plan()? };
        settle_burst(plan.burst);
        for (round, meeting) in plan.meetings.iter().enumerate() {
            let Some(SyncMeeting { peer, id }) = *meeting else { continue };
            if plan.leader & 1 << round == 0 {
                exchange::ask(&mut self.link, peer, id, plan.burst, plan.exchanges)?;
            } else {
                exchange::answer(&mut self.link, peer, plan.exchanges)?;
            }
        }
        Ok(())
    }

    /// Takes samples if the last ones are older than
    /// [`RecorderConfig::sync_interval`](crate::RecorderConfig::sync_interval). Returns whether it
    /// did. The time of process 0 decides. All processes call it, as in the outer loop of a
    /// computation. Most calls only count: each time process 0 checks the time, all processes learn
    /// at which call it checks next.
    ///
    /// # Errors
    /// As [`Self::sync`].
    pub fn sync_point(&mut self) -> io::Result<bool> {
        self.points = self.points.saturating_add(1);
        if self.size < 2 || self.points < self.next_check {
            return Ok(false);
        }
        let SyncDecision { is_due, next_check } = self.share_decision()?;
        self.next_check = next_check;
        if is_due {
            self.sync()?;
        }
        Ok(is_due)
    }

    /// Sends the decision of process 0 down a tree of processes.
    fn share_decision(&mut self) -> io::Result<SyncDecision> {
        let (shared, mut below);
        if self.me == 0 {
            shared = plan_check(self.points, self.start.elapsed(), interval());
            below = u64::from(self.size).next_power_of_two();
        } else {
            let bit = 1 << self.me.trailing_zeros();
            let [decision, then, kind] = receive(&mut self.link, self.me ^ bit)?;
            if kind != POINT {
                return Err(out_of_step(self.me ^ bit, "the decision whether samples are due", kind));
            }
            shared = SyncDecision { is_due: decision != 0, next_check: then };
            below = u64::from(bit);
        }
        while below > 1 {
            below /= 2;
            if u64::from(self.me) + below < u64::from(self.size) {
                self.link.send(self.me + below as u32, &pack([u64::from(shared.is_due), shared.next_check, POINT]))?;
            }
        }
        Ok(shared)
    }

    fn plan_all(&mut self) -> io::Result<SyncSchedule> {
        let mut messages = vec![SyncHello::of_this_process()];
        for peer in 1..self.size {
            messages.push(SyncHello::receive(&mut self.link, peer)?);
        }
        let burst = messages.iter().map(|hello| hello.burst).max().unwrap_or(0);
        let exchanges = messages[0].exchanges;
        let leaders = leaders(&messages);
        let rounds = leaders.len().next_power_of_two().trailing_zeros();
        let mut own_schedule = SyncSchedule { leader: NONE, burst, exchanges, meetings: Vec::new() };
        for (peer, _) in (0..self.size).zip(&messages) {
            let leader = leaders.iter().position(|leader| *leader == peer).map_or(NONE, |index| index as u32);
            let rounds = if leader == NONE || exchanges == 0 { 0 } else { rounds };
            let meetings = (0..rounds).map(|round| {
                let other = *leaders.get((leader ^ 1 << round) as usize)?;
                Some(SyncMeeting { peer: other, id: messages[other as usize].id })
            });
            let meetings: Vec<_> = meetings.collect();
            if peer == 0 {
                own_schedule = SyncSchedule { leader, meetings, ..own_schedule };
                continue;
            }
            let numbers = u64::from(burst) | u64::from(exchanges) << 32;
            self.link.send(peer, &pack([u64::from(leader) | u64::from(rounds) << 32, numbers, PLAN]))?;
            for (round, meeting) in (0u64..).zip(meetings) {
                let other = meeting.unwrap_or(SyncMeeting { peer: NONE, id: 0 });
                self.link.send(peer, &pack([u64::from(other.peer), other.id, round]))?;
            }
        }
        Ok(own_schedule)
    }

    fn receive_plan(&mut self) -> io::Result<SyncSchedule> {
        self.link.send(0, &SyncHello::of_this_process().encode())?;
        let [leader_and_rounds, numbers, kind] = receive(&mut self.link, 0)?;
        let rounds = leader_and_rounds >> 32;
        if kind != PLAN || rounds > 32 {
            return Err(out_of_step(0, "the first partner", kind));
        }
        let mut meetings = Vec::new();
        for round in 0..rounds {
            let [partner, id, number] = receive(&mut self.link, 0)?;
            if number != round {
                return Err(out_of_step(0, "the next partner", number));
            }
            meetings.push((partner != u64::from(NONE)).then_some(SyncMeeting { peer: partner as u32, id }));
        }
        Ok(SyncSchedule {
            leader: leader_and_rounds as u32,
            burst: numbers as u32,
            exchanges: (numbers >> 32) as u32,
            meetings,
        })
    }
}

/// The first process of each clock, among the processes that record.
fn leaders(messages: &[SyncHello]) -> Vec<u32> {
    let mut domains = std::collections::HashSet::new();
    let first = |(_, hello): &(u32, &SyncHello)| hello.id != 0 && domains.insert(hello.domain);
    (0u32..).zip(messages).filter(first).map(|(peer, _)| peer).collect()
}

/// Minimum time between samples at sync points. 0 if none are taken.
fn interval() -> Duration {
    let mut interval = Duration::ZERO;
    run_unnested(|| {
        let state = STATE.lock();
        interval = if state.sync_exchanges == 0 { Duration::ZERO } else { state.sync_interval };
    });
    interval
}

/// Whether samples are due, and the sync point of the next check.
/// That is half of the remaining points at the current pace, but at most twice the points so far,
/// because the pace may change.
fn plan_check(points: u64, elapsed: Duration, interval: Duration) -> SyncDecision {
    if interval.is_zero() {
        return SyncDecision { is_due: false, next_check: u64::MAX };
    }
    let Some(remaining_time) = interval.checked_sub(elapsed).filter(|remaining_time| !remaining_time.is_zero()) else {
        return SyncDecision { is_due: true, next_check: 1 };
    };
    let points = points.max(1);
    let remaining = remaining_time.as_secs_f64() / 2.0 * points as f64 / elapsed.as_secs_f64().max(1e-9);
    SyncDecision { is_due: false, next_check: points.saturating_add((remaining as u64).clamp(1, points)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_checked_rarely_and_soon_enough() {
        let (interval, pace) = (Duration::from_secs(60), Duration::from_micros(10));
        let (mut next_check, mut checks) = (1u64, 0);
        loop {
            let elapsed = pace * u32::try_from(next_check).unwrap();
            let decision = plan_check(next_check, elapsed, interval);
            checks += 1;
            if decision.is_due {
                assert!(elapsed >= interval && elapsed < interval + pace * 2, "{elapsed:?}");
                break;
            }
            assert!(decision.next_check > next_check && decision.next_check <= 2 * next_check);
            next_check = decision.next_check;
        }
        assert!(checks < 60, "{checks}");
        assert_eq!(
            plan_check(5, interval, Duration::ZERO),
            SyncDecision { is_due: false, next_check: u64::MAX },
            "switched off"
        );
    }

    #[test]
    fn one_process_of_each_clock_that_records_leads() {
        let hello = |id, domain| SyncHello { id, domain, burst: 0, exchanges: 0 };
        assert_eq!(leaders(&[hello(0, 7), hello(1, 7), hello(2, 7), hello(3, 8), hello(0, 0), hello(5, 9)]), [1, 3, 5]);
    }
}
