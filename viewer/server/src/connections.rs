//! Connections of the server, with limits: other users of the machine can also connect, and send
//! nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::task::AbortHandle;

/// Limits of the server's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum time until a connection has sent the complete head of its next request. After it,
    /// the connection is closed.
    pub header_time: Duration,
    /// Maximum number of connections at a time. A further one replaces the oldest connection that
    /// has not sent the page token. If there is none, the new one is closed.
    pub connections: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { header_time: Duration::from_secs(10), connections: 128 }
    }
}

/// A connection that is being served.
struct OpenConnection {
    /// Whether it has sent a request with the page token.
    is_known: Arc<AtomicBool>,
    task: AbortHandle,
}

/// Accepts connections without end, and serves each in a task.
pub(crate) async fn accept_connections<L: Listener>(mut listener: L, router: Router, limits: ConnectionLimits) {
    let mut connections: Vec<OpenConnection> = Vec::new();
    loop {
        let (stream, _) = listener.accept().await;
        connections.retain(|open| !open.task.is_finished());
        if connections.len() >= limits.connections.max(1) {
            let Some(index) = connections.iter().position(|open| !open.is_known.load(Ordering::Relaxed)) else {
                continue;
            };
            connections.remove(index).task.abort();
        }
        let is_known = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(connection(stream, router.clone(), limits, Arc::clone(&is_known)));
        connections.push(OpenConnection { is_known, task: task.abort_handle() });
    }
}

async fn connection<S>(stream: S, router: Router, limits: ConnectionLimits, is_known: Arc<AtomicBool>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (mut router, is_known) = (router.clone(), Arc::clone(&is_known));
        async move {
            let response = tower_service::Service::call(&mut router, request).await?;
            // Access control rejects requests without the page token.
            let is_refused = matches!(response.status(), StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
            is_known.fetch_or(!is_refused, Ordering::Relaxed);
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_time);
    // A connection that the client aborts needs no action.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
