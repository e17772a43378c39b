//! The page's files, embedded in the binary.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

use super::App;

#[derive(Embed)]
#[folder = "src/ui"]
struct Ui;

/// The page; of several traces, the one that holds a pane for each.
pub(super) async fn index(State(app): State<Arc<App>>) -> Response {
    answer(if app.traces.len() > 1 { "panes.html" } else { "index.html" })
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
    let data = file.data.into_owned();
    let data = if path.ends_with(".js") { slim(&data) } else { data };
    ([(header::CONTENT_TYPE, kind)], data).into_response()
}

/// A module without its comments and the blanks before its lines, which are for those who read the sources: a fifth of the page. Lines keep
/// their numbers. In the modules `/**` begins a comment wherever it stands, `//` where it begins a line, and no text goes over several lines.
fn slim(module: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(module);
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for line in text.lines() {
        let mut rest = line.trim_start();
        if inside {
            inside = !rest.contains("*/");
        } else if !rest.starts_with("//") {
            while let Some((before, comment)) = rest.split_once("/**") {
                out.push_str(before);
                inside = !comment.contains("*/");
                rest = comment.split_once("*/").map_or("", |(_, after)| after.trim_start());
            }
            out.push_str(rest);
        }
        out.push('\n');
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::slim;

    #[test]
    fn modules_lose_their_comments_and_nothing_else() {
        let module = "// What it is.\n\n/**\n * @param {number} a\n */\nexport const f = (/** @type {number} */ a) => {\n  /** @type {string[]} */ let b = [];\n  \
                      // Why.\n  return `${a} // ${b}`; // at its end\n};\n/** One. @param {any} a */\nlet c = 1;\n/** @typedef {{ a: string,\n * b: 1 }} T */\nconst o = {\n  /** What. @type {T} */ row: null,\n};\n";
        let text = String::from_utf8(slim(module.as_bytes())).expect("it is text");
        let expected = "\n\n\n\n\nexport const f = (a) => {\nlet b = [];\n\nreturn `${a} // ${b}`; // at its end\n};\n\nlet c = 1;\n\n\nconst o = {\nrow: null,\n};\n";
        assert_eq!(text, expected);
    }
}
