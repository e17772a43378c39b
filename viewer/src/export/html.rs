//! A picture as one HTML file, which needs nothing else: it zooms and moves, and tells of what is pointed at.

use super::svg;
use crate::scene::Scene;

/// Wheel and keys zoom, dragging moves, a double click shows all again. The picture's titles are what browsers show at the pointer.
const SCRIPT: &str = r#"
const svg = document.querySelector("svg");
const whole = svg.viewBox.baseVal;
const all = [whole.x, whole.y, whole.width, whole.height];
let box = [...all];
const set = (next) => {
  const wide = Math.min(Math.max(next[2], all[2] / 400), all[2]);
  const tall = wide * all[3] / all[2];
  box = [Math.min(Math.max(next[0], all[0]), all[0] + all[2] - wide), Math.min(Math.max(next[1], all[1]), all[1] + all[3] - tall), wide, tall];
  svg.setAttribute("viewBox", box.join(" "));
};
const zoom = (by, x, y) => {
  const frame = svg.getBoundingClientRect();
  const [u, v] = [(x - frame.left) / frame.width, (y - frame.top) / frame.height];
  const wide = Math.min(Math.max(box[2] * by, all[2] / 400), all[2]);
  const factor = wide / box[2];
  set([box[0] + u * box[2] * (1 - factor), box[1] + v * box[3] * (1 - factor), wide, 0]);
};
svg.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(event.deltaY * 0.002), event.clientX, event.clientY); }, { passive: false });
svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
svg.addEventListener("pointermove", (event) => {
  if (event.buttons & 1) set([box[0] - event.movementX * box[2] / svg.clientWidth, box[1] - event.movementY * box[3] / svg.clientHeight, box[2], 0]);
});
svg.addEventListener("dblclick", () => set(all));
addEventListener("keydown", (event) => {
  const [x, y] = [innerWidth / 2, innerHeight / 2];
  const move = (dx, dy) => set([box[0] + dx * box[2], box[1] + dy * box[3], box[2], 0]);
  const act = { "+": () => zoom(0.7, x, y), "=": () => zoom(0.7, x, y), "-": () => zoom(1.4, x, y), f: () => set(all),
    ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, -0.1), ArrowDown: () => move(0, 0.1) }[event.key];
  if (act) { event.preventDefault(); act(); }
});
"#;

/// The file. It loads nothing and asks nobody.
#[must_use]
pub fn to_string(scene: &Scene) -> String {
    let picture = svg::to_string(scene);
    // What stands before the picture is for files that are XML.
    let picture = picture.find("<svg").map_or(picture.as_str(), |at| &picture[at..]);
    let title = scene.title.replace('&', "&amp;").replace('<', "&lt;");
    let paper = scene.background.map_or_else(|| "#ffffff".to_owned(), |color| color.to_string());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; font-src data:; img-src data:\">\n\
         <title>{title}</title>\n<style>html, body {{ margin: 0; background: {paper}; }} svg {{ display: block; width: 100%; height: auto; cursor: grab; touch-action: none; user-select: none; }}</style>\n\
         </head>\n<body>\n{picture}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::to_string;
    use crate::scene::Scene;

    #[test]
    fn the_file_needs_nothing_else_and_names_are_no_markup() {
        let scene = Scene {
            width: 100.0,
            height: 50.0,
            background: None,
            title: "</title><script>alert(1)</script>".to_owned(),
            description: String::new(),
            items: Vec::new(),
            notes: Vec::new(),
        };
        let text = to_string(&scene);
        assert_eq!(text.matches("<script>").count(), 1, "{text}");
        assert_eq!(text.matches("<svg").count(), 1);
        assert!(!text.contains("<?xml") && !text.contains("src=\"http") && !text.contains("href=\"http"));
    }
}
