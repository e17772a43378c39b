//! Counted arrays. Elements are decoded on access, without copying the array.

use std::fmt;

use super::context::{Context, Sink};
use super::notation::list;
use super::{Encode, Field};
use crate::record::{Value, scalar_value};
use crate::schema::{FieldType, Scalar};

/// The elements of a counted array, borrowed from a block or from the program.
#[derive(Clone, Copy)]
pub struct Array<'a, T>(Elements<'a, T>);

#[derive(Clone, Copy)]
enum Elements<'a, T> {
    File { scalar: Scalar, bytes: &'a [u8], context: Context<'a> },
    Own(&'a [T]),
}

impl<'a, T: Field<'a> + Clone> Array<'a, T> {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Elements::File { scalar, bytes, .. } => bytes.len() / scalar.bytes().unwrap_or(1).max(1),
            Elements::Own(elements) => elements.len(),
        }
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<T> {
        match &self.0 {
            Elements::File { scalar, bytes, context } => element(*scalar, bytes, index, *context),
            Elements::Own(elements) => elements.get(index).cloned(),
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// The elements as a vector.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        self.iter().collect()
    }
}

/// Decodes an element of an array in a record.
pub(super) fn element<'a, T: Field<'a>>(
    scalar: Scalar,
    bytes: &'a [u8],
    index: usize,
    context: Context<'a>,
) -> Option<T> {
    let size = scalar.bytes()?;
    let start = index.checked_mul(size)?;
    T::from_value(scalar_value(scalar, bytes.get(start..start.checked_add(size)?)?)?, context)
}

impl<'a, T> From<&'a [T]> for Array<'a, T> {
    fn from(elements: &'a [T]) -> Self {
        Self(Elements::Own(elements))
    }
}

impl<T> Default for Array<'_, T> {
    fn default() -> Self {
        Self(Elements::Own(&[]))
    }
}

impl<'a, T: Field<'a> + Clone + PartialEq> PartialEq for Array<'a, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<'a, T: Field<'a> + Clone + fmt::Debug> fmt::Debug for Array<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a, T: Field<'a> + Clone> Encode for Array<'a, T> {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        let length = self.len();
        let scalar = match ty {
            FieldType::Variable(scalar) => {
                let Ok(count) = u16::try_from(length) else { return false };
                sink.out.extend_from_slice(&count.to_le_bytes());
                scalar
            }
            FieldType::Fixed(scalar, count) if count as usize == length => scalar,
            _ => return false,
        };
        (0..length).all(|index| self.get(index).is_some_and(|element| element.encode(FieldType::One(scalar), sink)))
    }

    fn show(&self, out: &mut String) -> bool {
        show_all(self.iter(), out)
    }
}

/// Appends the text `[1, 2]`. Returns false, because it needs no quotes.
pub(super) fn show_all<T: Encode>(elements: impl Iterator<Item = T>, out: &mut String) -> bool {
    list(elements, |element, out| element.show(out), out);
    false
}

impl<'a, T: Field<'a> + Clone> Field<'a> for Array<'a, T> {
    fn zero() -> Self {
        Self::default()
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        let Value::Array(scalar, bytes) = value else { return None };
        Some(Self(Elements::File { scalar, bytes, context }))
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        let FieldType::Fixed(scalar, count) = ty else { return false };
        count as usize == N && self.iter().all(|element| element.encode(FieldType::One(scalar), sink))
    }

    fn show(&self, out: &mut String) -> bool {
        show_all(self.iter(), out)
    }
}

impl<T: Encode> Encode for &T {
    fn encode(&self, ty: FieldType, sink: &mut Sink<'_>) -> bool {
        (**self).encode(ty, sink)
    }

    fn show(&self, out: &mut String) -> bool {
        (**self).show(out)
    }
}

impl<'a, T: Field<'a>, const N: usize> Field<'a> for [T; N] {
    fn zero() -> Self {
        std::array::from_fn(|_| T::zero())
    }

    fn from_value(value: Value<'a>, context: Context<'a>) -> Option<Self> {
        let Value::Array(scalar, bytes) = value else { return None };
        Some(std::array::from_fn(|index| element(scalar, bytes, index, context).unwrap_or_else(T::zero)))
    }
}
