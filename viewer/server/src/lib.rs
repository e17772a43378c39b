//! The page's server: loopback or a Unix socket, a secret path.
//!
//! Everything computed comes from [`tumit_viewer::scene`] and [`tumit_viewer::layout`]; here are only routes, limits and guards.

pub(crate) mod access_control;
mod api;
mod app;
mod assets;
pub(crate) mod cancellation;
mod connections;
mod error;
pub(crate) mod filtered_cache;
pub(crate) mod saved_filters;
mod tokens;
mod type_names;
pub(crate) mod unix_socket;
pub(crate) mod user_files;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tower_http::compression::{CompressionLayer, CompressionLevel};

pub use self::connections::ConnectionLimits;
use app::{App, app, idle};
pub use error::ServerError;
pub use filtered_cache::Served;
use tumit_viewer::query::TimelineSource;
use unix_socket::Socket;

/// How to serve.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Port on the loopback interface; any free one when 0.
    pub port: u16,
    /// End when no page has asked for anything for so long.
    pub until_idle: Option<Duration>,
}

/// A server that listens and is ready to run.
#[derive(Debug)]
pub struct Server {
    door: Door,
    app: Arc<App>,
    limits: ConnectionLimits,
    /// The port of the page's address: for a socket, that of the other end of the tunnel.
    port: u16,
}

/// Where it listens.
#[derive(Debug)]
enum Door {
    Port(TcpListener),
    Socket(Socket),
}

impl Server {
    /// Starts to listen, for one trace.
    ///
    /// # Errors
    /// When the port is taken, or the trace cannot be laid out.
    pub async fn bind(source: Arc<dyn TimelineSource>, port: u16) -> Result<Self, ServerError> {
        Self::serve(vec![Served::new(source)], port).await
    }

    /// Starts to listen, for traces that stand beside each other.
    ///
    /// # Errors
    /// When there is none, the port is taken, or a trace cannot be laid out.
    pub async fn serve(traces: Vec<Served>, port: u16) -> Result<Self, ServerError> {
        let (app, usual_port) = app(traces)?;
        // A browser keeps what it remembers of a trace by address: the same trace gets the same port, when it is free.
        let usual = if port == 0 { TcpListener::bind((Ipv4Addr::LOCALHOST, usual_port)).await.ok() } else { None };
        let listener = match usual {
            Some(listener) => Ok(listener),
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await,
        };
        let listener = listener.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ServerError::PortInUse { port },
            _ => ServerError::Listen { port, source },
        })?;
        let address = listener.local_addr().map_err(|source| ServerError::Listen { port, source })?;
        Ok(Self { door: Door::Port(listener), app, limits: ConnectionLimits::default(), port: address.port() })
    }

    /// Starts to listen at a path that only this user can reach: the page comes through a tunnel that ends there, `ssh -L PORT:PATH HOST`.
    /// Of a server that was killed, the socket is taken over; it is removed at the end.
    ///
    /// # Errors
    /// When there is something else, or a trace cannot be laid out.
    pub async fn serve_at(traces: Vec<Served>, path: &Path) -> Result<Self, ServerError> {
        let (app, port) = app(traces)?;
        let door = Door::Socket(Socket::bind(path).await?);
        Ok(Self { door, app, limits: ConnectionLimits::default(), port })
    }

    /// Where it listens on the loopback interface; with a socket, where its tunnel should begin.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The address of the page, with its secret.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/t/{}/", self.port, self.app.token)
    }

    /// An address for the arguments of a program that opens a browser. It leads to the page once,
    /// within two minutes.
    ///
    /// # Errors
    /// If the system returns no random numbers.
    pub fn one_time_url(&self) -> io::Result<String> {
        Ok(format!("http://127.0.0.1:{}/open/{}", self.port, self.app.one_time.issue()?))
    }

    /// Sets the limits of connections.
    #[must_use]
    pub fn with_limits(self, limits: ConnectionLimits) -> Self {
        Self { limits, ..self }
    }

    /// Serves until `stop` is done, or nobody has asked for anything for `until_idle`.
    ///
    /// # Errors
    /// No errors at present: the server continues when a connection fails.
    pub async fn run(self, until_idle: Option<Duration>, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let app = Arc::clone(&self.app);
        let router = router(Arc::clone(&app));
        let serving = async {
            match self.door {
                Door::Port(listener) => connections::serve(listener, router, self.limits).await,
                Door::Socket(socket) => connections::serve(socket, router, self.limits).await,
            }
        };
        tokio::select! {
            () = serving => Ok(()),
            // What is under way may be cut off: the page will find nobody anyway.
            () = stop => Ok(()),
            () = idle(&app, until_idle) => Ok(()),
        }
    }
}

fn router(app: Arc<App>) -> Router {
    let inside = Router::new()
        .route("/", get(assets::index))
        .route("/api/summary", get(api::summary))
        .route("/api/rows", get(api::rows::rows))
        .route("/api/containers", get(api::rows::containers))
        .route("/api/scene", get(api::image::scene))
        .route("/api/overview", get(api::image::overview))
        .route("/api/legend", get(api::legend))
        .route("/api/facts", get(api::facts))
        .route("/api/at", get(api::image::at))
        .route("/api/step", get(api::neighbour::step))
        .route("/api/hops", get(api::link_chain::hops))
        .route("/api/find", get(api::find::find))
        .route("/api/times", get(api::statistics::times))
        .route("/api/each", get(api::per_row::each))
        .route("/api/sums", get(api::totals::sums))
        .route("/api/names", post(api::ids::names))
        .route("/api/numbers", post(api::ids::numbers))
        .route("/api/chain", get(api::filters::chain))
        .route("/api/filter", get(api::filters::typed))
        .route("/api/migrated", post(api::filters::migrated))
        .route("/api/look", post(api::files::look))
        .route("/api/saved", post(api::files::save_filters))
        .route("/api/notes", get(api::files::notes).post(api::files::keep_notes))
        .route("/api/histogram", get(api::charts::histogram))
        .route("/api/matrix", get(api::charts::matrix))
        .route("/api/profile", get(api::charts::profile))
        .route("/api/tasks", get(api::charts::tasks))
        .route("/api/variables", get(api::charts::variables))
        .route("/api/source", get(api::source::source))
        .route("/api/export", get(api::export::export))
        .route("/api/same", get(api::rematch::same))
        .route("/api/ping", get(api::ping))
        .route("/{*path}", get(assets::file));
    Router::new()
        .nest("/t/{token}", inside.clone())
        // Axum's nesting leaves the slash at the end to us.
        .route("/t/{token}/", get(assets::index))
        .route("/open/{token}", get(access_control::open))
        .layer(from_fn_with_state(Arc::clone(&app), access_control::guard))
        .layer(CompressionLayer::new().quality(CompressionLevel::Best))
        .with_state(app)
}
