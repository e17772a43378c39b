//! [`OpenLink`]: a link with one endpoint, which waits for its partner.

use crate::rules::program::LinkSide;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{KeyId, ValueId};
use tumit_spill::endpoint_map::Endpoint;

/// A link with one endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenLink {
    pub(crate) end: LinkSide,
    pub(crate) key: KeyId,
    pub(crate) value: ValueId,
    pub(crate) time: GlobalNanos,
    /// The instance that holds the link.
    pub(crate) holder: usize,
    /// Whether this endpoint created its container.
    pub(crate) is_first: bool,
}

impl Endpoint<4> for OpenLink {
    fn starts(&self) -> bool {
        self.end == LinkSide::Start
    }

    fn words(&self) -> [u64; 4] {
        let flags = u64::from(self.is_first) << 1 | u64::from(self.starts());
        [self.key.0, u64::from(self.value.0) << 32 | flags, self.time.0.cast_unsigned(), self.holder as u64]
    }

    fn of([key, value, time, holder]: [u64; 4]) -> Self {
        Self {
            end: if value & 1 == 1 { LinkSide::Start } else { LinkSide::Finish },
            key: KeyId(key),
            value: ValueId((value >> 32) as u32),
            time: GlobalNanos(time.cast_signed()),
            holder: holder as usize,
            is_first: value & 2 == 2,
        }
    }
}
