//! A cache of containers: the last container of each pair of stream and target. The next
//! record of the pair nearly always has the same container, so that no search is needed.

use crate::rules::eval::RecordScope;
use crate::rules::program::{ContainerTarget, ExprCode};
use crate::rules::rule_value::{KeyPart, Symbols};
use tumit::spec::Builtin;

/// Targets with more keys are not cached.
const MAX_KEYS: usize = 4;
/// Maximum number of pairs of stream and target in the cache: 10 MB.
const MAX_SLOTS: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct ContainerCache {
    /// By stream and target.
    slots: Vec<Vec<CacheSlot>>,
    /// Number of slots.
    size: usize,
}

/// An instance that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CachedInstance {
    /// The number of containers that had ended at that time.
    pub(crate) ended_count: u64,
    pub(crate) instance: usize,
}

#[derive(Clone, Debug)]
struct CacheSlot {
    keys: [KeyPart; MAX_KEYS],
    last: Option<CachedInstance>,
    /// Whether the keys are the same for all records of the stream.
    is_constant: bool,
}

impl Default for CacheSlot {
    fn default() -> Self {
        Self { keys: [KeyPart::None; MAX_KEYS], last: None, is_constant: false }
    }
}

impl ContainerCache {
    /// The last instance of this stream and target. `None` if its keys have changed or a container
    /// has ended in the meantime.
    #[inline]
    pub(crate) fn last_instance(
        &self,
        scope: &RecordScope<'_>,
        target: &ContainerTarget,
        ended_count: u64,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) -> Option<usize> {
        let entry = self.slots.get(scope.stream.number)?.get(target.number)?;
        let CachedInstance { ended_count: ended, instance } = entry.last?;
        let is_same =
            |(code, part): (&ExprCode, &KeyPart)| entry.is_constant || scope.key(code, scratch, symbols) == *part;
        (ended == ended_count && target.keys.iter().zip(&entry.keys).all(is_same)).then_some(instance)
    }

    pub(crate) fn note(
        &mut self,
        scope: &RecordScope<'_>,
        target: &ContainerTarget,
        cached_instance: CachedInstance,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) {
        let (stream, count) = (scope.stream.number, target.number + 1);
        if target.keys.len() > MAX_KEYS {
            return;
        }
        let room = self.slots.get(stream).map_or(0, Vec::len);
        if room < count {
            if self.size + count - room > MAX_SLOTS {
                return;
            }
            self.size += count - room;
            self.slots.resize_with(self.slots.len().max(stream + 1), Vec::new);
            // Exact, because a run may have a million streams and most have few targets.
            self.slots[stream].reserve_exact(count - room);
            self.slots[stream].resize_with(count, CacheSlot::default);
        }
        let slot = &mut self.slots[stream][target.number];
        for (code, key) in target.keys.iter().zip(&mut slot.keys) {
            *key = scope.key(code, scratch, symbols);
        }
        slot.last = Some(cached_instance);
        slot.is_constant = target.keys.iter().all(is_constant);
    }
}

/// Whether a key is the same for all records of a stream.
fn is_constant(code: &ExprCode) -> bool {
    match code {
        ExprCode::Const(_) => true,
        ExprCode::Referent(referent) => referent.is_own(),
        ExprCode::Builtin(builtin) => {
            use Builtin::{Host, Pid, Rank, StreamLabel, ThreadName, Tid};
            matches!(builtin, Pid | Tid | Rank | Host | ThreadName | StreamLabel)
        }
        _ => false,
    }
}
