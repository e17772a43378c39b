//! The page's files, embedded in the binary.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

#[derive(Embed)]
#[folder = "src/ui"]
struct Ui;

/// The page.
pub(super) async fn index() -> Response {
    answer("index.html")
}

/// One of its files.
pub(super) async fn file(Path(parts): Path<Vec<(String, String)>>) -> Response {
    // The first part is the token, already checked.
    parts.last().map_or_else(|| StatusCode::NOT_FOUND.into_response(), |(_, path)| answer(path))
}

fn answer(path: &str) -> Response {
    let Some(file) = Ui::get(path) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    let kind = match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    };
    ([(header::CONTENT_TYPE, kind)], file.data.into_owned()).into_response()
}
