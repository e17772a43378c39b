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
pub(crate) async fn index(State(app): State<Arc<App>>) -> Response {
    answer(if app.traces.len() > 1 { "panes.html" } else { "index.html" })
}

/// One of its files.
pub(crate) async fn file(Path(parts): Path<Vec<(String, String)>>) -> Response {
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
    let data = match path.rsplit('.').next() {
        Some("js") => slim(&data),
        Some("css") => slim_style(&data),
        Some("html") => slim_markup(&data),
        _ => data,
    };
    ([(header::CONTENT_TYPE, kind)], data).into_response()
}

/// Markup without blanks at the beginnings of lines, and without quotes around words.
fn slim_markup(markup: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(markup);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let mut rest = line.trim_start();
        while let Some((before, (value, after))) =
            rest.split_once("=\"").and_then(|(before, inner)| Some((before, inner.split_once('"')?)))
        {
            let is_word =
                !value.is_empty() && value.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
            let quote = if is_word && after.starts_with([' ', '>']) { "" } else { "\"" };
            out.extend([before, "=", quote, value, quote]);
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out.into_bytes()
}

/// A module without its comments and the blanks that part its words, which are for those who read the sources: a quarter of the page.
/// In the modules `/**` begins a comment wherever it stands, `//` where it begins a line, and no text goes over several lines.
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
                squeeze(before, &mut out);
                inside = !comment.contains("*/");
                rest = comment.split_once("*/").map_or("", |(_, after)| after.trim_start());
                // What a type was said of by parentheses alone.
                if let Some((said, after)) = rest.strip_prefix('(').and_then(|inner| inner.split_once(')'))
                    && comment.starts_with(" @type")
                    && said.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'))
                    && !after.trim_start().starts_with("=>")
                {
                    if out.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') {
                        out.push(' ');
                    }
                    squeeze(said, &mut out);
                    rest = after;
                }
            }
            squeeze(rest, &mut out);
        }
        // Behind these no statement ends without a sign of its own.
        if !out.is_empty() && !out.ends_with([';', '{', ',', '(', '[', '\n']) {
            out.push('\n');
        }
    }
    out.into_bytes()
}

/// What a piece of a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Code,
    /// Text up to this quote.
    Text(char),
    /// A regular expression, and whether inside brackets.
    Pattern(bool),
}

/// Words that are longer than what means the same.
const SHORTER: [(&str, &str); 4] = [("const", "let"), ("true", "!0"), ("false", "!1"), ("undefined", "void 0")];

/// Says the last word, which is code, shorter if it can be.
fn shorten(out: &mut String) {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
    let start =
        out.len() - out.chars().rev().take_while(|&letter| is_of_word(letter)).map(char::len_utf8).sum::<usize>();
    if let Some((_, shorter)) = SHORTER.iter().find(|(word, _)| *word == &out[start..]) {
        out.replace_range(start.., shorter);
    }
}

/// What ends here needs no sign before its end.
fn close(out: &mut String, end: char) {
    if out.ends_with(',') || end == '}' && out.ends_with(';') {
        out.pop();
    }
    out.push(end);
}

/// An arrow begins: a single parameter before it needs no parentheses.
fn unwrap_parameter(out: &mut String) {
    let Some(start) = out.strip_suffix(')').and_then(|before| before.rfind('(')) else { return };
    let name = &out[start + 1..out.len() - 1];
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    // Behind a word it would be one with it.
    let is_apart = !out[..start].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$');
    if is_name && is_apart {
        let name = name.to_owned();
        out.truncate(start);
        out.push_str(&name);
    }
}

/// Adds a line without the blanks beside signs, and without a comment at its end. Texts, templates and regular expressions stay as they are.
fn squeeze(line: &str, out: &mut String) {
    let is_sign = |letter: char| ",;:{}()[]=<>&|?!+-*/%".contains(letter);
    // Two of these with a blank between them are others than without.
    let are_two = |out: &str, next: Option<char>| {
        next.is_some_and(|next| "+-/*".contains(next)) && out.ends_with(['+', '-', '/'])
    };
    // Where something begins that is no operand, a slash begins a regular expression.
    let begins = |out: &str| {
        let before = out.trim_end();
        before.is_empty() || before.ends_with("return") || before.ends_with(|last| "(,=:[!&|?{};>\n".contains(last))
    };
    let mut piece = Piece::Code;
    // Templates around the code of a `${}`: how many braces are open in it.
    let mut templates: Vec<u32> = Vec::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        if piece == Piece::Code && !(letter.is_alphanumeric() || matches!(letter, '_' | '$')) {
            shorten(out);
        }
        if piece == Piece::Code && letter == '=' && next == Some('>') {
            unwrap_parameter(out);
        }
        if piece == Piece::Code && letter == ' ' {
            let after_sign = out.ends_with(|last| is_sign(last) || last == '\n');
            if are_two(out, next) || (!after_sign && next.is_some_and(|next| !is_sign(next))) {
                out.push(letter);
            }
            continue;
        }
        if piece == Piece::Code && letter == '/' && next == Some('/') {
            return;
        }
        let starts_pattern = letter == '/' && piece == Piece::Code && begins(out);
        if piece == Piece::Code && matches!(letter, ')' | ']' | '}') {
            close(out, letter);
        } else {
            out.push(letter);
        }
        piece = match (piece, letter) {
            (Piece::Code, '/') if starts_pattern => Piece::Pattern(false),
            (Piece::Code, '"' | '\'' | '`') => Piece::Text(letter),
            (Piece::Code, '{') => {
                templates.last_mut().into_iter().for_each(|open| *open += 1);
                Piece::Code
            }
            (Piece::Code, '}') => match templates.last_mut() {
                Some(0) => {
                    templates.pop();
                    Piece::Text('`')
                }
                Some(open) => {
                    *open -= 1;
                    Piece::Code
                }
                None => Piece::Code,
            },
            (Piece::Text('`'), '$') if next == Some('{') => {
                out.extend(letters.next());
                templates.push(0);
                Piece::Code
            }
            (Piece::Text(quote), letter) if letter == quote => Piece::Code,
            (Piece::Pattern(false), '/') => Piece::Code,
            (Piece::Pattern(_), '[') => Piece::Pattern(true),
            (Piece::Pattern(_), ']') => Piece::Pattern(false),
            (Piece::Text(_) | Piece::Pattern(_), '\\') => {
                out.extend(letters.next());
                piece
            }
            _ => piece,
        };
    }
    if piece == Piece::Code {
        shorten(out);
    }
}

