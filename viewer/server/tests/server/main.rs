//! The server over real sockets: access, answers, cancellation, and its start and end.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod access;
mod answers;
mod cancellation;
mod card_bytes;
mod images;
mod start_and_end;
mod views;

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tumit_server::Server;
use tumit_test_support::table_trace::example_program;
use tumit_viewer::query::TimelineSource;

/// A server on a free port that runs until the test ends.
struct ServedPage {
    port: u16,
    /// The path of the page, which contains the page token.
    path: String,
    /// The host in the header of a request.
    host: String,
}

impl ServedPage {
    /// Serves an example program.
    async fn start() -> Self {
        Self::of(example_program(2, 3, 4)).await
    }

    async fn of(source: impl TimelineSource + 'static) -> Self {
        Self::run(Server::bind(Arc::new(source), 0).await.unwrap())
    }

    fn run(server: Server) -> Self {
        let port = server.address().port();
        let path = path_of(&server.url());
        tokio::spawn(server.run(None, std::future::pending()));
        Self { port, path, host: format!("127.0.0.1:{port}") }
    }

    /// Sends a request of the page. Returns the status, and the answer if it is JSON.
    async fn answer(&self, request: &str) -> (u16, Value) {
        let (status, _, body) = get(self.port, &format!("{}api/{request}", self.path), &self.host, "").await;
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    /// The JSON answer to a request of the page.
    async fn json(&self, request: &str) -> Value {
        self.answer(request).await.1
    }
}

/// The path of an address.
fn path_of(url: &str) -> String {
    let (_, rest) = url.split_once("http://").unwrap();
    rest[rest.find('/').unwrap()..].to_owned()
}

/// Sends a request as a browser does, with further header lines. Returns the status, the head and
/// the body.
async fn get(port: u16, path: &str, host: &str, headers: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let text = String::from_utf8_lossy(&response).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), head.to_ascii_lowercase(), body.to_owned())
}

/// The head of an image. Byte sections follow it.
fn image_head(image: &[u8]) -> Value {
    let start = image.iter().position(|&byte| byte == b'{').unwrap();
    serde_json::Deserializer::from_slice(&image[start..]).into_iter().next().unwrap().unwrap()
}
