//! What samples need of a channel, and channels of the standard library that have it.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Size of all messages.
pub const MESSAGE_BYTES: usize = 24;

/// A channel to other processes. The program numbers them as it likes. What is sent first arrives first.
pub trait SyncLink {
    /// Sends a message, at once: what waits for more to send spoils the sample.
    ///
    /// # Errors
    /// When the peer cannot be reached.
    fn send(&mut self, peer: u32, message: &[u8; MESSAGE_BYTES]) -> io::Result<()>;

    /// Waits for the next message of this peer.
    ///
    /// # Errors
    /// When the peer cannot be reached any more.
    fn receive(&mut self, peer: u32, message: &mut [u8; MESSAGE_BYTES]) -> io::Result<()>;
}

impl<L: SyncLink + ?Sized> SyncLink for &mut L {
    fn send(&mut self, peer: u32, message: &[u8; MESSAGE_BYTES]) -> io::Result<()> {
        (**self).send(peer, message)
    }

    fn receive(&mut self, peer: u32, message: &mut [u8; MESSAGE_BYTES]) -> io::Result<()> {
        (**self).receive(peer, message)
    }
}

/// A stream of bytes to each peer: sockets, or pipes by [`Duplex`]. Nothing else may be under way in them meanwhile.
#[derive(Debug)]
pub struct Streams<S> {
    streams: Vec<Option<S>>,
}

impl<S: Read + Write> Streams<S> {
    /// The streams by the peers' numbers; `None` where there is none, as to the process itself.
    pub fn new(streams: impl IntoIterator<Item = Option<S>>) -> Self {
        Self { streams: streams.into_iter().collect() }
    }

    /// The streams, for the program's own use.
    pub fn into_inner(self) -> Vec<Option<S>> {
        self.streams
    }

    fn stream(&mut self, peer: u32) -> io::Result<&mut S> {
        let stream = self.streams.get_mut(peer as usize).and_then(Option::as_mut);
        stream.ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, format!("there is no stream to peer {peer}")))
    }
}

impl Streams<TcpStream> {
    /// As [`Streams::new`], for connections that then send each message at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// When a connection does not take the option.
    pub fn tcp(streams: impl IntoIterator<Item = Option<TcpStream>>) -> io::Result<Self> {
        let links = Self::new(streams);
        links.streams.iter().flatten().try_for_each(|stream| stream.set_nodelay(true))?;
        Ok(links)
    }
}

impl<S: Read + Write> SyncLink for Streams<S> {
    fn send(&mut self, peer: u32, message: &[u8; MESSAGE_BYTES]) -> io::Result<()> {
        let stream = self.stream(peer)?;
        stream.write_all(message)?;
        stream.flush()
    }

    fn receive(&mut self, peer: u32, message: &mut [u8; MESSAGE_BYTES]) -> io::Result<()> {
        self.stream(peer)?.read_exact(message)
    }
}

/// One stream made of two, of which one is read and the other written: a pair of pipes.
#[derive(Clone, Copy, Debug)]
pub struct Duplex<R, W>(pub R, pub W);

impl<R: Read, W> Read for Duplex<R, W> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl<R, W: Write> Write for Duplex<R, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}
