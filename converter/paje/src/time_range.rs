//! Time ranges, and their text.

use std::fmt;
use std::str::FromStr;

use crate::time::GlobalNanos;
use crate::time_text::{self, SECOND, TimeText, TimeTextError};

/// The forms of a time range, for messages.
pub const FORMS: &str = "a time range FROM..TO, FROM.., ..TO or FROM+LENGTH";

/// A half-open time range, `from <= t < to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct TimeRange {
    pub from: GlobalNanos,
    pub to: GlobalNanos,
}

impl TimeRange {
    /// Column `index` of `columns` equally wide ones. All sources divide time ranges in this way.
    /// A column is at least 1 ns wide, so that no entity falls between columns.
    #[must_use]
    pub fn column(self, index: u32, columns: u32) -> Self {
        let width = i128::from(self.to.0) - i128::from(self.from.0);
        let edge = |number: u32| {
            let edge = i128::from(self.from.0) + width * i128::from(number) / i128::from(columns.max(1));
            i64::try_from(edge).unwrap_or(self.to.0)
        };
        let from = edge(index);
        Self { from: GlobalNanos(from), to: GlobalNanos(edge(index.saturating_add(1)).max(from.saturating_add(1))) }
    }

    /// The same columns as [`Self::column`], from left to right, without a division for each.
    pub fn columns(self, columns: u32) -> impl Iterator<Item = Self> + Clone {
        let (from, width) = (self.from.0, self.to.0.wrapping_sub(self.from.0).cast_unsigned());
        let column_count = u64::from(columns.max(1));
        let (step, part) = (width / column_count, width % column_count);
        let (mut edge, mut parts) = (from, 0);
        (0..columns).map(move |_| {
            let from = edge;
            parts += part;
            let carry = parts >= column_count;
            parts -= if carry { column_count } else { 0 };
            edge = edge.wrapping_add_unsigned(step + u64::from(carry));
            Self { from: GlobalNanos(from), to: GlobalNanos(edge.max(from.saturating_add(1))) }
        })
    }

    /// Columns that cover this time range, with edges at multiples of a power of two of
    /// nanoseconds.
    ///
    /// Sources have stored sums of such columns, and the columns keep their positions when the view
    /// moves. They are at least as wide as `columns` equal columns, and less than twice as wide.
    /// There are at most `columns` + 1 of them.
    ///
    /// If the timestamps are too large for such edges, returns the time range and `columns`
    /// unchanged.
    #[must_use]
    pub fn align_to_columns(self, columns: u32) -> AlignedTimeRange {
        let width = i128::from(self.to.0) - i128::from(self.from.0);
        let min_step = width.div_euclid(i128::from(columns.max(1))).max(1);
        // The smallest power of two that is at least the width of a column.
        let exact = i128::from(columns.max(1)) * min_step == width;
        let step = if exact { min_step } else { min_step + 1 }.cast_unsigned().next_power_of_two().cast_signed();
        let first = i128::from(self.from.0).div_euclid(step);
        let last = (i128::from(self.to.0) - 1).div_euclid(step) + 1;
        let edge = |number: i128| i64::try_from(number * step).map(GlobalNanos);
        match (edge(first), edge(last), u32::try_from(last - first)) {
            (Ok(from), Ok(to), Ok(columns)) => AlignedTimeRange { range: Self { from, to }, columns },
            _ => AlignedTimeRange { range: self, columns },
        }
    }
}

/// The result of [`TimeRange::align_to_columns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AlignedTimeRange {
    /// The covered time range.
    pub range: TimeRange,
    /// The number of columns in it.
    pub columns: u32,
}

/// A time range as given by a user. A missing bound is that of the trace.
///
/// As text it is `FROM..TO`, `FROM..`, `..TO`, `..` or `FROM+LENGTH`: `0.2..0.4`, `250ms..`,
/// `200ms+5ms`. A bound without a unit has the unit of the other bound, or is in seconds. A time
/// range contains at least a nanosecond.
///
/// ```
/// use tumit_paje::time::GlobalNanos;
/// use tumit_paje::time_range::{OpenTimeRange, TimeRange};
///
/// let range: OpenTimeRange = "250ms..".parse()?;
/// let trace = TimeRange { from: GlobalNanos(0), to: GlobalNanos(1_000_000_000) };
/// let expected = TimeRange { from: GlobalNanos(250_000_000), to: GlobalNanos(1_000_000_000) };
/// assert_eq!(range.intersection(trace), Ok(expected));
/// assert_eq!(range.to_string(), "250ms..");
/// # Ok::<(), tumit_paje::time_text::TimeTextError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct OpenTimeRange {
    pub from: Option<GlobalNanos>,
    pub to: Option<GlobalNanos>,
}

