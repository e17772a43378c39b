//! Pairs the halves of links by key within (holding container, type).

use std::io;
use std::sync::Arc;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, KeyId, TypeId, ValueId};
use tumit_spill::endpoint_map::{self, Meeting, Overflow, Waiting, spread};

use super::entities::{EndedLink, Entities};
use super::faults::{Fault, Faults};

/// The start or the end of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    pub(crate) starts: bool,
    pub(crate) time: i64,
    pub value: ValueId,
    pub(crate) container: ContainerId,
    pub(crate) detail: u32,
    /// Of the key.
    pub(crate) key: KeyId,
    /// Line of the file, if it is known.
    pub(crate) line: u64,
}

impl endpoint_map::Half<5> for Half {
    fn starts(&self) -> bool {
        self.starts
    }

    fn words(&self) -> [u64; 5] {
        let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let line = self.line << 1 | u64::from(self.starts);
        [self.time.cast_unsigned(), both(self.value.0, self.container.0), self.detail.into(), self.key.0, line]
    }

    fn of([time, both, detail, key, line]: [u64; 5]) -> Self {
        Self {
            starts: line & 1 == 1,
            time: time.cast_signed(),
            value: ValueId((both >> 32) as u32),
            container: ContainerId(both as u32),
            detail: detail as u32,
            key: KeyId(key),
            line: line >> 1,
        }
    }
}

/// Halves that wait: any number, in memory or in a file.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Links {
    waiting: Waiting<Half, 5>,
    /// Why one could not be kept, or found again.
    #[serde(skip)]
    failed: Option<Arc<io::Error>>,
}

impl Links {
    pub(crate) fn new(overflow: Overflow) -> Self {
        Self { waiting: Waiting::new(overflow), failed: None }
    }

    /// From now on, halves that have no room go there.
    pub(crate) fn overflow_to(&mut self, overflow: Overflow) {
        self.waiting.overflow_to(overflow);
    }

    /// An error when a half could not be kept.
    #[inline]
    pub(crate) fn sound(&self) -> io::Result<()> {
        match &self.failed {
            None => Ok(()),
            Some(why) => Err(io::Error::new(why.kind(), Arc::clone(why))),
        }
    }

    /// Takes a half of a link that this container holds; the earlier and the later date of the pair that it makes.
    /// What cannot be kept is told by [`Self::sound`].
    pub(crate) fn take(
        &mut self,
        (holder, ty): (ContainerId, TypeId),
        half: Half,
        faults: &mut Faults,
        out: &mut impl Entities,
    ) -> Option<(i64, i64)> {
        let key = spread(u128::from(holder.0) << 96 | u128::from(ty.0) << 64 | u128::from(half.key.0));
        let (first, is_last) = match self.waiting.meet(key, half.starts, || Some(half)) {
            Ok(Meeting::Other { other, is_last }) => (other, is_last),
            Ok(Meeting::Alike) => {
                faults.count(Fault::KeyInUse);
                return None;
            }
            Ok(Meeting::Nothing | Meeting::Refused) => return None,
            Err(why) => {
                self.failed = Some(Arc::new(why));
                return None;
            }
        };
        let (start, end) = if half.starts { (half, first) } else { (first, half) };
        if start.value != end.value {
            faults.count(Fault::LinkValue);
        }
        let detail = out.join(start.detail, end.detail);
        out.link(&EndedLink {
            container: holder,
            ty,
            value: start.value,
            start_time: GlobalNanos(start.time),
            end_time: GlobalNanos(end.time),
            start: start.container,
            end: end.container,
            key: half.key.0,
            detail,
        });
        if is_last {
            out.forget_key(half.key.0);
        }
        Some((start.time.min(end.time), start.time.max(end.time)))
    }

    /// Those that wait for their other half have none; how many they are.
    pub(crate) fn drop_halves(&mut self, out: &mut impl Entities) -> io::Result<u64> {
        let count = self.waiting.len();
        self.waiting.each(|half| {
            out.forget(half.detail);
            out.forget_key(half.key.0);
            Ok(())
        })?;
        self.waiting.clear();
        Ok(count)
    }

    /// Counts the halves without their other, by their lines and dates.
    pub(crate) fn count_pending(&mut self, faults: &mut Faults) {
        let all = self.waiting.each(|half| {
            faults.count_at(Fault::IncompleteLink, (half.line, half.time));
            Ok(())
        });
        if let Err(why) = all {
            self.failed = Some(Arc::new(why));
        }
    }
}
