//! States after missing records of a stream. The open states of the stacks that the stream changed
//! are then unknown.
//!
//! Such a stack contains the value `unknown`, until a record determines its open states by setting
//! a state or ending all states. States that are pushed in the meantime are known, and lie above
//! it. A pop without such a state ends an unknown one.

use std::io;

use super::emitter::Emitter;
use crate::rules::stacks::StackId;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{DrawStyle, PajeEvent, RgbColor, TypeId, ValueId};

/// The name of the value.
const NAME: &str = "unknown (records dropped or missing)";
/// A grey that no value gets by default.
const COLOR: RgbColor = RgbColor { red: 0xc8, green: 0xc8, blue: 0xc8 };

impl Emitter<'_> {
    /// Handles missing records of a stream, from `now` on.
    pub(crate) fn handle_gap(&mut self, stream: u32, now: i64) -> io::Result<()> {
        self.misses_records()?;
        if now > self.ends.next {
            self.end_before(now)?;
        }
        self.time = GlobalNanos(now);
        self.operations.note_gap(stream as usize);
        let concerned = self.gaps.of(stream);
        concerned.gaps = concerned.gaps.saturating_add(1);
        concerned.remove_settled(&self.instances.stacks, stream);
        for index in 0..self.gaps.of(stream).stacks.len() {
            let stack = self.gaps.of(stream).stacks[index];
            self.set_unknown(stack)?;
        }
        Ok(())
    }

    /// Makes the open states of a stack unknown.
    pub(crate) fn set_unknown(&mut self, stack: StackId) -> io::Result<()> {
        if self.instances.stacks[stack].is_unknown {
            while self.instances.stacks[stack].values.len() > 1 {
                self.pop(stack)?;
            }
            return Ok(());
        }
        let value = self.unknown_value(self.instances.stacks[stack].ty)?;
        self.replace(stack, value)?;
        let stack = &mut self.instances.stacks[stack];
        stack.is_unknown = true;
        let (container, ty) = (stack.container, stack.ty);
        self.counts.unknown_states += 1;
        let (time, extra, source) = (self.time, &[][..], None);
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
        self.emit(&PajeEvent::DefineValue {
            value,
            ty,
            name: NAME,
            color: Some(COLOR),
            style: DrawStyle::NONE,
            category: None,
        })?;
        Ok(value)
    }
}
