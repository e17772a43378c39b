//! Fields of a record: how many bytes they take, and how they are stored. Tuples of fields are fields, so that generated
//! code passes one tuple and holds no `unsafe`.

use crate::clock::Date;
use crate::intern::{Interned, Site};

/// What can be packed into a record. Implemented here only; generated code passes tuples of these.
pub trait Fields: Sized {
    /// Size in bytes.
    fn bytes(&self) -> usize;

    /// Stores it, little-endian and packed.
    ///
    /// # Safety
    /// `bytes()` bytes at `at` must be the caller's to write.
    unsafe fn store(self, at: *mut u8);
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Fields for $number {
            #[inline(always)]
            fn bytes(&self) -> usize {
                size_of::<$number>()
            }

            #[inline(always)]
            unsafe fn store(self, at: *mut u8) {
                // SAFETY: the caller's promise; byte arrays have no alignment.
                unsafe { at.cast::<[u8; size_of::<$number>()]>().write(self.to_le_bytes()) };
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
            unsafe fn store(self, at: *mut u8) {
                let $self = self;
                let number: $number = $value;
                // SAFETY: the caller's promise, passed on.
                unsafe { number.store(at) };
            }
        }
    )*};
}
wrappers! {
    bool as u8 = |b| u8::from(b);
    Date as u64 = |date| date.0;
    Pointer as u64 = |pointer| pointer.0;
    Interned as u32 = |text| text.0;
    Site as u32 = |site| site.0;
}

macro_rules! tuples {
    ($(($($field:ident)*))*) => {$(
        impl<$($field: Fields),*> Fields for ($($field,)*) {
            #[inline(always)]
            #[expect(non_snake_case, reason = "type names bind values")]
            fn bytes(&self) -> usize {
                let ($($field,)*) = self;
                0 $(+ $field.bytes())*
            }

            #[inline(always)]
            #[expect(non_snake_case, reason = "type names bind values")]
            unsafe fn store(self, at: *mut u8) {
                let ($($field,)*) = self;
                let mut next = at;
                $(
                    let here = next;
                    next = next.wrapping_add($field.bytes());
                    // SAFETY: the fields' sizes add up to `bytes()`.
                    unsafe { $field.store(here) };
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

/// Counted bytes: `string` and `bytes`.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a>(pub &'a [u8]);

impl Fields for Counted<'_> {
    /// Too long for its count is too long for a block: the record is then dropped as oversize.
    #[inline(always)]
    fn bytes(&self) -> usize {
        2 + self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        let count = self.0.len() as u16;
        // SAFETY: the caller's promise.
        unsafe { count.store(at) };
        let text = at.wrapping_add(2);
        // SAFETY: the caller's promise; a slot of the pool is no part of the program's own data.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr(), text, self.0.len()) };
    }
}

impl<T: Fields + Copy, const N: usize> Fields for [T; N] {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.iter().map(T::bytes).sum()
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller's promise, passed on.
        unsafe { store_all(&self, at) };
    }
}

/// A counted array.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a, T>(pub &'a [T]);

impl<T: Fields + Copy> Fields for Slice<'_, T> {
    #[inline(always)]
    fn bytes(&self) -> usize {
        // Longer than its count is longer than a block, for every type of element: dropped as oversize.
        2 + self.0.first().map_or(0, T::bytes) * self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        let count = self.0.len() as u16;
        // SAFETY: the caller's promise.
        unsafe { count.store(at) };
        // SAFETY: the caller's promise: the elements follow the count.
        unsafe { store_all(self.0, at.wrapping_add(2)) };
    }
}

/// # Safety
/// The elements' bytes at `at` must be the caller's to write.
#[inline(always)]
unsafe fn store_all<T: Fields + Copy>(elements: &[T], at: *mut u8) {
    let mut next = at;
    for element in elements {
        // SAFETY: the caller's promise.
        unsafe { element.store(next) };
        next = next.wrapping_add(element.bytes());
    }
}

/// An enum of a spec: generated.
pub trait Enumerated: Copy {
    /// Its width in a record.
    type Number: Fields + Copy;

    /// Its index in the schema.
    fn number(self) -> Self::Number;
}

/// A value of an enum, as a field.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Choice<E>(pub E);

impl<E: Enumerated> Fields for Choice<E> {
    #[inline(always)]
    fn bytes(&self) -> usize {
        size_of::<E::Number>()
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.0.number().store(at) };
    }
}

/// A counted array of an enum's values.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a, E>(pub &'a [E]);

impl<E: Enumerated> Fields for Choices<'_, E> {
    #[inline(always)]
    fn bytes(&self) -> usize {
        2 + size_of::<E::Number>() * self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, at: *mut u8) {
        let count = self.0.len() as u16;
        // SAFETY: the caller's promise.
        unsafe { count.store(at) };
        let mut next = at.wrapping_add(2);
        for element in self.0 {
            // SAFETY: the caller's promise: the elements follow the count.
            unsafe { element.number().store(next) };
            next = next.wrapping_add(size_of::<E::Number>());
        }
    }
}

/// An address, for fields of type `pointer`. Made from any raw pointer or reference; only the address is kept.
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
        // SAFETY: the vector has the bytes asked for.
        unsafe { fields.store(out.as_mut_ptr()) };
        assert_eq!(out.pop(), Some(0xEE), "nothing is written past the fields");
        out
    }

    #[test]
    fn fields_are_packed_little_endian() {
        assert_eq!(packed((1u8, -2i16, 0x0304_0506u32)), [1, 0xFE, 0xFF, 6, 5, 4, 3]);
        assert_eq!(packed((true, Date(7), Interned(9))), [1, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(packed((Counted(b"hi"), 1u8)), [2, 0, b'h', b'i', 1]);
        assert_eq!(packed(([1u16, 2], Slice(&[3i8, -1]))), [1, 0, 2, 0, 2, 0, 3, 0xFF]);
        assert_eq!(packed(((1u8, 2u8), (3u8, ()))), [1, 2, 3]);
        assert_eq!(packed(1.5f32), 1.5f32.to_le_bytes());
    }
}
