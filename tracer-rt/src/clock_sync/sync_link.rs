//! The channel interface for samples, and implementations for channels of the standard library.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Size of each message in bytes.
pub const MESSAGE_BYTES: usize = 24;

/// A channel to other processes.
/// The program chooses their numbers. Messages arrive in the order of sending.
pub trait SyncLink {
    /// Sends a message immediately: buffering makes the sample useless.
    ///
    /// # Errors
    /// If the peer cannot be reached.
    fn send(&mut self, peer: u32, message: &[u8; MESSAGE_BYTES]) -> io::Result<()>;

    /// Waits for the next message of this peer.
    ///
    /// # Errors
    /// If the peer cannot be reached any more.
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

/// A byte stream to each peer: sockets, or pipes by [`DuplexStream`].
/// The streams must carry no other data during the samples.
#[derive(Debug)]
pub struct StreamLinks<S> {
    streams: Vec<Option<S>>,
}

impl<S: Read + Write> StreamLinks<S> {
    /// Creates the link from one stream per peer number.
    /// `None` if there is no stream, as to the process itself.
    pub fn new(streams: impl IntoIterator<Item = Option<S>>) -> Self {
        Self { streams: streams.into_iter().collect() }
    }

    /// Returns the streams, for the program's own use.
    pub fn into_inner(self) -> Vec<Option<S>> {
        self.streams
    }

    fn stream(&mut self, peer: u32) -> io::Result<&mut S> {
        let stream = self.streams.get_mut(peer as usize).and_then(Option::as_mut);
        stream.ok_or_else(|| io::Error::new(io::ErrorKind::NotConnected, format!("no stream to peer {peer} exists")))
    }
}

impl StreamLinks<TcpStream> {
    /// Like [`StreamLinks::new`], for connections.
    /// Sets `TCP_NODELAY`, so that they send each message immediately.
    ///
    /// # Errors
    /// If a connection does not accept the option.
    pub fn tcp(streams: impl IntoIterator<Item = Option<TcpStream>>) -> io::Result<Self> {
        let links = Self::new(streams);
        links.streams.iter().flatten().try_for_each(|stream| stream.set_nodelay(true))?;
        Ok(links)
    }
}

impl<S: Read + Write> SyncLink for StreamLinks<S> {
    fn send(&mut self, peer: u32, message: &[u8; MESSAGE_BYTES]) -> io::Result<()> {
        let stream = self.stream(peer)?;
        stream.write_all(message)?;
        stream.flush()
    }

    fn receive(&mut self, peer: u32, message: &mut [u8; MESSAGE_BYTES]) -> io::Result<()> {
        self.stream(peer)?.read_exact(message)
    }
}

/// One stream made of two: a reader and a writer, such as a pair of pipes.
#[derive(Clone, Copy, Debug)]
pub struct DuplexStream<R, W>(pub R, pub W);

impl<R: Read, W> Read for DuplexStream<R, W> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl<R, W: Write> Write for DuplexStream<R, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}
