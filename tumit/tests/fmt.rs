//! The formatter: pairs of texts, and properties that every text must have. A second formatting
//! changes nothing, no comment and no token is lost, and the meaning does not change.
//!
//! `fmt/NAME.tumit` becomes `fmt/NAME.formatted.tumit`. With `TUMIT_UPDATE=1` in the environment,
//! the test rewrites the latter. Check the difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use tumit::fmt::{MAX_WIDTH, format};
use tumit::{Loader, SpecLoadError};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a text")
}

/// Specs below a folder, sorted.
fn specs(folder: &Path, spec_files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            specs(&path, spec_files);
        } else if path.extension().is_some_and(|extension| extension == "tumit") {
            spec_files.push(path);
        }
    }
}

/// Every spec of the repository, and those in the reference of the language, each with its folder.
fn corpus() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let mut paths = Vec::new();
    for folder in ["tumit", "tests", "examples", "tracer-rt"] {
        specs(&root.join(folder), &mut paths);
    }
    let mut texts: Vec<_> = paths.iter().map(|path| (path.clone(), read(path))).collect();
    for document in ["tumit/LANGUAGE.md", "README.md"] {
        let text = read(&root.join(document));
        let blocks = text.split("```tumit\n").skip(1).filter_map(|block| block.split("```").next());
        texts.extend(blocks.map(|block| (root.join(document), block.to_owned())));
    }
    assert!(texts.len() > 80, "only {} specs were found", texts.len());
    texts
}

static CORPUS: LazyLock<Vec<(PathBuf, String)>> = LazyLock::new(corpus);

/// A word, text, sign or comment. Docs are distinct from other comments.
#[derive(Clone, Debug, PartialEq)]
enum LexedPiece {
    Token(String),
    Comment(String),
    Doc(String),
}

/// The kinds of collective operations, the only words with signs.
const KINDS: [&str; 3] = ["one-to-all", "all-to-one", "all-to-all"];

/// A lexer that is independent of the one under test.
fn pieces(text: &str) -> Vec<LexedPiece> {
    let text = text.replace('\u{feff}', "");
    let mut remainder = text.trim_start();
    let mut pieces = Vec::new();
    // `*` and `?` are parts of names in a category statement, and signs elsewhere.
    let mut in_category = false;
    while let Some(first) = remainder.chars().next() {
        let length = if remainder.starts_with("//") {
            let length = remainder.find('\n').unwrap_or(remainder.len());
            let comment = remainder[..length].trim_end().to_owned();
            let is_doc = comment.starts_with("//!") || comment.starts_with("///") && !comment.starts_with("////");
            pieces.push(if is_doc { LexedPiece::Doc(comment) } else { LexedPiece::Comment(comment) });
            remainder = remainder[length..].trim_start();
            continue;
        } else if let Some(text) = remainder.strip_prefix("\"\"\"") {
            text.find("\"\"\"").expect("an end") + 6
        } else if let Some(kind) = KINDS.iter().find(|kind| remainder.starts_with(**kind)) {
            kind.len()
        } else if first == '"' {
            let mut is_escaped = false;
            let end = remainder[1..].find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            end.expect("a quote") + 2
        } else if first.is_ascii_digit() {
            let mut previous = ' ';
            let is_hexadecimal = remainder.starts_with("0x");
            remainder
                .find(|c: char| {
                    let is_sign = !is_hexadecimal && matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
                    previous = c;
                    !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || is_sign)
                })
                .unwrap_or(remainder.len())
        } else if first.is_ascii_alphabetic() || matches!(first, '_' | '`' | '#') || in_category && first == '*' {
            1 + remainder[1..]
                .find(|c: char| !(c.is_ascii_alphanumeric() || "_`".contains(c) || in_category && "*?".contains(c)))
                .unwrap_or(remainder.len() - 1)
        } else {
            let signs = ["->", "==", "!=", "<=", ">=", "&&", "||"];
            signs.iter().find(|sign| remainder.starts_with(**sign)).map_or(first.len_utf8(), |sign| sign.len())
        };
        let token = &remainder[..length];
        in_category = token == "category" || in_category && !matches!(token, ";" | "{" | "}" | "rule");
        pieces.push(LexedPiece::Token(if first == '#' { token.to_ascii_lowercase() } else { token.to_owned() }));
        remainder = remainder[length..].trim_start();
    }
    pieces
}

