//! States after losses: where records of a stream are missing, nobody knows what is open on the stacks that the stream had changed.
//!
//! Such a stack holds a value of its own, `unknown`, until a record says for certain what is open: one that sets a state or closes
//! all. What is pushed meanwhile is known, and lies on it. A pop that finds nothing on it pops something unknown.

use std::io;

use rustc_hash::FxHashMap;

use super::Picture;
use crate::rules::stacks::{Stack, StackId, Stacks};
use tumit_paje::time::GlobalNanos;
use tumit_paje::{Color, Look, PajeEvent, TypeId, ValueId};

/// How the value is called.
const NAME: &str = "unknown (records lost)";
/// A grey that no value gets by itself.
const COLOR: Color = Color { red: 0xc8, green: 0xc8, blue: 0xc8 };
/// A list of stacks shorter than this is not worth tidying.
const SHORT: usize = 64;

/// The gaps of each stream, and the stacks that a gap would concern.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    streams: Vec<Concerned>,
    /// The value for what is not known, by type.
    values: FxHashMap<TypeId, ValueId>,
}

#[derive(Debug, Default)]
struct Concerned {
    gaps: u32,
    /// Stacks that this stream changed last, and some that others changed since.
    stacks: Vec<StackId>,
    /// How many these may be before they are tidied.
    limit: u32,
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
    pub(crate) fn has(&self, stream: u32) -> bool {
        self.streams.get(stream as usize).is_some_and(|concerned| concerned.gaps > 0)
    }

    /// A record of this stream changes a stack.
    #[inline]
    pub(crate) fn changes(&mut self, stacks: &mut Stacks, at: StackId, stream: u32) {
        if stacks[at].stream != stream {
            self.takes_over(stacks, at, stream);
        }
    }

    #[cold]
    fn takes_over(&mut self, stacks: &mut Stacks, at: StackId, stream: u32) {
        stacks[at].stream = stream;
        let concerned = self.of(stream);
        concerned.stacks.push(at);
        if concerned.stacks.len() > SHORT.max(concerned.limit as usize) {
            concerned.tidy(stacks, stream);
        }
    }

    /// A record of this stream says for certain what is open on a stack.
    #[inline]
    pub(crate) fn is_certain(&mut self, stacks: &mut Stacks, at: StackId, stream: u32) {
        self.changes(stacks, at, stream);
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stacks[at].gaps = gaps;
    }

    /// Whether there may be more on a stack than is known.
    pub(crate) fn may_hide(&self, stack: &Stack, stream: u32) -> bool {
        let gaps = self.streams.get(stream as usize).map_or(0, |concerned| concerned.gaps);
        stack.is_unknown || gaps > stack.gaps
    }
}

impl Concerned {
    /// Leaves out stacks that others changed since, ended ones, and repetitions. Amortised O(log n) for each addition.
    fn tidy(&mut self, stacks: &Stacks, stream: u32) {
        // In the order of their containers, whatever places they have.
        self.stacks.sort_unstable_by_key(|at| (stacks[*at].instance, *at));
        self.stacks.dedup();
        // Nobody has changed one that ended; its place may be another's by now.
        self.stacks.retain(|at| stacks[*at].stream == stream);
        self.limit = u32::try_from(2 * self.stacks.len()).unwrap_or(u32::MAX);
    }
}

impl Picture<'_> {
    /// Records of a stream are missing from `now` on.
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
            self.forget(at)?;
        }
        Ok(())
    }

    /// What is open on a stack is not known any more.
    pub(crate) fn forget(&mut self, at: StackId) -> io::Result<()> {
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

    /// The value of what is not known. It is defined at its first use, if nobody had expected it before.
    pub(crate) fn unknown_value(&mut self, ty: TypeId) -> io::Result<ValueId> {
        if let Some(value) = self.gaps.values.get(&ty) {
            return Ok(*value);
        }
        let number = self.values.len() + self.gaps.values.len();
        let value = ValueId(u32::try_from(number).unwrap_or(u32::MAX));
        self.gaps.values.insert(ty, value);
        self.emit(&PajeEvent::DefineValue { value, ty, name: NAME, color: Some(COLOR), look: Look::NONE })?;
        Ok(value)
    }
}
