//! The state that all routes share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tumit_viewer::query::{QueryError, Summary};

use super::error::ServerError;
use super::filtered_cache::{Refusal, Served, Trace};
use super::tokens::{OneTime, token};
use super::user_files::Looks;

/// What the routes share.
pub(crate) struct App {
    /// At least one.
    pub(crate) traces: Vec<Trace>,
    /// How models are dressed, on disk.
    pub(crate) looks: Looks,
    pub(crate) token: String,
    /// The token in the address for the browser.
    pub(crate) one_time: OneTime,
    /// Pictures computed at the same time; the rest waits.
    pub(crate) permits: Arc<Semaphore>,
    /// Passes over all entities at the same time, each by several threads.
    pub(crate) passes: Arc<Semaphore>,
    pub(crate) started: Instant,
    /// Milliseconds after `started` of the last request.
    pub(crate) last_request: AtomicU64,
}

impl App {
    /// One of the traces.
    pub(crate) fn trace(&self, at: usize) -> Result<&Trace, QueryError> {
        self.traces.get(at).ok_or(QueryError::Unknown { what: "trace" })
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token stays out of logs.
        f.debug_struct("App").field("traces", &self.traces.len()).finish_non_exhaustive()
    }
}

/// What the routes share, and the usual port of the first trace.
pub(crate) fn app(traces: Vec<Served>) -> Result<(Arc<App>, u16), ServerError> {
    let traces: Vec<Trace> = traces.into_iter().map(Trace::new).collect();
    let Some(first) = traces.first() else { return Err(ServerError::NoTrace) };
    let port = usual_port(&first.served.source.source().summary());
    for trace in &traces {
        trace.shown("").map_err(|refusal| match refusal {
            Refusal::Query(error) => ServerError::Query(error),
            Refusal::TooMany | Refusal::NoList => ServerError::NoTrace,
        })?;
    }
    let token = token().map_err(|source| ServerError::Random { source })?;
    let (permits, passes, looks) = (Arc::new(Semaphore::new(4)), Arc::new(Semaphore::new(2)), Looks::default());
    let (started, last_request) = (Instant::now(), AtomicU64::new(0));
    let one_time = OneTime::default();
    Ok((Arc::new(App { traces, looks, token, one_time, permits, passes, started, last_request }), port))
}

/// A port for a trace, below those that systems give away.
fn usual_port(summary: &Summary) -> u16 {
    const PORTS: (u16, u64) = (20_000, 8_000);
    let text = format!("{} {:?} {} {}", summary.name, summary.extent, summary.containers, summary.states);
    // FNV-1a: the same in every version of the program.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    u16::try_from(hash % PORTS.1).map_or(PORTS.0, |offset| PORTS.0 + offset)
}

/// Done when nobody has asked for anything for so long; never without a limit.
pub(crate) async fn idle(app: &App, limit: Option<Duration>) {
    let Some(limit) = limit else { return std::future::pending().await };
    loop {
        let last = Duration::from_millis(app.last_request.load(Ordering::Relaxed));
        let quiet = app.started.elapsed().saturating_sub(last);
        let Some(rest) = limit.checked_sub(quiet).filter(|rest| !rest.is_zero()) else { return };
        tokio::time::sleep(rest).await;
    }
}