/// Tokens and docs in their order, without tokens that the formatter may add or remove. And all
/// other comments in their order.
fn tokens_and_comments(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    for piece in pieces(text) {
        match piece {
            LexedPiece::Token(token) if token == "," || token == ";" => {}
            LexedPiece::Token(token) | LexedPiece::Doc(token) => tokens.push(token),
            LexedPiece::Comment(comment) => comments.push(comment),
        }
    }
    (tokens, comments)
}

/// Formats a text and checks the properties that every text must have.
fn formatted(text: &str) -> Result<String, String> {
    let once = format("test.tumit", text).map_err(|diagnostics| diagnostics.render(false))?;
    let (tokens, comments) = tokens_and_comments(text);
    let (tokens_after, comments_after) = tokens_and_comments(&once);
    assert_eq!(tokens_after, tokens, "tokens changed:\n{text}\n-----\n{once}");
    assert_eq!(comments_after, comments, "comments changed:\n{text}\n-----\n{once}");
    let twice = format("test.tumit", &once).map_err(|diagnostics| diagnostics.render(false))?;
    assert_eq!(twice, once, "the second time it is different; the text was:\n{text}");
    assert!(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"), "{once}");
    if !once.contains("\"\"\"") {
        assert!(once.lines().all(|line| line.trim_end() == line), "blanks at the end of a line:\n{once}");
        assert!(!once.contains("\n\n\n") && !once.contains('\r'), "{once}");
    }
    Ok(once)
}

/// Reads files from the folder of a spec.
struct FolderLoader<'a> {
    folder: &'a Path,
    root: &'a str,
}

impl Loader for FolderLoader<'_> {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        if path == "root.tumit" {
            return Ok(self.root.to_owned());
        }
        fs::read_to_string(self.folder.join(path)).map_err(|error| SpecLoadError::new(error.to_string()))
    }
}

/// The meaning of a spec: all data except its text, spans in the text, and the notation of types.
fn meaning(path: &Path, text: &str) -> Option<String> {
    let (spec, _) =
        tumit::compile("root.tumit", &mut FolderLoader { folder: path.parent().expect("a folder"), root: text });
    let mut spec = spec?;
    spec.sources.clear();
    spec.rule_texts.clear();
    for field in spec.records.iter_mut().flat_map(|record| &mut record.fields) {
        field.type_text = tokens_and_comments(&field.type_text).0.join(" ");
    }
    for alias in &mut spec.aliases {
        alias.text = tokens_and_comments(&alias.text).0.join(" ");
    }
    let mut meaning = format!("{spec:?}");
    while let Some(start) = meaning.find("span: Some(SourceSpan {") {
        let end = meaning[start..].find("})").expect("the end of the span") + "})".len();
        meaning.replace_range(start..start + end, "span: removed");
    }
    Some(meaning)
}

#[test]
fn formatted_texts_match_their_files() {
    let mut paths = Vec::new();
    specs(&tests().join("fmt"), &mut paths);
    let mut pairs = 0;
    for path in paths.iter().filter(|path| !path.to_string_lossy().ends_with(".formatted.tumit")) {
        let expected = path.with_extension("formatted.tumit");
        let text = formatted(&fs::read_to_string(path).unwrap()).unwrap();
        if std::env::var_os("TUMIT_UPDATE").is_some() {
            fs::write(&expected, &text).unwrap();
        }
        assert_eq!(text, fs::read_to_string(&expected).unwrap(), "{}", path.display());
        pairs += 1;
    }
    assert!(pairs > 5);
}

