//! A separate program, which Cargo builds as for a user.
//!
//! The macro and the build script yield the same records. The strictest lints accept both. After a
//! change of the spec, or of a file that it uses, Cargo builds the program again.

#![expect(clippy::unwrap_used, reason = "what surrounds the tests, outside test functions")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tumit_test_support::decoded_run::{DecodedRecord, read_run};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// A copy of `tests/crate` that is built and changed.
struct Program {
    folder: PathBuf,
}

impl Program {
    fn new(name: &str, edition: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs").join(name);
        let _ = fs::remove_dir_all(&folder);
        copy(&Path::new(HERE).join("tests/crate"), &folder);
        // With the profile of the workspace, and with its features of shared dependencies, Cargo
        // uses dependencies that it has built for the workspace.
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n\
             [dependencies]\ntracer-rt = {{ path = \"{HERE}/../../tracer-rt\" }}\n\n\
             [build-dependencies]\ntumit-build = {{ path = \"{HERE}\" }}\nanstyle = \"1\"\n\
             serde = {{ version = \"1\", features = [\"derive\"] }}\nserde_core = \"1\"\n\n[workspace]\n\n{}",
            development_profile()
        );
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        // The versions are those that are already downloaded, so the test needs no network.
        fs::copy(Path::new(HERE).join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        Self { folder }
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.folder).args(arguments);
        command.args(["--offline", "--quiet", "--target-dir"]).arg(target_folder());
        command
            .env_remove("CARGO_TARGET_DIR")
            .env("RUSTDOCFLAGS", "-Dwarnings")
            .env_remove("TUMIT_LEVELS")
            .env("CARGO_TERM_COLOR", "never");
        command.output().unwrap()
    }

    /// The records of the program, with its functions from the macro or from the script.
    fn records(&self, way: &str) -> Vec<String> {
        let built = self.cargo(&["build"]);
        assert!(built.status.success(), "{}", text(&built));
        let run = tempfile::tempdir().unwrap();
        let name = self.folder.file_name().unwrap();
        let mut program = Command::new(target_folder().join("debug").join(name));
        program.arg(way).env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", run.path().join("run.tmt"));
        let output = program.output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        read_run(&run.path().join("run.tmt")).files[0].records().map(DecodedRecord::text).collect()
    }

    fn edit(&self, file: &str, old: &str, new: &str) {
        let path = self.folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{file} has `{old}`");
        fs::write(path, text.replace(old, new)).unwrap();
    }
}

/// The target folder of the workspace.
fn target_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

/// The sections of the workspace's manifest that define the development profile.
fn development_profile() -> String {
    let manifest = fs::read_to_string(Path::new(HERE).join("../../Cargo.toml")).unwrap();
    let (_, profiles) = manifest.split_once("[profile.dev]").unwrap();
    let (development, _) = profiles.split_once("[profile.release]").unwrap();
    format!("[profile.dev]{development}")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Builds a program of an edition, with lints, and compares the macro with the script.
fn both_ways_are_alike(edition: &str) {
    let program = Program::new(&format!("edition-{edition}"), edition);
    let clippy = program.cargo(&["clippy"]);
    assert!(clippy.status.success() && clippy.stderr.is_empty(), "{}", text(&clippy));
    let docs = program.cargo(&["doc", "--no-deps", "--document-private-items"]);
    assert!(docs.status.success(), "{}", text(&docs));
    let by_macro = program.records("macro");
    assert_eq!(
        by_macro,
        [
            "iteration.begin n=1 shade=dark_blue",
            "iteration.end",
            "iteration.begin n=4 shade=dark_blue",
            "type self=1 base=2 crate=3 record=4",
            "iteration.end",
            "numbers a=1 b=-2 c=Double(0.5) d=Bool(true) e=[1, 2, 3, 4] f=[red, dark_blue] g=9",
            "texts name=a name text=a text raw=[1, 2] place=16",
            "fetch.begin task=1 url=12",
            "fetch.end task=1",
            "fetch.begin task=2 url=by hand",
            "fetch.end task=2",
        ]
    );
    assert_eq!(program.records("script"), by_macro);
}

#[test]
fn both_ways_are_alike_in_edition_2021() {
    both_ways_are_alike("2021");
}

#[test]
fn both_ways_are_alike_in_edition_2024() {
    both_ways_are_alike("2024");
}

#[test]
fn an_edit_of_the_spec_builds_the_program_again() {
    let program = Program::new("edited", "2024");
    let first = |way| program.records(way).into_iter().find(|text| text.starts_with("fetch.begin")).unwrap();
    let of_step = |way| program.records(way).into_iter().next().unwrap();
    for way in ["macro", "script"] {
        assert_eq!(first(way), "fetch.begin task=1 url=12");
    }
    // A change in a file that the spec uses, and one in the spec itself.
    program.edit("specs/parts/net.tumit", "url: interned", "address: interned");
    for way in ["macro", "script"] {
        assert_eq!(first(way), "fetch.begin task=1 address=12", "{way}");
    }
    program.edit("specs/app.tumit", "shade: color,\n    }", "look: color,\n    }");
    for way in ["macro", "script"] {
        assert_eq!(of_step(way), "iteration.begin n=1 look=dark_blue", "{way}");
    }
    program.edit("specs/parts/net.tumit", "interned", "internet");
    let failed = program.cargo(&["build"]);
    let report = text(&failed);
    assert!(!failed.status.success());
    for expected in [
        "mistakes in `specs/app.tumit`",
        "error[T0026]: there is no type `internet`",
        " --> specs/parts/net.tumit:2:41",
        "did you mean `interned`?",
    ] {
        assert!(report.contains(expected), "`{expected}` is missing:\n{report}");
    }
    program.edit("specs/parts/net.tumit", "internet", "string");
    assert_eq!(first("macro"), "fetch.begin task=1 address=12");
    // The file that declares the functions is missing now, and is restored later.
    let new_path = program.folder.join("specs/parts/moved.tumit");
    fs::rename(program.folder.join("specs/parts/net.tumit"), &new_path).unwrap();
    let failed = program.cargo(&["build"]);
    assert!(
        !failed.status.success() && text(&failed).contains("cannot read `specs/parts/net.tumit`"),
        "{}",
        text(&failed)
    );
    fs::rename(&new_path, program.folder.join("specs/parts/net.tumit")).unwrap();
    assert_eq!(first("script"), "fetch.begin task=1 address=12");
}
