//! States after missing records of a stream. The open states of the stacks that the stream changed
//! are then unknown.
//!
//! Such a stack contains the value `unknown`, until a record determines its open states by setting
//! a state or ending all states. States that are pushed in the meantime are known, and lie above
//! it. A pop without such a state ends an unknown one.

use std::io;

use rustc_hash::FxHashMap;

use super::Emitter;
use crate::rules::stacks::{StackId, StateStack, StateStacks};
use tumit_paje::time::GlobalNanos;
use tumit_paje::{DrawStyle, PajeEvent, RgbColor, TypeId, ValueId};

/// The name of the value.
const NAME: &str = "unknown (records lost)";
/// A grey that no value gets by default.
const COLOR: RgbColor = RgbColor { red: 0xc8, green: 0xc8, blue: 0xc8 };
/// Shorter lists of stacks are not compacted.
const SHORT: usize = 64;

/// The gaps of each stream, and the stacks that a gap would affect.
#[derive(Debug, Default)]
pub(crate) struct StreamGaps {
    streams: Vec<AffectedStack>,
    /// The value for unknown states, by type.
    values: FxHashMap<TypeId, ValueId>,
}

#[derive(Debug, Default)]
struct AffectedStack {
    gaps: u32,
    /// Stacks that this stream changed last, and some that other streams have changed since.
    stacks: Vec<StackId>,
    /// Maximum length of the list before it is compacted.
    limit: u32,
}

impl StreamGaps {
    fn of(&mut self, stream: u32) -> &mut AffectedStack {
        let at = stream as usize;
        if self.streams.len() <= at {
            self.streams.resize_with(at + 1, AffectedStack::default);
        }
        &mut self.streams[at]
    }

    /// Whether records of a stream are missing so far.
    pub(crate) fn has(&self, stream: u32) -> bool {
        self.streams.get(stream as usize).is_some_and(|concerned| concerned.gaps > 0)
    }

    /// Notes that a record of this stream changes a stack.
    #[inline]
    pub(crate) fn changes(&mut self, stacks: &mut StateStacks, at: StackId, stream: u32) {
        if stacks[at].stream != stream {
            self.takes_over(stacks, at, stream);
        }
    }

    #[cold]
    fn takes_over(&mut self, stacks: &mut StateStacks, at: StackId, stream: u32) {
        stacks[at].stream = stream;
        let concerned = self.of(stream);
        concerned.stacks.push(at);
        if concerned.stacks.len() > SHORT.max(concerned.limit as usize) {
            concerned.tidy(stacks, stream);
        }
    }

    /// Notes that a record of this stream determines the open states of a stack.
    #[inline]
    pub(crate) fn is_certain(&mut self, stacks: &mut StateStacks, at: StackId, stream: u32) {
        self.changes(stacks, at, stream);
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stacks[at].gaps = gaps;
    }

    /// Whether a stack may have more open states than are known.
    pub(crate) fn may_hide(&self, stack: &StateStack, stream: u32) -> bool {
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stack.is_unknown || gaps > stack.gaps
    }
}

impl AffectedStack {
    /// Removes stacks that other streams have changed since, stacks of ended containers, and
    /// duplicates. Amortised O(log n) per addition.
    fn tidy(&mut self, stacks: &StateStacks, stream: u32) {
        // The order is by container, and independent of the positions of the stacks.
        self.stacks.sort_unstable_by_key(|at| (stacks[*at].instance, *at));
        self.stacks.dedup();
        // A stack of an ended container has no stream. Its position may belong to another container
        // by now.
        self.stacks.retain(|at| stacks[*at].stream == stream);
        self.limit = u32::try_from(2 * self.stacks.len()).unwrap_or(u32::MAX);
    }
}

impl Emitter<'_> {
    /// Handles missing records of a stream, from `now` on.
    pub(crate) fn gap(&mut self, stream: u32, now: i64) -> io::Result<()> {
        self.misses_records()?;
        if now > self.ends.next {
            self.end_before(now)?;
        }
        self.now = GlobalNanos(now);
        let concerned = self.gaps.of(stream);
        concerned.gaps = concerned.gaps.saturating_add(1);
        concerned.tidy(&self.instances.stacks, stream);
        for at in 0..self.gaps.of(stream).stacks.len() {
            let at = self.gaps.of(stream).stacks[at];
            self.set_unknown(at)?;
        }
        Ok(())
    }

    /// Makes the open states of a stack unknown.
    pub(crate) fn set_unknown(&mut self, at: StackId) -> io::Result<()> {
        if self.instances.stacks[at].is_unknown {
            while self.instances.stacks[at].values.len() > 1 {
                self.pop(at)?;
            }
            return Ok(());
        }
        let value = self.unknown_value(self.instances.stacks[at].ty)?;
        self.replace(at, value)?;
        let stack = &mut self.instances.stacks[at];
        stack.is_unknown = true;
        let (container, ty) = (stack.container, stack.ty);
        self.counts.unknown_states += 1;
        let (time, extra, source) = (self.now, &[][..], None);
        self.emit(&PajeEvent::SetState { time, container, ty, value, extra, source })
    }

    /// The value of unknown states. It is defined at its first use, if it was not defined at the
    /// start.
    pub(crate) fn unknown_value(&mut self, ty: TypeId) -> io::Result<ValueId> {
        if let Some(value) = self.gaps.values.get(&ty) {
            return Ok(*value);
        }
        let number = self.values.len() + self.gaps.values.len();
        let value = ValueId(u32::try_from(number).unwrap_or(u32::MAX));
        self.gaps.values.insert(ty, value);
        self.emit(&PajeEvent::DefineValue { value, ty, name: NAME, color: Some(COLOR), style: DrawStyle::NONE })?;
        Ok(value)
    }
}
