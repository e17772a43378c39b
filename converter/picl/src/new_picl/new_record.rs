//! [`NewRecord`]: a line of new PICL as words.

use crate::model::TraceUnit;
use crate::record_words::{RecordWords, nanos};

/// A line of new PICL.
#[derive(Debug)]
pub(super) struct NewRecord<'a> {
    /// The record type: -2 is a point in time, -3 a begin and -4 an end.
    pub(super) kind: i64,
    pub(super) event: i64,
    pub(super) time: i64,
    pub(super) unit: TraceUnit,
    /// The announced number of values.
    pub(super) count: usize,
    /// The text after the number of values.
    pub(super) tail: &'a [u8],
}

/// The values of a record.
#[derive(Debug)]
pub(super) struct RecordData<'a> {
    /// The text after the descriptor.
    pub(super) text: &'a [u8],
    /// Whether the number of values is the announced one.
    pub(super) is_counted: bool,
}

impl<'a> NewRecord<'a> {
    /// Reads the start of a record. `None` if the line does not have it.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        let mut words = RecordWords::of(line);
        let (kind, event) = (words.integer()?, words.integer()?);
        let time = nanos(words.next()?)?;
        let mut number = || words.integer().filter(|number| i32::try_from(*number).is_ok());
        let unit = TraceUnit { node: number()?, process: number()?.max(-1) };
        let count = usize::try_from(words.integer()?).ok()?;
        (kind < 0).then_some(Self { kind, event, time, unit, count, tail: words.remainder() })
    }

    /// The values. They follow a descriptor, which a record without values does not have. Some
    /// writers omit the descriptor, or write values although they announce none.
    pub(super) fn data(&self) -> RecordData<'a> {
        let word_count = RecordWords::of(self.tail).count();
        let has_descriptor = self.tail.starts_with(b"\"") || (word_count > self.count && self.count > 0);
        let mut words = RecordWords::of(self.tail);
        if has_descriptor {
            words.next();
        }
        let expected = self.count + usize::from(self.count > 0);
        RecordData { text: words.remainder(), is_counted: word_count == expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_follow_an_optional_descriptor() {
        for (line, text, is_counted) in [
            (&b"-3 -21 0.1 0 0 4 2 8 1 1 0"[..], &b"8 1 1 0"[..], true),
            (b"-3 -21 0.1 0 0 4 8 1 1 0", b"8 1 1 0", false),
            (b"-3 -51 0.1 0 -1 1 2 -1 0", b"-1 0", false),
            (b"-3 7 0.1 0 -1 0 4096", b"4096", false),
            (b"-3 7 0.1 0 -1 0", b"", true),
            (b"-3 -911 0.1 0 0 3 \"%d %s %s\" 5 a bcd", b"5 a bcd", true),
        ] {
            let record = NewRecord::of(line).expect("the line is a record");
            let data = record.data();
            assert_eq!((data.text, data.is_counted), (text, is_counted));
        }
        for line in [&b"-3 -21 x 0 0 0"[..], b"-3 -21 0.1 0 0", b"3 -21 0.1 0 0 0", b"-3 -21 0.1 9999999999 0 0"] {
            assert!(NewRecord::of(line).is_none());
        }
    }
}
