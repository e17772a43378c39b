//! `tumit fmt` as a command; and the specs of the repository are formatted.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tests::programs::{output, tumit, workspace};

const UGLY: &str = "trace a;level COM{event post{node:u16,}}//end";
const USUAL: &str = "trace a;\n\nlevel COM {\n    event post { node: u16 }\n}  //end\n";

/// Runs `tumit fmt` in a folder; returns its status, standard output and standard error.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    status_and_texts(&output(tumit().arg("fmt").args(args).current_dir(folder)))
}

fn status_and_texts(out: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn files_are_rewritten_once_and_keep_their_permissions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.tumit");
    fs::write(&path, UGLY).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("a.tumit", dir.path().join("link.tumit")).unwrap();
    }
    let (status, out, _) = run(dir.path(), &["--check", "a.tumit"]);
    assert_eq!(status, Some(1));
    assert!(out.contains("-trace a;level") && out.contains("\n+    event post { node: u16 }\n"), "{out}");
    assert!(!out.contains('\x1b'), "colours without a terminal");
    assert_eq!(fs::read_to_string(&path).unwrap(), UGLY, "--check changes nothing");

    let name = if cfg!(unix) { "link.tumit" } else { "a.tumit" };
    assert_eq!(run(dir.path(), &[name]), (Some(0), String::new(), String::new()));
    assert_eq!(fs::read_to_string(&path).unwrap(), USUAL);
    assert_eq!(run(dir.path(), &["--check", "a.tumit"]), (Some(0), String::new(), String::new()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(dir.path().join("link.tumit")).unwrap().is_symlink(), "a link stays one");
    }
    let before = fs::metadata(&path).unwrap();
    assert_eq!(run(dir.path(), &["a.tumit"]).0, Some(0));
    let after = fs::metadata(&path).unwrap();
    assert_eq!(after.modified().unwrap(), before.modified().unwrap(), "left alone when there is nothing to do");
}

#[test]
fn standard_input_goes_to_standard_output() {
    for (args, expected) in [(&["-"][..], Some(0)), (&["--check", "-"], Some(1))] {
        let mut child = tumit()
            .arg("fmt")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(UGLY.as_bytes()).unwrap();
        let (status, out, err) = status_and_texts(&child.wait_with_output().unwrap());
        assert_eq!(status, expected, "{err}");
        assert!(if expected == Some(0) { out == USUAL } else { out.contains("<standard input>") }, "{out}");
    }
}

#[test]
fn files_with_syntax_errors_are_left_and_others_are_formatted() {
    let dir = tempfile::tempdir().unwrap();
    let text = "trace a;\nlevel COM { evnt post; }\n";
    fs::write(dir.path().join("wrong.tumit"), text).unwrap();
    fs::write(dir.path().join("ugly.tumit"), UGLY).unwrap();
    let (status, out, err) = run(dir.path(), &["wrong.tumit", "ugly.tumit"]);
    assert_eq!((status, out.as_str()), (Some(1), ""));
    assert!(err.contains("wrong.tumit:2") && err.contains("evnt"), "{err}");
    assert_eq!(fs::read_to_string(dir.path().join("wrong.tumit")).unwrap(), text);
    assert_eq!(fs::read_to_string(dir.path().join("ugly.tumit")).unwrap(), USUAL);

    let (status, _, err) = run(dir.path(), &["none.tumit", "ugly.tumit", "."]);
    assert_eq!(status, Some(2));
    assert!(err.contains("none.tumit") && err.contains("is a folder"), "{err}");
    fs::write(dir.path().join("latin.tumit"), b"// \xe9").unwrap();
    assert_eq!(run(dir.path(), &["latin.tumit"]).0, Some(2));
    assert_eq!(fs::read(dir.path().join("latin.tumit")).unwrap(), b"// \xe9");
}

/// Specs below a folder.
fn specs(folder: &Path, spec_files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            specs(&path, spec_files);
        } else if path.extension().is_some_and(|extension| extension == "tumit") {
            spec_files.push(path);
        }
    }
}

#[test]
fn the_specs_of_the_repository_are_formatted() {
    let mut spec_files = Vec::new();
    for folder in ["examples", "tests/cases", "tests/readme", "tumit/std", "tracer-rt/benches"] {
        specs(&workspace().join(folder), &mut spec_files);
    }
    assert!(spec_files.len() > 5, "only {} specs were found", spec_files.len());
    let (status, out, err) = status_and_texts(&output(tumit().args(["fmt", "--check"]).args(&spec_files)));
    assert_eq!(status, Some(0), "{out}{err}");
    // The specs in documents, too.
    for document in ["README.md", "tumit/LANGUAGE.md"] {
        let text = fs::read_to_string(workspace().join(document)).unwrap();
        for block in text.split("```tumit\n").skip(1).filter_map(|block| block.split("```").next()) {
            let formatted = tumit::fmt::format(document, block).map_err(|diagnostics| diagnostics.render(false));
            assert_eq!(formatted.as_deref(), Ok(block), "{document}");
        }
    }
}
