//! An image as a self-contained HTML file: it zooms, moves, and shows details at the pointer.

use std::io;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{page_files, svg};
use crate::query::TimeRange;
use crate::scene::Scene;
use crate::style::theme::font::FAMILY;

/// Zooms in time, as on the page of `tumit view`. Row names stay in place. Texts, arrow heads and
/// marks keep their shape. The ruler is drawn anew. Browsers show the titles of the image at the
/// pointer.
const SCRIPT: &str = include_str!("zoom.js");

/// Times as text, and the ticks of time axes, as on the page. The page loads it as a module; here
/// it is part of the script.
static AXIS: LazyLock<String> = LazyLock::new(|| page_files::AXIS.replace("\nexport ", "\n"));

/// The typeface in both weights. Texts were measured with it, so names would exceed their space
/// without it.
static FONTS: LazyLock<String> = LazyLock::new(|| {
    [(400, page_files::REGULAR), (600, page_files::SEMI_BOLD)]
        .iter()
        .map(|(weight, font)| {
            let data = BASE64_STANDARD.encode(font);
            format!("@font-face {{ font-family: {FAMILY}; font-weight: {weight}; src: url(data:font/woff2;base64,{data}) format(\"woff2\"); }}\n")
        })
        .collect()
});

/// Writes the file. The file loads nothing from elsewhere.
///
/// ```
/// use tumit_viewer::export::html;
/// use tumit_viewer::scene::Scene;
///
/// let mut page = Vec::new();
/// html::write(&Scene::default(), &mut page)?;
/// assert!(page.starts_with(b"<!doctype html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the file cannot be written.
pub fn write(scene: &Scene, out: &mut dyn io::Write) -> io::Result<()> {
    let title = scene.title.replace('&', "&amp;").replace('<', "&lt;");
    let paper = scene.background.map_or_else(|| "#ffffff".to_owned(), |color| color.to_string());
    let (fonts, axis) = (&*FONTS, &*AXIS);
    let part = scene.time_range.map_or_else(String::new, |TimeRange { from, to }| {
        format!(" data-from=\"{}\" data-span=\"{}\"", from.0, to.0.saturating_sub(from.0))
    });
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src data:; img-src data:\">\n\
         <title>{title}</title>\n<style>{fonts}html, body {{ margin: 0; background: {paper}; }} svg {{ display: block; width: 100%; height: auto; cursor: grab; touch-action: pan-y; user-select: none; }} \
         [aria-label=Rows] :is(path, line, polyline) {{ vector-effect: non-scaling-stroke; }} p {{ margin: 0; padding: 4px 24px 20px; font: 12px Inter, Arial, sans-serif; }}</style>\n\
         </head>\n<body{part}>\n"
    )?;
    svg::write(scene, out)?;
    if scene.time_range.is_none() {
        // Charts without a ruler do not zoom.
        return out.write_all(b"\n</body>\n</html>\n");
    }
    write!(
        out,
        "\n<p>Wheel, + and −: zoom · drag, ← and →: move · Shift wheel, ↑ and ↓: scroll · double click, f: all</p>\n<script>{axis}{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::write;
    use crate::query::{GlobalNanos, TimeRange};
    use crate::scene::Scene;

    #[test]
    fn the_file_refers_to_no_other_file_and_names_are_escaped() {
        let scene = Scene {
            width: 100.0,
            height: 50.0,
            time_range: Some(TimeRange { from: GlobalNanos(0), to: GlobalNanos(9) }),
            title: "</title><script>alert(1)</script>".to_owned(),
            ..Scene::default()
        };
        let mut bytes = Vec::new();
        write(&scene, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(text.matches("<script>").count(), 1, "{text}");
        assert_eq!(text.matches("<svg").count(), 1);
        bytes = Vec::new();
        write(&Scene { time_range: None, ..scene }, &mut bytes).unwrap();
        assert!(!String::from_utf8(bytes).unwrap().contains("<script>"));
        assert!(!text.contains("<?xml") && !text.contains("src=\"http") && !text.contains("href=\"http"));
    }
}