#[test]
fn every_spec_of_the_repository_keeps_its_meaning() {
    let (mut correct, mut incorrect) = (0, 0);
    for (path, text) in CORPUS.iter() {
        match formatted(text) {
            Err(_) => assert!(meaning(path, text).is_none(), "{} compiles, but is not formatted", path.display()),
            Ok(after) => {
                let before = meaning(path, text);
                assert_eq!(meaning(path, &after), before, "{}", path.display());
                *if before.is_some() { &mut correct } else { &mut incorrect } += 1;
            }
        }
    }
    assert!(correct > 20 && incorrect > 40, "{correct} correct specs, {incorrect} with mistakes");
}

#[test]
fn only_syntax_errors_are_reported() {
    let report = format("a.tumit", "trace a;\nlevel COM { evnt x; }\n").unwrap_err().render(false);
    assert!(report.contains("a.tumit:2") && report.contains("evnt"), "{report}");
    for text in ["level A {", "trace \"\"\"", "rule a -> ;", "}", "\u{c}", &"(".repeat(100), "/// nothing follows"] {
        assert!(format("a.tumit", text).unwrap_err().has_errors(), "{text}");
    }
    assert_eq!(formatted("level A{event b{c:nothing}}rule x->ignore;").unwrap().lines().count(), 5);
}

#[test]
fn deep_and_long_texts_are_formatted() {
    let deep = format!("const x={}1{};", "(".repeat(64), ")".repeat(64));
    formatted(&deep).unwrap();
    formatted(&format!("const x = {}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;", "- not ! ".repeat(500))).unwrap();
    formatted(&format!("const x = 1{};", " + 2 * 3 and 4 < 5".repeat(2000))).unwrap();
    formatted(&"level x{}".repeat(1000)).unwrap();
    let calls = format!("const x={}1{};", "max(some_name_of_some_length, ".repeat(60), ")".repeat(60));
    formatted(&calls).unwrap();
}

/// Inserts blanks, line ends and comments between the pieces of a text, but not where they would
/// change its tokens.
fn mangled(text: &str, choices: &[u8]) -> String {
    const BETWEEN: [&str; 12] = [
        " ",
        "",
        "",
        "\n",
        "\n\n",
        "\n\n\n",
        "\t",
        "\r\n",
        " // c\n",
        "\n// d\r\n",
        "\n\n//e  \n// f\n\n",
        "\u{feff} ",
    ];
    let mut choices = choices.iter().cycle();
    let mut mangled = String::new();
    let mut before = None;
    for piece in pieces(text) {
        let choice = choices.next().map_or(0, |choice| usize::from(*choice) % BETWEEN.len());
        let joins = |c: char| c.is_ascii_alphanumeric() || "_\"#`.-><=!&|/*?".contains(c);
        match (&before, &piece) {
            (None, _) => {}
            // The opening bracket must follow without a blank.
            (Some(LexedPiece::Token(last)), _) if last == "rgb" => {}
            (Some(LexedPiece::Token(last)), LexedPiece::Token(token)) => {
                let would_join = last.ends_with(joins) && token.starts_with(joins);
                mangled.push_str(if would_join && BETWEEN[choice].is_empty() { " " } else { BETWEEN[choice] });
            }
            // Two comments of the text must not become one.
            (Some(LexedPiece::Token(_)), _) => mangled.push_str(BETWEEN[choice]),
            (Some(_), _) => {
                mangled.push('\n');
                mangled.push_str(BETWEEN[choice]);
            }
        }
        let (LexedPiece::Token(text) | LexedPiece::Comment(text) | LexedPiece::Doc(text)) = &piece;
        mangled.push_str(text);
        before = Some(piece);
    }
    mangled
}

/// The same spec in one line. The form depends only on the tokens, not on blanks and comments.
fn squeezed(text: &str) -> String {
    mangled(text, &[])
}

