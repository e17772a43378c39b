//! Answers that grow: what takes a pass over millions of entities is told in part while it is under way.
//!
//! Lines of JSON, each the whole answer as far as it is known, with the share that is done; the last has none. Who hangs up ends the pass. What
//! is known at once is one plain answer, as any other.

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

use super::{Ask, Failure};
use crate::app::App;
use crate::cancellation::Waiting;
use crate::filtered_cache::{Shown, Trace};

/// What the lines are called; `ui/api.js` knows it.
const LINES: &str = "application/x-ndjson";
/// Before the first line, and at most between later ones: what takes longer is told less often, as each line takes time to be shown.
const PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// Tells how far a pass is.
pub(crate) struct Teller {
    to: mpsc::Sender<Told>,
    /// When that was done last, and how long it is not done again.
    last: Mutex<(Instant, Duration)>,
}

/// A part of the answer, or all of it.
enum Told {
    Part(Value),
    Done(Result<Value, Failure>),
}

impl Teller {
    /// Tells the answer so far, unless that was done just now.
    pub(crate) fn tell(&self, done: f64, answer: impl FnOnce() -> Value) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.0.elapsed() < last.1 {
            return;
        }
        *last = (Instant::now(), (last.1 * 4 / 3).min(PAUSE.1));
        let mut answer = answer();
        answer["done"] = json!(done);
        // A slow reader is not waited for: the next part holds this one.
        let _full = self.to.try_send(Told::Part(answer));
    }
}

/// The lines as they come.
struct Lines {
    first: Option<Value>,
    rest: mpsc::Receiver<Told>,
    /// Goes when whoever reads them goes.
    _waiting: Waiting,
}

impl futures_core::Stream for Lines {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let line = |value: &Value| Poll::Ready(Some(Ok(Bytes::from(format!("{value}\n")))));
        if let Some(first) = self.first.take() {
            return line(&first);
        }
        match self.rest.poll_recv(context) {
            Poll::Ready(Some(Told::Part(answer) | Told::Done(Ok(answer)))) => line(&answer),
            Poll::Ready(Some(Told::Done(Err(failure)))) => line(&failure.body()),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Computes an answer off the threads that serve. Passes have a queue of their own: pictures do not wait for them.
pub(crate) async fn grow(
    app: Arc<App>,
    ask: Ask,
    work: impl FnOnce(&Trace, &Shown, &Ask, &Teller) -> Result<Value, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let permits = Arc::clone(&app.passes);
    let permit = permits.acquire_owned().await.map_err(|_closed| Failure::of_server("the server is ending"))?;
    let (waiting, gone) = Waiting::new();
    let (to, mut rest) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let teller = Teller { to, last: Mutex::new((Instant::now(), PAUSE.0)) };
        let made = app.trace(ask.trace).map_err(Failure::from).and_then(|trace| {
            let shown = trace.shown(&ask.filters)?.awaited(&gone);
            work(trace, &shown, &ask, &teller)
        });
        // Nobody may be there any more.
        let _gone = teller.to.blocking_send(Told::Done(made));
    });
    match rest.recv().await {
        Some(Told::Done(answer)) => answer.map(|answer| Json(answer).into_response()),
        Some(Told::Part(first)) => {
            let lines = Lines { first: Some(first), rest, _waiting: waiting };
            Ok(([(CONTENT_TYPE, LINES)], Body::from_stream(lines)).into_response())
        }
        None => Err(Failure::of_server("the answer could not be computed; please report this")),
    }
}
