//! Samples of the clocks of several processes, over any channel between them.
//!
//! Processes on different machines read different clocks. From a few requests and answers the
//! converter computes the differences of the clocks. This is more precise than from the program's
//! own messages, and it also works without recorded messages. Take samples at the start and at the
//! end, and also in between in long runs: two bursts with a large distance in time show the drift.
//!
//! ```
//! use std::net::{TcpListener, TcpStream};
//! use tracer_rt::clock_sync::{self, StreamLinks, SyncGroup};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let mut config = tracer_rt::RecorderConfig::default();
//! # config.folder = Some(folder.path().join("run.tmt"));
//! # tracer_rt::start(config)?;
//! // Two processes: one asks, the other answers, over any connection.
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//! let peer = std::thread::spawn(move || {
//!     let mut link = StreamLinks::tcp([Some(TcpStream::connect(address)?)])?;
//!     clock_sync::answer(&mut link, 0)
//! });
//! let mut link = StreamLinks::tcp([Some(listener.accept()?.0)])?;
//! clock_sync::ask(&mut link, &[0])?;
//! peer.join().unwrap()?;
//!
//! // A group: each process calls the same, with its own number. This group has one process.
//! let mut group = SyncGroup::new(StreamLinks::<TcpStream>::new([]), 0, 1);
//! group.sync()?;
//! for _step in 0..1000 {
//!     assert!(!group.sync_point()?);            // true about once a minute, in a larger group
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A call starts the recorder of its process, as a first record does. A process that cannot record
//! still answers, so that the calls of the others return. Two processes that read one clock
//! exchange one message in each direction, which shows the common clock. They measure nothing.
//! [`RecorderConfig::sync_exchanges`](crate::RecorderConfig::sync_exchanges) and
//! [`RecorderConfig::sync_interval`](crate::RecorderConfig::sync_interval) set the number of
//! exchanges and the time between samples. A C program participates by `struct tumit1_link`. The
//! messages are the same.

mod exchange;
mod process_group;
mod sync_link;

pub use process_group::SyncGroup;
pub use sync_link::{DuplexStream, MESSAGE_BYTES, StreamLinks, SyncLink};

use std::io;

use exchange::{SyncHello, settle_burst};

/// Takes samples with `peers`. Each of them calls [`answer`].
/// All samples of a call form one burst, so pass all peers in one call.
///
/// # Errors
/// Errors of the link, or a message of a peer that is not an answer.
pub fn ask(link: &mut impl SyncLink, peers: &[u32]) -> io::Result<()> {
    let hello = SyncHello::of_this_process();
    let mut burst = hello.burst;
    let mut answers = Vec::with_capacity(peers.len());
    for &peer in peers {
        link.send(peer, &hello.encode())?;
        let peer_hello = SyncHello::receive(link, peer)?;
        burst = burst.max(peer_hello.burst);
        answers.push((peer, peer_hello));
    }
    settle_burst(burst);
    for (peer, peer_hello) in answers {
        if hello.is_apart_from(&peer_hello) {
            exchange::ask(link, peer, peer_hello.id, burst, hello.exchanges)?;
        }
    }
    Ok(())
}

/// Answers a peer that calls [`ask`].
///
/// # Errors
/// Errors of the link, or a message of the peer that is not a question.
pub fn answer(link: &mut impl SyncLink, peer: u32) -> io::Result<()> {
    let hello = SyncHello::of_this_process();
    let peer_hello = SyncHello::receive(link, peer)?;
    settle_burst(hello.burst.max(peer_hello.burst));
    link.send(peer, &hello.encode())?;
    if hello.is_apart_from(&peer_hello) { exchange::answer(link, peer, peer_hello.exchanges) } else { Ok(()) }
}
