//! Fields with a count: texts, bytes and arrays. A truncated record keeps only a part of them.

use super::packed_fields::{EnumField, Fields, store_all};

/// The value of a `bytes` field.
#[derive(Clone, Copy, Debug)]
pub struct CountedBytes<'a>(pub &'a [u8]);

impl Fields for CountedBytes<'_> {
    const CAN_BE_CUT: bool = true;

    /// Size with the count.
    /// Bytes too long for the count are too long for a slot, so that the record is truncated.
    #[inline(always)]
    fn bytes(&self) -> usize {
        2 + self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        let count = self.0.len() as u16;
        // SAFETY: the caller guarantees it.
        unsafe { count.store(target) };
        let text = target.wrapping_add(2);
        // SAFETY: the caller guarantees it. A slot of the pool does not overlap the program's data.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr(), text, self.0.len()) };
    }

    fn bytes_at_most(&self, max_bytes: usize) -> usize {
        2 + self.0.len().min(max_bytes)
    }

    fn bytes_cut(&self, max_bytes: usize) -> usize {
        self.bytes_at_most(max_bytes)
    }

    unsafe fn store_cut(self, target: *mut u8, max_bytes: usize) {
        let length = self.0.len().min(max_bytes);
        // SAFETY: the caller guarantees it.
        unsafe { CountedBytes(&self.0[..length]).store(target) };
    }
}

/// The bytes of a text: `string`.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(pub &'a [u8]);

impl<'a> Text<'a> {
    /// At most `max_bytes` bytes of the text, in whole characters.
    pub(super) fn cut(self, max_bytes: usize) -> CountedBytes<'a> {
        let Some(next) = self.0.get(max_bytes) else { return CountedBytes(self.0) };
        let is_inside = |byte: &u8| byte & 0xC0 == 0x80;
        let start = self.0[..max_bytes].iter().rev().take(3).position(|byte| !is_inside(byte));
        match start {
            Some(back) if is_inside(next) => CountedBytes(&self.0[..max_bytes - back - 1]),
            _ => CountedBytes(&self.0[..max_bytes]),
        }
    }
}

impl Fields for Text<'_> {
    const CAN_BE_CUT: bool = true;

    #[inline(always)]
    fn bytes(&self) -> usize {
        CountedBytes(self.0).bytes()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the caller guarantees it.
        unsafe { CountedBytes(self.0).store(target) };
    }

    fn bytes_at_most(&self, max_bytes: usize) -> usize {
        CountedBytes(self.0).bytes_at_most(max_bytes)
    }

    fn bytes_cut(&self, max_bytes: usize) -> usize {
        self.cut(max_bytes).bytes()
    }

    unsafe fn store_cut(self, target: *mut u8, max_bytes: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { self.cut(max_bytes).store(target) };
    }
}

/// A counted array.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a, T>(pub &'a [T]);

impl<T: Fields + Copy> Fields for Slice<'_, T> {
    const CAN_BE_CUT: bool = true;

    #[inline(always)]
    fn bytes(&self) -> usize {
        // An array too long for the count is too long for a slot, for every element type, so that
        // the record is truncated.
        2 + self.0.first().map_or(0, T::bytes) * self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        let count = self.0.len() as u16;
        // SAFETY: the caller guarantees it.
        unsafe { count.store(target) };
        // SAFETY: the caller guarantees it: the elements follow the count.
        unsafe { store_all(self.0, target.wrapping_add(2)) };
    }

    fn bytes_at_most(&self, max_bytes: usize) -> usize {
        2 + (self.bytes() - 2).min(max_bytes)
    }

    fn bytes_cut(&self, max_bytes: usize) -> usize {
        self.cut(max_bytes).bytes()
    }

    unsafe fn store_cut(self, target: *mut u8, max_bytes: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { self.cut(max_bytes).store(target) };
    }
}

impl<T: Fields + Copy> Slice<'_, T> {
    /// At most `max_bytes` bytes of the array, in whole elements.
    fn cut(self, max_bytes: usize) -> Self {
        let element_bytes = self.0.first().map_or(1, T::bytes).max(1);
        Self(&self.0[..self.0.len().min(max_bytes / element_bytes)])
    }
}

/// A counted array of an enum's values.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a, E>(pub &'a [E]);

impl<E: EnumField> Fields for Choices<'_, E> {
    const CAN_BE_CUT: bool = true;

    #[inline(always)]
    fn bytes(&self) -> usize {
        2 + size_of::<E::Number>() * self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        let count = self.0.len() as u16;
        // SAFETY: the caller guarantees it.
        unsafe { count.store(target) };
        let mut next = target.wrapping_add(2);
        for element in self.0 {
            // SAFETY: the caller guarantees it: the elements follow the count.
            unsafe { element.number().store(next) };
            next = next.wrapping_add(size_of::<E::Number>());
        }
    }

    fn bytes_at_most(&self, max_bytes: usize) -> usize {
        2 + (self.bytes() - 2).min(max_bytes)
    }

    fn bytes_cut(&self, max_bytes: usize) -> usize {
        self.cut(max_bytes).bytes()
    }

    unsafe fn store_cut(self, target: *mut u8, max_bytes: usize) {
        // SAFETY: the caller guarantees it.
        unsafe { self.cut(max_bytes).store(target) };
    }
}

impl<E: EnumField> Choices<'_, E> {
    /// At most `max_bytes` bytes of the array, in whole elements.
    fn cut(self, max_bytes: usize) -> Self {
        Self(&self.0[..self.0.len().min(max_bytes / size_of::<E::Number>().max(1))])
    }
}
