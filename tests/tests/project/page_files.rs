//! The size of the page's files: `CONTRIBUTING.md` states the limits.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum width of a line, in characters.
const MAX_COLUMNS: usize = 120;
/// Maximum number of lines of a file.
const MAX_LINES: usize = 500;

/// The scripts, style sheets and HTML files in a folder and its subfolders.
fn page_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            page_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "js" || ending == "css" || ending == "html") {
            files.push(path);
        }
    }
}

/// The violations of the limits in the text of a file, each as a sentence.
fn violations(name: &str, text: &str) -> Vec<String> {
    let wide_lines = text.lines().enumerate().filter_map(|(index, line)| {
        let columns = line.chars().count();
        let place = format!("{name}:{}", index + 1);
        (columns > MAX_COLUMNS).then(|| format!("{place}: {columns} columns; at most {MAX_COLUMNS}: wrap the line"))
    });
    let lines = text.lines().count();
    let length = (lines > MAX_LINES)
        .then(|| format!("{name}: {lines} lines; at most {MAX_LINES}: split the file where its purposes part"));
    wide_lines.chain(length).collect()
}

#[test]
fn files_of_the_page_are_narrow_and_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["viewer/server/ui", "viewer/src/export"] {
        page_files(&root.join(folder), &mut files);
    }
    assert!(files.len() > 50, "{} files of the page", files.len());
    let mistakes: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            violations(&name, &fs::read_to_string(path).unwrap())
        })
        .collect();
    assert!(mistakes.is_empty(), "{} violations:\n{}", mistakes.len(), mistakes.join("\n"));
}

#[test]
fn wide_lines_and_long_files_are_reported() {
    let wide = format!("{}\n{}\n", "–".repeat(MAX_COLUMNS), "x".repeat(MAX_COLUMNS + 1));
    assert_eq!(violations("a.js", &wide), ["a.js:2: 121 columns; at most 120: wrap the line"]);
    let long = violations("b.css", &"\n".repeat(MAX_LINES + 1));
    assert_eq!(long, ["b.css: 501 lines; at most 500: split the file where its purposes part"]);
    assert_eq!(violations("c.html", &"\n".repeat(MAX_LINES)), [""; 0]);
}
