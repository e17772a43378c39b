//! [`MeasuredMessages`]: the messages of a trace, counted by number or by bytes.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_viewer::query::{GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::group_digits;

use crate::chart::{AxisUnit, ChartTable, TableValue};
use crate::draw::axis_numbers::bytes_text;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{BYTES, MESSAGES, UnitMessage, UnitMessages};
use crate::options::MessageMeasure;
use crate::view::{TimeMode, ViewRequest};

/// The messages of a trace, and the quantity that a view shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredMessages<'a> {
    pub(crate) messages: &'a UnitMessages,
    /// The quantity.
    pub(crate) measure: MessageMeasure,
}

/// The number of messages, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MessageSum {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

impl MessageSum {
    pub(crate) fn add(&mut self, message: &UnitMessage) {
        self.combine(Self { count: 1, bytes: message.bytes.unwrap_or(0) });
    }

    pub(crate) fn combine(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Sums of messages by sender and receiver.
pub(crate) type SumsByPair = BTreeMap<(u32, u32), MessageSum>;

impl<'a> MeasuredMessages<'a> {
    /// The messages in the requested measure. Without a request, bytes if `prefers_bytes` and the
    /// messages have sizes, otherwise their number.
    pub(crate) fn new(
        execution: &'a Execution,
        request: &ViewRequest,
        prefers_bytes: bool,
    ) -> Result<Self, PerspectiveError> {
        let messages = match request.options.measure {
            Some(MessageMeasure::Bytes) => execution.sized_messages()?,
            _ => execution.messages()?,
        };
        let measure = request.options.measure.unwrap_or(if prefers_bytes && messages.has_sizes() {
            MessageMeasure::Bytes
        } else {
            MessageMeasure::Messages
        });
        Ok(Self { messages, measure })
    }

    /// The index of the measure in pending steps.
    pub(crate) fn component(&self) -> usize {
        match self.measure {
            MessageMeasure::Messages => MESSAGES,
            MessageMeasure::Bytes => BYTES,
        }
    }

    /// The measure of a sum.
    pub(crate) fn value(&self, sum: MessageSum) -> u64 {
        match self.measure {
            MessageMeasure::Messages => sum.count,
            MessageMeasure::Bytes => sum.bytes,
        }
    }

    pub(crate) fn axis_unit(&self) -> AxisUnit {
        match self.measure {
            MessageMeasure::Messages => AxisUnit::Count,
            MessageMeasure::Bytes => AxisUnit::Bytes,
        }
    }

    /// The name of the measure: `messages` or `bytes`.
    pub(crate) fn word(&self) -> &'static str {
        match self.measure {
            MessageMeasure::Messages => "messages",
            MessageMeasure::Bytes => "bytes",
        }
    }

    /// A number of the measure with its unit of measurement, such as `3 messages` or `64 KiB`.
    pub(crate) fn text(&self, number: u64) -> String {
        match self.measure {
            MessageMeasure::Messages if number == 1 => "1 message".to_owned(),
            MessageMeasure::Messages => format!("{} messages", group_digits(number)),
            MessageMeasure::Bytes => bytes_text(number),
        }
    }

    /// The messages that are pending at the time cursor, or that are sent in the visible time
    /// range.
    pub(crate) fn visible_messages(
        &self,
        execution: &Execution,
        request: &ViewRequest,
    ) -> Box<dyn Iterator<Item = &'a UnitMessage> + 'a> {
        if request.mode == TimeMode::At {
            return Box::new(self.messages.pending_at(request.time));
        }
        let range = message_range(execution, request.visible_range());
        Box::new(self.messages.sent_between(range).iter())
    }

    /// The sums of the [visible](Self::visible_messages) messages by sender and receiver, each
    /// mapped to a node.
    pub(crate) fn sums_by_pair(
        &self,
        execution: &Execution,
        request: &ViewRequest,
        node: impl Fn(u32) -> u32,
    ) -> SumsByPair {
        let mut sums: FxHashMap<(u32, u32), MessageSum> = FxHashMap::default();
        for message in self.visible_messages(execution, request) {
            sums.entry((node(message.from), node(message.to))).or_default().add(message);
        }
        sums.into_iter().collect()
    }

    /// The sizes that determine a scale: at a time, those of all messages of the trace, so that the
    /// scale does not change while the time moves. Otherwise, the sums.
    pub(crate) fn visible_sizes(&self, request: &ViewRequest, sums: &SumsByPair) -> Vec<u64> {
        if request.mode == TimeMode::At {
            return self.messages.size_extremes.into_iter().flatten().collect();
        }
        sums.values().filter(|_| self.messages.has_sizes()).map(|sum| sum.bytes).collect()
    }

    /// A table of sums by pair, with a row per pair in the order of the pairs.
    pub(crate) fn table(&self, sums: &SumsByPair, label: impl Fn(u32) -> String) -> ChartTable {
        let mut columns = vec![("from", AxisUnit::Count), ("to", AxisUnit::Count), ("messages", AxisUnit::Count)];
        let has_sizes = self.messages.has_sizes() || sums.values().any(|sum| sum.bytes > 0);
        columns.extend(has_sizes.then_some(("bytes", AxisUnit::Bytes)));
        let mut table = ChartTable::new(&columns);
        for ((from, to), sum) in sums {
            let mut row = vec![TableValue::Text(label(*from)), TableValue::Text(label(*to)), number(sum.count).into()];
            row.extend(has_sizes.then(|| number(sum.bytes).into()));
            table.rows.push(row);
        }
        table
    }

    /// Notes about links that the view cannot show.
    pub(crate) fn notes(&self) -> Vec<String> {
        let messages = self.messages;
        let note = |count: u64, singular: &str, plural: &str| match count {
            0 => None,
            1 => Some(format!("1 {singular}")),
            _ => Some(format!("{} {plural}", group_digits(count))),
        };
        let unaddressed = messages.unaddressed_messages().len() as u64;
        let unreceived = messages.unreceived_messages().len() as u64 + unaddressed;
        let without_size = if self.measure == MessageMeasure::Bytes { messages.without_size } else { 0 };
        [
            note(
                unreceived,
                "message is never received. It is pending until the end of the trace.",
                "messages are never received. They are pending until the end of the trace.",
            ),
            note(
                unaddressed,
                "message that is never received has an unknown receiver. It is in the queue of no unit.",
                "messages that are never received have unknown receivers. They are in the queues of no unit.",
            ),
            note(
                messages.backward_count,
                "message is received before it is sent. It is never pending.",
                "messages are received before they are sent. They are never pending.",
            ),
            note(
                messages.within_units,
                "link begins and ends in the same unit. It is left out.",
                "links begin and end in the same unit. They are left out.",
            ),
            note(
                messages.outside_count,
                "link begins or ends outside of all units. It is left out.",
                "links begin or end outside of all units. They are left out.",
            ),
            note(
                without_size,
                "message has no size. It counts as 0 bytes.",
                "messages have no size. They count as 0 bytes.",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// A count as a number of a chart.
#[expect(clippy::cast_precision_loss, reason = "a chart shows about 15 digits")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// A signed count as a number of a chart.
#[expect(clippy::cast_precision_loss, reason = "a chart shows about 15 digits")]
pub(crate) fn signed_number(count: i64) -> f64 {
    count as f64
}

/// The time range of the messages in a view of a time range. At the end of the trace, it contains
/// the last timestamp.
pub(crate) fn message_range(execution: &Execution, range: TimeRange) -> TimeRange {
    let reaches_end = range.to >= execution.extent().to;
    TimeRange { from: range.from, to: GlobalNanos(range.to.0.saturating_add(i64::from(reaches_end))) }
}
