//! A web service on `axum` and `tokio`, and its clients, in one process. Two lines record it: the
//! dependency `tumit-tracing` and the first line of `main`.
//!
//! ```console
//! $ RUSTFLAGS='--cfg tokio_unstable' TUMIT_TRACE=service.tmt cargo run -p tokio-service
//! $ tumit view service.tmt
//! ```
//!
//! Each request waits for the stock, computes a price on a thread for blocking work, and sends the
//! order to the task that writes the book. The book is slow, so requests also wait for room in its
//! queue. One task loses its waker: it waits until the service ends.

#![expect(clippy::print_stdout, reason = "the result of the program")]

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::{JoinSet, spawn_blocking};
use tracing::{Instrument as _, error, info, info_span};

const CLIENTS: u64 = 4;
const REQUESTS: u64 = 5;
/// Items at the start. The last orders find none.
const STOCK: u64 = 18;

#[derive(Clone)]
struct Shop {
    stock: Arc<Mutex<u64>>,
    book: mpsc::Sender<u64>,
}

fn main() -> std::io::Result<()> {
    tumit_tracing::init();

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(run_service())
}

async fn run_service() -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let (book, orders) = mpsc::channel(1);
    let shop = Shop { stock: Arc::new(Mutex::new(STOCK)), book };
    let router = Router::new().route("/orders/{number}", get(order)).with_state(shop);
    let (stop, stopped) = oneshot::channel::<()>();
    let server = axum::serve(listener, router).with_graceful_shutdown(async { drop(stopped.await) });

    let book = tokio::spawn(write_book(orders));
    let server = tokio::spawn(server.into_future());
    let without_waker = tokio::spawn(wait_without_waker());
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        clients.spawn(send_requests(client, address));
    }
    let mut answers = 0;
    while let Some(client) = clients.join_next().await {
        answers += client??;
    }
    without_waker.abort();
    drop(stop);
    server.await??;
    let orders = book.await?;
    println!("{} requests, {answers} accepted, {orders} in the book", CLIENTS * REQUESTS);
    Ok(())
}

/// Handles a request.
async fn order(Path(number): Path<u64>, State(shop): State<Shop>) -> (StatusCode, String) {
    async {
        if !take_item(&shop.stock).await {
            error!(number, "nothing is in stock");
            return (StatusCode::CONFLICT, String::new());
        }
        let price = spawn_blocking(move || compute_price(number)).await.unwrap_or_default();
        // The receiver lives as long as the service.
        let _ = shop.book.send(price).await;
        info!(price, "accepts the order");
        (StatusCode::OK, price.to_string())
    }
    .instrument(info_span!("order", number))
    .await
}

/// The stock is locked while the service asks the storehouse.
async fn take_item(stock: &Mutex<u64>) -> bool {
    let mut items = stock.lock().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    let has_item = *items > 0;
    *items = items.saturating_sub(1);
    has_item
}

fn compute_price(number: u64) -> u64 {
    let _span = info_span!("price", number).entered();
    work(Duration::from_millis(1));
    10 + number % 7
}

/// Writes orders, and keeps its thread for each of them. Returns their number.
async fn write_book(mut orders: mpsc::Receiver<u64>) -> u64 {
    let mut count = 0;
    while orders.recv().await.is_some() {
        info_span!("book").in_scope(|| work(Duration::from_millis(4)));
        count += 1;
    }
    count
}

fn work(duration: Duration) {
    let start = Instant::now();
    while start.elapsed() < duration {
        std::hint::spin_loop();
    }
}

/// A mistake: the future does not keep the waker, so nothing can wake its task.
async fn wait_without_waker() {
    poll_fn(|_| Poll::<()>::Pending).await;
}

/// Sends requests one after another, and returns the number of accepted ones.
async fn send_requests(client: u64, address: SocketAddr) -> std::io::Result<u64> {
    let mut accepted = 0;
    for number in (0..REQUESTS).map(|request| client * REQUESTS + request) {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET /orders/{number} HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        accepted += u64::from(answer.starts_with("HTTP/1.1 200"));
    }
    Ok(accepted)
}
