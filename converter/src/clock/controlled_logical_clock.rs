//! The causal pass: after it no link ends before it starts, however wrong the clocks were.
//!
//! A controlled logical clock (R. Rabenseifner, 1997), forward only: links are visited in causal order; an end that is dated
//! before its start is moved behind it, and its stream with it, which then runs slower by 1e-4 until it is back on its
//! line; what the clocks cannot tell apart it makes good at once. Dates only move later. What is moved is a function of the date and the position in the stream ([`Jumps`]), in
//! integers, so that the second pass over the run finds exactly the dates that were made sure of here.
//!
//! A stream is read until an end whose start was not met yet; there it waits. Memory is that of the links in flight and of
//! the ends that wait behind others. Where one clock dates everything and each link ends later than it starts, there is nothing to do, which the
//! log tells without being read. When streams wait for each other in a circle, the links contradict the order of their
//! own streams: the earliest end of the circle is let go, and counted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::Clocks;
use super::domain::timestamp_map::{Fine, Jump, Jumps};
use super::link_log::{LinkEnd, LinkLog};
use super::steps::from_messages::OF_TICKS;

/// A link takes at least so long once it was moved, nanoseconds.
const LEAST: i64 = 1;
/// When more ends wait than this, circles are looked for.
const MANY: usize = 1 << 20;
/// Moves of this size mean that the clock model is wrong, nanoseconds.
pub(crate) const LARGE_NANOS: i64 = 10_000;

/// What the causal pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Causality {
    /// Complete links.
    pub links: u64,
    /// Links that ended before they started.
    pub reversed: u64,
    /// Links whose end had to be moved: those, and links whose start was moved behind their end.
    pub moved: u64,
    /// The farthest that a date was moved, nanoseconds.
    pub largest_nanos: i64,
    /// Links that contradict the order of their own streams and may still be reversed.
    pub circular: u64,
}

impl Causality {
    /// Whether so much had to be moved that the clock model must be wrong.
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        self.reversed * 1000 > self.links || self.largest_nanos >= LARGE_NANOS
    }

    /// Of so many links, each of which ended later than it started.
    pub(crate) fn of_forward(links: u64) -> Self {
        Self { links, ..Self::default() }
    }

    /// Whether more had to be moved than the clocks can be off, as far as that is known.
    fn is_impossible(&self, clocks: &Clocks) -> bool {
        let mut certain = clocks.domains[1..].iter().map(|domain| domain.certified_nanos);
        let certain = certain.try_fold(0.0, |most, own| own.map(|own| f64::max(most, own)));
        #[expect(clippy::cast_precision_loss, reason = "compared with a bound")]
        let beyond = |certain: f64| self.largest_nanos as f64 > 2.0 * certain + OF_TICKS * clocks.granularity();
        clocks.domains.len() > 1 && self.largest_nanos >= LARGE_NANOS && certain.is_some_and(beyond)
    }

    fn moved(&self) -> String {
        let Self { links, reversed, largest_nanos, .. } = *self;
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let micros = largest_nanos as f64 * 1e-3;
        format!(
            "{reversed} of {links} links ended before they started; dates were moved by up to {micros:.1} us to put them in order"
        )
    }

    /// What is wrong with the run: one sentence each.
    pub(crate) fn faults(&self, clocks: &Clocks) -> Vec<String> {
        let Self { links, circular, .. } = *self;
        let mut faults = Vec::new();
        if circular > 0 {
            faults.push(format!(
                "{circular} of {links} links contradict the order of the records in their streams, so no dates can put them in order: do the keys of the rules pair the right ends?"
            ));
        }
        if self.is_impossible(clocks) {
            faults.push(format!("the clock model is wrong, by more than clocks can be: {}", self.moved()));
        } else if self.is_odd(clocks) && clocks.claim_all() {
            faults.push(format!("the clock model is wrong: {}", self.moved()));
        }
        faults
    }

    /// Whether more had to be moved than it should, and than coarse clocks alone reverse.
    fn is_odd(&self, clocks: &Clocks) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "compared with a bound")]
        let is_beyond_ticks = self.largest_nanos as f64 > OF_TICKS * clocks.granularity();
        self.is_suspicious() && is_beyond_ticks
    }

    /// What a user should know besides: one sentence each.
    pub(crate) fn remarks(&self, clocks: &Clocks) -> Vec<String> {
        let is_told = self.is_odd(clocks) && !self.is_impossible(clocks) && !clocks.claim_all();
        is_told.then(|| format!("the clock model is wrong: {}", self.moved())).into_iter().collect()
    }
}

