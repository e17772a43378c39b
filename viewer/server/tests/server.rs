//! The server over real sockets: who may ask, what is answered, and how it ends.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tumit_server::{ConnectionLimits, ServedTrace, Server, ServerError};
use tumit_test_support::table_trace::{DiceRoller, example_program};
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::layout::{ContainerOutline, LayoutOptions, RowLayout};
use tumit_viewer::open::progressive::{CurrentTrace, TraceAvailability};
use tumit_viewer::query::{QueryError, TimelineSource};
use tumit_viewer::store::TraceStore;

/// A server on a free port that runs until the test ends; its port, and the path of its page.
async fn serve() -> (u16, String) {
    serve_this(example_program(2, 3, 4)).await
}

async fn serve_this(source: impl TimelineSource + 'static) -> (u16, String) {
    let server = Server::bind(Arc::new(source), 0).await.unwrap();
    let port = server.address().port();
    let path = server.url().split_once(&format!(":{port}")).unwrap().1.to_owned();
    tokio::spawn(server.run(None, std::future::pending()));
    (port, path)
}

/// Asks as a browser does, with more header lines; the status, the head and the body.
async fn get(port: u16, path: &str, host: &str, more: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let ask = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), head.to_ascii_lowercase(), body.to_owned())
}

/// The head of a picture, which streams of bytes follow.
fn head(picture: &[u8]) -> serde_json::Value {
    let start = picture.iter().position(|&byte| byte == b'{').unwrap();
    serde_json::Deserializer::from_slice(&picture[start..]).into_iter().next().unwrap().unwrap()
}

