//! [`MessageReader`]: reads the links of a trace as messages between units, in the order of the
//! trace.

use tumit_viewer::parallel_map::{MAX_THREADS, map_in_order};
use tumit_viewer::query::{
    EntityId, LinkEntity, OpenLinkEntity, PajeTypeKind, QueryError, TimelineSource, TypeId, entity_walk,
};
use tumit_viewer::stats::size_field;

use crate::execution::unit_message::{NEVER, UnaddressedMessage, UnitMessage};
use crate::execution::units::UnitSet;

/// Links per request for sizes, so that the fields of few links are in memory at a time.
const SIZES_AT_ONCE: usize = 1 << 14;

/// The messages that are read from links.
pub(crate) struct MessageReader<'a> {
    source: &'a dyn TimelineSource,
    units: &'a UnitSet,
    pub(crate) received_messages: Vec<UnitMessage>,
    pub(crate) unreceived_messages: Vec<UnitMessage>,
    pub(crate) unaddressed_messages: Vec<UnaddressedMessage>,
    pub(crate) has_sizes: bool,
    pub(crate) within_units: u64,
    pub(crate) outside_count: u64,
}

impl<'a> MessageReader<'a> {
    /// Reads all links between units, with their sizes if they are needed.
    ///
    /// # Errors
    /// The errors of the source.
    pub(crate) fn read_all(
        source: &'a dyn TimelineSource,
        units: &'a UnitSet,
        needs_sizes: bool,
    ) -> Result<Self, QueryError> {
        let (received_messages, unreceived_messages, unaddressed_messages) = (Vec::new(), Vec::new(), Vec::new());
        let (has_sizes, within_units, outside_count) = (false, 0, 0);
        let mut reader = Self {
            source,
            units,
            received_messages,
            unreceived_messages,
            unaddressed_messages,
            has_sizes,
            within_units,
            outside_count,
        };
        for ty in source.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
            reader.read(ty.id, needs_sizes)?;
        }
        Ok(reader)
    }

    fn read(&mut self, ty: TypeId, needs_sizes: bool) -> Result<(), QueryError> {
        let (source, extent) = (self.source, self.source.extent());
        let first = [self.received_messages.len(), self.unreceived_messages.len(), self.unaddressed_messages.len()];
        entity_walk::links(source, ty, extent, |link| {
            self.add_link(link);
            Ok(())
        })?;
        source.open_links(ty, extent)?.iter().for_each(|link| self.add_open_link(link));
        let field = if needs_sizes { size_field(source, ty, extent)? } else { None };
        if let Some(field) = field {
            self.has_sizes = true;
            read_sizes(
                source,
                &mut self.received_messages[first[0]..],
                |message| (message.id, &mut message.bytes),
                &field,
            )?;
            read_sizes(
                source,
                &mut self.unreceived_messages[first[1]..],
                |message| (message.id, &mut message.bytes),
                &field,
            )?;
            read_sizes(
                source,
                &mut self.unaddressed_messages[first[2]..],
                |message| (message.id, &mut message.bytes),
                &field,
            )?;
        }
        Ok(())
    }

    fn add_link(&mut self, link: &LinkEntity) {
        let Some((from, to)) = self.units.owner(link.start).zip(self.units.owner(link.end)) else {
            self.outside_count += 1;
            return;
        };
        if from == to {
            self.within_units += 1;
            return;
        }
        let (send_time, receive_time) = (link.start_time.0, link.end_time.0);
        let (id, ty, value, bytes) = (link.id, link.ty, link.value, None);
        self.received_messages.push(UnitMessage { id, ty, value, from, to, send_time, receive_time, bytes });
    }

    fn add_open_link(&mut self, link: &OpenLinkEntity) {
        let Some(from) = self.units.owner(link.start) else {
            self.outside_count += 1;
            return;
        };
        let (id, ty, value, send_time, bytes) = (link.id, link.ty, link.value, link.start_time.0, None);
        let Some(destination) = link.destination else {
            return self.unaddressed_messages.push(UnaddressedMessage { id, from, send_time, bytes });
        };
        match self.units.owner(destination) {
            None => self.outside_count += 1,
            Some(to) if to == from => self.within_units += 1,
            Some(to) => {
                self.unreceived_messages.push(UnitMessage {
                    id,
                    ty,
                    value,
                    from,
                    to,
                    send_time,
                    receive_time: NEVER,
                    bytes,
                });
            }
        }
    }
}

/// Reads the sizes of messages of one type, distributed to all processors.
fn read_sizes<M: Send>(
    source: &dyn TimelineSource,
    messages: &mut [M],
    size: impl Fn(&mut M) -> (EntityId, &mut Option<u64>) + Sync,
    field: &str,
) -> Result<(), QueryError> {
    let parts = map_in_order(messages.chunks_mut(SIZES_AT_ONCE).collect(), MAX_THREADS, |some| {
        let ids: Vec<EntityId> = some.iter_mut().map(|message| size(message).0).collect();
        for (message, number) in some.iter_mut().zip(source.number_fields(&ids, field)?) {
            *size(message).1 = number.and_then(whole_number);
        }
        Ok(())
    });
    parts.into_iter().collect()
}

/// A size in bytes. Negative sizes and other values that are no size are `None`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole_number(size: f64) -> Option<u64> {
    (0.0..1e18).contains(&size).then_some(size as u64)
}