/// Where one in so many links is reversed by the clocks alone, that is what they are like.
const USUAL: u64 = 20;
/// So many of them are looked at.
const LOOKED_AT: usize = 1 << 16;

/// By how much links are reversed, nanoseconds, up to one in twenty of those that are; 0 where few are. Moves of this size tell nothing of the dates
/// that follow, and would add up: such clocks stand still, or are not what the model takes them for.
///
/// # Errors
/// When the temporary file of the log cannot be read.
pub(crate) fn usual_reversal(log: &LinkLog, fines: &[Fine]) -> io::Result<i64> {
    let (mut links, mut reversed, mut every) = (0u64, 0u64, 1u64);
    let mut sizes: Vec<i64> = Vec::new();
    let date = |end: &LinkEnd| fines.get(end.stream as usize).map_or(end.date, |fine| fine.line(end.date));
    log.pairs(|start, finish| {
        links += 1;
        let early = date(start).saturating_sub(date(finish));
        if early <= 0 {
            return;
        }
        reversed += 1;
        if reversed.is_multiple_of(every) {
            sizes.push(early);
        }
        if sizes.len() == LOOKED_AT {
            // Every second of what is there, and of what comes.
            let mut at = 0;
            sizes.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            every *= 2;
        }
    })?;
    sizes.sort_unstable();
    let usual = sizes.get(sizes.len() * 19 / 20).copied().unwrap_or(0);
    Ok(if reversed * USUAL > links { usual } else { 0 })
}

/// Fills in the jumps of each stream.
///
/// # Errors
/// When the temporary file of the log cannot be read.
pub(crate) fn restore_order(log: &LinkLog, fines: &mut [Fine]) -> io::Result<Causality> {
    // Nothing would be moved, and no circle be found: along streams and links dates never decrease, and along links they increase.
    if log.is_forward() && fines.iter().all(Fine::is_identity) {
        return Ok(Causality::of_forward(log.links()));
    }
    visit_all(log, fines)
}

/// The pass itself.
fn visit_all(log: &LinkLog, fines: &mut [Fine]) -> io::Result<Causality> {
    let mut pass = Pass::new(log, fines);
    let mut record: SmallVec<[LinkEnd; 4]> = SmallVec::new();
    log.read(|end| {
        // The ends that one record tells come one after the other.
        if record.first().is_some_and(|first| (first.stream, first.ordinal) != (end.stream, end.ordinal)) {
            pass.take(&record);
            record.clear();
        }
        record.push(end);
    })?;
    pass.take(&record);
    pass.drain();
    let Pass { streams, mut found, .. } = pass;
    found.links = log.links();
    for (fine, stream) in fines.iter_mut().zip(streams) {
        fine.jumps = Jumps(stream.jumps.into());
    }
    Ok(found)
}

/// The ends of links at one place of a stream.
#[derive(Clone, Debug)]
struct Node {
    coarse: i64,
    /// With all but what this pass adds.
    date: i64,
    ordinal: u64,
    starts: SmallVec<[u64; 2]>,
    finishes: SmallVec<[u64; 2]>,
}

/// What was met of a stream.
#[derive(Debug, Default)]
struct Stream {
    /// In order, waiting for the first of them.
    queue: VecDeque<Node>,
    /// Where ends come in another order than their dates: those that something earlier may still come before.
    unsorted: BinaryHeap<Reverse<(i64, u64, bool, u64)>>,
    ends: u64,
    /// The link that the first in the queue waits for.
    waits_for: Option<u64>,
    jumps: Vec<Jump>,
}

