//! The size of the page's files and functions: `CONTRIBUTING.md` states the limits.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum width of a line, in characters.
const MAX_COLUMNS: usize = 120;
/// Maximum number of lines of a file.
const MAX_LINES: usize = 500;
/// Maximum number of lines of a function.
const MAX_FUNCTION_LINES: usize = 60;

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

/// Whether a line begins the body of a function in a script.
fn begins_function(line: &str) -> bool {
    let words = line.trim_start();
    let is_statement = ["if ", "for ", "while ", "switch ", "else ", "}"].iter().any(|word| words.starts_with(word));
    let is_method = line.starts_with(' ') && words.contains('(') && line.ends_with(") {");
    line.ends_with("=> {") || line.ends_with('{') && words.contains("function ") || is_method && !is_statement
}

/// The functions of a script with too many lines, each as a sentence. A function ends at the first
/// brace with its indentation.
fn long_functions(name: &str, text: &str) -> Vec<String> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| begins_function(line));
    let lengths = starts.map(|(start, line)| {
        let is_end = |other: &&str| other.trim_start().starts_with('}') && indentation(other) == indentation(line);
        let body = lines[start + 1..].iter().position(is_end).unwrap_or(lines.len() - start - 1);
        (start + 1, body + 2)
    });
    let remedy = "split the function where its purposes part";
    lengths
        .filter(|(_, length)| *length > MAX_FUNCTION_LINES)
        .map(|(line, length)| format!("{name}:{line}: {length} lines; at most {MAX_FUNCTION_LINES}: {remedy}"))
        .collect()
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
    let functions = if name.ends_with(".js") { long_functions(name, text) } else { Vec::new() };
    wide_lines.chain(length).chain(functions).collect()
}

#[test]
fn files_and_functions_of_the_page_are_narrow_and_short() {
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

#[test]
fn long_functions_of_scripts_are_reported() {
    let body = "    work();\n".repeat(MAX_FUNCTION_LINES - 1);
    for head in ["export function run() {", "const run = () => {", "  run() {", "  listen(() => {"] {
        let indentation = &head[..head.len() - head.trim_start().len()];
        let text = format!("\n{head}\n{body}{indentation}}}\n");
        let sentence = "a.js:2: 61 lines; at most 60: split the function where its purposes part";
        assert_eq!(violations("a.js", &text), [sentence], "{head}");
    }
    let statement = format!("  if (is_wide(row)) {{\n{body}  }}\n");
    assert_eq!(violations("a.js", &statement), [""; 0]);
    let short_function = format!("function run() {{\n{}}}\n", "  work();\n".repeat(MAX_FUNCTION_LINES - 2));
    assert_eq!(violations("a.js", &short_function), [""; 0]);
}