#[tokio::test]
async fn the_page_and_its_files_have_security_headers() {
    let (port, path) = serve().await;
    let host = format!("127.0.0.1:{port}");
    for (file, kind) in [
        ("", "text/html"),
        ("main.js", "text/javascript"),
        ("view/chart.js", "text/javascript"),
        ("util/axis.js", "text/javascript"),
        ("font/Inter-Regular.woff2", "font/woff2"),
        ("style.css", "text/css"),
    ] {
        let (status, head, body) = get(port, &format!("{path}{file}"), &host, "").await;
        assert_eq!(status, 200, "{file}");
        assert!(head.contains(kind) && !body.is_empty());
        for guard in ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff", "no-referrer"] {
            assert!(head.contains(guard), "{guard} in {head}");
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
    let port = server.address().port();
    let (url, once) = (server.url(), server.one_time_url().unwrap());
    let path = |url: &str| url.split_once(&format!(":{port}")).unwrap().1.to_owned();
    let (page, once) = (path(&url), path(&once));
    let token = page.trim_start_matches("/t/").trim_end_matches('/');
    assert!(!once.contains(token));
    tokio::spawn(server.run(None, std::future::pending()));
    let host = format!("127.0.0.1:{port}");
    // Who may not ask does not use it up, and neither does a look at its head.
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
async fn silent_connections_are_closed() {
    let server = Server::bind(Arc::new(example_program(2, 3, 4)), 0).await.unwrap();
    let limits = ConnectionLimits { header_time: Duration::from_millis(200), connections: 4 };
    let (port, server) = (server.address().port(), server.with_limits(limits));
    let page = server.url().split_once(&format!(":{port}")).unwrap().1.to_owned();
    tokio::spawn(server.run(None, std::future::pending()));
    let host = format!("127.0.0.1:{port}");
    let connect = || TcpStream::connect(("127.0.0.1", port));
    // Neither silence nor a head that comes in drops holds a connection.
    for begin in ["", "GET / HTTP/1.1\r\nHost: "] {
        let mut slow = connect().await.unwrap();
        slow.write_all(begin.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = slow.read_to_end(&mut answer).await;
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"));
    }
    // So is a connection that is idle after a request.
    let mut idle = connect().await.unwrap();
    idle.write_all(format!("GET {page}api/ping HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = idle.read_to_end(&mut answer).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn a_new_connection_replaces_a_silent_one() {
    let server = Server::bind(Arc::new(example_program(2, 3, 4)), 0).await.unwrap();
    let limits = ConnectionLimits { header_time: Duration::from_secs(600), connections: 4 };
    let (port, server) = (server.address().port(), server.with_limits(limits));
    let page = server.url().split_once(&format!(":{port}")).unwrap().1.to_owned();
    tokio::spawn(server.run(None, std::future::pending()));
    let host = format!("127.0.0.1:{port}");
    let ping = format!("GET {page}api/ping HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    // The page is served all the same, and the oldest ones are closed.
    assert_eq!(get(port, &page, &host, "").await.0, 200);
    for stream in &mut silent[..30] {
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap_or(0), 0);
    }
    // Connections that showed the secret stay; then a further one is closed.
    let mut known = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(ping.as_bytes()).await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        known.push(stream);
    }
    let mut further = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    assert_eq!(further.read(&mut [0; 8]).await.unwrap_or(0), 0);
    for stream in &mut known {
        stream.write_all(ping.as_bytes()).await.unwrap();
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
    }
}

#[tokio::test]
async fn only_the_page_of_this_machine_may_ask() {
    let (port, path) = serve().await;
    let host = format!("127.0.0.1:{port}");
    let summary = format!("{path}api/summary");
    assert_eq!(get(port, &summary, &host, "").await.0, 200);
    assert_eq!(get(port, &summary, &host, &format!("Origin: http://{host}\r\n")).await.0, 200);
    assert_eq!(get(port, "/api/summary", &host, "").await.0, 404);
    assert_eq!(get(port, "/t/00000000000000000000000000000000/api/summary", &host, "").await.0, 404);
    assert_eq!(get(port, &summary, "evil.example", "").await.0, 403);
    assert_eq!(get(port, &summary, &host, "Origin: http://evil.example\r\n").await.0, 403);
    let (_, head, _) = get(port, "/", &host, "").await;
    assert!(head.contains("nosniff"), "refusals carry the guards too");
}

#[tokio::test]
async fn valid_requests_are_answered_and_invalid_ones_refused() {
    let (port, path) = serve().await;
    let host = format!("127.0.0.1:{port}");
    let ask = async |what: &str| {
        let (status, _, body) = get(port, &format!("{path}api/{what}"), &host, "").await;
        (status, serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default())
    };
    let (_, summary) = ask("summary").await;
    assert_eq!(summary["name"], "particles.tmt");
    let (_, rows) = ask("rows").await;
    assert_eq!(rows["rows"].as_array().unwrap().len(), 10);
    let (_, folded) = ask("rows?level=0").await;
    assert_eq!(folded["rows"].as_array().unwrap().len(), 2);
    let scene = format!("{path}api/scene?from=0&to=3000000&width=600&bottom=400&resolution=1");
    let (status, _, scene) = get(port, &scene, &host, "").await;
    let scene = head(scene.as_bytes());
    let items: u64 = scene["runs"].as_array().unwrap().iter().map(|run| run[1].as_u64().unwrap()).sum();
    assert!(status == 200 && items > 50);
    let (_, legend) = ask("legend?from=0&to=3000000").await;
    assert_eq!(legend["groups"][0]["entries"][0]["name"], "computing forces");
    let (_, facts) = ask("facts?id=s0").await;
    assert_eq!(facts["kind"], "State");
    for (wrong, expected) in [
        ("scene?from=5&to=5&width=600", 400),
        ("scene?from=x", 400),
        ("facts?id=s99999999", 404),
        ("facts?id=%00", 404),
        ("facts", 404),
        ("at?from=1&to=1", 400),
    ] {
        assert_eq!(ask(wrong).await.0, expected, "{wrong}");
    }
    let (status, _) = ask("scene?from=-9223372036854775808&to=9223372036854775807&width=NaN&bottom=inf").await;
    assert_eq!(status, 200, "extreme numbers are clamped");
}

/// The bytes of a picture's answer, head and all, and how many columns of pixels it shows as one.
async fn picture(port: u16, ask: &str) -> (usize, u64) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let ask =
        format!("GET {ask} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n");
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let text = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    assert!(text.starts_with("http/1.1 200") && text.contains("content-encoding: gzip"), "{text}");
    assert!(text.contains(&format!("content-length: {}", answer.len() - end)), "{text}");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&answer[end..]).read_to_end(&mut bytes).unwrap();
    (answer.len(), head(&bytes)["columns"].as_u64().unwrap())
}

/// Work counter: the whole of a run of 72 rows and 13,600 states, on 1,600 columns, is small on its way to the page.
#[tokio::test]
async fn an_image_of_many_rows_is_small() {
    let source = example_program(8, 7, 100);
    let outline = ContainerOutline::new(&source).unwrap();
    let rows = RowLayout::new(&outline, &LayoutOptions::default()).rows.len();
    let (end, states) = (source.end, source.states.len());
    assert_eq!((rows, states), (72, 13_600));
    let (port, path) = serve_this(source).await;
    let ask = format!("{path}api/scene?from=0&to={end}&width=1600&bottom=4000&resolution=1");
    let (bytes, columns) = picture(port, &ask).await;
    assert!((5_000..65_536).contains(&bytes) && columns == 1, "{bytes} bytes");
}

/// What cannot be packed, rows of noise, is sent in columns of several pixels, and all of it only when that is asked for.
#[tokio::test]
async fn an_image_of_noise_is_first_sent_in_wide_columns() {
    let (threads, end) = (64, 3_200_000);
    let mut text = include_str!("../../tests/header.paje").to_owned() + "0 T 0 Thread\n2 C T Call\n";
    (0..threads).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T {thread}\n")));
    let mut dice = DiceRoller(3);
    // A call each half pixel, as all threads take turns.
    for date in (0..end).step_by(16) {
        let (thread, call) = (dice.roll(0, threads), dice.roll(0, 200));
        text.push_str(&format!("11 {}.{:09} t{thread} C f{call}\n", date / 1_000_000_000, date % 1_000_000_000));
    }
    let (port, path) = serve_this(TraceStore::from_paje("noise", text.as_bytes()).unwrap()).await;
    let ask = format!("{path}api/scene?from=0&to={end}&width=1600&bottom=4000&resolution=1");
    let (bytes, columns) = picture(port, &ask).await;
    assert!((32_768..65_536).contains(&bytes) && columns > 1, "{bytes} bytes, {columns} columns as one");
    // However far it is zoomed, on finer screens, too.
    for part in [3, 10, 30, 100] {
        let ask = format!("{path}api/scene?from=0&to={}&width=1600&bottom=4000&resolution=2", end / part);
        let (bytes, _) = picture(port, &ask).await;
        assert!((4_096..65_536).contains(&bytes), "a {part}th: {bytes} bytes");
    }
    // A larger screen may have more in proportion, and is told of finer columns.
    let (larger, finer) =
        picture(port, &format!("{path}api/scene?from=0&to={end}&width=4800&bottom=4000&resolution=1")).await;
    assert!((65_536..3 * 65_536).contains(&larger) && finer < 4 * columns, "{larger} bytes, {finer} columns as one");
    let (bytes, columns) = picture(port, &format!("{ask}&whole=true")).await;
    assert!((131_072..400_000).contains(&bytes) && columns == 1, "{bytes} bytes");
}

/// A trace that thinks before it answers.
struct Slow {
    source: TraceStore,
    asked: Arc<AtomicUsize>,
}

impl FilterLayer for Slow {
    fn inner_source(&self) -> &dyn TimelineSource {
        &self.source
    }

    fn asked(&self) -> Result<&dyn TimelineSource, QueryError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(10));
        Ok(&self.source)
    }
}

