//! [`TimeSpans`]: times of a unit, such as those in which it is in some states.

/// Disjoint time spans by time, with the sums of their lengths.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TimeSpans {
    /// Starts and ends in nanoseconds.
    spans: Vec<(i64, i64)>,
    /// The length of all spans before each span.
    sums: Vec<i64>,
}

impl TimeSpans {
    /// Joins spans that overlap or adjoin. They are in any order.
    pub(crate) fn new(mut list: Vec<(i64, i64)>) -> Self {
        list.sort_unstable();
        let mut spans: Vec<(i64, i64)> = Vec::with_capacity(list.len());
        for (from, to) in list.into_iter().filter(|(from, to)| from < to) {
            match spans.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => spans.push((from, to)),
            }
        }
        let mut sum = 0_i64;
        let span_before = |(from, to): &(i64, i64)| {
            let span_before = sum;
            sum = sum.saturating_add(to.saturating_sub(*from));
            span_before
        };
        let sums = spans.iter().map(span_before).collect();
        Self { spans, sums }
    }

    /// The length of the spans until a time.
    fn nanos_until(&self, time: i64) -> i64 {
        let Some(last) = self.spans.partition_point(|span| span.0 < time).checked_sub(1) else { return 0 };
        let (from, to) = self.spans[last];
        self.sums[last].saturating_add(to.min(time).saturating_sub(from))
    }

    /// The length of the spans in a time range.
    pub(crate) fn nanos(&self, from: i64, to: i64) -> i64 {
        if from < to { self.nanos_until(to) - self.nanos_until(from) } else { 0 }
    }

    /// The end of the span that contains a time.
    pub(crate) fn end_at(&self, time: i64) -> Option<i64> {
        let last = self.spans.partition_point(|span| span.0 <= time).checked_sub(1)?;
        Some(self.spans[last].1).filter(|end| time < *end)
    }

    /// The parts of the spans in a time range, by time.
    pub(crate) fn parts(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> {
        let first = self.spans.partition_point(|span| span.1 <= from);
        let parts = self.spans[first..].iter().take_while(move |span| span.0 < to);
        parts.map(move |span| (span.0.max(from), span.1.min(to)))
    }
}

#[cfg(test)]
mod tests {
    use super::TimeSpans;

    #[test]
    fn spans_are_joined_and_summed() {
        let spans = TimeSpans::new(vec![(10, 20), (0, 5), (3, 7), (20, 25), (9, 9)]);
        assert_eq!(spans.parts(i64::MIN, i64::MAX).collect::<Vec<_>>(), [(0, 7), (10, 25)]);
        assert_eq!(spans.parts(6, 11).collect::<Vec<_>>(), [(6, 7), (10, 11)]);
        assert_eq!((spans.nanos(0, 100), spans.nanos(6, 11), spans.nanos(7, 10), spans.nanos(5, 5)), (22, 2, 0, 0));
        assert_eq!(
            (spans.end_at(6), spans.end_at(7), spans.end_at(24), spans.end_at(-1)),
            (Some(7), None, Some(25), None)
        );
    }
}
