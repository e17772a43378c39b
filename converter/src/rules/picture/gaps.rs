//! States after losses: where records of a stream are missing, nobody knows what is open on the stacks that the stream had changed.
//!
//! Such a stack holds a value of its own, `unknown`, until a record says for certain what is open: one that sets a state or closes
//! all. What is pushed meanwhile is known, and lies on it. A pop that finds nothing on it pops something unknown.

use std::io;

use rustc_hash::FxHashMap;

use super::super::instances::{Instances, Stack};
use super::{Picture, StackPlace};
use crate::paje::{Color, PajeEvent, TypeId, ValueId};
use crate::time::GlobalNanos;

/// How the value is called.
const NAME: &str = "unknown (records lost)";
/// A grey that no value gets by itself.
const COLOR: Color = Color { red: 0xc8, green: 0xc8, blue: 0xc8 };
/// A list of stacks shorter than this is not worth tidying.
const SHORT: usize = 64;

/// The gaps of each stream, and the stacks that a gap would concern.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    streams: Vec<Concerned>,
    /// The value for what is not known, by type.
    values: FxHashMap<TypeId, ValueId>,
}

#[derive(Debug, Default)]
struct Concerned {
    gaps: u32,
    /// Stacks that this stream changed last, and some that others changed since.
    stacks: Vec<StackPlace>,
    /// How many these may be before they are tidied.
    limit: usize,
}

impl Gaps {
    fn of(&mut self, stream: u32) -> &mut Concerned {
        let at = stream as usize;
        if self.streams.len() <= at {
            self.streams.resize_with(at + 1, Concerned::default);
        }
        &mut self.streams[at]
    }

    /// Whether records of a stream are missing before now.
    pub(super) fn has(&self, stream: u32) -> bool {
        self.streams.get(stream as usize).is_some_and(|concerned| concerned.gaps > 0)
    }

    /// A record of this stream changes a stack.
    #[inline]
    pub(super) fn changes(&mut self, instances: &mut Instances, place: StackPlace, stream: u32) {
        if instances.get(place.0).stacks[place.1].stream != stream {
            self.takes_over(instances, place, stream);
        }
    }

    #[cold]
    fn takes_over(&mut self, instances: &mut Instances, place: StackPlace, stream: u32) {
        instances.get_mut(place.0).stacks[place.1].stream = stream;
        let concerned = self.of(stream);
        concerned.stacks.push(place);
        if concerned.stacks.len() > concerned.limit.max(SHORT) {
            concerned.tidy(instances, stream);
        }
    }

    /// A record of this stream says for certain what is open on a stack.
    #[inline]
    pub(super) fn is_certain(&mut self, instances: &mut Instances, place: StackPlace, stream: u32) {
        self.changes(instances, place, stream);
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        instances.get_mut(place.0).stacks[place.1].gaps = gaps;
    }

    /// Whether there may be more on a stack than is known.
    pub(super) fn may_hide(&self, stack: &Stack, stream: u32) -> bool {
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stack.is_unknown || gaps > stack.gaps
    }
}

impl Concerned {
    /// Leaves out stacks that others changed since, ended ones, and repetitions. Amortised O(log n) for each addition.
    fn tidy(&mut self, instances: &Instances, stream: u32) {
        self.stacks.sort_unstable();
        self.stacks.dedup();
        self.stacks.retain(|&(instance, slot)| {
            // An ended one has none; its number may be another's by now.
            instances.get(instance).stacks.get(slot).is_some_and(|stack| stack.stream == stream)
        });
        self.limit = 2 * self.stacks.len();
    }
}

impl Picture<'_> {
    /// Records of a stream are missing from `now` on.
    pub(crate) fn gap(&mut self, stream: u32, now: i64) -> io::Result<()> {
        self.misses_records()?;
        self.now = GlobalNanos(now);
        let concerned = self.gaps.of(stream);
        concerned.gaps = concerned.gaps.saturating_add(1);
        concerned.tidy(&self.instances, stream);
        for at in 0..self.gaps.of(stream).stacks.len() {
            let (instance, slot) = self.gaps.of(stream).stacks[at];
            let ty = self.model.containers[self.instances.get(instance).container].states[slot];
            self.forget(instance, slot, ty)?;
        }
        Ok(())
    }

    /// What is open on a stack is not known any more.
    pub(super) fn forget(&mut self, instance: usize, slot: usize, ty: TypeId) -> io::Result<()> {
        let stack = &self.instances.get(instance).stacks[slot];
        if stack.is_unknown {
            while self.instances.get(instance).stacks[slot].values.len() > 1 {
                self.pop(instance, slot, ty)?;
            }
            return Ok(());
        }
        let value = self.unknown_value(ty)?;
        self.replace(instance, slot, ty, value)?;
        let instance = self.instances.get_mut(instance);
        instance.stacks[slot].is_unknown = true;
        let container = instance.id;
        self.counts.unknown_states += 1;
        let (time, extra, source) = (self.now, &[][..], None);
        self.emit(&PajeEvent::SetState { time, container, ty, value, extra, source })
    }

    /// The value of what is not known. It is defined at its first use, if nobody had expected it before.
    pub(super) fn unknown_value(&mut self, ty: TypeId) -> io::Result<ValueId> {
        if let Some(value) = self.gaps.values.get(&ty) {
            return Ok(*value);
        }
        let number = self.values.len() + self.gaps.values.len();
        let value = ValueId(u32::try_from(number).unwrap_or(u32::MAX));
        self.gaps.values.insert(ty, value);
        self.emit(&PajeEvent::DefineValue { value, ty, name: NAME, color: Some(COLOR) })?;
        Ok(value)
    }
}
