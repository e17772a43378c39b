//! Samples of the clocks of several processes, over whatever channel the program has between them.
//!
//! Processes on different machines read different clocks. From a few requests and their answers the converter finds how the clocks differ,
//! better than from the program's own messages, and also where it records none. Take samples at the start and at the end, and in between in
//! long runs: two bursts far apart show the drift.
//!
//! ```no_run
//! use std::io;
//! use std::net::TcpStream;
//! use tracer_rt::clock_sync::{self, Group, Streams};
//!
//! // Two processes: one asks, the other answers, over any connection.
//! fn two(connection: TcpStream) -> io::Result<()> {
//!     let mut link = Streams::tcp([Some(connection)])?;
//!     clock_sync::ask(&mut link, &[0])           // there: clock_sync::answer(&mut link, 0)
//! }
//!
//! // Many: each calls the same, with its own number.
//! fn many(links: Streams<TcpStream>, me: u32, all: u32) -> io::Result<()> {
//!     let mut group = Group::new(links, me, all);
//!     group.sync()?;
//!     for step in 0..1_000_000 {
//!         group.sync_point()?;                // once a minute it takes samples
//!     }
//!     group.sync()
//! }
//! ```
//!
//! Whoever takes part begins to record, as by a first record. One that does not record, or not any more, answers all the same: the others
//! stay in step. Between processes that read one clock nothing is measured: one message each way tells them so. How many exchanges there are,
//! and how often: [`Config::sync_exchanges`](crate::Config::sync_exchanges), [`Config::sync_interval`](crate::Config::sync_interval).
//! A C program takes part by `struct tumit1_link`; the messages are the same.

mod exchange;
mod group;
mod link;

pub use group::Group;
pub use link::{Duplex, MESSAGE_BYTES, Streams, SyncLink};

use std::io;

use exchange::{Hello, settle_burst};

/// Takes samples with these peers, each of which calls [`answer`]: one burst, so give all of them at once.
///
/// # Errors
/// What the link says; or when a peer sends what is no answer.
pub fn ask(link: &mut impl SyncLink, peers: &[u32]) -> io::Result<()> {
    let own = Hello::own();
    let mut burst = own.burst;
    let mut met = Vec::with_capacity(peers.len());
    for &peer in peers {
        link.send(peer, &own.encode())?;
        let other = Hello::receive(link, peer)?;
        burst = burst.max(other.burst);
        met.push((peer, other));
    }
    settle_burst(burst);
    for (peer, other) in met {
        if own.is_apart_from(&other) {
            exchange::ask(link, peer, other.id, burst, own.exchanges)?;
        }
    }
    Ok(())
}

/// Answers a peer that calls [`ask`].
///
/// # Errors
/// What the link says; or when the peer sends what is no question.
pub fn answer(link: &mut impl SyncLink, peer: u32) -> io::Result<()> {
    let own = Hello::own();
    let other = Hello::receive(link, peer)?;
    settle_burst(own.burst.max(other.burst));
    link.send(peer, &own.encode())?;
    if own.is_apart_from(&other) { exchange::answer(link, peer, other.exchanges) } else { Ok(()) }
}
