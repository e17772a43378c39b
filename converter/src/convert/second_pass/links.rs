//! Pairs the endpoints of links. The first endpoint waits for its partner, which takes its value
//! and its key.

use std::io;

use super::emitter::Emitter;
use super::entities::{EntityExtras, SinkExtras, fill, source_of};
use super::open_link::OpenLink;
use crate::convert::first_pass::action_notes::ActionPosition;
use crate::convert::first_pass::survey::{EndpointState, link_key};
use crate::rules::eval::RecordScope;
use crate::rules::link_keys::LinkKey;
use crate::rules::program::{ActionOp, ContainerTarget, LinkSide, LinkValue, ProgramAction};
use crate::rules::rule_model::LinkVariant;
use crate::rules::rule_value::KeyPart;
use crate::rules::stream_facts::SourceLocation;
use crate::rules::value_table::ValueTable;
use tumit_paje::{KeyId, PajeEvent, TypeId, ValueId};
use tumit_spill::endpoint_map::EndpointMatch;

/// The value of a link: the number of a declared value, or a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkValueRef {
    Declared(usize),
    By(KeyPart),
}

/// The container of a link endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointPosition {
    pub(crate) instance: usize,
    /// Its container type.
    pub(crate) container: usize,
    /// Whether it was created for this endpoint.
    pub(crate) is_first: bool,
}

/// A link endpoint, with the data that both endpoints share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairedEndpoint {
    end: LinkSide,
    start: OpenLink,
    ty: TypeId,
    /// The instance that holds the link.
    holder: usize,
}

