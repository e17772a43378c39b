//! Fields of a record: their sizes and how they are stored.
//!
//! Tuples of fields are fields, so that generated code passes one tuple and contains no `unsafe`.

mod counted_field;
mod encoded_fields;
mod packed_fields;

use packed_fields::store_all;
pub use packed_fields::{EnumField, Fields};

pub(crate) use encoded_fields::EncodedFields;

pub use counted_field::{Choices, CountedBytes, Slice, Text};

/// Fields of a truncated record. Counted fields keep at most a given number of bytes each.
#[derive(Debug)]
pub(crate) struct TruncatedFields<F>(F, usize);

impl<F: Fields> TruncatedFields<F> {
    /// Cuts the longest counted fields to one length, so that all fields take at most `room` bytes.
    /// `None` if that is not possible.
    pub(crate) fn new(fields: F, room: usize) -> Option<Self> {
        let (mut fits, mut exceeds) = (0, usize::from(u16::MAX) + 1);
        if fields.bytes_at_most(fits) > room {
            return None;
        }
        while exceeds - fits > 1 {
            let middle = fits.midpoint(exceeds);
            *(if fields.bytes_at_most(middle) <= room { &mut fits } else { &mut exceeds }) = middle;
        }
        Some(Self(fields, fits))
    }
}

impl<F: Fields> Fields for TruncatedFields<F> {
    fn bytes(&self) -> usize {
        self.0.bytes_cut(self.1)
    }

    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.store_cut(target, self.1) };
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Fields for $number {
            #[inline(always)]
            fn bytes(&self) -> usize {
                size_of::<$number>()
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut u8) {
                // SAFETY: the caller guarantees it. Byte arrays have no alignment.
                unsafe { target.cast::<[u8; size_of::<$number>()]>().write(self.to_le_bytes()) };
            }
        }
    )*};
}
numbers! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

macro_rules! wrappers {
    ($($wrapper:ty as $number:ty = |$self:ident| $value:expr;)*) => {$(
        impl Fields for $wrapper {
            #[inline(always)]
            fn bytes(&self) -> usize {
                size_of::<$number>()
            }

            #[inline(always)]
            unsafe fn store(self, target: *mut u8) {
                let $self = self;
                let number: $number = $value;
                // SAFETY: the caller guarantees it.
                unsafe { number.store(target) };
            }
        }
    )*};
}
wrappers! {
    bool as u8 = |b| u8::from(b);
    Date as u64 = |date| date.0;
    Pointer as u64 = |pointer| pointer.0;
    InternedText as u32 = |text| text.0;
    SourceSite as u32 = |site| site.0;
}

/// A timestamp in ticks of the local clock, for fields of type `date`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub(crate) u64);

impl Date {
    /// The ticks of the local clock.
    /// Ticks of different processes are comparable only after conversion.
    #[must_use]
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// A timestamp from ticks of the local clock.
    #[must_use]
    pub const fn from_ticks(ticks: u64) -> Self {
        Self(ticks)
    }
}

/// An interned string: four bytes in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InternedText(pub(crate) u32);

/// An interned source position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceSite(pub(crate) u32);

impl SourceSite {
    /// The position is unknown.
    pub const UNKNOWN: Self = Self(0);
}

macro_rules! tuples {
    ($(($($field:ident)*))*) => {$(
        impl<$($field: Fields),*> Fields for ($($field,)*) {
            const CAN_BE_CUT: bool = false $(|| $field::CAN_BE_CUT)*;

            #[inline(always)]
            #[expect(non_snake_case, reason = "type names bind values")]
            fn bytes(&self) -> usize {
                let ($($field,)*) = self;
                0 $(+ $field.bytes())*
            }

            #[inline(always)]
            #[expect(non_snake_case, reason = "type names bind values")]
            unsafe fn store(self, target: *mut u8) {
                let ($($field,)*) = self;
                let mut next = target;
                $(
                    let field_start = next;
                    next = next.wrapping_add($field.bytes());
                    // SAFETY: the fields' sizes add up to `bytes()`.
                    unsafe { $field.store(field_start) };
                )*
                let _ = next;
            }

            #[expect(non_snake_case, reason = "type names bind values")]
            fn bytes_at_most(&self, max_bytes: usize) -> usize {
                let ($($field,)*) = self;
                0 $(+ $field.bytes_at_most(max_bytes))*
            }

            #[expect(non_snake_case, reason = "type names bind values")]
            fn bytes_cut(&self, max_bytes: usize) -> usize {
                let ($($field,)*) = self;
                0 $(+ $field.bytes_cut(max_bytes))*
            }

            #[expect(non_snake_case, reason = "type names bind values")]
            unsafe fn store_cut(self, target: *mut u8, max_bytes: usize) {
                let ($($field,)*) = self;
                let mut next = target;
                $(
                    let field_start = next;
                    next = next.wrapping_add($field.bytes_cut(max_bytes));
                    // SAFETY: the fields' sizes add up to `bytes_cut(max_bytes)`.
                    unsafe { $field.store_cut(field_start, max_bytes) };
                )*
                let _ = next;
            }
        }
    )*};
}

