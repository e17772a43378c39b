//! [`NodeClock`]: the times of one unit, in the order of its file.

/// The maximum step back in time that is noise of a truncated clock, in nanoseconds.
const MAX_NOISE: i64 = 10_000;

/// Corrects small steps back in time. Clocks of microseconds cut off digits, so a record can be up
/// to 2 µs earlier than the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeClock {
    last: Option<i64>,
}

impl NodeClock {
    /// Corrects the time of the next record. A larger step back is kept, because such a file is not
    /// in order of time.
    pub(crate) fn settle(&mut self, time: i64) -> i64 {
        let settled = match self.last {
            Some(last) if time < last && last - time <= MAX_NOISE => last,
            _ => time,
        };
        self.last = Some(settled);
        settled
    }

    /// Whether two times are equal up to the noise.
    pub(crate) fn is_same(time: i64, other_time: i64) -> bool {
        time.abs_diff(other_time) <= MAX_NOISE.unsigned_abs()
    }
}
