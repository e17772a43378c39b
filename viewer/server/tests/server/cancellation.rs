//! Scans report their progress. Requests of clients that have disconnected end early.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::query::{QueryError, TimelineSource};
use tumit_viewer::store::TraceStore;

use crate::ServedPage;

/// A trace that answers slowly, and counts its queries.
struct SlowSource {
    source: TraceStore,
    queries: Arc<AtomicUsize>,
}

impl FilterLayer for SlowSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        &self.source
    }

    fn checked_source(&self) -> Result<&dyn TimelineSource, QueryError> {
        self.queries.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        Ok(&self.source)
    }
}

/// Work counter: the server computes only a small part of an image if the client disconnects.
#[tokio::test(flavor = "multi_thread")]
async fn abandoned_requests_are_cancelled() {
    const ROWS: usize = 600;
    let (page, queries) = serve_slowly(ROWS).await;
    let before = queries.load(Ordering::SeqCst);
    let stream = send(&page, "scene?from=0&to=1000000000&width=1600&bottom=100000&resolution=1").await;
    while queries.load(Ordering::SeqCst) == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(stream);
    let count = final_count(&queries).await - before;
    assert!(count < ROWS / 2, "{count} queries of at least {ROWS}");
}

/// Sends a request, and returns the connection.
async fn send(page: &ServedPage, request: &str) -> TcpStream {
    let ServedPage { port, path, host } = page;
    let mut stream = TcpStream::connect(("127.0.0.1", *port)).await.unwrap();
    let request = format!("GET {path}api/{request} HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Waits until a counter no longer changes.
async fn final_count(counter: &AtomicUsize) -> usize {
    let mut last = 0;
    while last != counter.load(Ordering::SeqCst) {
        last = counter.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    last
}

/// Serves threads with one state each, so that a scan makes one query per thread. Also returns the
/// counter of queries.
async fn serve_slowly(rows: usize) -> (ServedPage, Arc<AtomicUsize>) {
    let mut text = include_str!("../../../tests/header.paje").to_owned() + "0 T 0 Thread\n2 C T Call\n";
    (0..rows).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T {thread}\n11 0 t{thread} C f\n")));
    let queries = Arc::new(AtomicUsize::new(0));
    let source = TraceStore::from_paje("slow", (text + "0 1 T u\n").as_bytes()).unwrap();
    (ServedPage::of(SlowSource { source, queries: Arc::clone(&queries) }).await, queries)
}

/// Calls `on_line` with each line of an answer in parts, as soon as it arrives.
async fn read_lines(page: &ServedPage, request: &str, mut on_line: impl FnMut(serde_json::Value)) {
    let ServedPage { port, path, host } = page;
    let mut stream = TcpStream::connect(("127.0.0.1", *port)).await.unwrap();
    let request = format!(
        "GET {path}api/{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut response, mut buffer, mut line_count) = (Vec::new(), [0; 4096], 0);
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        response.extend_from_slice(&buffer[..count]);
        let Some(end) = response.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4) else {
            assert!(count > 0, "no head");
            continue;
        };
        let head = String::from_utf8_lossy(&response[..end]).to_ascii_lowercase();
        assert!(head.contains("application/x-ndjson") && head.contains("content-encoding: gzip"), "{head}");
        let text = unpack_chunks(&response[end..]);
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in whole.skip(line_count) {
            on_line(serde_json::from_str(line).unwrap());
            line_count += 1;
        }
        if count == 0 {
            return;
        }
    }
}

/// The text of a compressed stream in chunks. Each chunk follows its length. The stream may be
/// unfinished.
fn unpack_chunks(mut chunks: &[u8]) -> String {
    let mut packed = Vec::new();
    while let Some(line) = chunks.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&chunks[..line]).unwrap(), 16).unwrap();
        if length == 0 || chunks.len() < line + 2 + length + 2 {
            break;
        }
        packed.extend_from_slice(&chunks[line + 2..line + 2 + length]);
        chunks = &chunks[line + 2 + length + 2..];
    }
    let mut text = Vec::new();
    let _unfinished = flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

/// A long scan sends its results so far. The last line is the whole answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_scan_reports_its_progress() {
    const ROWS: usize = 150;
    let (page, queries) = serve_slowly(ROWS).await;
    let mut lines = Vec::new();
    read_lines(&page, "histogram?from=0&to=1000000000&ty=2", |line| {
        lines.push((line, queries.load(Ordering::SeqCst)));
    })
    .await;
    let end = queries.load(Ordering::SeqCst);
    let (last, parts) = lines.split_last().unwrap();
    assert!(parts.len() >= 2, "{lines:?}");
    let shares: Vec<f64> = parts.iter().map(|part| part.0["done"].as_f64().unwrap()).collect();
    assert!(shares.is_sorted() && shares[0] > 0.0 && shares[0] < 0.9, "{shares:?}");
    let totals: Vec<u64> = lines.iter().map(|part| part.0["total"].as_u64().unwrap()).collect();
    assert!(totals.is_sorted() && totals[0] < ROWS as u64, "{totals:?}");
    assert!(parts[0].1 < end, "the first part came only when all was counted");
    assert_eq!((last.0["total"].as_u64(), &last.0["done"]), (Some(ROWS as u64), &serde_json::Value::Null));
}

/// Work counter: a scan ends when the client disconnects.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_scan_ends() {
    const ROWS: usize = 600;
    let (page, queries) = serve_slowly(ROWS).await;
    let before = queries.load(Ordering::SeqCst);
    let stream = send(&page, "find?text=f&from=0&to=1000000000").await;
    let limit = ROWS / 3;
    while queries.load(Ordering::SeqCst) < before + limit / 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(stream);
    let count = final_count(&queries).await - before;
    assert!(count < limit, "{count} queries of at least {ROWS}");
}