impl Fields for () {
    #[inline(always)]
    fn bytes(&self) -> usize {
        0
    }

    #[inline(always)]
    unsafe fn store(self, _at: *mut u8) {}
}

tuples! {
    (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
}

impl<T: Fields + Copy, const N: usize> Fields for [T; N] {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.iter().map(T::bytes).sum()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the caller guarantees it.
        unsafe { store_all(&self, target) };
    }
}

/// A value of an enum, as a field.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Choice<E>(pub E);

impl<E: EnumField> Fields for Choice<E> {
    #[inline(always)]
    fn bytes(&self) -> usize {
        size_of::<E::Number>()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.number().store(target) };
    }
}

/// An address, for fields of type `pointer`.
/// Any raw pointer or reference converts to it. It keeps only the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer(pub u64);

impl<T: ?Sized> From<*const T> for Pointer {
    #[inline(always)]
    fn from(pointer: *const T) -> Self {
        Self(pointer.cast::<()>().addr() as u64)
    }
}

impl<T: ?Sized> From<*mut T> for Pointer {
    #[inline(always)]
    fn from(pointer: *mut T) -> Self {
        Self(pointer.cast::<()>().addr() as u64)
    }
}

impl<T: ?Sized> From<&T> for Pointer {
    #[inline(always)]
    fn from(reference: &T) -> Self {
        Self::from(std::ptr::from_ref(reference))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(fields: impl Fields) -> Vec<u8> {
        let mut out = vec![0xEE; fields.bytes() + 1];
        // SAFETY: the vector has `bytes()` bytes.
        unsafe { fields.store(out.as_mut_ptr()) };
        assert_eq!(out.pop(), Some(0xEE), "nothing is written past the fields");
        out
    }

    #[test]
    fn fields_are_packed_little_endian() {
        assert_eq!(packed((1u8, -2i16, 0x0304_0506u32)), [1, 0xFE, 0xFF, 6, 5, 4, 3]);
        assert_eq!(packed((true, Date(7), InternedText(9))), [1, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(packed((CountedBytes(b"hi"), 1u8)), [2, 0, b'h', b'i', 1]);
        assert_eq!(packed(([1u16, 2], Slice(&[3i8, -1]))), [1, 0, 2, 0, 2, 0, 3, 0xFF]);
        assert_eq!(packed(((1u8, 2u8), (3u8, ()))), [1, 2, 3]);
        assert_eq!(packed(1.5f32), 1.5f32.to_le_bytes());
    }

    #[test]
    fn the_longest_fields_are_cut_in_whole_characters_and_elements() {
        let cut =
            |room| TruncatedFields::new((Text("aé€😀".as_bytes()), CountedBytes(b"hi"), Slice(&[1u32, 2, 3])), room);
        let packed_in = |room| cut(room).map(packed);
        let packed_bytes = packed((Text("aé€😀".as_bytes()), CountedBytes(b"hi"), Slice(&[1u32, 2, 3])));
        assert_eq!((packed_bytes.len(), packed_in(packed_bytes.len())), (30, Some(packed_bytes)));
        // Nine bytes each: the last character and the last element do not fit.
        let nine = packed((Text("aé€".as_bytes()), CountedBytes(b"hi"), Slice(&[1u32, 2])));
        assert_eq!(packed_in(26), Some(nine.clone()));
        assert_eq!(packed_in(27), Some(nine));
        assert_eq!(packed_in(12), Some(packed((Text(b"a"), CountedBytes(b"hi"), Slice::<u32>(&[])))));
        assert_eq!(packed_in(6), Some(vec![0; 6]));
        assert!(cut(5).is_none() && TruncatedFields::new(([0u8; 100], CountedBytes(b"a")), 101).is_none());
        // Bytes that are not text are cut at the limit.
        assert_eq!(Text(&[0x80; 9]).cut(5).0.len(), 5);
    }
}
