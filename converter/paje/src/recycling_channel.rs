//! A bounded channel from one thread to another that returns used buffers to the sender.
//!
//! Batches of records or operations are large and frequent. If each batch allocated its memory, the
//! threads would spend much of their time in the allocator, which is slowest for memory that one
//! thread allocates and another one frees. Therefore the sender fills a buffer and exchanges it for
//! a used one ([`RecyclingSender::exchange`]), and the receiver returns the buffer after use.
//!
//! Either side stops the other by dropping its endpoint. Without a receiver, the next exchange
//! fails with [`ReceiverGone`]. Without a sender, the receiver gets the buffers that are still in
//! the channel, and then the end. There is no other stop signal, so the threads can be joined in
//! any case, after an error or a panic as well.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Creates a channel for at most `capacity` filled buffers. A sender that is further ahead waits.
///
/// ```
/// use tumit_paje::recycling_channel::recycling_channel;
///
/// let (sender, receiver) = recycling_channel::<Vec<u32>>(2);
/// let producer = std::thread::spawn(move || {
///     let mut buffer = Vec::new();
///     for number in 0..10 {
///         buffer.push(number);
///         sender.exchange(&mut buffer).unwrap();
///     }
/// });
/// let mut sum = 0;
/// let result: Result<(), String> = receiver.consume(|buffer| {
///     sum += buffer.drain(..).sum::<u32>();
///     Ok(())
/// });
/// producer.join().unwrap();
/// assert_eq!((result, sum), (Ok(()), 45));
/// ```
#[must_use]
pub fn recycling_channel<T>(capacity: usize) -> (RecyclingSender<T>, RecyclingReceiver<T>) {
    let (filled_sender, filled_buffers) = sync_channel(capacity);
    // A receiver may keep some buffers for a while and return several of them in a row.
    let (used_sender, used_buffers) = sync_channel(2 * capacity.max(1));
    (
        RecyclingSender { filled_buffers: filled_sender, used_buffers },
        RecyclingReceiver { filled_buffers, used_buffers: used_sender },
    )
}

/// The endpoint of the thread that fills buffers.
#[derive(Debug)]
pub struct RecyclingSender<T> {
    filled_buffers: SyncSender<T>,
    used_buffers: Receiver<T>,
}

/// The endpoint of the thread that uses the contents of buffers.
#[derive(Debug)]
pub struct RecyclingReceiver<T> {
    filled_buffers: Receiver<T>,
    used_buffers: SyncSender<T>,
}

/// The receiver was dropped, so no thread needs further buffers. The receiving thread has the
/// reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the receiver of the channel has stopped")]
pub struct ReceiverGone;

impl From<ReceiverGone> for io::Error {
    fn from(_: ReceiverGone) -> Self {
        io::ErrorKind::BrokenPipe.into()
    }
}

impl<T: Default> RecyclingSender<T> {
    /// Sends a filled buffer, and replaces it by a used one, or by a new one if none has returned.
    /// A used buffer has the contents that the receiver left in it.
    ///
    /// # Errors
    /// If the receiver was dropped. The contents of the buffer are then discarded.
    pub fn exchange(&self, buffer: &mut T) -> Result<(), ReceiverGone> {
        let Ok(()) = self.filled_buffers.send(std::mem::take(buffer)) else { return Err(ReceiverGone) };
        if let Ok(used) = self.used_buffers.try_recv() {
            *buffer = used;
        }
        Ok(())
    }
}

impl<T> RecyclingReceiver<T> {
    /// Waits for the next filled buffer. `None` at the end: the sender was dropped, and all its
    /// buffers were received.
    #[must_use]
    pub fn receive(&self) -> Option<T> {
        self.filled_buffers.recv().ok()
    }

    /// Returns a buffer to the sender. Frees it if enough buffers wait for the sender, or if there
    /// is none.
    pub fn recycle(&self, buffer: T) {
        let _ = self.used_buffers.try_send(buffer);
    }

    /// Calls `consumer` for each filled buffer and recycles it, until the end or until `consumer`
    /// fails. A failure drops the receiver, so that the sender stops.
    ///
    /// # Errors
    /// The error of `consumer`.
    pub fn consume<E>(self, mut consumer: impl FnMut(&mut T) -> Result<(), E>) -> Result<(), E> {
        while let Some(mut buffer) = self.receive() {
            consumer(&mut buffer)?;
            self.recycle(buffer);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ReceiverGone, recycling_channel};

    #[test]
    fn contents_arrive_in_order_and_memory_returns() {
        const COUNT: usize = 1_000;
        let (sender, receiver) = recycling_channel::<Vec<usize>>(2);
        std::thread::scope(|scope| {
            let filling = scope.spawn(move || {
                let mut buffer = Vec::new();
                let mut allocated = 0;
                for number in 0..COUNT {
                    allocated += usize::from(buffer.capacity() == 0);
                    buffer.push(number);
                    sender.exchange(&mut buffer).expect("the receiver takes all");
                }
                allocated
            });
            let mut next = 0;
            let result: Result<(), ReceiverGone> = receiver.consume(|buffer| {
                assert_eq!(buffer[..], [next]);
                next += 1;
                buffer.clear();
                Ok(())
            });
            assert_eq!((result, next), (Ok(()), COUNT));
            // Two wait in the channel, one is being filled, and one is being used.
            let allocated = filling.join().expect("it does not panic");
            assert!(allocated <= 4, "{allocated} buffers were allocated");
        });
    }

    #[test]
    fn dropping_an_endpoint_stops_the_other_side() {
        let (sender, receiver) = recycling_channel::<Vec<u8>>(4);
        let mut buffer = vec![1];
        assert_eq!(sender.exchange(&mut buffer), Ok(()));
        assert_eq!(buffer, [0_u8; 0], "no buffer has returned");
        drop(sender);
        assert_eq!(receiver.receive(), Some(vec![1]));
        // The sender is gone: the buffer is freed.
        receiver.recycle(vec![1]);
        assert_eq!(receiver.receive(), None);

        let (sender, receiver) = recycling_channel::<Vec<u8>>(4);
        drop(receiver);
        assert_eq!(sender.exchange(&mut vec![1]), Err(ReceiverGone));
        assert_eq!(std::io::Error::from(ReceiverGone).kind(), std::io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_failing_consumer_stops_a_sender_that_waits() {
        let (sender, receiver) = recycling_channel::<Vec<u8>>(1);
        std::thread::scope(|scope| {
            let filling = scope.spawn(move || while sender.exchange(&mut vec![1]).is_ok() {});
            let mut left = 3;
            let result = receiver.consume(|_| {
                left -= 1;
                if left == 0 { Err("no room") } else { Ok(()) }
            });
            assert_eq!(result, Err("no room"));
            filling.join().expect("it stops");
        });
    }

    #[test]
    fn surplus_buffers_are_freed() {
        let (sender, receiver) = recycling_channel::<Vec<u8>>(1);
        (0..10).for_each(|_| receiver.recycle(vec![7]));
        let returned = (0..10).filter(|_| {
            let mut buffer = Vec::new();
            sender.exchange(&mut buffer).expect("there is a receiver");
            receiver.receive().expect("a buffer was sent");
            buffer == [7]
        });
        assert_eq!(returned.count(), 2);
    }
}
