//! The causal pass on random programs with arbitrarily wrong clocks.

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::clock::correction::{CorrectionPoint, TimestampCorrection};

/// The position of a record.
#[derive(Clone, Copy, Debug)]
struct RandomRecord {
    stream: usize,
    /// The index in the stream.
    position: usize,
}

/// A link of a random program.
#[derive(Clone, Copy, Debug)]
struct RandomLink {
    start: RandomRecord,
    finish: RandomRecord,
}

/// An endpoint in the order in which the first pass meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RandomEndpoint {
    timestamp: i64,
    stream: usize,
    ordinal: usize,
    link: usize,
    is_finish: bool,
}

/// A run: the raw timestamps of the records of each stream, and links between records.
#[derive(Clone, Debug)]
struct RandomProgram {
    timestamps: Vec<Vec<i64>>,
    links: Vec<RandomLink>,
}

/// Records happen one after the other, each in some stream. Links go from earlier records to later
/// ones, so there is no cycle. The timestamps are arbitrary, but do not decrease within a stream.
fn program() -> impl Strategy<Value = RandomProgram> {
    let steps = prop::collection::vec((0usize..6, 0i64..40), 2..120);
    let links = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..80);
    let offsets = prop::collection::vec(-300i64..300, 6);
    (steps, links, offsets).prop_map(|(steps, links, offsets)| {
        let mut timestamps = vec![Vec::new(); 6];
        let mut records = Vec::new();
        for (stream, step) in &steps {
            let last = timestamps[*stream].last().copied().unwrap_or(1000 + offsets[*stream]);
            timestamps[*stream].push(last + step);
            records.push(RandomRecord { stream: *stream, position: timestamps[*stream].len() - 1 });
        }
        let pairs = links.into_iter().map(|(a, b)| (a.index(records.len()), b.index(records.len())));
        let links = pairs.filter(|(a, b)| a < b);
        let links = links.map(|(a, b)| RandomLink { start: records[a], finish: records[b] }).collect();
        RandomProgram { timestamps, links }
    })
}

impl RandomProgram {
    /// The endpoints in order of timestamps, as the first pass meets them.
    fn log(&self) -> LinkLog {
        let mut ends = Vec::new();
        for (link, RandomLink { start, finish }) in self.links.iter().enumerate() {
            for (record, is_finish) in [(*start, false), (*finish, true)] {
                ends.push(self.endpoint(link, record, is_finish));
            }
        }
        ends.sort_unstable();
        log_of(&ends)
    }

    fn timestamp(&self, record: RandomRecord) -> i64 {
        self.timestamps[record.stream][record.position]
    }

    fn endpoint(&self, link: usize, record: RandomRecord, is_finish: bool) -> RandomEndpoint {
        RandomEndpoint {
            timestamp: self.timestamp(record),
            stream: record.stream,
            ordinal: record.position,
            link,
            is_finish,
        }
    }

    fn maps(&self) -> Vec<TimestampMap> {
        vec![TimestampMap::default(); self.timestamps.len()]
    }

    fn final_timestamps(&self, maps: &[TimestampMap]) -> Vec<Vec<i64>> {
        let of = |(stream, timestamps): (usize, &Vec<i64>)| {
            timestamps
                .iter()
                .enumerate()
                .map(|(index, timestamp)| maps[stream].correct(*timestamp, index as u64))
                .collect()
        };
        self.timestamps.iter().enumerate().map(of).collect()
    }

    fn reversed(&self, timestamps: &[Vec<i64>]) -> usize {
        let timestamp = |record: RandomRecord| timestamps[record.stream][record.position];
        self.links.iter().filter(|link| timestamp(link.finish) < timestamp(link.start)).count()
    }
}

