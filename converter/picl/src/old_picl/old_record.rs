//! [`OldRecord`]: a line of old PICL as numbers.

use super::old_keys::{OldKey, key_of_name, key_of_number};
use crate::record_words::{RecordWords, integer, nanos_of};

/// A line of old PICL.
#[derive(Debug)]
pub(super) struct OldRecord<'a> {
    /// `None` for an unknown type.
    pub(super) key: Option<&'static OldKey>,
    /// The word of the type.
    pub(super) name: &'a [u8],
    pub(super) time: i64,
    pub(super) node: i64,
    /// The text after the node, without the number of values of the verbose form.
    pub(super) tail: &'a [u8],
}

impl<'a> OldRecord<'a> {
    /// Reads the start of a record. `None` if the line does not have it.
    pub(super) fn of(line: &'a [u8]) -> Option<Self> {
        let mut words = RecordWords::of(line);
        let name = words.next()?;
        let is_verbose = name[0].is_ascii_alphabetic();
        let key = if is_verbose { key_of_name(name) } else { key_of_number(integer(name)?) };
        if is_verbose && words.next()? != b"clock" {
            return None;
        }
        let (seconds, micros) = (words.integer()?, words.integer()?);
        let time = nanos_of(seconds, micros)?;
        if is_verbose && words.next()? != b"node" {
            return None;
        }
        let node = words.integer().filter(|node| i32::try_from(*node).is_ok())?;
        let tail = words.remainder();
        // The number of values follows. A trace message has its text instead.
        let mut after_count = words;
        let has_count = is_verbose && after_count.integer().is_some_and(|count| count >= 0);
        Some(Self { key, name, time, node, tail: if has_count { after_count.remainder() } else { tail } })
    }

    /// The numbers of the record, without the labels of the verbose form.
    pub(super) fn values(&self) -> Vec<i64> {
        RecordWords::of(self.tail).filter_map(integer).collect()
    }

    /// The numbers of the record as text.
    pub(super) fn tail_of_values(&self) -> Vec<u8> {
        self.values().iter().map(i64::to_string).collect::<Vec<_>>().join(" ").into_bytes()
    }
}
