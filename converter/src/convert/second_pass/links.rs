//! Links: an end waits for its other end, which takes over its value and its key.

use std::io;

use super::{Beside, Extras, Picture, fill, source_of};
use crate::convert::first_pass::notes::ArrowPlace;
use crate::convert::first_pass::survey::{OtherEnd, link_key};
use crate::rules::eval::Scope;
use crate::rules::links::LinkKey;
use crate::rules::program::{Arrow, End, LinkValue, Op, Target};
use crate::rules::value::{KeyPart, Sym};
use tumit_paje::time::GlobalNanos;
use tumit_paje::{KeyId, PajeEvent, TypeId, ValueId};
use tumit_spill::endpoint_map::{Half, Meeting};

/// A link with one end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Started {
    pub(crate) end: End,
    key: KeyId,
    value: ValueId,
    time: GlobalNanos,
    /// The instance that holds it.
    pub(crate) holder: usize,
    /// This end is the first that was heard of its container.
    pub(crate) is_first: bool,
}

impl Half<4> for Started {
    fn starts(&self) -> bool {
        self.end == End::Start
    }

    fn words(&self) -> [u64; 4] {
        let flags = u64::from(self.is_first) << 1 | u64::from(self.starts());
        [self.key.0, u64::from(self.value.0) << 32 | flags, self.time.0.cast_unsigned(), self.holder as u64]
    }

    fn of([key, value, time, holder]: [u64; 4]) -> Self {
        Self {
            end: if value & 1 == 1 { End::Start } else { End::Finish },
            key: KeyId(key),
            value: ValueId((value >> 32) as u32),
            time: GlobalNanos(time.cast_signed()),
            holder: holder as usize,
            is_first: value & 2 == 2,
        }
    }
}

/// The value of a link: the one with this number among those that are declared, or one by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named {
    Declared(usize),
    By(KeyPart),
}

/// Where an end of a link is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) instance: usize,
    /// Its container type.
    pub(crate) container: usize,
    /// It was created for this end.
    pub(crate) is_first: bool,
}

/// An end of a link, and what it has in common with the other one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paired {
    end: End,
    started: Started,
    ty: TypeId,
    /// The instance that holds it.
    holder: usize,
}

impl Picture<'_> {
    /// Runs an action that starts or ends a link.
    pub(crate) fn link_arrow(&mut self, scope: &Scope<'_>, arrow: &Arrow, place: ArrowPlace) -> io::Result<()> {
        let Op::Link { end, link, value, key, on } = &arrow.op else { return Ok(()) };
        let other = self.survey.other_end(place)?;
        if other == OtherEnd::Missing {
            self.skip(*link);
            return Ok(());
        }
        let at = self.locate_end(scope, on)?;
        let key = link_key(scope, *link, key, on, self.model, &mut self.scratch, self.symbols);
        let value = match value {
            Some(LinkValue::Declared(number)) => Some(Named::Declared(*number)),
            Some(LinkValue::Computed(code)) => Some(Named::By(scope.key(code, &mut self.scratch, self.symbols))),
            None => None,
        };
        let Some(paired) = self.pair((*end, *link), at, key, value, other)? else {
            return Ok(());
        };
        let (given, related) = self.fields(scope, arrow)?;
        self.link(paired, at.instance, (&given, &related), scope.source())
    }

    /// An end of a link has no other end, and is not shown. It has a key all the same: in one pass nobody knows yet that it stays alone.
    pub(crate) fn skip(&mut self, link: usize) {
        self.next_key += u64::from(!self.model.links[link].is_partial);
    }

    /// Where an end of a link is; its container is created when it does not exist.
    pub(crate) fn locate_end(&mut self, scope: &Scope<'_>, on: &Target) -> io::Result<At> {
        let before = self.counts.containers;
        let instance = self.locate(scope, on)?;
        Ok(At { instance, container: on.container(), is_first: self.counts.containers > before })
    }

    /// An end of a link finds its other end, or waits for it; `None` when it is not shown.
    pub(crate) fn pair(
        &mut self,
        (end, link): (End, usize),
        At { instance, container: here, is_first }: At,
        key: LinkKey,
        value: Option<Named>,
        other: OtherEnd,
    ) -> io::Result<Option<Paired>> {
        let model = self.model;
        let variant = match (&model.links[link].variants[..], other) {
            ([_], _) => Some(0),
            (_, OtherEnd::In(other)) if end == End::Start => model.variant(link, here, other),
            (_, OtherEnd::In(other)) => model.variant(link, other, here),
            _ => None,
        };
        let holder = self.ancestor(instance, model.links[link].holder);
        let (Some(variant), Some(holder)) = (variant, holder) else { return Ok(None) };
        let variant = &model.links[link].variants[variant];
        let ty = variant.ty;
        // Where there is one type, the link tells it.
        let key = if model.links[link].variants.len() == 1 { key } else { key.of_type(ty) };
        let mut new = None;
        let met = self.waiting.meet(key.hash(), end == End::Start, || {
            let value = match value {
                Some(Named::Declared(number)) => variant.values.get(number).copied(),
                Some(Named::By(name)) => self.values.get(ty, name),
                None => None,
            };
            let value = value.or(variant.values.last().copied());
            new =
                value.map(|value| Started { end, key: KeyId(self.next_key), value, time: self.now, holder, is_first });
            new
        })?;
        let started = match met {
            Meeting::Other { other: started, .. } => {
                self.instances.get_mut(holder).open_links -= 1;
                // Dates do not decrease: what waits is the earlier end.
                self.counts.reversed_links += u64::from(end == End::Start && started.time < self.now);
                self.counts.links += 1;
                self.is_complete(end == End::Finish && started.time < self.now);
                started
            }
            Meeting::Nothing | Meeting::Alike | Meeting::Refused => {
                let Some(started) = new else { return Ok(None) };
                self.next_key += 1;
                self.instances.get_mut(holder).open_links += 1;
                self.waits();
                started
            }
        };
        Ok(Some(Paired { end, started, ty, holder }))
    }

    /// Sends an end of a link that is in `instance`, with its fields and source position.
    pub(crate) fn link(
        &mut self,
        Paired { end, started: Started { key, value, .. }, ty, holder }: Paired,
        instance: usize,
        beside: Beside<'_>,
        source: Option<(Sym, u32)>,
    ) -> io::Result<()> {
        self.go_on()?;
        let (time, container, at) = (self.now, self.instances.get(holder).id, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        {
            let mut extra = Extras::new();
            fill(&mut extra, beside, &mut self.scratch, self.symbols);
            let (extra, source) = (&extra[..], source_of(source, self.symbols));
            self.sink.event(&match end {
                End::Start => PajeEvent::StartLink { time, container, ty, value, start: at, key, extra, source },
                End::Finish => PajeEvent::EndLink { time, container, ty, value, end: at, key, extra, source },
            })?;
        }
        let held = self.instances.get(holder);
        if held.doomed && held.open_links == 0 { self.destroy(holder) } else { Ok(()) }
    }
}