struct Pass<'p> {
    log: &'p LinkLog,
    fines: &'p [Fine],
    streams: Vec<Stream>,
    /// Starts whose end was not met: date before and after the pass.
    started: FxHashMap<u64, (i64, i64)>,
    /// Streams that wait, by the link that they wait for.
    waiting: FxHashMap<u64, usize>,
    /// Where the starts are that were met but wait behind others.
    queued: FxHashMap<u64, usize>,
    /// Links that were given up.
    released: FxHashSet<u64>,
    waiting_ends: usize,
    look_at: usize,
    found: Causality,
}

impl<'p> Pass<'p> {
    fn new(log: &'p LinkLog, fines: &'p [Fine]) -> Self {
        let mut streams = Vec::new();
        streams.resize_with(fines.len().max(log.streams()), Stream::default);
        Self {
            log,
            fines,
            streams,
            started: FxHashMap::default(),
            waiting: FxHashMap::default(),
            queued: FxHashMap::default(),
            released: FxHashSet::default(),
            waiting_ends: 0,
            look_at: MANY,
            found: Causality::default(),
        }
    }

    /// The ends that one record tells.
    fn take(&mut self, ends: &[LinkEnd]) {
        let Some(first) = ends.first() else { return };
        let number = first.stream as usize;
        if self.log.is_unsorted(number) {
            self.take_unsorted(number, ends);
            return;
        }
        let mut node = self.node(number, first.date, first.ordinal);
        for end in ends {
            if end.date != node.coarse {
                let next = self.node(number, end.date, end.ordinal);
                self.enqueue(number, std::mem::replace(&mut node, next));
            }
            if end.is_finish { node.finishes.push(end.link) } else { node.starts.push(end.link) }
        }
        self.enqueue(number, node);
        self.advance(number);
    }

    fn take_unsorted(&mut self, number: usize, ends: &[LinkEnd]) {
        let stream = &mut self.streams[number];
        for end in ends {
            stream.unsorted.push(Reverse((end.date, end.ordinal, end.is_finish, end.link)));
        }
        stream.ends += ends.len() as u64;
        self.waiting_ends += ends.len();
        let floor = self.log.floor(number, stream.ends);
        self.sorted_until(number, floor);
        self.advance(number);
    }

    /// Takes from a stream's heap what nothing can come before any more.
    fn sorted_until(&mut self, number: usize, floor: i64) {
        let mut node: Option<Node> = None;
        while let Some(&Reverse((date, ordinal, is_finish, link))) = self.streams[number].unsorted.peek()
            && date <= floor
        {
            self.streams[number].unsorted.pop();
            self.waiting_ends -= 1;
            if let Some(full) = node.take_if(|node| (node.coarse, node.ordinal) != (date, ordinal)) {
                self.enqueue(number, full);
            }
            let node = node.get_or_insert_with(|| self.node(number, date, ordinal));
            if is_finish { node.finishes.push(link) } else { node.starts.push(link) }
        }
        if let Some(node) = node {
            self.enqueue(number, node);
        }
    }

    fn node(&self, number: usize, coarse: i64, ordinal: u64) -> Node {
        let date = self.fines[number].bend.as_ref().map_or(coarse, |bend| bend.date(coarse));
        Node { coarse, date, ordinal, starts: SmallVec::new(), finishes: SmallVec::new() }
    }

    fn enqueue(&mut self, number: usize, node: Node) {
        for start in &node.starts {
            self.queued.insert(*start, number);
        }
        self.waiting_ends += 1;
        self.streams[number].queue.push_back(node);
    }

