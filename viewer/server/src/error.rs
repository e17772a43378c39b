//! Errors of the server.

use std::io;
use std::path::PathBuf;

use tumit_viewer::query::QueryError;

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Someone else listens there.
    #[error("port {port} is in use; choose another with --port, or leave the option away to take any free one")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// The port cannot be had for another reason.
    #[error("cannot listen on port {port}")]
    Listen {
        /// The port.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// Another program serves at that path.
    #[error("{} is in use by another program; choose another path with --socket", path.display())]
    SocketInUse {
        /// The socket.
        path: PathBuf,
    },
    /// What is at that path is no socket: it is left alone.
    #[error("{} is there already and is no socket; choose another path with --socket", path.display())]
    NoSocket {
        /// The file.
        path: PathBuf,
    },
    /// The socket cannot be made for another reason.
    #[error("cannot listen at {}", path.display())]
    ListenAt {
        /// The socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No secret could be made.
    #[error("the system gives no random numbers, without which the page would be open to everybody on this machine")]
    Random {
        /// Why.
        source: io::Error,
    },
    /// There is nothing to serve.
    #[error("there is no trace to be shown")]
    NoTrace,
    /// The trace contradicts itself.
    #[error("the trace cannot be laid out")]
    Query(#[from] QueryError),
    /// Serving failed later.
    #[error("serving failed")]
    Serve(#[source] io::Error),
}
