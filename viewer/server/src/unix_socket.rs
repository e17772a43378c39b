//! A Unix socket for the server. On a shared machine, only its owner can connect to it.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use axum::serve::Listener;
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};

use super::ServerError;

/// A socket that is removed at the end.
#[derive(Debug)]
pub(crate) struct OwnerSocket {
    listener: UnixListener,
    _file: SocketFile,
}

#[derive(Debug)]
struct SocketFile(PathBuf);

impl OwnerSocket {
    pub(crate) async fn bind(path: &Path) -> Result<Self, ServerError> {
        let listen_error = |source| ServerError::ListenAt { path: path.to_owned(), source };
        match std::fs::symlink_metadata(path) {
            Ok(metadata) if !metadata.file_type().is_socket() => {
                return Err(ServerError::NotASocket { path: path.to_owned() });
            }
            Ok(_) if UnixStream::connect(path).await.is_ok() => {
                return Err(ServerError::SocketInUse { path: path.to_owned() });
            }
            // The previous server ended without removing its socket.
            Ok(_) => std::fs::remove_file(path).map_err(listen_error)?,
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(listen_error)?;
        let file = SocketFile(path.to_owned());
        // Clients that connected before this call still need the page token.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(listen_error)?;
        Ok(Self { listener, _file: file })
    }
}

impl Listener for OwnerSocket {
    type Io = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        Listener::accept(&mut self.listener).await
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another process may have removed the file already.
        let _ = std::fs::remove_file(&self.0);
    }
}