/// The error for a time range that contains no time of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time range `{range}` is outside the trace, which is `{}`", OpenTimeRange::from(*extent))]
pub struct RangeOutsideTrace {
    /// The given time range.
    pub range: OpenTimeRange,
    /// The time range of the trace.
    pub extent: TimeRange,
}

impl OpenTimeRange {
    /// Whether it contains a timestamp.
    #[must_use]
    pub fn contains(self, time: GlobalNanos) -> bool {
        self.overlaps(time, time)
    }

    /// Whether it contains a timestamp from `first` to `last`, both included.
    #[must_use]
    pub fn overlaps(self, first: GlobalNanos, last: GlobalNanos) -> bool {
        self.from.is_none_or(|from| from <= last) && self.to.is_none_or(|to| first < to)
    }

    /// The time range with the bounds of the trace for missing ones. It can extend beyond the
    /// trace.
    ///
    /// # Errors
    /// If it contains no time of the trace.
    pub fn to_closed_range(self, extent: TimeRange) -> Result<TimeRange, RangeOutsideTrace> {
        if self.from.is_some_and(|from| from >= extent.to) || self.to.is_some_and(|to| to <= extent.from) {
            return Err(RangeOutsideTrace { range: self, extent });
        }
        Ok(TimeRange { from: self.from.unwrap_or(extent.from), to: self.to.unwrap_or(extent.to) })
    }

    /// The part of the time range that is in the trace.
    ///
    /// # Errors
    /// If it contains no time of the trace.
    pub fn intersection(self, extent: TimeRange) -> Result<TimeRange, RangeOutsideTrace> {
        let TimeRange { from, to } = self.to_closed_range(extent)?;
        let (from, to) = (from.max(extent.from), to.min(extent.to));
        if from < to { Ok(TimeRange { from, to }) } else { Err(RangeOutsideTrace { range: self, extent }) }
    }

    /// The same time range, if it ends after its start.
    fn require_order(self, text: &str) -> Result<Self, TimeTextError> {
        let Some((from, to)) = self.from.zip(self.to) else { return Ok(self) };
        let (first, last) = (TimeText(from.0), TimeText(to.0));
        if from > to {
            return Err(TimeTextError::new(text, "the start before the end", format!("{last}..{first}")));
        }
        if from == to {
            let expected = "an end after the start, as the end is excluded";
            return Err(TimeTextError::new(text, expected, format!("{first}+1ns")));
        }
        Ok(self)
    }

    /// Parses `FROM+LENGTH`.
    fn with_length(text: &str, from: &str, length: &str) -> Result<Self, TimeTextError> {
        if from.trim().is_empty() {
            return Err(TimeTextError::new(text, "a start before the length", "200ms+5ms"));
        }
        let (from, nanos) = (time_text::parse(from)?, time_text::parse(length)?);
        if nanos <= 0 {
            return Err(TimeTextError::new(length.trim(), "a length above 0", "5ms"));
        }
        let to = from.checked_add(nanos).ok_or_else(|| TimeTextError::too_large(text))?;
        Ok(Self { from: Some(GlobalNanos(from)), to: Some(GlobalNanos(to)) })
    }
}

impl From<TimeRange> for OpenTimeRange {
    fn from(TimeRange { from, to }: TimeRange) -> Self {
        Self { from: Some(from), to: Some(to) }
    }
}

impl fmt::Display for OpenTimeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |bound: Option<GlobalNanos>| bound.map(|time| TimeText(time.0));
        bound(self.from).map_or(Ok(()), |from| from.fmt(f))?;
        f.write_str("..")?;
        bound(self.to).map_or(Ok(()), |to| to.fmt(f))
    }
}

