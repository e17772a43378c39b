//! The messages between two processes.
//! Each has three little-endian words. The C recorder (`codegen/c/runtime/clock/clock_sync.h`)
//! sends the same messages.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tracer_format::entries::SyncSample;

use super::sync_link::{MESSAGE_BYTES, SyncLink};
use crate::config::MAX_EXCHANGES;
use crate::local_clock;
use crate::reentrancy::run_unnested;
use crate::session;
use crate::state::STATE;
use crate::writer::BLOCK_WRITER;

/// Number of exchanges between two pauses.
/// If there are more processes than cores, one direction can be slow until the scheduler changes
/// its choice. Only groups at different times find the fastest exchange in both directions.
const GROUP: u32 = 30;
const PAUSE: Duration = Duration::from_micros(300);

/// Identifies a hello message. The channel may also carry other data.
const HELLO: u16 = 0x7401;

/// The lowest number for the next burst of this process.
static NEXT_BURST: AtomicU32 = AtomicU32::new(0);

fn next_burst() -> u32 {
    NEXT_BURST.load(Ordering::Relaxed)
}

/// Continues after the number `burst`, the highest one among the participants of the burst.
pub(super) fn settle_burst(burst: u32) {
    NEXT_BURST.fetch_max(burst.wrapping_add(1), Ordering::Relaxed);
}

pub(super) fn pack(words: [u64; 3]) -> [u8; MESSAGE_BYTES] {
    let mut message = [0; MESSAGE_BYTES];
    for (to, word) in message.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    message
}

pub(super) fn receive(link: &mut impl SyncLink, peer: u32) -> io::Result<[u64; 3]> {
    let mut message = [0; MESSAGE_BYTES];
    link.receive(peer, &mut message)?;
    let word = |offset: usize| message[offset..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    Ok([word(0), word(8), word(16)])
}

pub(super) fn out_of_step(peer: u32, expected: &str, word: u64) -> io::Error {
    let text = format!(
        "peer {peer} sent 0x{word:x}, expected {expected}; both processes must make matching \
         calls, and nothing else may use the channel during a call"
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A participant of a burst.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyncHello {
    /// First eight bytes of the process id. 0 if the process does not record.
    pub(super) id: u64,
    /// Hash of the clock domain, equal if the processes read one clock.
    pub(super) domain: u64,
    pub(super) burst: u32,
    pub(super) exchanges: u32,
}

impl SyncHello {
    /// The hello of this process, which starts to record if it has not.
    pub(super) fn of_this_process() -> Self {
        let mut hello = Self { id: 0, domain: 0, burst: next_burst(), exchanges: 0 };
        run_unnested(|| {
            let recording = session::begin();
            let state = STATE.lock();
            hello.exchanges = state.sync_exchanges.min(MAX_EXCHANGES);
            if recording {
                hello.id = state.process_id.first_chunk().map_or(0, |id| u64::from_le_bytes(*id));
                hello.domain = state.clock_domain;
            }
        });
        hello
    }

    /// Whether samples between the two processes are useful: both record, and their clocks differ.
    pub(super) const fn is_apart_from(&self, other: &Self) -> bool {
        self.id != 0 && other.id != 0 && self.domain != other.domain
    }

    pub(super) fn encode(&self) -> [u8; MESSAGE_BYTES] {
        let last = u64::from(self.burst) | u64::from(self.exchanges & 0xffff) << 32 | u64::from(HELLO) << 48;
        pack([self.id, self.domain, last])
    }

    pub(super) fn receive(link: &mut impl SyncLink, peer: u32) -> io::Result<Self> {
        let [id, domain, last] = receive(link, peer)?;
        if last >> 48 != u64::from(HELLO) {
            return Err(out_of_step(peer, "its identity", last));
        }
        let exchanges = (last >> 32) as u32 & 0xffff;
        Ok(Self { id, domain, burst: last as u32, exchanges: exchanges.min(MAX_EXCHANGES) })
    }
}

/// Takes `exchanges` samples with a peer.
/// One more exchange comes first and is not kept, because it may set up a connection.
pub(super) fn ask(link: &mut impl SyncLink, peer: u32, id: u64, burst: u32, exchanges: u32) -> io::Result<()> {
    let mut samples = Vec::with_capacity(exchanges as usize);
    for number in 0..exchanges.checked_add(1).filter(|_| exchanges > 0).unwrap_or(0) {
        if number > 1 && (number - 1).is_multiple_of(GROUP) {
            std::thread::sleep(PAUSE);
        }
        let question = pack([0, 0, u64::from(number)]);
        let t1 = local_clock::read();
        link.send(peer, &question)?;
        let [t2, t3, echo] = receive(link, peer)?;
        let t4 = local_clock::read();
        if echo != u64::from(number) {
            return Err(out_of_step(peer, "a reply to the last request", echo));
        }
        if let Some(exchange) = number.checked_sub(1) {
            samples.push(SyncSample { burst, exchange, peer: id, t1, t2, t3, t4 });
        }
    }
    run_unnested(|| BLOCK_WRITER.lock().write_samples(&samples));
    Ok(())
}

/// Answers a peer that takes `exchanges` samples.
pub(super) fn answer(link: &mut impl SyncLink, peer: u32, exchanges: u32) -> io::Result<()> {
    for number in 0..exchanges.checked_add(1).filter(|_| exchanges > 0).unwrap_or(0) {
        let [_, _, sent_number] = receive(link, peer)?;
        let t2 = local_clock::read();
        if sent_number != u64::from(number) {
            return Err(out_of_step(peer, "the next request", sent_number));
        }
        link.send(peer, &pack([t2, local_clock::read(), sent_number]))?;
    }
    Ok(())
}