/// The log of these endpoints.
fn log_of(ends: &[RandomEndpoint]) -> LinkLog {
    let mut log = LinkLog::with_memory(1 << 20);
    let mut numbers = std::collections::BTreeMap::new();
    for &RandomEndpoint { timestamp, stream, ordinal, link, is_finish } in ends {
        let (stream, ordinal) = (u32::try_from(stream).unwrap(), ordinal as u64);
        match numbers.get(&link) {
            Some(&first) => log.add_second_endpoint(first, stream, timestamp, ordinal, is_finish),
            None => {
                numbers.insert(link, (log.add_first_endpoint(stream, timestamp, ordinal, is_finish), timestamp));
            }
        }
    }
    let incomplete = numbers.iter().filter(|(link, _)| ends.iter().filter(|end| end.link == **link).count() == 1);
    let incomplete = incomplete.map(|(_, (number, _))| *number).collect();
    log.finish(incomplete).unwrap();
    log
}

proptest! {
    #[test]
    fn no_link_is_reversed_and_no_stream_goes_back(program in program(), is_corrected in any::<bool>()) {
        let mut maps = program.maps();
        if is_corrected {
            let points = [(900, 0), (1000, 70), (2000, -10)].map(|(raw, correction)| CorrectionPoint { raw, correction });
            maps[0].correction = Some(Arc::new(TimestampCorrection::from_points(&points)));
        }
        let before = program.reversed(&program.final_timestamps(&maps));
        let report = restore_order(&program.log(), &mut maps).unwrap();
        let timestamps = program.final_timestamps(&maps);
        prop_assert_eq!(program.reversed(&timestamps), 0, "{:?}", timestamps);
        prop_assert!(timestamps.iter().all(|timestamps| timestamps.is_sorted()), "{:?}", timestamps);
        prop_assert_eq!(report.circular, 0);
        prop_assert_eq!(report.links as usize, program.links.len());
        prop_assert_eq!(report.reversals as usize, before);
        prop_assert_eq!(report.moved_links == 0, before == 0);
        prop_assert_eq!(report.largest_nanos == 0, before == 0);
        if before == 0 {
            prop_assert!(maps.iter().all(|map| map.jumps.0.is_empty()));
        }
    }

    #[test]
    fn forward_links_need_no_correction(program in program(), min_latency in 0i64..2) {
        let mut program = program;
        let RandomProgram { timestamps, links } = &mut program;
        let timestamp = |record: RandomRecord| timestamps[record.stream][record.position];
        links.retain(|link| timestamp(link.start) + min_latency <= timestamp(link.finish));
        let log = program.log();
        let (mut maps, mut all) = (program.maps(), program.maps());
        prop_assert!(min_latency == 0 || log.is_forward());
        prop_assert_eq!(restore_order(&log, &mut maps).unwrap(), visit_all(&log, &mut all).unwrap());
        prop_assert!(maps.iter().zip(&all).all(|(map, other)| map.jumps == other.jumps));
    }

    #[test]
    fn the_order_of_streams_does_not_matter(program in program(), shuffle in Just([3usize, 5, 0, 1, 4, 2])) {
        let mut maps = program.maps();
        let report = restore_order(&program.log(), &mut maps).unwrap();
        let mut shuffled = program.clone();
        for (from, &to) in shuffle.iter().enumerate() {
            shuffled.timestamps[to].clone_from(&program.timestamps[from]);
        }
        for RandomLink { start, finish } in &mut shuffled.links {
            start.stream = shuffle[start.stream];
            finish.stream = shuffle[finish.stream];
        }
        let mut others = program.maps();
        prop_assert_eq!(restore_order(&shuffled.log(), &mut others).unwrap(), report);
        for (from, &to) in shuffle.iter().enumerate() {
            prop_assert_eq!(&others[to].jumps, &maps[from].jumps);
        }
    }

    /// Rules may give endpoints a different timestamp than that of their record.
    #[test]
    fn ends_may_arrive_later_than_their_timestamp(program in program(), delays in prop::collection::vec(0usize..90, 160)) {
        let delays = Cell::new(delays.into_iter().cycle().take(1000).collect::<Vec<_>>().into_iter());
        let mut ends = Vec::new();
        let mut delays = delays.into_inner();
        for (link, RandomLink { start, finish }) in program.links.iter().enumerate() {
            for (record, is_finish) in [(*start, false), (*finish, true)] {
                let ordinal = record.position + delays.next().unwrap_or(0);
                ends.push(RandomEndpoint { ordinal, ..program.endpoint(link, record, is_finish) });
            }
        }
        ends.sort_unstable_by_key(|end| (end.ordinal, *end));
        let log = log_of(&ends);
        let mut maps = program.maps();
        let report = restore_order(&log, &mut maps).unwrap();
        let timestamp = |link: usize, finish: bool| {
            let end = ends.iter().find(|end| end.link == link && end.is_finish == finish).unwrap();
            maps[end.stream].correct(end.timestamp, end.ordinal as u64)
        };
        // Out of order, equal timestamps of a stream may form cycles. They are counted.
        let reversed = (0..program.links.len()).filter(|link| timestamp(*link, true) < timestamp(*link, false)).count() as u64;
        prop_assert!(reversed <= report.circular, "{reversed} {report:?}");
    }

    #[test]
    fn a_missing_end_delays_no_other_link(program in program(), missing in any::<prop::sample::Index>()) {
        prop_assume!(!program.links.is_empty());
        let missing = missing.index(program.links.len());
        let mut ends = Vec::new();
        for (number, RandomLink { start, finish }) in program.links.iter().enumerate() {
            ends.push(program.endpoint(number, *finish, true));
            if number != missing {
                ends.push(program.endpoint(number, *start, false));
            }
        }
        ends.sort_unstable();
        let mut maps = program.maps();
        let report = restore_order(&log_of(&ends), &mut maps).unwrap();
        prop_assert_eq!(report.links as usize, program.links.len() - 1);
        let mut rest = program.clone();
        rest.links.remove(missing);
        prop_assert_eq!(rest.reversed(&rest.final_timestamps(&maps)), 0);
    }
}