    /// Goes on with a stream, and with those that waited for it.
    fn advance(&mut self, number: usize) {
        let mut runnable: SmallVec<[usize; 4]> = SmallVec::from_slice(&[number]);
        while let Some(number) = runnable.pop() {
            if self.streams[number].waits_for.is_some() {
                continue;
            }
            while let Some(node) = self.streams[number].queue.front() {
                let missing = |link: &&u64| {
                    !self.started.contains_key(*link) && !self.released.contains(*link) && !node.starts.contains(*link)
                };
                if let Some(&link) = node.finishes.iter().find(missing) {
                    self.streams[number].waits_for = Some(link);
                    self.waiting.insert(link, number);
                    break;
                }
                let Some(node) = self.streams[number].queue.pop_front() else { break };
                self.waiting_ends -= 1;
                self.visit(number, &node, &mut runnable);
            }
        }
        if self.waiting_ends > self.look_at {
            self.look_at = usize::MAX;
            self.release_circles();
            self.look_at = MANY.max(2 * self.waiting_ends);
        }
    }

    fn visit(&mut self, number: usize, node: &Node, runnable: &mut SmallVec<[usize; 4]>) {
        let jumps = &mut self.streams[number].jumps;
        let tick = self.fines.get(number).map_or(0, |fine| fine.tick);
        let mut date = node.date + jumps.last().map_or(0, |jump| jump.shift_at(node.date, tick));
        let mut need = i64::MIN;
        for link in &node.finishes {
            // The start of a link that was given up is visited later, that of one without length is here.
            let Some((before, after)) = self.started.remove(link) else { continue };
            self.found.reversed += u64::from(before > node.date);
            if after > date {
                self.found.moved += 1;
                need = need.max(after + LEAST);
            }
        }
        if need > date {
            let Node { coarse, ordinal, .. } = *node;
            let leap = self.fines[number]
                .leaps
                .iter()
                .flat_map(|leaps| leaps.iter())
                .find(|leap| leap.date > node.date)
                .copied();
            let jump = Jump { coarse, ordinal, date: node.date, shift: need - node.date, leap };
            self.found.largest_nanos = self.found.largest_nanos.max(jump.shift);
            date = node.date + jump.shift;
            jumps.push(jump);
        }
        for link in &node.starts {
            self.queued.remove(link);
            if self.released.contains(link) || node.finishes.contains(link) {
                continue;
            }
            self.started.insert(*link, (node.date, date));
            if let Some(waiter) = self.waiting.remove(link) {
                self.streams[waiter].waits_for = None;
                runnable.push(waiter);
            }
        }
    }

    /// Nothing comes any more.
    fn drain(&mut self) {
        for number in 0..self.streams.len() {
            self.sorted_until(number, i64::MAX);
            self.advance(number);
        }
        while self.release_circles() {}
    }

    /// Finds streams that wait for each other in circles, and lets the earliest end of each go. O(streams).
    fn release_circles(&mut self) -> bool {
        let waits_in = |number: usize| self.queued.get(&self.streams[number].waits_for?).copied();
        let mut seen = vec![0usize; self.streams.len()];
        let mut circles: Vec<usize> = Vec::new();
        for start in 0..self.streams.len() {
            let mut at = start;
            while seen[at] == 0 {
                seen[at] = start + 1;
                let Some(next) = waits_in(at) else { break };
                at = next;
                if seen[at] != start + 1 {
                    continue;
                }
                let key =
                    |number: usize| (self.streams[number].queue.front().map_or(i64::MAX, |node| node.date), number);
                let (mut earliest, mut on) = (key(at), at);
                while let Some(next) = waits_in(on).filter(|next| *next != at) {
                    on = next;
                    earliest = earliest.min(key(on));
                }
                circles.push(earliest.1);
            }
        }
        for &number in &circles {
            if let Some(link) = self.streams[number].waits_for.take() {
                self.waiting.remove(&link);
                self.released.insert(link);
                self.found.circular += 1;
            }
        }
        for &number in &circles {
            self.advance(number);
        }
        !circles.is_empty()
    }
}

#[cfg(test)]
mod tests;
