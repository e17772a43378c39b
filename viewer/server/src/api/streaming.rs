//! Partial answers: a scan of millions of entities sends its results so far while it runs.
//!
//! The response consists of lines of JSON. Each line is the whole answer so far and the completed
//! share. The last line has no share. The scan ends when the client disconnects. An answer that is
//! known at once is an ordinary JSON response.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{DrawRequest, RequestError};
use crate::app::AppState;
use crate::caches::filtered_cache::{FilteredTrace, TraceCache};
use crate::cancellation::ClientGuard;

/// The content type of the lines. `ui/net/api.js` uses the same text.
const LINES_TYPE: &str = "application/x-ndjson";
/// The time before the first line. The time between lines grows during a long scan, because the
/// page needs time to show each line.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The maximum time between lines.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Reports the progress of a scan.
pub(crate) struct ProgressSender {
    to: mpsc::Sender<AnswerPart>,
    last: Mutex<LastReport>,
}

/// The last report of a scan.
struct LastReport {
    time: Instant,
    /// The minimum time until the next report.
    pause: Duration,
}

/// A part of the answer, or all of it.
enum AnswerPart {
    Part(Value),
    Done(Result<Value, RequestError>),
}

impl ProgressSender {
    /// Sends the answer so far, unless the last report was too recent.
    pub(crate) fn report(&self, fraction: f64, answer: impl FnOnce() -> Value) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.time.elapsed() < last.pause {
            return;
        }
        *last = LastReport { time: Instant::now(), pause: (last.pause * 4 / 3).min(MAX_PAUSE) };
        let mut answer = answer();
        answer["done"] = json!(fraction);
        // The scan does not wait for a slow reader, because the next part contains this one.
        let _full = self.to.try_send(AnswerPart::Part(answer));
    }
}

/// The stream of lines.
struct AnswerLines {
    first: Option<Value>,
    parts: mpsc::Receiver<AnswerPart>,
    /// Dropped when the reader of the lines disconnects.
    _client: ClientGuard,
}

impl futures_core::Stream for AnswerLines {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let line = |value: &Value| Poll::Ready(Some(Ok(Bytes::from(format!("{value}\n")))));
        if let Some(first) = self.first.take() {
            return line(&first);
        }
        match self.parts.poll_recv(context) {
            Poll::Ready(Some(AnswerPart::Part(answer) | AnswerPart::Done(Ok(answer)))) => line(&answer),
            Poll::Ready(Some(AnswerPart::Done(Err(failure)))) => line(&failure.body()),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Computes an answer on a blocking thread. Scans have a queue of their own, so that images do not
/// wait for them.
pub(crate) async fn grow(
    app: Arc<AppState>,
    request: DrawRequest,
    work: impl FnOnce(&TraceCache, &FilteredTrace, &DrawRequest, &ProgressSender) -> Result<Value, RequestError>
    + Send
    + 'static,
) -> Result<Response, RequestError> {
    let permits = Arc::clone(&app.scan_permits);
    let permit =
        permits.acquire_owned().await.map_err(|_closed| RequestError::of_server("the server is shutting down"))?;
    let client = ClientGuard::default();
    let cancel = client.cancel_flag();
    let (to, mut parts) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let last = Mutex::new(LastReport { time: Instant::now(), pause: FIRST_PAUSE });
        let progress = ProgressSender { to, last };
        let answer = app.trace(request.trace).map_err(RequestError::from).and_then(|trace| {
            let shown = app.shown_trace(&request, &cancel)?;
            work(trace, &shown, &request, &progress)
        });
        // The client may have disconnected.
        let _disconnected = progress.to.blocking_send(AnswerPart::Done(answer));
    });
    match parts.recv().await {
        Some(AnswerPart::Done(answer)) => answer.map(|answer| Json(answer).into_response()),
        Some(AnswerPart::Part(first)) => {
            let lines = AnswerLines { first: Some(first), parts, _client: client };
            Ok(([(CONTENT_TYPE, LINES_TYPE)], Body::from_stream(lines)).into_response())
        }
        None => Err(RequestError::of_server("the answer could not be computed; please report this")),
    }
}
