//! The commands for specs as a user sees them: checks for editors, explanations, generated files,
//! completion, manuals.

mod combined_specs;
mod doc;
mod fmt;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tests::programs::{output, succeed, tumit};

const SPEC: &str = "trace demo;\nuse \"parts/net.tumit\";\nlevel COM { event post { node: u16 } }\n";
const PART: &str = "trace net;\nlevel NET off { event send {} }\n";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("parts")).expect("it is new");
    fs::write(dir.path().join("demo.tumit"), SPEC).expect("it can be written");
    fs::write(dir.path().join("parts/net.tumit"), PART).expect("it can be written");
    dir
}

fn run(folder: &Path, args: &[&str]) -> Output {
    output(tumit().args(args).current_dir(folder))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn editors_get_an_object_for_each_finding() {
    let dir = folder();
    fs::write(
        dir.path().join("bad.tumit"),
        "trace bad;\n// é😀\nenum e { é }\nlevel A { event x { a: u9 } event x {} }\n",
    )
    .unwrap();
    let out = run(dir.path(), &["check", "--json", "bad.tumit", "none.tumit", "demo.tumit"]);
    assert_eq!((out.status.code(), stderr(&out).as_str()), (Some(2), ""), "one could not be read");
    let lines = lines(&out);
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    let (last, file_kinds) = kinds.split_at(kinds.len() - 2);
    assert_eq!(file_kinds, ["unreadable", "summary"]);
    assert!(
        last.ends_with(&["summary"]) && last[..last.len() - 1].iter().all(|kind| *kind == "diagnostic"),
        "{kinds:?}"
    );

    let wrong = lines.iter().find(|line| line["code"] == "T0026").expect("u9 is no type");
    assert_eq!((wrong["severity"].as_str(), wrong["file"].as_str()), (Some("error"), Some("bad.tumit")));
    let text = fs::read_to_string(dir.path().join("bad.tumit")).unwrap();
    let (start, end) = (&wrong["primary"]["start"], &wrong["primary"]["end"]);
    let bytes = [start, end].map(|place| usize::try_from(place["byte"].as_u64().unwrap()).unwrap());
    assert_eq!(&text[bytes[0]..bytes[1]], "u9");
    assert_eq!(
        (start["line"].as_u64(), start["column"].as_u64(), start["utf16"].as_u64()),
        (Some(4), Some(24), Some(24))
    );
    assert!(wrong["help"][0].as_str().is_some_and(|help| help.contains("u8")), "{wrong}");
    let twice = lines.iter().find(|line| line["code"] == "T0020").expect("x is declared twice");
    assert_eq!(twice["secondary"].as_array().map(Vec::len), Some(1), "{twice}");

    let errors = lines.iter().filter(|line| line["severity"] == "error").count();
    assert_eq!(lines.iter().find(|line| line["kind"] == "summary").unwrap()["errors"], errors);
    let right = lines.last().unwrap();
    assert_eq!((right["errors"].as_u64(), right["spec"]["name"].as_str()), (Some(0), Some("demo")));
    assert_eq!(right["spec"]["files"], serde_json::json!(["demo.tumit", "parts/net.tumit"]));
    assert_eq!(right["spec"]["events"], 2);
}

#[test]
fn editors_may_pass_unsaved_text() {
    let dir = folder();
    let mut child = tumit()
        .args(["check", "--json", "-"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(SPEC.replace("u16", "u17").as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let lines = lines(&out);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(
        (lines[0]["file"].as_str(), lines[0]["primary"]["file"].as_str()),
        (Some("-"), Some("<standard input>"))
    );
    assert_eq!(lines[0]["primary"]["start"]["line"], 3);
}

#[test]
fn the_documented_json_fields_are_complete() {
    let dir = folder();
    fs::write(dir.path().join("bad.tumit"), "trace bad;\nlevel A { event x { a: u9 } }\n").unwrap();
    let described = fs::read_to_string(tests::programs::workspace().join("docs/check-json.md")).unwrap();
    fs::write(dir.path().join("bad.paje"), "%EventDef PajeTraceFile 1\n%EndEventDef\n2\n").unwrap();
    for line in lines(&run(dir.path(), &["check", "--json", "bad.tumit", "none.tumit", "demo.tumit", "bad.paje"])) {
        let mut objects = vec![&line];
        while let Some(object) = objects.pop() {
            for (field, value) in object.as_object().into_iter().flatten() {
                assert!(described.contains(&format!("`{field}`")), "docs/check-json.md does not tell of `{field}`");
                objects.push(value);
            }
        }
    }
}

#[test]
fn files_that_are_no_specs_are_reported_with_their_command() {
    let dir = tempfile::tempdir().expect("a folder");
    for folder in ["run.tmt", "archive", "empty"] {
        fs::create_dir(dir.path().join(folder)).expect("it is new");
    }
    fs::write(dir.path().join("run.tmt/a.tmt"), tracer_format::FILE_MAGIC).expect("it can be written");
    fs::write(dir.path().join("archive/traces.otf2"), b"\x03\x23\0\0").expect("it can be written");
    fs::copy(tests::programs::workspace().join("tests/paje/two-nodes.paje"), dir.path().join("x.paje"))
        .expect("a copy");
    fs::write(dir.path().join("c.json"), "{\"traceEvents\": []}").expect("it can be written");
    for (input, words) in [
        ("run.tmt", "This is a run, not a spec. `tumit info`"),
        ("run.tmt/a.tmt", "This is a file of a run, not a spec. `tumit info`"),
        ("archive", "This is an OTF2 archive."),
        ("empty", "This is a folder. Name a spec in it"),
        ("x.paje", "This is a Pajé file, not a spec. `tumit check`"),
        ("c.json", "This is a Chrome trace (JSON)."),
    ] {
        for command in [&["check"][..], &["gen", "c"], &["doc"]] {
            // `check` accepts a Pajé file.
            if (input, command) == ("x.paje", &["check"]) {
                continue;
            }
            let out = run(dir.path(), &[command, &[input]].concat());
            let message = stderr(&out);
            assert!(out.status.code() == Some(2) && message.contains(words), "{command:?} {input}: {message}");
        }
    }
    for command in ["info", "dump"] {
        let message = stderr(&run(dir.path(), &[command, "x.paje"]));
        assert!(message.contains("x.paje is a Pajé file, not a run: `tumit stats`"), "{command}: {message}");
    }
}

/// A time range is accepted or refused before the trace is opened, so none is needed.
#[test]
fn all_commands_read_the_same_time_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let table = include_str!("../../../converter/paje/tests/time_ranges.json");
    let table: Vec<Value> = serde_json::from_str(table).unwrap();
    for row in &table {
        let option = format!("--interval={}", row["text"].as_str().unwrap());
        for command in [
            &["dump", "none"][..],
            &["stats", "none"],
            &["view", "none", "-o", "a.svg"],
            &["cut", "none", "-o", "a.tmt"],
        ] {
            let out = run(folder.path(), &[command, &[&option]].concat());
            let message = stderr(&out);
            assert_eq!(out.status.code(), Some(2), "{command:?} {option}: {message}");
            match row["error"].as_str() {
                Some(error) => assert!(message.contains(error), "{command:?} {option}: {message}"),
                None => assert!(!message.contains("--interval"), "{command:?} {option}: {message}"),
            }
        }
    }
}

#[test]
fn codes_are_explained_by_example() {
    let dir = tempfile::tempdir().unwrap();
    let text = succeed(tumit().args(["explain", "T0062"]).current_dir(dir.path()));
    assert!(text.starts_with("T0062: A container is named by the keys of its whole path"), "{text}");
    for part in [
        "\nWrong:\n",
        "error[T0062]: this key has 1 integer, but the container `thread` needs 2",
        "\nRight:\n",
        "on thread[node, thread];",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert_eq!(succeed(tumit().args(["explain", "t62"])), text, "case and zeros do not matter");
    let two = succeed(tumit().args(["explain", "T0011", "T0003"]));
    assert!(two.starts_with("T0011: ") && two.contains("\nT0003: "), "{two}");

    let table = succeed(tumit().arg("explain"));
    assert_eq!(table.lines().count(), tumit::Code::ALL.len());
    assert!(table.lines().all(|line| line.len() > 8 && line.starts_with('T')), "{table}");
    let page = succeed(tumit().args(["explain", "--markdown"]));
    for code in tumit::Code::ALL {
        assert!(page.contains(&format!("\n## {code}\n")), "{code} has no section");
    }
    let out = run(dir.path(), &["explain", "T9999"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("expected a code such as T0062"), "{}", stderr(&out));
}

#[test]
fn unknown_words_get_a_suggestion() {
    let dir = tempfile::tempdir().unwrap();
    for (args, suggestion) in [
        (&["chek", "a.tumit"][..], "'check'"),
        (&["check", "--jsn", "a.tumit"], "'--json'"),
        (&["gen", "rst", "a.tumit"], "'rust'"),
        (&["completions", "bsh"], "'bash'"),
    ] {
        let out = run(dir.path(), args);
        assert_eq!(out.status.code(), Some(2));
        assert!(stderr(&out).contains(suggestion), "{args:?}: {}", stderr(&out));
    }
}

#[test]
fn help_lists_the_commands_in_the_order_of_use() {
    let help = succeed(tumit().arg("--help"));
    let commands: Vec<&str> =
        help.lines().filter(|line| line.starts_with("  ")).filter_map(|line| line.split_whitespace().next()).collect();
    let places = ["check", "explain", "doc", "gen", "info", "dump", "sync", "convert", "view", "completions", "man"]
        .map(|command| {
            commands.iter().position(|name| *name == command).unwrap_or_else(|| panic!("{command}: {help}"))
        });
    assert!(places.is_sorted(), "{help}");
}

#[test]
fn help_is_as_wide_as_the_terminal_and_options_have_one_name() {
    for width in [60, 80, 100, 140] {
        let help = succeed(tumit().args(["sync", "--help"]).env("COLUMNS", width.to_string()));
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= width && longest > width - 12), "{width}: {help}");
    }
    for command in ["view", "stats", "index", "convert"] {
        let help = succeed(tumit().args([command, "--help"]));
        assert!(help.contains("--text-output <NAME>"), "{command}: {help}");
    }
    for command in ["doc", "gen", "sync", "repair", "cut", "merge", "convert", "view", "index", "man"] {
        let help = succeed(tumit().args([command, "--help"]));
        assert!(help.contains("-o, --output <"), "{command}: {help}");
    }
    for (command, old) in [("convert", "--out <"), ("view", "--export"), ("index", "--index <"), ("sync", "--plot")] {
        let help = succeed(tumit().args([command, "--help"]));
        assert!(!help.contains(old), "`{old}` still works and is not shown: {help}");
    }
    let dir = folder();
    let header = |language: &str| succeed(tumit().args(["gen", language, "demo.tumit"]).current_dir(dir.path()));
    assert_eq!(header("cpp"), header("c"));
}

#[test]
fn unchanged_files_are_not_written_again() {
    let dir = folder();
    let header = dir.path().join("demo_trace.h");
    let gen_c = |more: &[&str]| {
        let out = run(dir.path(), &[&["gen", "c", "demo.tumit", "-o", "demo_trace.h"], more].concat());
        assert!(out.status.success(), "{}", stderr(&out));
        stderr(&out)
    };
    let message = gen_c(&[]);
    assert!(message.contains("`demo_trace.h` written") && message.contains("-pthread"), "{message}");
    let before = fs::metadata(&header).unwrap().modified().unwrap();
    assert!(gen_c(&[]).contains("`demo_trace.h` is up to date"));
    assert_eq!(fs::metadata(&header).unwrap().modified().unwrap(), before);
    assert_eq!(gen_c(&["--quiet"]), "");
    fs::write(dir.path().join("parts/net.tumit"), PART.replace("send", "sent")).unwrap();
    assert!(gen_c(&[]).contains("written"));
    assert!(fs::read_to_string(&header).unwrap().contains("demo_sent"));
}

#[test]
fn make_builds_again_when_a_used_file_changes() {
    let dir = folder();
    let tumit = tumit().get_program().to_owned();
    let makefile = format!(
        "demo_trace.h: demo.tumit\n\t{} gen c $< -o $@ --depfile demo_trace.d\n\ttouch $@\n-include demo_trace.d\n",
        tumit.to_string_lossy()
    );
    fs::write(dir.path().join("Makefile"), makefile).unwrap();
    let make = || output(Command::new("make").current_dir(dir.path()));
    assert!(make().status.success());
    assert!(String::from_utf8_lossy(&make().stdout).contains("up to date"));
    let list = fs::read_to_string(dir.path().join("demo_trace.d")).unwrap();
    assert_eq!(list, "demo_trace.h: demo.tumit parts/net.tumit\n\ndemo.tumit:\n\nparts/net.tumit:\n");
    let timestamp = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    fs::File::options().append(true).open(dir.path().join("parts/net.tumit")).unwrap().set_modified(timestamp).unwrap();
    assert!(String::from_utf8_lossy(&make().stdout).contains("gen c demo.tumit"));
}

#[test]
fn generated_files_go_to_the_requested_folder() {
    let dir = folder();
    succeed(tumit().args(["gen", "c", "demo.tumit", "-o", "made/here/"]).current_dir(dir.path()));
    assert!(dir.path().join("made/here/demo_trace.h").is_file());
    succeed(tumit().args(["gen", "rust", "demo.tumit", "-o", "made"]).current_dir(dir.path()));
    assert!(dir.path().join("made/demo.rs").is_file());
    let out = run(dir.path(), &["gen", "c", "demo.tumit", "--off", "COMM"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(stderr(&out).contains("NET, COM"), "{}", stderr(&out));
}

#[test]
fn fortran_gets_two_files_that_build_as_documented() {
    let dir = folder();
    let out = run(dir.path(), &["gen", "fortran", "demo.tumit", "-o", "src/trace.f90"]);
    assert!(!out.status.success() && stderr(&out).contains("src/trace.f90"), "there is no folder `src`");
    let output = run(dir.path(), &["gen", "fortran", "demo.tumit"]);
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true));
    assert!(stderr(&output).contains("demo_trace.f90 and demo_trace_fortran.c"), "{}", stderr(&output));

    let out = run(dir.path(), &["gen", "fortran", "demo.tumit", "-o", "trace.f90", "--depfile", "trace.d"]);
    assert!(out.status.success(), "{}", stderr(&out));
    assert!(dir.path().join("demo_trace_fortran.c").is_file(), "the second beside the first");
    let list = fs::read_to_string(dir.path().join("trace.d")).unwrap();
    assert!(list.starts_with("trace.f90 demo_trace_fortran.c: demo.tumit parts/net.tumit\n"), "{list}");
    let program = "program app\n  use demo_trace\n  call demo_post(1)\nend program app\n";
    fs::write(dir.path().join("app.f90"), program).unwrap();
    let message = stderr(&out);
    let line = message.lines().find_map(|line| line.split("build with: ").nth(1)).expect("it tells how to build");
    succeed(Command::new("sh").args(["-c", &format!("{line} && TUMIT_TRACE=run.tmt ./a.out")]).current_dir(dir.path()));
    let info = succeed(tumit().args(["info", "run.tmt"]).current_dir(dir.path()));
    assert!(info.contains("post"), "{info}");
}

#[test]
fn readers_are_generated_for_c_and_rust() {
    let dir = folder();
    for (language, part) in [("c", "demo_"), ("rust", "pub ")] {
        let reader = succeed(tumit().args(["gen", language, "demo.tumit", "--reader"]).current_dir(dir.path()));
        let recorder = succeed(tumit().args(["gen", language, "demo.tumit"]).current_dir(dir.path()));
        assert!(reader.contains(part) && reader != recorder, "{language}");
    }
    let out = run(dir.path(), &["gen", "fortran", "demo.tumit", "--reader", "-o", "x.f90"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("not Fortran"), "{}", stderr(&out));
}

#[test]
fn a_spec_is_compared_with_an_older_one_and_with_a_run() {
    let dir = folder();
    fs::write(dir.path().join("new.tumit"), "trace demo;\nlevel COM { event post { node: string } }\n").unwrap();
    let out = run(dir.path(), &["check", "new.tumit", "--since", "demo.tumit"]);
    assert_eq!(out.status.code(), Some(1), "{}", stderr(&out));
    assert!(stderr(&out).contains("T0091") && stderr(&out).contains("T0090"), "{}", stderr(&out));
    let json = run(dir.path(), &["check", "--json", "new.tumit", "--since", "demo.tumit"]);
    assert!(lines(&json).iter().any(|line| line["code"] == "T0091"));

    succeed(tumit().args(["gen", "c", "demo.tumit", "-o", "demo_trace.h"]).current_dir(dir.path()));
    let program = "#include \"demo_trace.h\"\nint main(void) { demo_post(1); return 0; }\n";
    fs::write(dir.path().join("app.c"), program).unwrap();
    succeed(Command::new("gcc").args(["app.c", "-o", "app", "-pthread"]).current_dir(dir.path()));
    succeed(Command::new("./app").env("TUMIT_TRACE", "run.tmt").current_dir(dir.path()));
    let with_run = run(dir.path(), &["check", "new.tumit", "--since", "run.tmt"]);
    assert_eq!(stderr(&with_run), stderr(&out), "the run holds the older spec");
    assert_eq!(run(dir.path(), &["check", "demo.tumit", "--since", "run.tmt"]).status.code(), Some(0));
    let none = run(dir.path(), &["check", "new.tumit", "--since", "none.tumit"]);
    assert!(none.status.code() == Some(2) && stderr(&none).contains("none.tumit"));
}

/// The completions that bash offers for the last of these words.
fn completed(folder: &Path, words: &[&str]) -> Vec<String> {
    let script = succeed(tumit().args(["completions", "bash"]));
    let line = words.join(" ");
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let program = format!(
        "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; COMP_LINE='{line}'; COMP_POINT={}\n\
         _tumit tumit \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" 2>/dev/null\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        quoted.join(" "),
        words.len() - 1,
        line.len()
    );
    let text = succeed(Command::new("bash").args(["--norc", "-c", &program]).current_dir(folder));
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_options_values_and_files() {
    let dir = folder();
    assert_eq!(completed(dir.path(), &["tumit", "ch"]), ["check"]);
    assert_eq!(completed(dir.path(), &["tumit", "con"]), ["convert"]);
    assert_eq!(completed(dir.path(), &["tumit", "check", "--js"]), ["--json"]);
    assert_eq!(completed(dir.path(), &["tumit", "gen", "r"]), ["rust"]);
    assert_eq!(completed(dir.path(), &["tumit", "explain", "T006"]).len(), 10);
    assert_eq!(completed(dir.path(), &["tumit", "doc", "--format", "m"]), ["markdown"]);
    assert_eq!(completed(dir.path(), &["tumit", "doc", "-o", "de"]), ["demo.tumit"]);
}

#[test]
fn every_shell_gets_a_script_that_names_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeed(tumit().args(["completions", shell]));
        assert!(script.contains("explain") && script.contains("convert"), "{shell}");
    }
}

#[test]
fn groff_accepts_the_manuals() {
    let dir = tempfile::tempdir().unwrap();
    succeed(tumit().args(["man", "-o", "man1"]).current_dir(dir.path()));
    let mut pages: Vec<_> = fs::read_dir(dir.path().join("man1")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let help = succeed(tumit().arg("--help"));
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description that is longer than a line continues in an indented one.
    let commands = lines.filter(|line| !line.starts_with("   ")).count();
    assert_eq!(pages.len(), commands + 1, "a page for each command and one for all: {pages:?}");
    for page in &pages {
        let out = output(Command::new("groff").args(["-man", "-Tutf8", "-ww", "-P-cbou"]).arg(page));
        assert!(out.status.success() && out.stderr.is_empty(), "{}: {}", page.display(), stderr(&out));
        let text = String::from_utf8_lossy(&out.stdout);
        for head in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(text.contains(head), "{} has no {head}", page.display());
        }
        assert!(!text.contains('Ã'), "{}: letters beyond ASCII are wrong", page.display());
    }
    let check = succeed(tumit().args(["man", "check"]));
    assert_eq!(check, fs::read_to_string(dir.path().join("man1/tumit-check.1")).unwrap());
    assert!(
        check.contains("tumit check app.tumit            a summary in one line"),
        "examples keep their columns: {check}"
    );
    let out = run(dir.path(), &["man", "nothing"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("the commands are check, "), "{}", stderr(&out));
}
