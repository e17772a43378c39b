//! The server of the viewer's page. It listens on loopback or a Unix socket, at a path with a
//! page token.
//!
//! This crate contains routes, limits, access checks, and queries that only the page needs.
//! [`tumit_viewer::scene`] and [`tumit_viewer::layout`] compute the images, and
//! [`tumit_perspectives`] the cards.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_server::Server;
//! use tumit_viewer::store::TraceStore;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let trace = TraceStore::from_events("trace", []);
//! let server = Server::bind(Arc::new(trace), 0).await?;
//! assert_eq!(server.url().split('/').nth(2), Some(server.address().to_string().as_str()));
//! // A real caller passes a future that completes at Ctrl-C.
//! server.run(None, async {}).await?;
//! # Ok(())
//! # })
//! # }
//! ```

pub(crate) mod access_control;
mod access_tokens;
mod api;
mod app;
mod assets;
mod caches;
pub(crate) mod cancellation;
mod connections;
mod error;
mod type_names;
pub(crate) mod unix_socket;
mod user_data;

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
use app::{AppState, app, wait_until_idle};
pub use caches::filtered_cache::ServedTrace;
pub use error::ServerError;
use tumit_perspectives::view::PerspectiveView;
use tumit_viewer::query::TimelineSource;
use unix_socket::OwnerSocket;
pub use user_data::model_categories::stored_category_rules;

/// A server that listens and is ready to run.
#[derive(Debug)]
pub struct Server {
    listener: ServerListener,
    app: Arc<AppState>,
    limits: ConnectionLimits,
    /// The port in the page's address. For a socket, the port at which the tunnel begins.
    port: u16,
}

/// The bound TCP port, or the Unix socket for a tunnel.
#[derive(Debug)]
enum ServerListener {
    Port(TcpListener),
    Socket(OwnerSocket),
}

impl Server {
    /// Starts to listen, for one trace.
    ///
    /// # Errors
    /// If the port is taken, or the trace cannot be laid out.
    pub async fn bind(source: Arc<dyn TimelineSource>, port: u16) -> Result<Self, ServerError> {
        Self::bind_traces(vec![ServedTrace::new(source)], port).await
    }

    /// Starts to listen, for traces that the page shows next to each other.
    ///
    /// # Errors
    /// If there is no trace, the port is taken, or a trace cannot be laid out.
    pub async fn bind_traces(traces: Vec<ServedTrace>, port: u16) -> Result<Self, ServerError> {
        let app = app(traces)?;
        // A browser stores its settings of a trace by address. The same trace therefore gets the
        // same port, if it is free.
        let usual = if port == 0 { TcpListener::bind((Ipv4Addr::LOCALHOST, app.usual_port)).await.ok() } else { None };
        let listener = match usual {
            Some(listener) => Ok(listener),
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await,
        };
        let listener = listener.map_err(|source| match source.kind() {
            io::ErrorKind::AddrInUse => ServerError::PortInUse { port },
            _ => ServerError::Listen { port, source },
        })?;
        let port = listener.local_addr().map_err(|source| ServerError::Listen { port, source })?.port();
        Ok(Self { listener: ServerListener::Port(listener), app, limits: ConnectionLimits::default(), port })
    }

    /// Starts to listen at a socket path that only this user can reach.
    /// The page is opened through a tunnel to this path, `ssh -L PORT:PATH HOST`. The socket of a
    /// server that was killed is replaced. The socket is removed at the end.
    ///
    /// # Errors
    /// If there is another file at the path, or a trace cannot be laid out.
    pub async fn bind_socket(traces: Vec<ServedTrace>, path: &Path) -> Result<Self, ServerError> {
        let app = app(traces)?;
        let port = app.usual_port;
        let listener = ServerListener::Socket(OwnerSocket::bind(path).await?);
        Ok(Self { listener, app, limits: ConnectionLimits::default(), port })
    }