/// Work counter: of a picture that nobody waits for any more, a small part is computed.
#[tokio::test(flavor = "multi_thread")]
async fn abandoned_requests_are_cancelled() {
    const ROWS: usize = 600;
    let mut text = include_str!("../../tests/header.paje").to_owned() + "0 T 0 Thread\n2 C T Call\n";
    (0..ROWS).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T {thread}\n11 0 t{thread} C f\n")));
    let asked = Arc::new(AtomicUsize::new(0));
    let source = TraceStore::from_paje("slow", (text + "0 1 T u\n").as_bytes()).unwrap();
    let (port, path) = serve_this(Slow { source, asked: Arc::clone(&asked) }).await;
    let before = asked.load(Ordering::SeqCst);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let ask = format!(
        "GET {path}api/scene?from=0&to=1000000000&width=1600&bottom=100000&resolution=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    );
    stream.write_all(ask.as_bytes()).await.unwrap();
    while asked.load(Ordering::SeqCst) == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(stream);
    // Until it asks no more.
    let mut last = 0;
    while last != asked.load(Ordering::SeqCst) {
        last = asked.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(last - before < ROWS / 2, "{} questions of at least {ROWS}", last - before);
}

#[tokio::test]
async fn a_port_in_use_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = Server::bind(Arc::new(example_program(1, 1, 1)), port).await.unwrap_err();
    assert!(matches!(error, ServerError::PortInUse { .. }));
    assert!(error.to_string().contains(&format!("port {port} is in use")), "{error}");
}

#[tokio::test]
async fn only_the_socket_of_a_dead_server_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.sock");
    let serve = async || Server::serve_at(vec![ServedTrace::new(Arc::new(example_program(1, 1, 1)))], &path).await;
    let first = serve().await.unwrap();
    let error = serve().await.unwrap_err();
    assert!(matches!(error, ServerError::SocketInUse { .. }), "{error}");
    assert!(error.to_string().contains("page.sock is in use"), "{error}");
    first.run(None, async {}).await.unwrap();
    assert!(!path.exists(), "removed at the end");
    // One that was killed leaves its socket.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    serve().await.unwrap().run(None, async {}).await.unwrap();
    std::fs::write(&path, "a letter").unwrap();
    let error = serve().await.unwrap_err();
    assert!(matches!(error, ServerError::NoSocket { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"a letter", "what is no socket is left alone");
}

#[tokio::test]
async fn the_server_ends_on_request_or_without_requests() {
    let server = Server::bind(Arc::new(example_program(1, 1, 1)), 0).await.unwrap();
    server.run(None, async {}).await.unwrap();
    let server = Server::bind(Arc::new(example_program(1, 1, 1)), 0).await.unwrap();
    server.run(Some(Duration::from_millis(30)), std::future::pending()).await.unwrap();
}

/// What the page asks beside pictures: neighbours, finds, tables and names.
#[tokio::test]
async fn neighbours_finds_and_tables_agree_with_each_other() {
    let (port, path) = serve().await;
    let host = format!("127.0.0.1:{port}");
    let ask = async |what: &str| {
        let (status, _, body) = get(port, &format!("{path}api/{what}"), &host, "").await;
        (status, serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default())
    };
    // From the first of all hits in one container, steps visit them all, forward and back.
    let (_, found) = ask("find?from=-1&to=30000000&what=computing%20kind:state").await;
    let hits = found["hits"].as_array().unwrap();
    assert_eq!(found["total"], hits.len());
    assert_eq!(
        found["bins"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).sum::<u64>(),
        found["total"]
    );
    let lane: Vec<&str> =
        hits.iter().filter(|hit| hit["path"] == hits[0]["path"]).map(|hit| hit["id"].as_str().unwrap()).collect();
    assert!(lane.len() > 2, "{found}");
    for pair in lane.windows(2) {
        let (_, next) = ask(&format!("step?id={}&by=1&same=true", pair[0])).await;
        assert_eq!(next["facts"]["id"], pair[1]);
        let (_, back) = ask(&format!("step?id={}&by=-1&same=true", pair[1])).await;
        assert_eq!(back["facts"]["id"], pair[0]);
    }
    assert!(ask(&format!("step?id={}&by=-1&same=true", lane[0])).await.1["facts"].is_null());
    assert!(ask(&format!("step?id={}&by=1&same=true", lane[lane.len() - 1])).await.1["facts"].is_null());
    let (_, times) = ask("times?from=0&to=30000000").await;
    let rows = times["types"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"].as_str().unwrap().starts_with("computing")).unwrap();
    assert!(row["count"].as_u64() <= found["total"].as_u64() && row["nanos"].as_i64() > Some(0), "{row}");
    let (_, named) = ask("containers?what=CELLS%20lock").await;
    assert_eq!(named["total"], 2, "one in each of two nodes");
    assert_eq!(named["containers"][1]["above"].as_array().map(Vec::len), Some(1), "{named}");
    let (_, rows) = ask("rows?names=no%20such%20name").await;
    assert_eq!(rows["rows"].as_array().unwrap().len(), 0);
    for (wrong, expected) in [
        ("find?from=0&to=9&what=%3Esoon", 400),
        ("find?from=0&to=9", 400),
        ("step?id=s99999999&by=1", 404),
        ("times?from=0&to=9&id=s0", 404),
    ] {
        assert_eq!(ask(wrong).await.0, expected, "{wrong}");
    }
}

/// Filters come with each question; what is wrong with one is told with where it is, and the others act.
#[tokio::test]
async fn requests_are_about_the_filtered_trace() {
    let (port, path) = serve().await;
    let host = format!("127.0.0.1:{port}");
    let ask = async |what: &str| {
        let (status, _, body) = get(port, &format!("{path}api/{what}"), &host, "").await;
        (status, serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default())
    };
    let names = async |filters: &str| {
        let (_, rows) = ask(&format!("rows?filters={filters}")).await;
        rows["rows"]
            .as_array()
            .unwrap()
            .iter()
            // What filters call a row is said where it is not its name.
            .map(|row| row.get("called").unwrap_or(&row["name"]).as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = names("").await;
    let first = all.iter().find(|name| name.starts_with("Node") && !name.contains('/')).unwrap().replace(' ', "%20");
    let left = names(&format!("%5B%22hide%20container%20{first}%22%5D")).await;
    assert!(left.len() < all.len() && all.iter().any(|name| name.contains('/')), "{all:?} {left:?}");
    assert_eq!(names("%5B%22hide%20nothing%22,%22only%20type%20Gone%22%5D").await, all);
    let (_, chain) = ask("chain?filters=%5B%22hide%20nothing%22,%22only%20type%20Gone%22%5D").await;
    let problems = chain["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{chain}");
    assert_eq!((&problems[0]["at"], &problems[0]["from"], &problems[0]["to"]), (&0.into(), &5.into(), &12.into()));
    let (_, typed) = ask("filter?what=hide%20t&by=6").await;
    assert_eq!(typed["offers"][0]["text"], "type", "{typed}");
    // The dates of the page stay those of the trace when filters cut a part out.
    let (_, whole) = ask("find?from=0&to=30000000&what=computing").await;
    let (_, part) = ask("find?from=0&to=30000000&what=computing&filters=%5B%22cut%20500us..%22%5D").await;
    assert!(part["total"].as_u64() < whole["total"].as_u64(), "{part}");
    let dates: Vec<i64> = part["hits"].as_array().unwrap().iter().filter_map(|hit| hit["from"].as_i64()).collect();
    assert!(dates.iter().all(|&date| date >= 500_000), "{dates:?}");
    let long = "x".repeat(40_000);
    let deep = "%5B%5D".repeat(2);
    for (wrong, expected) in [
        (format!("rows?filters={long}"), 400),
        (format!("rows?filters={deep}"), 400),
        ("rows?trace=1".to_owned(), 404),
        ("export?format=doc&from=0&to=9".to_owned(), 400),
    ] {
        assert_eq!(ask(&wrong).await.0, expected, "{}", &wrong[..wrong.len().min(60)]);
    }
}

/// Charts are about the same entities as the table.
#[tokio::test]
async fn charts_and_the_table_agree() {
    let (port, path) = serve().await;
    let host = format!("127.0.0.1:{port}");
    let ask = async |what: &str| {
        let (_, _, body) = get(port, &format!("{path}api/{what}"), &host, "").await;
        serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default()
    };
    let times = ask("times?from=0&to=30000000").await;
    let ty = &times["types"][0];
    let row = &ty["rows"][0];
    let histogram = ask(&format!("histogram?from=0&to=30000000&ty={}&value={}", ty["type"], row["value"])).await;
    assert_eq!(histogram["total"], row["count"]);
    let longest =
        histogram["classes"].as_array().unwrap().iter().filter_map(|class| class["longest"]["nanos"].as_i64()).max();
    assert_eq!(longest, row["longest"]["nanos"].as_i64());
    let profile = ask("profile?from=0&to=30000000").await;
    let shares = profile["types"][0]["curves"].as_array().unwrap();
    let curve = shares.iter().find(|curve| curve["value"] == row["value"]).unwrap()["shares"].as_array().unwrap();
    assert!(curve.iter().all(|share| share.as_f64().is_some_and(|share| (0.0..=1.001).contains(&share))), "{curve:?}");
}

/// Numbers of entities go lane by lane: in a newer picture of a trace they are others, and are found by what they are.
#[tokio::test]
async fn a_newer_image_request_cancels_the_older() {
    let header = include_str!("../../tests/header.paje");
    let text =
        format!("{header}0 T 0 Thread\n2 S T State\n5 w S work \"0 1 0\"\n6 0 t 0 T t\n6 0 u 0 T u\n11 1 u S w\n");
    let paje = |more: &str| -> Arc<dyn TimelineSource> {
        Arc::new(TraceStore::from_paje("trace", format!("{text}{more}").as_bytes()).unwrap())
    };
    let current = CurrentTrace::from(paje("7 3 T u\n"));
    let served = ServedTrace { source: current.clone(), ..ServedTrace::new(paje("")) };
    let server = Server::serve(vec![served], 0).await.unwrap();
    let port = server.address().port();
    let path = server.url().split_once(&format!(":{port}")).unwrap().1.to_owned();
    tokio::spawn(server.run(None, std::future::pending()));
    let host = format!("127.0.0.1:{port}");
    let ask = async |what: &str| {
        let (_, _, body) = get(port, &format!("{path}api/{what}"), &host, "").await;
        serde_json::from_str::<serde_json::Value>(&body).unwrap_or_default()
    };
    let ping = ask("ping").await;
    assert_eq!((&ping["generation"], &ping["standing"]), (&1.into(), &serde_json::Value::Null));
    let old = ask("facts?id=s0").await;
    assert_eq!((&old["containers"][0], &old["from"]), (&"u".into(), &1_000_000_000_u64.into()));
    let filtered = "rows?filters=%5B%22only%20container%20u%22%5D";
    assert_eq!(ask(filtered).await["rows"].as_array().unwrap().len(), 1);

    let growing = TraceAvailability::Growing { open: 1, processes: 2 };
    current.put(paje("6 2 v 0 T u\n11 2 t S w\n11 5 t S w\n7 6 T t\nno event\n"), growing);
    let ping = ask("ping").await;
    assert_eq!(ping["generation"], 2);
    assert!(ping["standing"].as_str().unwrap().contains("1 of 2 processes"), "{ping}");
    let summary = ask("summary").await;
    assert_eq!((&summary["generation"], &summary["states"]), (&2.into(), &3.into()));
    let fault = &summary["diagnostics"][0];
    assert_eq!((&fault["kind"], &fault["severity"]), (&"paje_text".into(), &"error".into()), "{summary}");
    assert!(fault["location"]["line"]["line"].is_u64() && fault["text"].is_string(), "{fault}");
    assert_eq!(summary["intact"], false);
    assert_eq!(ask(filtered).await["rows"].as_array().unwrap().len(), 2, "filters act on the newer one");
    let what = |name: &str| {
        let (types, containers) = (&old["types"], &old["containers"]);
        let facts =
            serde_json::json!({ "name": name, "types": types, "containers": containers, "from": 1_000_000_000 });
        let encoded: String = facts.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
        format!("same?what={encoded}")
    };
    assert_eq!(ask(&what("work")).await["id"], "s2", "{old}");
    assert_eq!(ask("facts?id=s2").await["from"], 1_000_000_000_u64);
    assert_eq!(ask(&what("idle")).await["id"], serde_json::Value::Null);
}

/// Threads with one state each, so that a pass over them asks as often; and what they are asked about so far.
async fn serve_slowly(rows: usize) -> (u16, String, Arc<AtomicUsize>) {
    let mut text = include_str!("../../tests/header.paje").to_owned() + "0 T 0 Thread\n2 C T Call\n";
    (0..rows).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T {thread}\n11 0 t{thread} C f\n")));
    let asked = Arc::new(AtomicUsize::new(0));
    let source = TraceStore::from_paje("slow", (text + "0 1 T u\n").as_bytes()).unwrap();
    let (port, path) = serve_this(Slow { source, asked: Arc::clone(&asked) }).await;
    (port, path, asked)
}

/// The lines of an answer that grows, unpacked as they come; `each` is called for every one of them.
async fn lines(port: u16, ask: &str, mut each: impl FnMut(serde_json::Value)) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let ask =
        format!("GET {ask} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n");
    stream.write_all(ask.as_bytes()).await.unwrap();
    let (mut answer, mut some, mut told) = (Vec::new(), [0; 4096], 0);
    loop {
        let count = stream.read(&mut some).await.unwrap();
        answer.extend_from_slice(&some[..count]);
        let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4) else {
            assert!(count > 0, "no head");
            continue;
        };
        let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        assert!(head.contains("application/x-ndjson") && head.contains("content-encoding: gzip"), "{head}");
        // Chunks, each behind its length, of one packed stream that may not have ended yet.
        let (mut packed, mut rest) = (Vec::new(), &answer[end..]);
        while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
            let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap(), 16).unwrap();
            if length == 0 || rest.len() < line + 2 + length + 2 {
                break;
            }
            packed.extend_from_slice(&rest[line + 2..line + 2 + length]);
            rest = &rest[line + 2 + length + 2..];
        }
        let mut text = Vec::new();
        let _unfinished = flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut text);
        let text = String::from_utf8(text).unwrap();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in whole.skip(told) {
            each(serde_json::from_str(line).unwrap());
            told += 1;
        }
        if count == 0 {
            return;
        }
    }
}

