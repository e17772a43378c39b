//! Fields that are already encoded as the bytes of a record.

use super::packed_fields::Fields;

/// The bytes of all fields of a record. They cannot be cut, because their boundaries are unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedFields<'a>(pub(crate) &'a [u8]);

impl Fields for EncodedFields<'_> {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    unsafe fn store(self, target: *mut u8) {
        // SAFETY: the caller guarantees it. A slot of the pool does not overlap the program's data.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr(), target, self.0.len()) };
    }
}
