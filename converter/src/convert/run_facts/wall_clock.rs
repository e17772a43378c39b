//! The time of day of a run, for comparison with logs.
//!
//! ```
//! use tumit_converter::convert::wall_clock;
//!
//! assert_eq!(wall_clock::text(1_764_076_711_000_000_042), "2025-11-25T13:18:31.000000042Z");
//! ```

use crate::clock::{CorrectionMethod, RunClocks};
use crate::convert::planning::shared_facts::first_timestamp;
use crate::run::OpenRun;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// The real time of trace time 0, in nanoseconds since 1970. It is derived from the first reading
/// of the real-time clock by a process on the reference clock. If there is none, it is derived from
/// the first reading by another process. `None` if no process read the real-time clock.
///
/// The real-time clock of the host may be wrong or stepped during the run. Later readings do not
/// change the result.
#[must_use]
pub fn start_of(run: &OpenRun, clocks: &RunClocks) -> Option<i64> {
    let anchors = run.processes.iter().enumerate().flat_map(|(number, process)| {
        let domain = clocks.domain_of.get(number).copied().unwrap_or(usize::MAX);
        process.anchors.iter().map(move |anchor| (domain, anchor.ticks, number, anchor.real_nanos))
    });
    let (_, ticks, number, real_nanos) = anchors.min()?;
    let since = clocks.map(number).wide_from_ticks(ticks);
    i64::try_from(i128::from(real_nanos) - since).ok()
}

/// As [`start_of`], before a conversion. If messages synchronise the clocks, the result may differ
/// from that after a conversion by the correction of the first record.
#[must_use]
pub fn early_start_of(run: &OpenRun, method: CorrectionMethod) -> Option<i64> {
    let mut clocks = RunClocks::new(run, method);
    clocks.start_at(first_timestamp(run, &clocks));
    start_of(run, &clocks)
}

/// The current time in nanoseconds since 1970. `None` if the system clock is outside 1970 to 2262.
pub(crate) fn current_time() -> Option<i64> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_nanos()).ok()
}

/// A time in UTC in ISO 8601: `2026-11-25T13:18:31.000000042Z`.
#[must_use]
pub fn text(nanos: i64) -> String {
    let (seconds, fraction) = (nanos.div_euclid(NANOS_PER_SECOND), nanos.rem_euclid(NANOS_PER_SECOND));
    let (days, of_day) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let CalendarDate { year, month, day } = date_of(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:09}Z")
}

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CalendarDate {
    year: i64,
    month: i64,
    day: i64,
}

/// The date of a number of days since 1970. Years are counted
/// from March, so that the leap day is the last day of a year.
fn date_of(days: i64) -> CalendarDate {
    /// Days from March 1 of year 0 to the start of 1970, then days of 400, 100, 4 and 1 years.
    const BEFORE_1970: i64 = 719_468;
    const OF_400_YEARS: i64 = 146_097;
    const OF_100_YEARS: i64 = 36_524;
    const OF_4_YEARS: i64 = 1_461;
    let days = days + BEFORE_1970;
    let (era, of_era) = (days.div_euclid(OF_400_YEARS), days.rem_euclid(OF_400_YEARS));
    let leap_days = of_era / (OF_4_YEARS - 1) - of_era / OF_100_YEARS + of_era / (OF_400_YEARS - 1);
    let year_of_era = (of_era - leap_days) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Each period of five months from March has 153 days.
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    CalendarDate { year: era * 400 + year_of_era + i64::from(month <= 2), month, day }
}

#[cfg(test)]
mod tests {
    use super::{CalendarDate, date_of, text};

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (nanos, expected) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (1_709_164_800_000_000_042, "2024-02-29T00:00:00.000000042Z"),
            (1_764_076_711_500_000_000, "2025-11-25T13:18:31.500000000Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ] {
            assert_eq!(text(nanos), expected);
        }
    }

    #[test]
    fn days_follow_each_other() {
        let mut before = date_of(-200_000);
        for day in -199_999..200_000 {
            let next = date_of(day);
            let is_same_month = (next.year, next.month) == (before.year, before.month);
            let is_next = is_same_month && next.day == before.day + 1;
            let is_next_month = next.year == before.year && next.month == before.month + 1;
            let is_first = next.day == 1 && (is_next_month || (before.month, next.month) == (12, 1));
            assert!(is_next || is_first, "{before:?} {next:?}");
            before = next;
        }
        assert_eq!(date_of(11_016), CalendarDate { year: 2000, month: 2, day: 29 });
        assert_eq!(date_of(47_540), CalendarDate { year: 2100, month: 2, day: 28 });
    }
}
