//! [`StateFields`]: the data of the records of a state.

use crate::record_words::{RecordWords, integer};

/// The communicator of operations of all nodes.
pub(crate) const ALL: &str = "all";
/// The field with the data of the begin of a state.
pub(crate) const DATA: &str = "data";
/// The field with the data of the end of a state.
pub(crate) const END_DATA: &str = "end_data";
/// The field with the type of a block of old PICL.
pub(crate) const BLOCK: &str = "block";

/// The data of the begin and the end of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateFields {
    pub(crate) location: Option<i64>,
    pub(crate) parameter: Option<i64>,
    /// The type of a block of old PICL, if its activity has another usual one.
    pub(crate) block: Option<i64>,
    /// The size of the data of a collective operation.
    pub(crate) bytes: Option<i64>,
    /// The root of a collective operation, as the record numbers it.
    pub(crate) root: Option<i64>,
    /// The subset of nodes that takes part in a collective operation.
    pub(crate) subset: Option<i64>,
    /// The words of the begin that no other field and no message has.
    pub(crate) data: Vec<u8>,
    /// The words of the end that no other field and no message has.
    pub(crate) end_data: Vec<u8>,
}

/// Number of fields that are numbers.
const NUMBERS: usize = 6;

impl StateFields {
    /// Fields of words that are only data.
    pub(crate) fn of_data(data: &[u8]) -> Self {
        Self { data: data.to_vec(), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the record has words that no other field has.
    pub(crate) fn has_data(&self) -> bool {
        !(self.data.is_empty() && self.end_data.is_empty())
    }

    fn numbers(&self) -> [Option<i64>; NUMBERS] {
        [self.location, self.parameter, self.block, self.bytes, self.root, self.subset]
    }

    /// The fields as bytes, for a temporary file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in self.numbers() {
            bytes.push(u8::from(number.is_some()));
            bytes.extend_from_slice(&number.unwrap_or(0).to_le_bytes());
        }
        bytes.extend_from_slice(&(self.data.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&self.data);
        bytes.extend_from_slice(&self.end_data);
        bytes
    }

    /// The fields of bytes. `None` if no fields have these bytes.
    pub(crate) fn of_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut number = || -> Option<Option<i64>> {
            let (is_there, rest) = bytes.split_first()?;
            let (number, rest) = rest.split_first_chunk()?;
            bytes = rest;
            Some((*is_there == 1).then(|| i64::from_le_bytes(*number)))
        };
        let (location, parameter, block) = (number()?, number()?, number()?);
        let (bytes_of_data, root, subset) = (number()?, number()?, number()?);
        let (length, rest) = bytes.split_first_chunk()?;
        let (data, end_data) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let (data, end_data) = (data.to_vec(), end_data.to_vec());
        Some(Self { location, parameter, block, bytes: bytes_of_data, root, subset, data, end_data })
    }
}

/// The integers at the start of a text, at most `max`, and the text after them.
pub(crate) fn leading_integers(text: &[u8], max: usize) -> (Vec<i64>, &[u8]) {
    let mut words = RecordWords::of(text);
    let mut numbers = Vec::new();
    while numbers.len() < max {
        let rest = words.remainder();
        let Some(number) = words.next().and_then(integer) else { return (numbers, rest) };
        numbers.push(number);
    }
    (numbers, words.remainder())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_equal_after_conversion_to_bytes() {
        let fields = StateFields {
            location: Some(-1),
            root: Some(i64::MAX),
            data: b"1 2".to_vec(),
            end_data: b"x".to_vec(),
            ..StateFields::default()
        };
        for fields in [fields, StateFields::default(), StateFields::of_data(b"9")] {
            assert_eq!(StateFields::of_bytes(&fields.to_bytes()), Some(fields));
        }
        assert_eq!(StateFields::of_bytes(b"1"), None);
        assert_eq!(StateFields::of_bytes(&[255; 62]), None);
    }

    #[test]
    fn integers_end_at_another_word() {
        assert_eq!(leading_integers(b"1 2 3 x", 2), (vec![1, 2], &b"3 x"[..]));
        assert_eq!(leading_integers(b"1 x 3", 3), (vec![1], &b"x 3"[..]));
        assert_eq!(leading_integers(b"", 3), (vec![], &b""[..]));
    }
}