    /// The address on the loopback interface. For a socket, the address at which its tunnel must
    /// begin.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The address of the page, with the page token.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/t/{}/", self.port, self.app.page_token)
    }

    /// An address for the arguments of a program that opens a browser. It leads to the page once,
    /// within two minutes.
    ///
    /// # Errors
    /// If the system returns no random numbers.
    pub fn one_time_url(&self) -> io::Result<String> {
        Ok(format!("http://127.0.0.1:{}/open/{}", self.port, self.app.one_time_token.issue()?))
    }

    /// Sets the limits of connections.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tumit_viewer::store::TraceStore;
    /// use std::time::Duration;
    ///
    /// use tumit_server::{ConnectionLimits, Server};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let server = Server::bind(Arc::new(TraceStore::from_events("trace", [])), 0).await?;
    /// let header_time = Duration::from_secs(2);
    /// let limits = ConnectionLimits { header_time, ..ConnectionLimits::default() };
    /// assert_eq!(limits.connections, 128);
    /// let server = server.with_limits(limits);
    /// # server.run(None, async {}).await?;
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    #[must_use]
    pub fn with_limits(self, limits: ConnectionLimits) -> Self {
        Self { limits, ..self }
    }

    /// Adds views of the program that starts the server. The gallery of the page shows them in the
    /// group of each.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use tumit_perspectives::cards::{CardFile, CardView};
    /// # use tumit_server::Server;
    /// # use tumit_viewer::store::TraceStore;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let text = "title = \"Work\"\n[[panel]]\nkind = \"levels\"\n[[panel.series]]\nof = \"states\"\n";
    /// # let view = CardView::new(CardFile::parse("work.card.toml", text)?);
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// # let server = Server::bind(Arc::new(TraceStore::from_events("trace", [])), 0).await?;
    /// // `view` implements `PerspectiveView`.
    /// let server = server.with_views(vec![Arc::new(view)]);
    /// # server.run(None, async {}).await?;
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    #[must_use]
    pub fn with_views(mut self, views: Vec<Arc<dyn PerspectiveView>>) -> Self {
        // Nothing else refers to the state before the server runs.
        if let Some(app) = Arc::get_mut(&mut self.app) {
            app.own_views.views = views;
        }
        self
    }

    /// Serves until `stop` completes, or until no request has arrived for `until_idle`.
    ///
    /// # Errors
    /// No errors at present: the server continues when a connection fails.
    pub async fn run(self, until_idle: Option<Duration>, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let app = Arc::clone(&self.app);
        let router = router(Arc::clone(&app));
        let serving = async {
            match self.listener {
                ServerListener::Port(listener) => connections::accept_connections(listener, router, self.limits).await,
                ServerListener::Socket(socket) => connections::accept_connections(socket, router, self.limits).await,
            }
        };
        tokio::select! {
            () = serving => Ok(()),
            // Requests under way may be cut off, because the page loses its server anyway.
            () = stop => Ok(()),
            () = wait_until_idle(&app, until_idle) => Ok(()),
        }
    }
}

fn router(app: Arc<AppState>) -> Router {
    let page = Router::new()
        .route("/", get(assets::index))
        .route("/api/summary", get(api::summary))
        .route("/api/rows", get(api::rows::rows))
        .route("/api/containers", get(api::rows::containers))
        .route("/api/scene", get(api::image::scene))
        .route("/api/overview", get(api::image::overview))
        .route("/api/legend", get(api::legend))
        .route("/api/facts", get(api::facts))
        .route("/api/entity_at", get(api::image::entity_at))
        .route("/api/neighbour", get(api::entities::neighbour::neighbour))
        .route("/api/link_chain", get(api::entities::link_chain::link_chain))
        .route("/api/find", get(api::find::find))
        .route("/api/next_match", get(api::find::next_match))
        .route("/api/times", get(api::statistics::times))
        .route("/api/row_times", get(api::row_times::row_times))
        .route("/api/totals", get(api::totals::totals))
        .route("/api/names", post(api::numbers_and_names::names))
        .route("/api/numbers", post(api::numbers_and_names::numbers))
        .route("/api/filter_problems", get(api::filter_editor::filter_problems))
        .route("/api/typed_filter", get(api::filter_editor::typed_filter))
        .route("/api/migrated_filters", post(api::filter_editor::migrated_filters))
        .route("/api/style", post(api::user_files::save_style))
        .route("/api/saved_filters", post(api::user_files::save_filters))
        .route("/api/notes", get(api::user_files::notes).post(api::user_files::change_notes))
        .route("/api/histogram", get(api::statistics_charts::histogram))
        .route("/api/matrix", get(api::statistics_charts::matrix))
        .route("/api/profile", get(api::statistics_charts::profile))
        .route("/api/tasks", get(api::statistics_charts::tasks))
        .route("/api/variables", get(api::statistics_charts::variables))
        .route("/api/views", get(api::views::views))
        .route("/api/cards", get(api::cards::cards))
        .route("/api/card_file", get(api::cards::card_file))
        .route("/api/own_card", post(api::user_files::own_cards::change_cards))
        .route("/api/concurrency_times", get(api::cards::concurrency_times))
        .route("/api/card_messages", get(api::cards::card_messages))
        .route("/api/layouts", post(api::cards::change_layouts))
        .route("/api/layout_file", get(api::cards::layout_file))
        .route("/api/categories", get(api::categories::categories).post(api::categories::save_categories))
        .route("/api/diagnosis", get(api::cards::diagnosis))
        .route("/api/call_profile", get(api::call_profile::call_profile))
        .route("/api/diagram_mode", get(api::diagram_mode::diagram_mode))
        .route("/api/next_event", get(api::next_event::next_event))
        .route("/api/source", get(api::source_file::source))
        .route("/api/export", get(api::export::export))
        .route("/api/rematch", get(api::entities::rematch::rematch))
        .route("/api/ping", get(api::ping))
        .route("/{*path}", get(assets::file));
    Router::new()
        .nest("/t/{token}", page)
        // Axum's `nest` does not match the path with a slash at its end.
        .route("/t/{token}/", get(assets::index))
        .route("/open/{token}", get(access_control::redeem_one_time_token))
        .layer(from_fn_with_state(Arc::clone(&app), access_control::check_access))
        .layer(CompressionLayer::new().quality(CompressionLevel::Best))
        .with_state(app)
}
