//! `tumit view --perspective FILE.card.toml`: views that users define by a file.

use std::fs;
use std::path::Path;

use tests::programs::{output, tumit};

const HEADER: &str = include_str!("../../../../viewer/tests/header.paje");

/// A thread works from 0 s to 3 s of 4 s. Two elements change their places at 2 s.
const BODY: &str = "%EventDef PajeNewEvent 21
% Time date
% Container string
% Type string
% Value string
% Id int
% Pos int
%EndEventDef
0 T 0 Thread
2 S T Activity
3 E T Place \"0 1 0\"
6 0 t 0 T main
11 0 t S work
21 0 t E placed 1 0
21 0 t E placed 2 1
21 2 t E placed 1 1
21 2 t E placed 2 0
11 3 t S wait
7 4 T t
";

const ELEMENTS: &str = "title = \"<b>Array</b>\"
[[panel]]
kind = \"elements\"
shape = \"cells\"
[[panel.events]]
element = \"id\"
x = \"pos\"
";

const LEVELS: &str = "title = \"Work\"
group = \"Utilization\"
[[panel]]
kind = \"levels\"
[[panel.series]]
of = \"states\"
value = \"work\"
";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.paje"), [HEADER, BODY].concat()).unwrap();
    fs::write(dir.path().join("array.card.toml"), ELEMENTS).unwrap();
    dir
}

/// Calls `tumit view`. The user's configuration is in the folder.
fn call(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let out = output(tumit().arg("view").args(args).current_dir(folder).env("XDG_CONFIG_HOME", folder.join("config")));
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn a_card_file_is_drawn_in_all_formats() {
    let dir = folder();
    let view = ["a.paje", "--perspective", "array.card.toml"];
    let outputs = ["-o", "a.svg", "-o", "a.png", "-o", "a.html", "-o", "a.csv", "-o", "a.json", "--at", "3"];
    let (status, _, error) = call(dir.path(), &[&view[..], &outputs].concat());
    assert_eq!(status, Some(0), "{error}");
    let text = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap();
    // Texts of the file are texts of the image.
    assert!(text("a.svg").contains("&lt;b&gt;Array&lt;/b&gt;") && !text("a.svg").contains("<b>"), "{}", text("a.svg"));
    assert!(text("a.svg").contains("<title>2: 0 since 2.000 s</title>"), "{}", text("a.svg"));
    assert!(!text("a.html").contains("<b>") && !text("a.html").contains("<script>"));
    assert_eq!(text("a.csv"), "element,since,pos\n1,2,1\n2,2,0\n");
    assert!(text("a.json").contains("\"kind\":\"marks\""), "{}", text("a.json"));
    assert!(fs::read(dir.path().join("a.png")).unwrap().starts_with(b"\x89PNG"));
    let chart_at = |time: &str| {
        let (_, printed, _) = call(dir.path(), &[&view[..], &["-o", "-", "--format", "csv", "--at", time]].concat());
        printed
    };
    assert_eq!(chart_at("1"), "element,since,pos\n1,0,0\n2,0,1\n");
    assert_eq!(chart_at("3"), text("a.csv"));
}

#[test]
fn files_of_the_user_and_beside_the_trace_are_listed_by_name() {
    let dir = folder();
    let own = dir.path().join("config/tumit/cards");
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(dir.path().join("cards")).unwrap();
    fs::write(own.join("work.card.toml"), LEVELS).unwrap();
    fs::write(own.join("bad.card.toml"), LEVELS.replace("levels", "level")).unwrap();
    fs::write(dir.path().join("cards/near.card.toml"), LEVELS.replace("Work", "Near")).unwrap();
    let (status, printed, error) = call(dir.path(), &["--perspective", "list"]);
    assert_eq!(status, Some(0), "{error}");
    let line = |text: &str, name: &str| text.lines().find(|line| line.contains(name)).map(str::to_owned);
    let work = line(&printed, "card-work").unwrap_or_else(|| panic!("{printed}"));
    assert!(["Work", "Utilization", "range, at, moving", "a card: "].iter().all(|word| work.contains(word)), "{work}");
    let bad = line(&printed, "card-bad").unwrap();
    assert!(bad.contains("a mistake: bad.card.toml:4: `kind` is `level`"), "{bad}");
    assert!(line(&printed, "card-near").is_none());
    let (_, printed, _) = call(dir.path(), &["a.paje", "--perspective", "list"]);
    assert!(line(&printed, "card-near").is_some(), "{printed}");
    for name in ["card-work", "card-near"] {
        let (status, printed, error) =
            call(dir.path(), &["a.paje", "--perspective", name, "-o", "-", "--format", "csv", "--width", "280"]);
        assert_eq!(status, Some(0), "{error}");
        // 200 columns of 20 ms.
        assert!(printed.starts_with("from,to,work\n0,0.02,1\n") && printed.ends_with("\n3.98,4,0\n"), "{printed}");
        assert_eq!(printed.lines().filter(|line| line.ends_with(",1")).count(), 150);
    }
    let (_, printed, _) = call(dir.path(), &["a.paje", "--perspective", "card-work", "--option", "help"]);
    assert!(printed.starts_with("Work: ") && printed.contains("--option width=VALUE"), "{printed}");
}

#[test]
fn mistakes_have_the_file_the_line_and_a_remedy() {
    let dir = folder();
    for (name, text, expected) in [
        ("a", LEVELS.replace("title", "titel"), "a.card.toml:1: a card has no key `titel`"),
        ("b", LEVELS.replace("\"work\"", "\"wrk\""), "b.card.toml:5: no value is called `wrk`, did you mean `work`?"),
        ("c", LEVELS.replace("states", "events"), "c.card.toml:5: no value is called `work`; the trace has placed"),
    ] {
        let file = format!("{name}.card.toml");
        fs::write(dir.path().join(&file), text).unwrap();
        let (status, _, error) = call(dir.path(), &["a.paje", "--perspective", &file, "-o", "x.svg"]);
        assert!(status == Some(2) && error.contains(expected), "{status:?} {error}");
    }
    let (status, _, error) = call(dir.path(), &["a.paje", "--perspective", "none.card.toml", "-o", "x.svg"]);
    assert!(status == Some(2) && error.contains("none.card.toml: No such file"), "{error}");
    let (_, _, error) = call(dir.path(), &["a.paje", "--perspective", "card-none", "-o", "x.svg"]);
    assert!(error.contains("no view is called `card-none`"), "{error}");
    fs::create_dir(dir.path().join("folder.card.toml")).unwrap();
    let (_, _, error) = call(dir.path(), &["a.paje", "--perspective", "folder.card.toml", "-o", "x.svg"]);
    assert!(error.contains("this is not a regular file"), "{error}");
    assert!(!dir.path().join("x.svg").exists());
}