fn name() -> impl Strategy<Value = String> {
    let all = "[a-z_]{1,4}|[a-z]{8,20}".prop_map(|name| format!("n{name}"));
    all.prop_filter("is a name", |name| name != "not")
}

/// A text literal, with one or three quotes on each side.
fn text_literal() -> impl Strategy<Value = String> {
    prop_oneof!["\"[ -!#-\\[\\]-z]{0,30}\"", "\"\"\"[a-z]\"{0,2}\n [a-z]{0,9} \r\n x\"\"\""]
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        name(),
        "[0-9][0-9_]{0,5}",
        Just("0xFf".to_owned()),
        Just("1.5e-3".to_owned()),
        Just("`not`".to_owned()),
        (name(), name()).prop_map(|(a, b)| format!("{a}.{b}")),
        "\"[a-z {}]{0,20}\"".prop_filter("is a text", |text| text.len() > 1),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), 1..5).prop_map(|list| list.join(","));
        prop_oneof![
            (
                inner.clone(),
                prop::sample::select(&["+", "-", "*", "%", "==", "!=", "<=", " and ", "||"][..]),
                inner.clone()
            )
                .prop_map(|(a, operator, b)| format!("{a}{operator}{b}")),
            (prop::sample::select(&["-", "!", "not "][..]), inner.clone()).prop_map(|(sign, a)| format!("{sign}({a})")),
            (name(), list).prop_map(|(function, list)| format!("{function}({list})")),
            (name(), inner).prop_map(|(name, index)| format!("{name}[{index}]")),
        ]
    })
}

/// A container with its keys.
fn instance() -> impl Strategy<Value = String> {
    (name(), prop::collection::vec(expression(), 0..4)).prop_map(|(name, keys)| match keys.as_slice() {
        [] => name,
        keys => format!("{name}[{},]", keys.join(",")),
    })
}

/// The clauses after an action: `at`, `when`, relations and `with`.
fn clauses() -> impl Strategy<Value = String> {
    let clause = prop_oneof![
        expression().prop_map(|date| format!(" at {date}")),
        expression().prop_map(|condition| format!(" when {condition}")),
        (name(), name(), instance()).prop_map(|(a, b, c)| format!(" {a} {b} {c}")),
        prop::collection::vec((name(), expression()), 0..5).prop_map(|fields| {
            let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!(" with{{{}}}", fields.join(","))
        }),
    ];
    prop::collection::vec(clause, 0..4).prop_map(|clauses| clauses.concat())
}

fn rule() -> impl Strategy<Value = String> {
    let action = prop_oneof![
        (name(), expression(), instance(), clauses()).prop_map(|(a, b, c, d)| format!("->set {a}={b} on {c}{d}")),
        (instance(), clauses()).prop_map(|(a, b)| format!("->create existing {a}{b}")),
        (name(), expression(), instance(), clauses())
            .prop_map(|(a, key, c, d)| format!("->start {a} key({key},1) from {c}{d}")),
        (text_literal(), prop::collection::vec(expression(), 0..5)).prop_map(|(a, b)| format!("->{a} {}", b.join(","))),
        Just("->ignore".to_owned()),
    ];
    let rule = (name(), prop::collection::vec(action, 1..4));
    rule.prop_map(|(name, actions)| format!("also rule {name}{};", actions.concat()))
}

/// A level with its events.
fn level() -> impl Strategy<Value = String> {
    let field = (name(), name()).prop_map(|(name, kind)| format!("{name}:[{kind};3]"));
    let fields = prop::collection::vec(field, 0..8).prop_map(|fields| format!("{{{}}}", fields.join(",")));
    let event = (name(), fields).prop_map(|(name, fields)| format!("event {name} located{fields}"));
    (name(), prop::collection::vec(event, 0..4))
        .prop_map(|(name, events)| format!("level {name}{{{}}}", events.concat()))
}

