//! A picture that is made in one pass, of operations that can be taken back: what a first pass would have told is found on the way.
//!
//! Values are defined when they are met, which is in the order in which the first pass declares them. All ends of links are sent; those that are
//! still without the other at the end are dropped then. What cannot be put right so late makes the picture *void*, and it is made anew in two passes:
//! a link that does not end later than it starts, where dates would have to be moved; an end without the other that created its container, or kept
//! one from ending; records that are missing where nobody knew of it.

use std::io;

use super::Picture;
use crate::rules::columnar::fixed;
use crate::rules::eval::Scope;
use crate::rules::program::{Arrow, End, LinkValue, Op, Part, ValueCode};
use crate::rules::value::KeyPart;
use tumit_paje::{TypeId, ValueId};

/// More links in flight are better noted by a first pass, which may use a file.
const MOST_LINKS: u64 = 1 << 20;

/// What is asked of a picture that is made in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Once {
    /// Each link must end later than it starts.
    is_forward: bool,
    /// The links that have one end.
    in_flight: u64,
    /// It cannot be put right.
    is_void: bool,
}

impl Once {
    pub(crate) const fn new(is_forward: bool) -> Self {
        Self { is_forward, in_flight: 0, is_void: false }
    }
}

impl<'p> Picture<'p> {
    /// Whether what was sent has to be taken back. Then all that is done fails.
    pub(crate) fn is_void(&self) -> bool {
        self.once.is_some_and(|once| once.is_void)
    }

    /// Fails, if the picture is void: nothing has to be done any more.
    #[inline]
    pub(crate) fn go_on(&self) -> io::Result<()> {
        if self.is_void() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// An end of a link waits for the other.
    pub(crate) fn waits(&mut self) {
        if let Some(once) = &mut self.once {
            once.in_flight += 1;
            once.is_void |= once.in_flight > MOST_LINKS;
        }
    }

    /// A link is complete, and ends later than it starts, or not.
    pub(crate) fn is_complete(&mut self, is_forward: bool) {
        if let Some(once) = &mut self.once {
            once.in_flight -= 1;
            once.is_void |= once.is_forward && !is_forward;
        }
    }

    /// Records are missing.
    pub(crate) fn misses_records(&mut self) -> io::Result<()> {
        if let Some(once) = &mut self.once {
            once.is_void = true;
        }
        self.go_on()
    }

    /// The value that a type has by this name, which is met now, if it was not before.
    #[cold]
    pub(crate) fn met(&mut self, ty: TypeId, name: KeyPart) -> io::Result<ValueId> {
        let before = self.values.len();
        let value = self.values.to_mut().meet(ty, name, self.symbols);
        self.counts.paje_events += self.values.define(before, self.sink)?;
        Ok(value)
    }

    /// Meets what values an arrow has in a record, whatever becomes of it.
    pub(crate) fn meet_values(&mut self, scope: &Scope<'_>, arrow: &Arrow) -> io::Result<()> {
        let (ty, code) = match &arrow.op {
            Op::SetState { ty, value: ValueCode::Computed(code), .. }
            | Op::PushState { ty, value: ValueCode::Computed(code), .. }
            | Op::Mark { ty, value: ValueCode::Computed(code), .. } => (Some(*ty), code),
            Op::Link { link, value: Some(LinkValue::Computed(code)), .. } => {
                (self.model.links[*link].variants.first().map(|variant| variant.ty), code)
            }
            _ => return Ok(()),
        };
        let name = scope.key(code, &mut self.scratch, self.symbols);
        if let Some(ty) = ty.filter(|_| name != KeyPart::None)
            && self.known.value(&self.values, ty, name).is_none()
        {
            self.met(ty, name)?;
        }
        Ok(())
    }

    /// The value that an operation names that was made from columns; `None` where one that is not known yet need not be. `word` is that of its column.
    #[inline]
    pub(crate) fn named(
        &mut self,
        (ty, part): (TypeId, &Part),
        is_met: bool,
        scope: impl FnOnce() -> Scope<'p>,
        word: u64,
    ) -> io::Result<Option<ValueId>> {
        let name = match part {
            Part::Cell(cell) => cell.key(word),
            Part::Fixed(code) => fixed(code, &scope(), self.symbols).key("", self.symbols),
        };
        match self.known.value(&self.values, ty, name) {
            None if is_met => self.met(ty, name).map(Some),
            known => Ok(known),
        }
    }

    /// Nothing comes any more: drops the ends of links without the other, if there may be some; `false` when the picture is void.
    pub(crate) fn settle(&mut self) -> io::Result<bool> {
        let Some(mut once) = self.once else { return Ok(true) };
        let Self { waiting, counts, instances, .. } = self;
        waiting.each(|started| {
            match started.end {
                End::Start => counts.unmatched_starts += 1,
                End::Finish => counts.unmatched_ends += 1,
            }
            // It was sent, and is no more.
            counts.paje_events -= 1;
            let holder = instances.get_mut(started.holder);
            once.is_void |= started.is_first || holder.doomed;
            holder.open_links = holder.open_links.saturating_sub(1);
            Ok(())
        })?;
        waiting.clear();
        if !once.is_void {
            self.sink.drop_halves()?;
        }
        Ok(!once.is_void)
    }
}