/// A style sheet without comments, and without blanks where none is needed. Texts in quotes stay as they are.
fn slim_style(sheet: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(sheet);
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            out.push('"');
        }
        if at % 2 == 1 {
            out.push_str(part);
            continue;
        }
        let mut rest = part;
        while let Some((before, comment)) = rest.split_once("/*") {
            slim_rules(before, &mut out);
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        }
        slim_rules(rest, &mut out);
    }
    out.into_bytes()
}

/// Blanks behind a sign that ends something, and before a brace, say nothing.
fn slim_rules(rules: &str, out: &mut String) {
    for letter in rules.chars() {
        let blank = letter.is_whitespace();
        if blank && out.ends_with(|last: char| last.is_whitespace() || matches!(last, '{' | '}' | ';' | ':' | ',')) {
            continue;
        }
        if matches!(letter, '{' | '}') {
            out.truncate(out.trim_end().len());
        }
        if letter == '}' && out.ends_with(';') {
            out.pop();
        }
        out.push(if blank { ' ' } else { letter });
    }
}

#[cfg(test)]
mod tests {
    use super::{slim, slim_markup, slim_style};

    #[test]
    fn a_style_sheet_loses_comments_and_blanks_alone() {
        let sheet = "/* \u{2013} What. */\n.a > .b:not(.c), i {\n  color: red; margin: 0 -2px;\n}\n@media (a: b) { a::after { content: \"x ; { y\" / \"\"; } }\n";
        let text = String::from_utf8(slim_style(sheet.as_bytes())).expect("it is text");
        let expected = ".a > .b:not(.c),i{color:red;margin:0 -2px}@media (a:b){a::after{content:\"x ; { y\" / \"\"}}";
        assert_eq!(text.trim(), expected);
    }

    #[test]
    fn markup_loses_quotes_that_are_not_needed() {
        let markup = "  <p class=\"a-b\" title=\"a b\" id=\"c\" hidden>x=\"y\"</p>\n<circle r=\"5\"/>\n";
        let text = String::from_utf8(slim_markup(markup.as_bytes())).expect("it is text");
        assert_eq!(text, "<p class=a-b title=\"a b\" id=c hidden>x=\"y\"</p>\n<circle r=\"5\"/>\n");
    }

    #[test]
    fn modules_lose_their_comments_and_nothing_else() {
        let module = "// What it is.\n\n/**\n * @param {number} a\n */\nexport const f = (/** @type {number} */ a) => {\n  /** @type {string[]} */ let b = [];\n  \
                      // Why.\n  return `${a} // ${b}`; // at its end\n};\n/** One. @param {any} a */\nlet c = 1;\n/** @typedef {{ a: string,\n * b: 1 }} T */\nconst o = {\n  /** What. @type {T} */ row: null,\n};\n";
        let text = String::from_utf8(slim(module.as_bytes())).expect("it is text");
        let expected = "export let f=a=>{let b=[];return `${a} // ${b}`};let c=1;let o={row:null};";
        assert_eq!(text, expected);
        for (line, expected) in [
            ("if (a > 1 && b) return ` ${f(a, { b: ` ${c} : ` })} `;", "if(a>1&&b)return ` ${f(a,{b:` ${c} : `})} `;"),
            ("const p = / [/ ] \\/ /.test(a) ? a / 2 : b / c;", "let p=/ [/ ] \\/ /.test(a)?a/2:b/c;"),
            (
                "const const_x = is(true, x.false, \"true,)\", `false;}${undefined}`, constant);",
                "let const_x=is(!0,x.false,\"true,)\",`false;}${void 0}`,constant);",
            ),
            ("f(async (a) => [a, b,], g(c), (d, e) => { h(d); });", "f(async(a)=>[a,b],g(c),(d,e)=>{h(d)});"),
            ("a = b + +c - -d; // x  :  y", "a=b+ +c- -d;"),
            ("for (const a of /** @type {A} */ (b.c)) return;", "for(let a of b.c)return;"),
            ("f(/** @type {A} */ (a.b).c, /** @type {B} */ (d) => /** @type {C} */ (d(1)));", "f(a.b.c,d=>(d(1)));"),
            ("x = 'it \\' s' + \"\\\" : \";", "x='it \\' s'+\"\\\" : \";"),
            ("for (const [a, b] of [...c]) d(async () => await (e));", "for(let[a,b]of[...c])d(async()=>await(e));"),
        ] {
            let text = String::from_utf8(slim(line.as_bytes())).expect("it is text");
            assert_eq!(text.trim_end(), expected);
        }
    }
}
