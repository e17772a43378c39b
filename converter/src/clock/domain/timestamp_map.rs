//! From coarse dates to final ones, stream by stream: what the graph fit and the causal pass add to a clock's line.
//!
//! Both are functions of the coarse date, in integers, that never decrease. So the order of a stream's records, and all that
//! was learnt under coarse dates (which block reaches back how far), stays true.

use std::sync::Arc;

use crate::clock::correction::Bend;

/// After a jump, a stream runs slower than its clock by one part in so many, until it is back on its line.
const RETURN: i64 = 10_000;

/// A date moved later, and with it all that follows, so that a link does not end before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    /// Where it happens: the coarse date,
    pub(crate) coarse: i64,
    /// and the position of the record in its stream: of equal dates, those of earlier records stay.
    pub(crate) ordinal: u64,
    /// The date before the move.
    pub(crate) date: i64,
    /// How much later, nanoseconds.
    pub(crate) shift: i64,
    /// The next place where the clock's own line leaps, if it does.
    pub(crate) leap: Option<Leap>,
}

/// Where the line of a clock leaps forward, as it had been set back and the records until then have one date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leap {
    /// The first date behind it,
    pub(crate) date: i64,
    /// and how far that is from the last one before it, nanoseconds.
    pub(crate) by: i64,
}

impl Jump {
    /// How far a later date is moved by this jump alone. Falls by at most 1 where the date grows by 1, and where the line leaps by as much: the
    /// leap makes good for what the records before it were dated too early. What the clocks cannot tell apart, a `tick`, is given back at once, as the
    /// dates that follow are no better: else many small jumps would add up.
    pub(crate) fn shift_at(&self, date: i64, tick: i64) -> i64 {
        let leapt = self.leap.filter(|leap| date >= leap.date).map_or(0, |leap| leap.by);
        // In a leap no time goes by.
        let gone = date.saturating_sub(self.date).saturating_sub(leapt).max(0);
        let at_once = gone.min(tick);
        (self.shift - leapt - at_once - (gone - at_once) / RETURN).max(0)
    }
}

/// The jumps of a stream, in order of (coarse date, ordinal); each moves dates farther than what the one before left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Jumps(pub(crate) Box<[Jump]>);

impl Jumps {
    fn date(&self, coarse: i64, date: i64, ordinal: u64, tick: i64) -> i64 {
        let before = self.0.partition_point(|jump| (jump.coarse, jump.ordinal) <= (coarse, ordinal));
        match before.checked_sub(1) {
            Some(last) => date.saturating_add(self.0[last].shift_at(date, tick)),
            None => date,
        }
    }
}

/// From the coarse dates of a stream to its final ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fine {
    /// What the graph fit found of its clock.
    pub(crate) bend: Option<Arc<Bend>>,
    pub(crate) jumps: Jumps,
    /// The leaps of its clock, by date, before jumps.
    pub(crate) leaps: Option<Arc<Vec<Leap>>>,
    /// What the clocks cannot tell apart, nanoseconds.
    pub(crate) tick: i64,
}

impl Fine {
    /// Whether final dates are the coarse ones.
    pub(crate) fn is_identity(&self) -> bool {
        self.bend.is_none() && self.jumps.0.is_empty()
    }

    /// Whether final dates do not depend on the positions of records in their stream.
    pub(crate) fn has_lines_only(&self) -> bool {
        self.jumps.0.is_empty()
    }

    /// What the clock alone says: without what the causal pass adds.
    pub(crate) fn line(&self, coarse: i64) -> i64 {
        self.bend.as_ref().map_or(coarse, |bend| bend.date(coarse))
    }

    /// The final date of a coarse one that a record with this position in the stream says. It never decreases with
    /// (date, ordinal). O(log of the number of knots).
    pub(crate) fn date(&self, coarse: i64, ordinal: u64) -> i64 {
        let date = self.line(coarse);
        if self.jumps.0.is_empty() { date } else { self.jumps.date(coarse, date, ordinal, self.tick) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dates_never_decrease_within_a_stream(
            steps in prop::collection::vec((0i64..100_000, 0u64..3, 1i64..50_000), 0..20),
            leap in prop::option::of((0i64..2_000_000, 1i64..3_000_000)),
            tick in prop_oneof![Just(1i64), Just(1_000), Just(100_000)],
            mut asked in prop::collection::vec((-10i64..2_000_000, 0u64..50), 0..200),
            bends in prop::collection::vec((0i64..2_000_000, -20_000i64..20_000), 0..5),
        ) {
            let mut bends = bends;
            bends.sort_unstable();
            let bend = Bend::through(&bends).after_sets(&leap.into_iter().collect::<Vec<_>>());
            asked.extend(leap.iter().flat_map(|(at, _)| [(at - 1, 0), (at - 1, 50), (*at, 0), (at + 1, 0)]));
            let leap = leap.map(|(at, _)| Leap { date: bend.date(at), by: bend.date(at) - bend.date(at - 1) });
            let mut jumps = Vec::<Jump>::new();
            let (mut coarse, mut ordinal) = (0, 0);
            for (later, records, more) in steps {
                coarse += later;
                ordinal = if later > 0 { records } else { ordinal + records + 1 };
                let date = bend.date(coarse);
                let left = jumps.last().map_or(0, |jump: &Jump| jump.shift_at(date, tick));
                jumps.push(Jump { coarse, ordinal, date, shift: left + more, leap: leap.filter(|leap| leap.date > date) });
                asked.extend([(coarse - 1, ordinal + 9), (coarse, ordinal), (coarse, ordinal + 1), (coarse + 1, 0)]);
            }
            let fine = Fine { bend: Some(Arc::new(bend.clone())), jumps: Jumps(jumps.into()), tick, ..Fine::default() };
            asked.sort_unstable();
            let dates: Vec<i64> = asked.iter().map(|&(date, ordinal)| fine.date(date, ordinal)).collect();
            prop_assert!(dates.is_sorted(), "{dates:?}");
            prop_assert!(dates.iter().zip(&asked).all(|(fine, (coarse, _))| *fine >= bend.date(*coarse)));
        }
    }
}
