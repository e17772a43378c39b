//! `tumit check` from the user's point of view.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn tumit(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tumit"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads its input");
    child.wait_with_output().expect("it ends")
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_good_spec_gets_one_line() {
    let output = tumit(&["check", "-"], "trace a;\nlevel L { event e { x: u8 } span s {} }\n");
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(out, "-: `a` is correct: 1 event, 1 span, 1 level, 0 types, rules for 0 of 3 kinds of record\n");
    assert_eq!(err, "");
}

#[test]
fn mistakes_are_drawn_on_standard_error() {
    let output = tumit(&["check", "-"], "trace a;\nlevel L { event e { x: u9 } }\nrule f -> create a;\n");
    let (out, err) = texts(&output);
    assert_eq!((output.status.code(), out.as_str()), (Some(1), ""));
    assert!(err.contains("<standard input>:2:24") && err.contains("T0026") && err.contains("T0024"), "{err}");
    assert!(err.ends_with("2 errors\n"), "{err}");
}

#[test]
fn warnings_are_no_mistakes() {
    let text = "trace a;\nlevel L { event e { x: u8 } }\npaje { container p { link l from p to p } }\nrule e -> start l key (x) from p;\n";
    let output = tumit(&["check", "-"], text);
    let (out, err) = texts(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(out.contains("is correct") && err.contains("warning[T0072]"), "{out}{err}");
}

#[test]
fn unreadable_files_are_one_message_each() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let missing = format!("{folder}/no-such-file.tumit");
    let output = tumit(&["check", &missing, folder], "");
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains(&format!("tumit: cannot read `{missing}`\n")), "{err}");
    assert!(err.contains(&format!("tumit: cannot read `{folder}`\n")), "{err}");
}
