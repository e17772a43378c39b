//! Where the server listens, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use tumit_server::{ServedTrace, Server, ServerError};
use tumit_test_support::table_trace::example_program;

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = Server::bind(Arc::new(example_program(1, 1, 1)), port).await.unwrap_err();
    assert!(matches!(error, ServerError::PortInUse { .. }));
    assert!(error.to_string().contains(&format!("port {port} is in use")), "{error}");
}

#[tokio::test]
async fn only_the_socket_of_a_dead_server_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.sock");
    let serve = async || Server::bind_socket(vec![ServedTrace::new(Arc::new(example_program(1, 1, 1)))], &path).await;
    let first = serve().await.unwrap();
    let error = serve().await.unwrap_err();
    assert!(matches!(error, ServerError::SocketInUse { .. }), "{error}");
    assert!(error.to_string().contains("page.sock is in use"), "{error}");
    first.run(None, async {}).await.unwrap();
    assert!(!path.exists(), "removed at the end");
    // A server that was killed leaves its socket.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    serve().await.unwrap().run(None, async {}).await.unwrap();
    std::fs::write(&path, "text").unwrap();
    let error = serve().await.unwrap_err();
    assert!(matches!(error, ServerError::NotASocket { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"text", "a file that is not a socket stays unchanged");
}

#[tokio::test]
async fn the_server_ends_on_request_or_without_requests() {
    let server = Server::bind(Arc::new(example_program(1, 1, 1)), 0).await.unwrap();
    server.run(None, async {}).await.unwrap();
    let server = Server::bind(Arc::new(example_program(1, 1, 1)), 0).await.unwrap();
    server.run(Some(Duration::from_millis(30)), std::future::pending()).await.unwrap();
}