impl FromStr for OpenTimeRange {
    type Err = TimeTextError;

    fn from_str(text: &str) -> Result<Self, TimeTextError> {
        let text = text.trim();
        let Some((from, to)) = text.split_once("..") else {
            return match text.split_once('+') {
                Some((from, length)) => Self::with_length(text, from, length),
                None => Err(TimeTextError::new(text, FORMS, "0.2..0.4")),
            };
        };
        let bound = |text: &str, other: &str| {
            let unit = time_text::first_unit(other).unwrap_or(SECOND);
            let time = (!text.trim().is_empty()).then(|| time_text::parse_in(text, unit)).transpose();
            time.map(|time| time.map(GlobalNanos))
        };
        Self { from: bound(from, to)?, to: bound(to, from)? }.require_order(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EXTENT: TimeRange = TimeRange { from: GlobalNanos(0), to: GlobalNanos(2 * SECOND) };

    fn range(text: &str) -> OpenTimeRange {
        text.parse().expect(text)
    }

    #[test]
    fn the_end_is_excluded() {
        let second = range("1..2");
        let contains = [SECOND - 1, SECOND, 2 * SECOND - 1, 2 * SECOND].map(|time| second.contains(GlobalNanos(time)));
        assert_eq!(contains, [false, true, true, false]);
        let overlaps = |first, last| second.overlaps(GlobalNanos(first), GlobalNanos(last));
        assert!(overlaps(0, SECOND) && overlaps(2 * SECOND - 1, 3 * SECOND));
        assert!(!overlaps(0, SECOND - 1) && !overlaps(2 * SECOND, 3 * SECOND));
        assert!(range("..").contains(GlobalNanos::LAST) && range("1..").contains(GlobalNanos::LAST));
    }

    #[test]
    fn missing_bounds_are_those_of_the_trace() {
        let closed = |text: &str| range(text).to_closed_range(EXTENT).map(|TimeRange { from, to }| (from.0, to.0));
        let part = |text: &str| range(text).intersection(EXTENT).map(|TimeRange { from, to }| (from.0, to.0));
        for (text, wide, narrow) in [
            ("..", (0, 2 * SECOND), (0, 2 * SECOND)),
            ("1..", (SECOND, 2 * SECOND), (SECOND, 2 * SECOND)),
            ("-1..1", (-SECOND, SECOND), (0, SECOND)),
            ("1..3", (SECOND, 3 * SECOND), (SECOND, 2 * SECOND)),
        ] {
            assert_eq!((closed(text), part(text)), (Ok(wide), Ok(narrow)), "{text}");
        }
        for text in ["2..", "2..3", "-1..0", "..0", "..-1"] {
            assert!(closed(text).is_err() && part(text).is_err(), "{text}");
        }
        let error = range("2..3").intersection(EXTENT).map_err(|error| error.to_string());
        assert_eq!(error, Err("the time range `2s..3s` is outside the trace, which is `0s..2s`".to_owned()));
        // A trace with one timestamp has no part.
        let moment = TimeRange { from: GlobalNanos(5), to: GlobalNanos(5) };
        assert!(range("..").to_closed_range(moment).is_ok() && range("..").intersection(moment).is_err());
    }

    proptest! {
        #[test]
        fn written_ranges_are_read_again(from in prop::option::of(any::<i64>()), to in prop::option::of(any::<i64>())) {
            let range = OpenTimeRange { from: from.map(GlobalNanos), to: to.map(GlobalNanos) };
            match range.to_string().parse() {
                Ok(read) => prop_assert_eq!(range, read),
                Err(error) => {
                    let error: TimeTextError = error;
                    prop_assert!(from.zip(to).is_some_and(|(from, to)| from >= to), "{}", error);
                    prop_assert!(error.example.parse::<OpenTimeRange>().is_ok(), "{}", error);
                }
            }
        }

        #[test]
        fn no_text_panics(text in "[0-9., +µmshd−\\-]{0,20}|\\PC{0,12}") {
            if let Err(error) = text.parse::<OpenTimeRange>() {
                prop_assert!(time_text::parse(&error.example).is_ok() || error.example.parse::<OpenTimeRange>().is_ok());
            }
        }
    }
}
