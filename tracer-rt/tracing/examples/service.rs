//! A service on the runtime `tokio`: requests wait for a store, and one of them fails. Two lines
//! record its spans, events and log messages: the dependency and the first line of `main`.
//!
//! ```console
//! $ TUMIT_TRACE=service.tmt cargo run -p tumit-tracing --example service
//! $ tumit view service.tmt
//! ```
//!
//! The example `tokio-service` of the workspace also records the tasks of the runtime.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tracing::field::Empty;
use tracing::{Instrument as _, error, info, info_span};

const REQUESTS: u64 = 6;

pub(crate) fn main() {
    tumit_tracing::init();

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
    let runtime = runtime.expect("the system has threads");
    runtime.block_on(async {
        let store = Arc::new(Mutex::new(0));
        let start = |number| tokio::spawn(request(number, Arc::clone(&store)).instrument(span(number)));
        let requests: Vec<_> = (0..REQUESTS).map(start).collect();
        for request in requests {
            request.await.expect("no request panics");
        }
    });
}

fn span(number: u64) -> tracing::Span {
    info_span!("request", number, path = "/index", status = Empty)
}

async fn request(number: u64, store: Arc<Mutex<u64>>) {
    let mut count = store.lock().await;
    tokio::time::sleep(Duration::from_millis(2)).await;
    *count += 1;
    let status = if number == 4 { 500 } else { 200 };
    tracing::Span::current().record("status", status);
    match status {
        200 => info!(count = *count, "sends the page"),
        _ => error!(status, "the store has no such page"),
    }
}
