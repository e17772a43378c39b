//! The size of images on the wire.

use std::io::Read;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tumit_test_support::table_trace::{DiceRoller, example_program};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions, RowLayout};
use tumit_viewer::store::TraceStore;

use crate::{ServedPage, image_head};

/// Requests an image. Returns the bytes of the response with its head, and the number of pixel
/// columns that are drawn as one.
async fn image(page: &ServedPage, request: &str) -> (usize, u64) {
    let ServedPage { port, path, host } = page;
    let mut stream = TcpStream::connect(("127.0.0.1", *port)).await.unwrap();
    let request = format!(
        "GET {path}api/scene?{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept-Encoding: gzip\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let end = response.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let text = String::from_utf8_lossy(&response[..end]).to_ascii_lowercase();
    assert!(text.starts_with("http/1.1 200") && text.contains("content-encoding: gzip"), "{text}");
    assert!(text.contains(&format!("content-length: {}", response.len() - end)), "{text}");
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&response[end..]).read_to_end(&mut bytes).unwrap();
    (response.len(), image_head(&bytes)["columns"].as_u64().unwrap())
}

/// The image of a run with 72 rows and 13,600 states in 1,600 columns is small on the wire.
#[tokio::test]
async fn an_image_of_many_rows_is_small() {
    let source = example_program(8, 7, 100);
    let outline = ContainerOutline::new(&source).unwrap();
    let rows = RowLayout::new(&outline, &LayoutOptions::default()).rows.len();
    let (end, states) = (source.end, source.states.len());
    assert_eq!((rows, states), (72, 13_600));
    let page = ServedPage::of(source).await;
    let request = format!("from=0&to={end}&width=1600&bottom=4000&resolution=1");
    let (bytes, columns) = image(&page, &request).await;
    assert!((5_000..65_536).contains(&bytes) && columns == 1, "{bytes} bytes");
}

/// Rows of noise cannot be compressed. They are sent in columns of several pixels, and in full
/// detail only on request.
#[tokio::test]
async fn an_image_of_noise_is_first_sent_in_wide_columns() {
    let (threads, end) = (64, 3_200_000);
    let mut text = include_str!("../../../tests/header.paje").to_owned() + "0 T 0 Thread\n2 C T Call\n";
    (0..threads).for_each(|thread| text.push_str(&format!("6 0 t{thread} 0 T {thread}\n")));
    let mut dice = DiceRoller(3);
    // All threads take turns, so that there is a call each half pixel.
    for nanos in (0..end).step_by(16) {
        let (thread, call) = (dice.roll(0, threads), dice.roll(0, 200));
        text.push_str(&format!("11 {}.{:09} t{thread} C f{call}\n", nanos / 1_000_000_000, nanos % 1_000_000_000));
    }
    let page = ServedPage::of(TraceStore::from_paje("noise", text.as_bytes()).unwrap()).await;
    let request = format!("from=0&to={end}&width=1600&bottom=4000&resolution=1");
    let (bytes, columns) = image(&page, &request).await;
    assert!((32_768..65_536).contains(&bytes) && columns > 1, "{bytes} bytes, {columns} columns as one");
    // The same holds at any zoom, also on finer screens.
    for part in [3, 10, 30, 100] {
        let request = format!("from=0&to={}&width=1600&bottom=4000&resolution=2", end / part);
        let (bytes, _) = image(&page, &request).await;
        assert!((4_096..65_536).contains(&bytes), "a {part}th: {bytes} bytes");
    }
    // A larger screen may receive proportionally more bytes, with finer columns.
    let (larger, finer) = image(&page, &format!("from=0&to={end}&width=4800&bottom=4000&resolution=1")).await;
    assert!((65_536..3 * 65_536).contains(&larger) && finer < 4 * columns, "{larger} bytes, {finer} columns as one");
    let (bytes, columns) = image(&page, &format!("{request}&whole=true")).await;
    assert!((131_072..400_000).contains(&bytes) && columns == 1, "{bytes} bytes");
}