fn endpoint((timestamp, stream, ordinal, link, is_finish): (i64, usize, usize, usize, bool)) -> RandomEndpoint {
    RandomEndpoint { timestamp, stream, ordinal, link, is_finish }
}

#[test]
fn a_cycle_is_reported_and_the_rest_is_ordered() {
    // Each stream receives a message before it sends the message that the other one receives first.
    // A third stream is late.
    let ends = [
        (0, 2, 0, 2, true),
        (10, 0, 0, 0, true),
        (10, 1, 0, 1, true),
        (20, 0, 1, 1, false),
        (20, 1, 1, 0, false),
        (30, 0, 2, 2, false),
    ]
    .map(endpoint);
    let mut maps = vec![TimestampMap::default(); 3];
    let report = restore_order(&log_of(&ends), &mut maps).unwrap();
    assert_eq!((report.links, report.circular), (3, 1));
    assert!(maps[2].correct(0, 0) > maps[0].correct(30, 2));
}

#[test]
fn a_stream_returns_to_its_clock() {
    // The receiver's clock is late by 1000 ns.
    let ends = [(5, 1, 0, 0, true), (1005, 0, 0, 0, false)].map(endpoint);
    let mut maps = vec![TimestampMap::default(); 2];
    let report = restore_order(&log_of(&ends), &mut maps).unwrap();
    assert_eq!((report.reversals, report.moved_links, report.largest_nanos), (1, 1, 1001));
    assert_eq!(maps[1].correct(4, 0), 4);
    assert_eq!(maps[1].correct(5, 0), 1006);
    assert_eq!(maps[1].correct(5_000_005, 1), 5_000_506);
    assert_eq!(maps[1].correct(20_000_000, 2), 20_000_000);
    assert!(report.is_suspicious());
}