/// A block `paje` with a container, a state and a link.
fn type_tree() -> impl Strategy<Value = String> {
    let value = (
        name(),
        prop::option::of("\"[a-z ]{0,20}\""),
        prop::sample::select(&["", "#ABCDEF", " red", " rgb(1,2,3)"][..]),
    )
        .prop_map(|(name, label, color)| format!("{name}{}{color} size 2", label.unwrap_or_default()));
    let values = prop::collection::vec(value, 0..6).prop_map(|values| values.join(","));
    (name(), text_literal(), values, name()).prop_map(|(a, b, c, d)| {
        format!("paje{{container {a} {b}{{state {d}{{{c}}};link {a}{b}#000000 from {a},{d} to {a};}}}}")
    })
}

/// A random spec that can be parsed, without a meaning: names and lists of all lengths.
fn generated() -> impl Strategy<Value = String> {
    let constant = (name(), expression()).prop_map(|(name, value)| format!("const {name}={value};"));
    let output = (text_literal(), prop::collection::vec(rule(), 0..3))
        .prop_map(|(prologue, rules)| format!("output text a{{prologue{prologue} \"b\"{}}}", rules.concat()));
    prop::collection::vec(prop_oneof![3 => rule(), 2 => level(), 1 => type_tree(), 1 => constant, 1 => output], 0..5)
        .prop_map(|items| items.concat())
}

/// Whether a line can be broken. A few long names and a field with one of them cannot, wherever
/// they begin. An operator at the start of a line is where the line before it was broken.
fn can_break(line: &str) -> bool {
    let inner = line.trim().trim_end_matches([',', ';', '[', '(', '{']);
    inner.contains(['(', '[', '{', ','])
        || inner.split(' ').skip(1).any(|word| ["+", "-", "*", "%", "==", "!=", "<=", "and", "||"].contains(&word))
}

/// Operands of long names in nested calls: each is on a line of its own, which starts with its
/// operator.
#[test]
fn an_operand_with_its_operator_may_exceed_the_width() {
    let name = format!("n{}", "a".repeat(20));
    let sum = [format!("{name}.{name}"), format!("{name}.{name}")].join("+");
    let text = format!("also rule {name}->set n=1 on n with{{{name}={name}({name}({name}({sum},1),2)),n=2}};");
    let after = formatted(&text).unwrap();
    let long: Vec<&str> = after.lines().filter(|line| line.chars().count() > MAX_WIDTH).map(str::trim).collect();
    assert_eq!(long, [format!("+ {name}.{name},")], "{after}");
    assert!(!can_break(long[0]) && can_break("a + b") && can_break("+ a * b") && can_break("+ f(a)"));
    assert_eq!(formatted(&after).unwrap(), after);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mangled_specs_keep_everything(spec in any::<Index>(), choices in prop::collection::vec(any::<u8>(), 1..200)) {
        let (path, text) = spec.get(&CORPUS);
        if format("test.tumit", text).is_ok() {
            let mangled = mangled(text, &choices);
            let after = formatted(&mangled).unwrap();
            let meant = meaning(path, text);
            prop_assert!(meaning(path, &mangled) == meant, "the mangled text means something else:\n{}", mangled);
            prop_assert!(meaning(path, &after) == meant, "the meaning changed:\n{}\n-----\n{}", mangled, after);
        }
    }

    #[test]
    fn generated_specs_are_stable_and_narrow(
        text in generated(), choices in prop::collection::vec(any::<u8>(), 1..100),
    ) {
        let after = formatted(&text).unwrap();
        for line in after.lines().filter(|line| !line.contains('"')) {
            prop_assert!(line.chars().count() <= MAX_WIDTH || !can_break(line), "a long line `{}`:\n{}", line, after);
        }
        prop_assert_eq!(format("test.tumit", &squeezed(&after)).ok(), Some(after.clone()), "of one line");
        formatted(&mangled(&text, &choices)).unwrap();
    }
}