impl Emitter<'_> {
    /// Runs an action that starts or ends a link.
    pub(crate) fn link_action(
        &mut self,
        scope: &RecordScope<'_>,
        action: &ProgramAction,
        position: ActionPosition,
    ) -> io::Result<()> {
        let ActionOp::Link { end, link, value, key, target } = &action.op else { return Ok(()) };
        let other = self.survey.partner(position)?;
        if other == EndpointState::Missing {
            return self.open_link_action(scope, action);
        }
        let position = self.locate_end(scope, target)?;
        let key = link_key(scope, *link, key, target, self.model, &mut self.scratch, self.symbols);
        let value = self.link_value(scope, value.as_ref());
        let Some(pair) = self.pair_endpoint((*end, *link), position, key, value, other)? else {
            return Ok(());
        };
        let (fields, related) = self.fields(scope, action)?;
        self.link(
            pair,
            position.instance,
            EntityExtras { fields: &fields, related_containers: &related },
            scope.source(),
        )
    }

    fn link_value(&mut self, scope: &RecordScope<'_>, value: Option<&LinkValue>) -> Option<LinkValueRef> {
        Some(match value? {
            LinkValue::Declared(number) => LinkValueRef::Declared(*number),
            LinkValue::Computed(code) => LinkValueRef::By(scope.key(code, &mut self.scratch, self.symbols)),
        })
    }

    /// Runs an action that starts or ends a link without its partner. A start is sent if the sink
    /// keeps it, and its container exists: a link that never ends creates no container.
    fn open_link_action(&mut self, scope: &RecordScope<'_>, action: &ProgramAction) -> io::Result<()> {
        let ActionOp::Link { end, link, value, target, .. } = &action.op else { return Ok(()) };
        let instance = if self.is_kept_open(*end, *link) { self.existing_container(scope, target) } else { None };
        let Some(instance) = instance else {
            self.skip(*link);
            return Ok(());
        };
        let value = self.link_value(scope, value.as_ref());
        let (fields, related) = self.fields(scope, action)?;
        let extras = EntityExtras { fields: &fields, related_containers: &related };
        self.send_open_link((*link, instance), value, extras, scope.source())
    }

    /// Whether an endpoint without a partner is sent. The type of a link depends on the containers
    /// of both endpoints if its rules allow several.
    pub(super) fn is_kept_open(&self, end: LinkSide, link: usize) -> bool {
        let model = &self.model.links[link];
        self.keeps_open_links && end == LinkSide::Start && model.variants.len() == 1 && !model.is_partial
    }

    /// Sends the start of a link that never ends. It is no part of the Pajé text of the run, so it
    /// does not count.
    pub(super) fn send_open_link(
        &mut self,
        (link, instance): (usize, usize),
        value: Option<LinkValueRef>,
        extras: EntityExtras<'_>,
        source: Option<SourceLocation>,
    ) -> io::Result<()> {
        let model = self.model;
        let holder = self.ancestor(instance, model.links[link].holder);
        let found = model.links[link].variants.first().zip(holder);
        let Some((variant, holder)) = found else { return Ok(()) };
        let Some(value) = variant_value(&self.values, variant, value) else { return Ok(()) };
        let (key, time) = (KeyId(self.next_key), self.time);
        self.next_key += 1;
        let start = OpenLink { end: LinkSide::Start, key, value, time, holder, is_first: false };
        self.link(PairedEndpoint { end: LinkSide::Start, start, ty: variant.ty, holder }, instance, extras, source)?;
        self.counts.paje_events -= 1;
        Ok(())
    }

    /// Skips a link endpoint without a partner. It uses up a key nevertheless, as in a single pass,
    /// where the missing partner is not yet known.
    pub(crate) fn skip(&mut self, link: usize) {
        self.next_key += u64::from(!self.model.links[link].is_partial);
    }

    /// The container of a link endpoint. It is created if it does not exist.
    pub(crate) fn locate_end(
        &mut self,
        scope: &RecordScope<'_>,
        container: &ContainerTarget,
    ) -> io::Result<EndpointPosition> {
        let before = self.counts.containers;
        let instance = self.locate(scope, container)?;
        Ok(EndpointPosition { instance, container: container.container(), is_first: self.counts.containers > before })
    }

    /// Pairs a link endpoint with its partner, or lets it wait. `None` if the endpoint is not sent.
    pub(crate) fn pair_endpoint(
        &mut self,
        (end, link): (LinkSide, usize),
        EndpointPosition { instance, container, is_first }: EndpointPosition,
        key: LinkKey,
        value: Option<LinkValueRef>,
        other: EndpointState,
    ) -> io::Result<Option<PairedEndpoint>> {
        let model = self.model;
        let variant = match (&model.links[link].variants[..], other) {
            ([_], _) => Some(0),
            (_, EndpointState::InType(other)) if end == LinkSide::Start => model.variant(link, container, other),
            (_, EndpointState::InType(other)) => model.variant(link, other, container),
            _ => None,
        };
        let holder = self.ancestor(instance, model.links[link].holder);
        let (Some(variant), Some(holder)) = (variant, holder) else { return Ok(None) };
        let variant = &model.links[link].variants[variant];
        let ty = variant.ty;
        // With one type, the link determines it.
        let key = if model.links[link].variants.len() == 1 { key } else { key.of_type(ty) };
        let mut new = None;
        let partner = self.open_links.match_or_insert(key.hash(), end == LinkSide::Start, || {
            let value = variant_value(&self.values, variant, value);
            new = value.map(|value| OpenLink {
                end,
                key: KeyId(self.next_key),
                value,
                time: self.time,
                holder,
                is_first,
            });
            new
        })?;
        let start = match partner {
            EndpointMatch::Other { partner: started, .. } => {
                self.instances.get_mut(holder).open_links -= 1;
                // Timestamps do not decrease, so the waiting endpoint is the earlier one.
                self.counts.reversed_links += u64::from(end == LinkSide::Start && started.time < self.time);
                self.counts.links += 1;
                self.is_complete(end == LinkSide::Finish && started.time < self.time);
                started
            }
            EndpointMatch::Nothing | EndpointMatch::Alike | EndpointMatch::Refused => {
                let Some(started) = new else { return Ok(None) };
                self.next_key += 1;
                self.instances.get_mut(holder).open_links += 1;
                self.note_waiting_endpoint();
                started
            }
        };
        Ok(Some(PairedEndpoint { end, start, ty, holder }))
    }

    /// Sends a link endpoint that is in `instance`, with its fields and source position.
    pub(super) fn link(
        &mut self,
        PairedEndpoint { end, start: OpenLink { key, value, .. }, ty, holder }: PairedEndpoint,
        instance: usize,
        extras: EntityExtras<'_>,
        source: Option<SourceLocation>,
    ) -> io::Result<()> {
        self.go_on()?;
        let (time, container, endpoint) = (self.time, self.instances.get(holder).id, self.instances.get(instance).id);
        self.counts.paje_events += 1;
        {
            let mut extra = SinkExtras::new();
            fill(&mut extra, extras, &mut self.scratch, self.symbols);
            let (extra, source) = (&extra[..], source_of(source, self.symbols));
            self.sink.event(&match end {
                LinkSide::Start => {
                    PajeEvent::StartLink { time, container, ty, value, start: endpoint, key, extra, source }
                }
                LinkSide::Finish => {
                    PajeEvent::EndLink { time, container, ty, value, end: endpoint, key, extra, source }
                }
            })?;
        }
        let holder_instance = self.instances.get(holder);
        if holder_instance.ends_with_links && holder_instance.open_links == 0 { self.destroy(holder) } else { Ok(()) }
    }
}

/// The value of a link of a type. Without a value of its own, it has the last declared one.
fn variant_value(values: &ValueTable, variant: &LinkVariant, value: Option<LinkValueRef>) -> Option<ValueId> {
    let value = match value {
        Some(LinkValueRef::Declared(number)) => variant.values.get(number).copied(),
        Some(LinkValueRef::By(name)) => values.get(variant.ty, name),
        None => None,
    };
    value.or(variant.values.last().copied())
}
