//! Sends Pajé operations from one thread to another. The producer copies them into batches, and the
//! consumer sends them to a sink. Rules and text output (or simulation) therefore run in parallel.
//! The sink receives the same operations as without this channel.
//!
//! ```
//! use tumit_paje::channel::relay;
//! use tumit_paje::time::GlobalNanos;
//! use tumit_paje::write::PajeWriter;
//! use tumit_paje::{ContainerId, PajeEvent, PajeSink, TypeId};
//!
//! let (mut sender, receiver) = relay();
//! let producer = std::thread::spawn(move || {
//!     let (container, ty) = (ContainerId(1), TypeId(2));
//!     sender.event(&PajeEvent::PopState { time: GlobalNanos(7), container, ty })?;
//!     sender.finish(GlobalNanos(7))
//! });
//! let mut writer = PajeWriter::new(Vec::new());
//! receiver.run(&mut writer)?;
//! producer.join().unwrap()?;
//! assert!(writer.into_inner().ends_with(b"13 0.000000007 c1 t2\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod event_batch;
pub(crate) mod packed_event;
#[cfg(test)]
mod tests;

use std::io;

use super::recycling_channel::{RecyclingReceiver, RecyclingSender, recycling_channel};
use super::time::GlobalNanos;
use super::{ContainerId, FieldSet, KeyId, PajeEvent, PajeSink, PlainEvent};
use event_batch::{EventBatch, OwnedFieldSet, RareEvent};
use packed_event::PackedEvent;

/// Maximum number of operations in a batch.
const BATCH_EVENTS: usize = 2048;
/// Maximum size of the texts of a batch, in bytes. A few operations with long texts also fill a
/// batch.
const BATCH_BYTES: usize = 1 << 17;
/// Maximum number of batches between the two threads.
const BATCHES: usize = 4;

/// The producer's endpoint, itself a sink.
#[derive(Debug)]
pub struct EventSender {
    batch: EventBatch,
    batches: RecyclingSender<EventBatch>,
}

/// The consumer's endpoint.
#[derive(Debug)]
pub struct BatchReceiver {
    batches: RecyclingReceiver<EventBatch>,
}

/// Creates a channel.
pub fn relay() -> (EventSender, BatchReceiver) {
    let (sender, receiver) = recycling_channel(BATCHES);
    (EventSender { batch: EventBatch::default(), batches: sender }, BatchReceiver { batches: receiver })
}

impl BatchReceiver {
    /// Sends all operations to `sink`, until the end or until it fails. After a failure, the next
    /// call of the producer fails.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn run(self, sink: &mut dyn PajeSink) -> io::Result<()> {
        self.batches.consume(|batch| {
            batch.send(sink)?;
            batch.clear();
            Ok(())
        })
    }
}

impl EventSender {
    #[cold]
    fn pass_on(&mut self) -> io::Result<()> {
        // Without a receiver, the sink has failed. The consumer reports the error of the sink.
        Ok(self.batches.exchange(&mut self.batch)?)
    }

    fn pass_on_if_full(&mut self) -> io::Result<()> {
        let is_full = self.batch.events.len() >= BATCH_EVENTS || self.batch.text.len() >= BATCH_BYTES;
        if is_full { self.pass_on() } else { Ok(()) }
    }

    fn take_rest(&mut self, event: RareEvent) -> io::Result<()> {
        self.batch.put_rest(event);
        self.pass_on_if_full()
    }

    /// Takes a plain operation that does not fit into the current batch directly.
    #[cold]
    fn take_slowly(&mut self, event: PlainEvent) -> io::Result<()> {
        self.batch.put_plain(event);
        self.pass_on_if_full()
    }
}

impl PajeSink for EventSender {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.batch.put(event);
        self.pass_on_if_full()
    }

    #[inline]
    fn plain_event(&mut self, event: PlainEvent) -> io::Result<()> {
        let EventBatch { events, base_time, .. } = &mut self.batch;
        match PackedEvent::pack_plain(event, *base_time) {
            // The last operation of a batch takes the slow path, as do those beyond the current
            // capacity.
            Some(packed) if events.len() < events.capacity() && events.len() < BATCH_EVENTS - 1 => {
                events.push(packed);
                Ok(())
            }
            _ => self.take_slowly(event),
        }
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        let text = self.batch.text(text);
        self.take_rest(RareEvent::NameKey { key, text })
    }

    fn own_container(&mut self, container: ContainerId, process: u32, label: &str) -> io::Result<()> {
        let label = self.batch.text(label);
        self.take_rest(RareEvent::OwnContainer { container, process, label })
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        let fields = shape.fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        let (operation, source) = (shape.operation, shape.source);
        self.take_rest(RareEvent::Announce(Box::new(OwnedFieldSet { operation, fields, source })))
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        self.take_rest(RareEvent::SettleUnpairedEndpoints)
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.batch.put_rest(RareEvent::Finish(end));
        self.pass_on()
    }
}