/// What takes long is told in part, packed and all, while it is counted; the last line is the whole.
#[tokio::test(flavor = "multi_thread")]
async fn a_scan_reports_its_progress() {
    const ROWS: usize = 150;
    let (port, path, asked) = serve_slowly(ROWS).await;
    let ty = 2;
    let mut all = Vec::new();
    lines(port, &format!("{path}api/histogram?from=0&to=1000000000&ty={ty}"), |line| {
        all.push((line, asked.load(Ordering::SeqCst)));
    })
    .await;
    let end = asked.load(Ordering::SeqCst);
    let (last, parts) = all.split_last().unwrap();
    assert!(parts.len() >= 2, "{all:?}");
    let shares: Vec<f64> = parts.iter().map(|part| part.0["done"].as_f64().unwrap()).collect();
    assert!(shares.is_sorted() && shares[0] > 0.0 && shares[0] < 0.9, "{shares:?}");
    let totals: Vec<u64> = all.iter().map(|part| part.0["total"].as_u64().unwrap()).collect();
    assert!(totals.is_sorted() && totals[0] < ROWS as u64, "{totals:?}");
    assert!(parts[0].1 < end, "the first part came only when all was counted");
    assert_eq!((last.0["total"].as_u64(), &last.0["done"]), (Some(ROWS as u64), &serde_json::Value::Null));
}

