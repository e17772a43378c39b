//! The page's files, embedded in the binary.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;
use tumit_viewer::export::page_files;

use super::app::AppState;

#[derive(Embed)]
#[folder = "ui"]
struct PageFiles;

/// The page. For several traces it is the page with one pane per trace.
pub(crate) async fn index(State(app): State<Arc<AppState>>) -> Response {
    answer(if app.traces.len() > 1 { "panes.html" } else { "index.html" })
}

/// A file of the page. Its path may contain folders, such as `view/diagram.js`.
pub(crate) async fn file(Path(parts): Path<Vec<(String, String)>>) -> Response {
    // The first part is the page token, already checked.
    parts.last().map_or_else(|| StatusCode::NOT_FOUND.into_response(), |(_, path)| answer(path))
}

fn answer(path: &str) -> Response {
    let (Some(kind), Some(data)) = (content_type(path), contents(path)) else {
        return (StatusCode::NOT_FOUND, "This file does not exist.\n").into_response();
    };
    ([(header::CONTENT_TYPE, kind)], data).into_response()
}

/// The content type of a file. A file without one, such as `LAYERS`, is not a part of the page.
fn content_type(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "html" => Some("text/html; charset=utf-8"),
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "txt" => Some("text/plain; charset=utf-8"),
        "woff2" => Some("font/woff2"),
        _ => None,
    }
}

/// The contents of a file. Files that exported pages contain too belong to the viewer.
fn contents(path: &str) -> Option<Cow<'static, [u8]>> {
    let shared = page_files::ALL.iter().find(|(name, _)| *name == path);
    let data = shared.map(|(_, data)| Cow::Borrowed(*data)).or_else(|| PageFiles::get(path).map(|file| file.data))?;
    if !path.ends_with(".js") {
        return Some(data);
    }
    match std::str::from_utf8(&data) {
        Ok(script) => Some(Cow::Owned(without_comments(script).into_bytes())),
        Err(_) => Some(data),
    }
}

/// A script without the comments at the starts of its lines. They are a quarter of its bytes on a
/// slow connection. All lines keep their numbers, which error messages contain.
fn without_comments(script: &str) -> String {
    let mut code = String::with_capacity(script.len());
    let mut is_comment = false;
    for line in script.lines() {
        let mut remainder = line;
        loop {
            let text = remainder.trim_start();
            if !is_comment && text.starts_with("//") {
                remainder = "";
            } else if is_comment || text.starts_with("/*") {
                let end = text.find("*/");
                is_comment = end.is_none();
                remainder = end.and_then(|end| text.get(end + 2..)).unwrap_or_default();
                if !is_comment {
                    continue;
                }
            }
            break;
        }
        code.push_str(remainder.trim_end());
        code.push('\n');
    }
    code
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_at_the_starts_of_lines_are_left_out() {
        let script = "// The page.\n\n/**\n * @param {number} x\n */\nexport const half = (x) => x / 2; // kept\n\
                      /** @type {string} */ const url = `http://${half(4)}`;\n  /* one */ /* two */ call(); /* three */\n";
        let expected = "\n\n\n\n\nexport const half = (x) => x / 2; // kept\n const url = `http://${half(4)}`;\n\
                        \x20call(); /* three */\n";
        assert_eq!(without_comments(script), expected);
    }
}
