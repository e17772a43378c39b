//! Values that can be packed into a record.

/// Values that can be packed into a record.
/// Implemented only here. Generated code passes tuples of these.
pub trait Fields: Sized {
    /// Whether a part of the value is counted and can be cut.
    const CAN_BE_CUT: bool = false;

    /// Size in bytes.
    fn bytes(&self) -> usize;

    /// Stores the value, little-endian and packed.
    ///
    /// # Safety
    /// `target` points to `bytes()` bytes that the caller may write.
    unsafe fn store(self, target: *mut u8);

    /// Upper bound of [`Self::bytes_cut`] that ignores boundaries of characters and elements.
    /// It is the same in C.
    fn bytes_at_most(&self, _max_bytes: usize) -> usize {
        self.bytes()
    }

    /// Size in bytes if counted fields keep at most `max_bytes` bytes each, in whole characters and
    /// elements.
    fn bytes_cut(&self, _max_bytes: usize) -> usize {
        self.bytes()
    }

    /// Stores the value cut to `max_bytes` bytes per counted field.
    ///
    /// # Safety
    /// The caller must own the `bytes_cut(max_bytes)` bytes at `target`.
    unsafe fn store_cut(self, target: *mut u8, _max_bytes: usize) {
        // SAFETY: a field that cannot be cut has its own size.
        unsafe { self.store(target) };
    }
}

/// Stores all elements.
///
/// # Safety
/// The caller must own the bytes of the elements at `target`.
#[inline(always)]
pub(super) unsafe fn store_all<T: Fields + Copy>(elements: &[T], target: *mut u8) {
    let mut next = target;
    for element in elements {
        // SAFETY: the caller guarantees it.
        unsafe { element.store(next) };
        next = next.wrapping_add(element.bytes());
    }
}

/// An enum of a spec. Generated code implements it.
pub trait EnumField: Copy {
    /// The integer type of the enum in a record.
    type Number: Fields + Copy;

    /// The index of the value in the schema.
    fn number(self) -> Self::Number;
}