/// Work counter: who hangs up after the first part ends the pass.
#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_scan_ends() {
    const ROWS: usize = 600;
    let (port, path, asked) = serve_slowly(ROWS).await;
    let before = asked.load(Ordering::SeqCst);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let ask = format!("GET {path}api/find?what=f&from=0&to=1000000000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    stream.write_all(ask.as_bytes()).await.unwrap();
    let most = ROWS / 3;
    while asked.load(Ordering::SeqCst) < before + most / 2 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(stream);
    let mut last = 0;
    while last != asked.load(Ordering::SeqCst) {
        last = asked.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(last - before < most, "{} questions of at least {ROWS}", last - before);
}

/// Pages of what was found, forward and back, are the same list, and it is whole.
#[tokio::test]
async fn pages_of_search_results_form_one_list() {
    let mut text = include_str!("../../tests/header.paje").to_owned();
    text.push_str("0 T 0 Thread\n2 S T State\n3 E T Mark \"1 0 0\"\n4 M 0 T T Message\n5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n");
    (0..3).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T t{thread}\n")));
    let (mut expected, mut dice) = (0, DiceRoller(7));
    for date in 1..900 {
        // States of both values; events and links begin with each of them.
        let (thread, state) = (dice.roll(0, 3), ["w", "i"][dice.roll(0, 2) as usize]);
        text.push_str(&format!("11 {date} t{thread} S {state}\n17 {date} t{thread} E w{}\n", date % 5));
        text.push_str(&format!("15 {date} 0 M t{thread} work k{date}\n"));
        if date > 50 {
            text.push_str(&format!("16 {date} 0 M t0 work k{}\n", date - 50));
            expected += 1;
        }
        expected += 1 + usize::from(state == "w");
    }
    text.push_str("7 2000 T t0\n");
    let (port, path) = serve_this(TraceStore::from_paje("trace", text.as_bytes()).unwrap()).await;
    let host = format!("127.0.0.1:{port}");
    let ask = async |more: &str| {
        let ask = format!("{path}api/find?what=w&from=0&to=3000000000000{more}");
        let (_, _, body) = get(port, &ask, &host, "").await;
        serde_json::from_str::<serde_json::Value>(&body).unwrap()
    };
    let ids = |answer: &serde_json::Value| -> Vec<(u64, String)> {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| (hit["from"].as_u64().unwrap(), hit["id"].as_str().unwrap().to_owned())).collect()
    };
    let first = ask("").await;
    assert_eq!(first["total"], expected, "{}", first["total"]);
    let sum: u64 = first["bins"].as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap()).sum();
    assert_eq!(sum, expected as u64);
    let (mut forward, mut more) = (ids(&first), first["more"] == true);
    assert_eq!((forward.len(), more), (500, true));
    while more {
        let page = ask(&format!("&by=1&id={}", forward.last().unwrap().1)).await;
        assert_eq!(page["total"], serde_json::Value::Null, "a page counts nothing");
        more = page["more"] == true;
        forward.extend(ids(&page));
    }
    assert_eq!(forward.len(), expected);
    assert!(forward.is_sorted_by_key(|hit| hit.0));
    let distinct: std::collections::BTreeSet<_> = forward.iter().map(|hit| &hit.1).collect();
    assert_eq!(distinct.len(), expected);
    let last = ask("&by=-1").await;
    let (mut back, mut more) = (ids(&last), last["more"] == true);
    while more {
        let page = ask(&format!("&by=-1&id={}", back[0].1)).await;
        more = page["more"] == true;
        back.splice(0..0, ids(&page));
    }
    assert_eq!(back, forward);
}
