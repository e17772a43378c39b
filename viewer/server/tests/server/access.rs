//! Access control, and the connections that stay open.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tumit_server::{ConnectionLimits, Server};
use tumit_test_support::table_trace::example_program;

use crate::{ServedPage, get, path_of};

#[tokio::test]
async fn the_page_and_its_files_have_security_headers() {
    let ServedPage { port, path, host } = ServedPage::start().await;
    for (file, kind) in [
        ("", "text/html"),
        ("main.js", "text/javascript"),
        ("view/diagram.js", "text/javascript"),
        ("util/axis.js", "text/javascript"),
        ("font/Inter-Regular.woff2", "font/woff2"),
        ("style/base.css", "text/css"),
    ] {
        let (status, head, body) = get(port, &format!("{path}{file}"), &host, "").await;
        assert_eq!(status, 200, "{file}");
        assert!(head.contains(kind) && !body.is_empty());
        for header in ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff", "no-referrer"]
        {
            assert!(head.contains(header), "{header} in {head}");
        }
    }
    for file in [
        "nothing.js",
        "view/nothing.js",
        "chart.js",
        "view",
        "view/",
        "LAYERS",
        "../Cargo.toml",
        "view/../../Cargo.toml",
    ] {
        assert_eq!(get(port, &format!("{path}{file}"), &host, "").await.0, 404, "{file}");
    }
}

#[tokio::test]
async fn a_one_time_address_leads_to_the_page_once() {
    let server = Server::bind(Arc::new(example_program(2, 3, 4)), 0).await.unwrap();
    let once = path_of(&server.one_time_url().unwrap());
    let ServedPage { port, path: page, host } = ServedPage::run(server);
    let token = page.trim_start_matches("/t/").trim_end_matches('/');
    assert!(!once.contains(token));
    // A request that is refused does not use the address up.
    assert_eq!(get(port, &once, "evil.example", "").await.0, 403);
    assert_eq!(get(port, &once, &host, "Origin: http://evil.example\r\n").await.0, 403);
    assert_eq!(get(port, "/open/00000000000000000000000000000000", &host, "").await.0, 404);
    let (status, head, _) = get(port, &once, &host, "").await;
    assert_eq!(status, 303);
    assert!(head.contains(&format!("location: {page}")) && head.contains("no-store"), "{head}");
    let (status, _, body) = get(port, &once, &host, "").await;
    assert_eq!(status, 410);
    assert!(body.contains("printed in the terminal") && !body.contains(token), "{body}");
    assert_eq!(get(port, &page, &host, "").await.0, 200);
}

#[tokio::test]
async fn requests_need_the_page_token_and_this_machine() {
    let ServedPage { port, path, host } = ServedPage::start().await;
    let summary = format!("{path}api/summary");
    assert_eq!(get(port, &summary, &host, "").await.0, 200);
    assert_eq!(get(port, &summary, &host, &format!("Origin: http://{host}\r\n")).await.0, 200);
    assert_eq!(get(port, "/api/summary", &host, "").await.0, 404);
    assert_eq!(get(port, "/t/00000000000000000000000000000000/api/summary", &host, "").await.0, 404);
    assert_eq!(get(port, &summary, "evil.example", "").await.0, 403);
    assert_eq!(get(port, &summary, &host, "Origin: http://evil.example\r\n").await.0, 403);
    let (_, head, _) = get(port, "/", &host, "").await;
    assert!(head.contains("nosniff"), "refusals have the security headers, too");
}

#[tokio::test]
async fn silent_connections_are_closed() {
    let server = Server::bind(Arc::new(example_program(2, 3, 4)), 0).await.unwrap();
    let limits = ConnectionLimits { header_time: Duration::from_millis(200), connections: 4 };
    let ServedPage { port, path: page, host } = ServedPage::run(server.with_limits(limits));
    let connect = || TcpStream::connect(("127.0.0.1", port));
    // Neither silence nor a slowly sent head keeps a connection open.
    for begin in ["", "GET / HTTP/1.1\r\nHost: "] {
        let mut slow = connect().await.unwrap();
        slow.write_all(begin.as_bytes()).await.unwrap();
        let mut response = Vec::new();
        let _ = slow.read_to_end(&mut response).await;
        assert!(!String::from_utf8_lossy(&response).contains("200 OK"));
    }
    // A connection that is idle after a request is closed, too.
    let mut idle = connect().await.unwrap();
    idle.write_all(format!("GET {page}api/ping HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut response = Vec::new();
    let _ = idle.read_to_end(&mut response).await;
    assert!(response.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&response));
}

#[tokio::test]
async fn a_new_connection_replaces_a_silent_one() {
    let server = Server::bind(Arc::new(example_program(2, 3, 4)), 0).await.unwrap();
    let limits = ConnectionLimits { header_time: Duration::from_secs(600), connections: 4 };
    let ServedPage { port, path: page, host } = ServedPage::run(server.with_limits(limits));
    let ping = format!("GET {page}api/ping HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    // The page is served nevertheless, and the oldest connections are closed.
    assert_eq!(get(port, &page, &host, "").await.0, 200);
    for stream in &mut silent[..30] {
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
    }
    // Connections that sent the page token stay. A further one is closed.
    let mut authorised = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(ping.as_bytes()).await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        authorised.push(stream);
    }
    let mut further = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    assert_eq!(further.read(&mut [0; 8]).await.unwrap_or(0), 0);
    for stream in &mut authorised {
        stream.write_all(ping.as_bytes()).await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
    }
}
