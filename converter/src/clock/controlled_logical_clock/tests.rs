//! The causal pass on random programs with arbitrarily wrong clocks.

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::clock::correction::TimestampCorrection;

/// A link of a random program: (stream, index in the stream) of its endpoints.
type RandomLink = ((usize, usize), (usize, usize));

/// A run: the raw timestamps of the records of each stream, and links between records.
#[derive(Clone, Debug)]
struct RandomProgram {
    dates: Vec<Vec<i64>>,
    links: Vec<RandomLink>,
}

/// Records happen one after the other, each in some stream. Links go from earlier records to later
/// ones, so there is no circle. The timestamps are arbitrary, but do not decrease within a stream.
fn program() -> impl Strategy<Value = RandomProgram> {
    let steps = prop::collection::vec((0usize..6, 0i64..40), 2..120);
    let links = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..80);
    let offsets = prop::collection::vec(-300i64..300, 6);
    (steps, links, offsets).prop_map(|(steps, links, offsets)| {
        let mut dates = vec![Vec::new(); 6];
        let mut places = Vec::new();
        for (stream, step) in &steps {
            let last = dates[*stream].last().copied().unwrap_or(1000 + offsets[*stream]);
            dates[*stream].push(last + step);
            places.push((*stream, dates[*stream].len() - 1));
        }
        let mut made = Vec::new();
        for (a, b) in links {
            let (a, b) = (a.index(places.len()), b.index(places.len()));
            if a < b {
                made.push((places[a], places[b]));
            }
        }
        RandomProgram { dates, links: made }
    })
}

impl RandomProgram {
    /// The endpoints in order of timestamps, as the first pass meets them.
    fn log(&self) -> LinkLog {
        let mut ends = Vec::new();
        for (number, (start, finish)) in self.links.iter().enumerate() {
            for (place, is_finish) in [(start, false), (finish, true)] {
                ends.push((self.dates[place.0][place.1], place.0, place.1, number, is_finish));
            }
        }
        ends.sort_unstable();
        log_of(&ends)
    }

    fn fines(&self) -> Vec<TimestampMap> {
        vec![TimestampMap::default(); self.dates.len()]
    }

    fn final_dates(&self, fines: &[TimestampMap]) -> Vec<Vec<i64>> {
        let of = |(stream, dates): (usize, &Vec<i64>)| {
            dates.iter().enumerate().map(|(at, date)| fines[stream].date(*date, at as u64)).collect()
        };
        self.dates.iter().enumerate().map(of).collect()
    }

    fn reversed(&self, dates: &[Vec<i64>]) -> usize {
        self.links.iter().filter(|(start, end)| dates[end.0][end.1] < dates[start.0][start.1]).count()
    }
}

/// (timestamp, stream, ordinal, link, is finish), in the order in which the first pass meets them.
fn log_of(ends: &[(i64, usize, usize, usize, bool)]) -> LinkLog {
    let mut log = LinkLog::with_memory(1 << 20);
    let mut numbers = std::collections::BTreeMap::new();
    for &(date, stream, at, link, is_finish) in ends {
        let (stream, ordinal) = (u32::try_from(stream).unwrap(), at as u64);
        match numbers.get(&link) {
            Some(&first) => log.second(first, stream, date, ordinal, is_finish),
            None => {
                numbers.insert(link, (log.first(stream, date, ordinal, is_finish), date));
            }
        }
    }
    let incomplete = numbers.iter().filter(|(link, _)| ends.iter().filter(|end| end.3 == **link).count() == 1);
    let incomplete = incomplete.map(|(_, (number, _))| *number).collect();
    log.finish(incomplete).unwrap();
    log
}

