//! A Unix socket to listen at: on a machine that many share, only its owner reaches it at all.

use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use axum::serve::Listener;
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};

use super::ServerError;

/// A socket that is removed at the end.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    _file: File,
}

#[derive(Debug)]
struct File(PathBuf);

impl Socket {
    pub(crate) async fn bind(path: &Path) -> Result<Self, ServerError> {
        let failed = |source| ServerError::ListenAt { path: path.to_owned(), source };
        match std::fs::symlink_metadata(path) {
            Ok(there) if !there.file_type().is_socket() => return Err(ServerError::NoSocket { path: path.to_owned() }),
            Ok(_) if UnixStream::connect(path).await.is_ok() => {
                return Err(ServerError::SocketInUse { path: path.to_owned() });
            }
            // Whoever listened there has ended without a word.
            Ok(_) => std::fs::remove_file(path).map_err(failed)?,
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let file = File(path.to_owned());
        // Who came before this was done needs the secret all the same.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self { listener, _file: file })
    }
}

impl Listener for Socket {
    type Io = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        Listener::accept(&mut self.listener).await
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // It may have been removed by somebody else.
        let _ = std::fs::remove_file(&self.0);
    }
}
