//! The state that all routes share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tumit_viewer::query::{QueryError, TraceSummary};

use super::access_tokens::{OneTimeToken, new_token};
use super::caches::filtered_cache::{FilterRefusal, ServedTrace, TraceCache};
use super::caches::sent_drawings::SentDrawings;
use super::error::ServerError;
use super::user_data::model_categories::ModelCategories;
use super::user_data::model_layouts::SavedLayouts;
use super::user_data::own_views::OwnViews;
use super::user_data::user_files::ModelStyles;

pub(crate) struct AppState {
    /// Contains at least one trace.
    pub(crate) traces: Vec<TraceCache>,
    /// The usual port of the first trace.
    pub(crate) usual_port: u16,
    /// The styles of the models, on disk.
    pub(crate) styles: ModelStyles,
    /// The categories that users assigned, on disk.
    pub(crate) categories: ModelCategories,
    pub(crate) own_views: OwnViews,
    /// The layouts of networks that users made, on disk.
    pub(crate) layouts: SavedLayouts,
    /// The latest drawings of cards.
    pub(crate) sent_drawings: SentDrawings,
    pub(crate) page_token: String,
    pub(crate) one_time_token: OneTimeToken,
    /// Limits the number of images computed at the same time. Further requests wait.
    pub(crate) answer_permits: Arc<Semaphore>,
    /// Limits the number of scans of all entities at the same time. Each scan uses several threads.
    pub(crate) scan_permits: Arc<Semaphore>,
    pub(crate) start: Instant,
    /// Milliseconds after `start` of the last request.
    pub(crate) last_request: AtomicU64,
}

impl AppState {
    /// Returns a trace by its index.
    pub(crate) fn trace(&self, index: usize) -> Result<&TraceCache, QueryError> {
        self.traces.get(index).ok_or(QueryError::Unknown { kind: "trace" })
    }
}

impl std::fmt::Debug for AppState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The tokens stay out of logs.
        f.debug_struct("AppState").field("traces", &self.traces.len()).finish_non_exhaustive()
    }
}

/// Creates the state of the routes.
pub(crate) fn app(traces: Vec<ServedTrace>) -> Result<Arc<AppState>, ServerError> {
    tumit_perspectives::series_filter::provide_series();
    let traces: Vec<TraceCache> = traces.into_iter().map(TraceCache::new).collect();
    let Some(first) = traces.first() else { return Err(ServerError::NoTrace) };
    let usual_port = usual_port(&first.trace.source.source().summary());
    for trace in &traces {
        trace.filtered_trace("").map_err(|refusal| match refusal {
            FilterRefusal::Query(error) => ServerError::Query(error),
            FilterRefusal::TooMany | FilterRefusal::NoList => ServerError::NoTrace,
        })?;
    }
    let page_token = new_token().map_err(|source| ServerError::Random { source })?;
    let (answer_permits, scan_permits, styles) =
        (Arc::new(Semaphore::new(4)), Arc::new(Semaphore::new(2)), ModelStyles::default());
    let (start, last_request) = (Instant::now(), AtomicU64::new(0));
    let one_time_token = OneTimeToken::default();
    Ok(Arc::new(AppState {
        traces,
        usual_port,
        styles,
        categories: ModelCategories::default(),
        own_views: OwnViews::default(),
        layouts: SavedLayouts::default(),
        sent_drawings: SentDrawings::default(),
        page_token,
        one_time_token,
        answer_permits,
        scan_permits,
        start,
        last_request,
    }))
}

/// A port for a trace, below the ports that systems assign dynamically.
fn usual_port(summary: &TraceSummary) -> u16 {
    // The ports 20,000 to 27,999 are below those that systems assign dynamically.
    const FIRST_PORT: u16 = 20_000;
    const PORTS: u64 = 8_000;
    let text = format!("{} {:?} {} {}", summary.name, summary.extent, summary.containers, summary.states);
    // FNV-1a gives the same result in every version of the program.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    u16::try_from(hash % PORTS).map_or(FIRST_PORT, |offset| FIRST_PORT + offset)
}

/// Completes after `limit` without a request. Without a limit, never completes.
pub(crate) async fn wait_until_idle(app: &AppState, limit: Option<Duration>) {
    let Some(limit) = limit else { return std::future::pending().await };
    loop {
        let last = Duration::from_millis(app.last_request.load(Ordering::Relaxed));
        let idle_time = app.start.elapsed().saturating_sub(last);
        let Some(rest) = limit.checked_sub(idle_time).filter(|rest| !rest.is_zero()) else { return };
        tokio::time::sleep(rest).await;
    }
}
