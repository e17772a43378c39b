//! Errors of the server.

use std::io;
use std::path::PathBuf;

use tumit_viewer::query::QueryError;

/// The reason why the page cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Another program listens on the port.
    #[error("port {port} is in use; choose another port with --port, or omit the option to use any free port")]
    PortInUse {
        /// The requested TCP port on the loopback address.
        port: u16,
    },
    /// Listening on the port failed for another reason.
    #[error("cannot listen on port {port}")]
    Listen {
        /// The requested TCP port on the loopback address.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// Another program serves at the path.
    #[error("{} is in use by another program; choose another path with --socket", path.display())]
    SocketInUse {
        /// The socket.
        path: PathBuf,
    },
    /// The file at the path is not a socket. It is left unchanged.
    #[error("{} exists and is not a socket; choose another path with --socket", path.display())]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The socket cannot be created for another reason.
    #[error("cannot listen at {}", path.display())]
    ListenAt {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A token could not be generated.
    #[error("the system provides no random numbers, and without them every user of this machine could open the page")]
    Random {
        /// The cause.
        source: io::Error,
    },
    /// No trace was given.
    #[error("no trace is given; name one")]
    NoTrace,
    /// A query of the trace failed.
    #[error("the trace cannot be displayed")]
    Query(#[from] QueryError),
}
