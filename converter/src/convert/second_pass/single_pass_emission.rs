//! The second pass without a first one (a single pass). It finds the facts of a first pass itself:
//! the definitions of values, and endpoints without a partner. The sink can discard its input.
//!
//! Values are defined at their first use, in the same order in which a first pass declares them.
//! All link endpoints are sent. At the end, the sink settles those without a partner.
//!
//! Some cases cannot be corrected so late. They make the pass *void*, and the conversion is
//! repeated in two passes:
//! - a link that does not end after it starts, so that timestamps would change,
//! - an endpoint without a partner that created its container or kept one from ending,
//! - records that are unexpectedly missing.

use std::io;

use super::emitter::Emitter;
use super::single_pass_state::MAX_OPEN_LINKS;
use crate::rules::columnar_actions::constant_value;
use crate::rules::eval::RecordScope;
use crate::rules::program::{ActionOp, LinkSide, LinkValue, OperandSource, ProgramAction, ValueCode};
use crate::rules::rule_value::KeyPart;
use tumit_paje::{TypeId, ValueId};

impl<'p> Emitter<'p> {
    /// Whether the operations that were sent are void. All further operations then fail.
    pub(crate) fn is_void(&self) -> bool {
        self.single_pass.is_some_and(|single_pass| single_pass.is_void)
    }

    /// Fails if the pass is void, because further work is useless.
    #[inline]
    pub(crate) fn go_on(&self) -> io::Result<()> {
        if self.is_void() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// Notes a link endpoint without a partner so far.
    pub(crate) fn note_waiting_endpoint(&mut self) {
        if let Some(single_pass) = &mut self.single_pass {
            single_pass.in_flight += 1;
            single_pass.is_void |= single_pass.in_flight > MAX_OPEN_LINKS;
        }
    }

    /// Notes a complete link. `is_forward`: it ends after it starts.
    pub(crate) fn is_complete(&mut self, is_forward: bool) {
        if let Some(single_pass) = &mut self.single_pass {
            single_pass.in_flight -= 1;
            single_pass.is_void |= single_pass.is_forward && !is_forward;
        }
    }

    /// Notes that records are missing.
    pub(crate) fn misses_records(&mut self) -> io::Result<()> {
        if let Some(single_pass) = &mut self.single_pass {
            single_pass.is_void = true;
        }
        self.go_on()
    }

    /// Defines the value with this name, if it is not yet defined.
    #[cold]
    pub(crate) fn define_value(&mut self, ty: TypeId, name: KeyPart) -> io::Result<ValueId> {
        let before = self.values.len();
        let value = self.values.to_mut().find_or_define(ty, name, self.symbols);
        self.counts.paje_events += self.values.define(before, self.sink)?;
        Ok(value)
    }

    /// Defines the value of an action in a record, even if the action is not performed.
    pub(crate) fn meet_values(&mut self, scope: &RecordScope<'_>, action: &ProgramAction) -> io::Result<()> {
        let (ty, code) = match &action.op {
            ActionOp::SetState { ty, value: ValueCode::Computed(code), .. }
            | ActionOp::PushState { ty, value: ValueCode::Computed(code), .. }
            | ActionOp::Mark { ty, value: ValueCode::Computed(code), .. } => (Some(*ty), code),
            ActionOp::Link { link, value: Some(LinkValue::Computed(code)), .. } => {
                (self.model.links[*link].variants.first().map(|variant| variant.ty), code)
            }
            _ => return Ok(()),
        };
        let name = scope.key(code, &mut self.scratch, self.symbols);
        if let Some(ty) = ty.filter(|_| name != KeyPart::None)
            && self.known_values.value(&self.values, ty, name).is_none()
        {
            self.define_value(ty, name)?;
        }
        Ok(())
    }

    /// The value that a columnar operation names. `word` is the word of its column. If the value
    /// does not exist, it is defined if `is_met` is set. Otherwise the result is `None`.
    #[inline]
    pub(crate) fn value_by_word(
        &mut self,
        (ty, part): (TypeId, &OperandSource),
        is_met: bool,
        scope: impl FnOnce() -> RecordScope<'p>,
        word: u64,
    ) -> io::Result<Option<ValueId>> {
        let name = match part {
            OperandSource::Cell(cell) => cell.key(word),
            OperandSource::Fixed(code) => constant_value(code, &scope(), self.symbols).key("", self.symbols),
        };
        match self.known_values.value(&self.values, ty, name) {
            None if is_met => self.define_value(ty, name).map(Some),
            known => Ok(known),
        }
    }

    /// Settles link endpoints without a partner at the end of the run. Returns `false` if the pass
    /// is void.
    pub(crate) fn settle_unpaired(&mut self) -> io::Result<bool> {
        let Some(mut single_pass) = self.single_pass else {
            if self.keeps_open_links {
                self.sink.settle_unpaired_endpoints()?;
            }
            return Ok(true);
        };
        let Self { open_links, counts, instances, .. } = self;
        open_links.for_each(|start| {
            match start.end {
                LinkSide::Start => counts.unmatched_starts += 1,
                LinkSide::Finish => counts.unmatched_ends += 1,
            }
            // The endpoint was sent, and is no part of the Pajé text of the run.
            counts.paje_events -= 1;
            let holder = instances.get_mut(start.holder);
            single_pass.is_void |= start.is_first || holder.ends_with_links;
            holder.open_links = holder.open_links.saturating_sub(1);
            Ok(())
        })?;
        open_links.clear();
        if !single_pass.is_void {
            self.sink.settle_unpaired_endpoints()?;
        }
        Ok(!single_pass.is_void)
    }
}