proptest! {
    #[test]
    fn no_link_is_reversed_and_no_stream_goes_back(program in program(), bent in any::<bool>()) {
        let mut fines = program.fines();
        if bent {
            fines[0].bend = Some(Arc::new(TimestampCorrection::from_points(&[(900, 0), (1000, 70), (2000, -10)])));
        }
        let before = program.reversed(&program.final_dates(&fines));
        let found = restore_order(&program.log(), &mut fines).unwrap();
        let dates = program.final_dates(&fines);
        prop_assert_eq!(program.reversed(&dates), 0, "{:?}", dates);
        prop_assert!(dates.iter().all(|dates| dates.is_sorted()), "{:?}", dates);
        prop_assert_eq!(found.circular, 0);
        prop_assert_eq!(found.links as usize, program.links.len());
        prop_assert_eq!(found.reversed as usize, before);
        prop_assert_eq!(found.moved == 0, before == 0);
        prop_assert_eq!(found.largest_nanos == 0, before == 0);
        if before == 0 {
            prop_assert!(fines.iter().all(|fine| fine.jumps.0.is_empty()));
        }
    }

    #[test]
    fn forward_links_need_no_correction(program in program(), least in 0i64..2) {
        let mut program = program;
        let RandomProgram { dates, links } = &mut program;
        links.retain(|(start, end)| dates[start.0][start.1] + least <= dates[end.0][end.1]);
        let log = program.log();
        let (mut fines, mut all) = (program.fines(), program.fines());
        prop_assert!(least == 0 || log.is_forward());
        prop_assert_eq!(restore_order(&log, &mut fines).unwrap(), visit_all(&log, &mut all).unwrap());
        prop_assert!(fines.iter().zip(&all).all(|(fine, all)| fine.jumps == all.jumps));
    }

    #[test]
    fn the_order_of_streams_does_not_matter(program in program(), shuffle in Just([3usize, 5, 0, 1, 4, 2])) {
        let mut fines = program.fines();
        let found = restore_order(&program.log(), &mut fines).unwrap();
        let mut shuffled = program.clone();
        for (from, &to) in shuffle.iter().enumerate() {
            shuffled.dates[to].clone_from(&program.dates[from]);
        }
        for (start, end) in &mut shuffled.links {
            start.0 = shuffle[start.0];
            end.0 = shuffle[end.0];
        }
        let mut others = program.fines();
        prop_assert_eq!(restore_order(&shuffled.log(), &mut others).unwrap(), found);
        for (from, &to) in shuffle.iter().enumerate() {
            prop_assert_eq!(&others[to].jumps, &fines[from].jumps);
        }
    }

    /// Rules may give endpoints a different timestamp than that of their record.
    #[test]
    fn ends_may_arrive_later_than_their_timestamp(program in program(), delays in prop::collection::vec(0usize..90, 160)) {
        let delays = Cell::new(delays.into_iter().cycle().take(1000).collect::<Vec<_>>().into_iter());
        let mut told = Vec::new();
        let mut delays = delays.into_inner();
        for (number, (start, finish)) in program.links.iter().enumerate() {
            for (place, is_finish) in [(start, false), (finish, true)] {
                let at = place.1 + delays.next().unwrap_or(0);
                told.push((at, program.dates[place.0][place.1], place.0, number, is_finish));
            }
        }
        told.sort_unstable();
        let ends: Vec<_> =
            told.iter().map(|&(at, date, stream, link, is_finish)| (date, stream, at, link, is_finish)).collect();
        let log = log_of(&ends);
        let mut fines = program.fines();
        let found = restore_order(&log, &mut fines).unwrap();
        let date = |link: usize, finish: bool| {
            let end = ends.iter().find(|end| end.3 == link && end.4 == finish).unwrap();
            fines[end.1].date(end.0, end.2 as u64)
        };
        // Out of order, equal timestamps of a stream may form circles. They are counted.
        let reversed = (0..program.links.len()).filter(|link| date(*link, true) < date(*link, false)).count() as u64;
        prop_assert!(reversed <= found.circular, "{reversed} {found:?}");
    }

    #[test]
    fn a_missing_end_delays_no_other_link(program in program(), lost in any::<prop::sample::Index>()) {
        prop_assume!(!program.links.is_empty());
        let lost = lost.index(program.links.len());
        let mut ends = Vec::new();
        for (number, (start, finish)) in program.links.iter().enumerate() {
            ends.push((program.dates[finish.0][finish.1], finish.0, finish.1, number, true));
            if number != lost {
                ends.push((program.dates[start.0][start.1], start.0, start.1, number, false));
            }
        }
        ends.sort_unstable();
        let mut fines = program.fines();
        let found = restore_order(&log_of(&ends), &mut fines).unwrap();
        prop_assert_eq!(found.links as usize, program.links.len() - 1);
        let mut rest = program.clone();
        rest.links.remove(lost);
        prop_assert_eq!(rest.reversed(&rest.final_dates(&fines)), 0);
    }
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
    ];
    let mut fines = vec![TimestampMap::default(); 3];
    let found = restore_order(&log_of(&ends), &mut fines).unwrap();
    assert_eq!((found.links, found.circular), (3, 1));
    assert!(fines[2].date(0, 0) > fines[0].date(30, 2));
}

#[test]
fn a_stream_returns_to_its_clock() {
    // The receiver's clock is late by 1000 ns.
    let ends = [(5, 1, 0, 0, true), (1005, 0, 0, 0, false)];
    let mut fines = vec![TimestampMap::default(); 2];
    let found = restore_order(&log_of(&ends), &mut fines).unwrap();
    assert_eq!((found.reversed, found.moved, found.largest_nanos), (1, 1, 1001));
    assert_eq!(fines[1].date(4, 0), 4);
    assert_eq!(fines[1].date(5, 0), 1006);
    assert_eq!(fines[1].date(5_000_005, 1), 5_000_506);
    assert_eq!(fines[1].date(20_000_000, 2), 20_000_000);
    assert!(found.is_suspicious());
}
