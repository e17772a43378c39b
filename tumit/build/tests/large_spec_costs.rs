//! The costs of a large spec for a program: size of the code, time to compile, size of the program.
//! The test prints them:
//!
//! ```console
//! $ cargo test -p tumit-build --test large_spec_costs -- --ignored --nocapture
//! ```

#![expect(clippy::unwrap_used, reason = "what surrounds the test, outside test functions")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tumit::codegen::{CodegenOptions, rust};

const EVENTS: usize = 1_000;

/// A spec with documented events that have typical parameters. One in four is a span.
fn spec() -> String {
    let mut text = String::from("trace large;\n");
    for level in 0..10 {
        writeln!(text, "/// Level {level}.\nlevel L{level} {{").unwrap();
        for event in (level..EVENTS).step_by(10) {
            let fields = match event % 4 {
                0 => "node: u16, stamp: u64",
                1 => "n: u32, what: interned, value: f64",
                2 => "/** the bytes */ node: u16, text: string, values: [f64]",
                _ => "n: u32",
            };
            let fields = fields.replace("/** the bytes */", "/// Whose.\n");
            let kind = if event % 4 == 3 { "span" } else { "event" };
            writeln!(text, "    /// What happens {event} times.\n    {kind} e{event} {{ {fields} }}").unwrap();
        }
        text.push_str("}\n");
    }
    text
}

/// A program with the macro, with the code of a build script, or without tracing. It calls three
/// functions.
fn program(folder: &Path, way: &str) -> PathBuf {
    let here = env!("CARGO_MANIFEST_DIR");
    let folder = folder.join(way);
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("large.tumit"), spec()).unwrap();
    let manifest = format!(
        "[package]\nname = \"{way}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntracer-rt = {{ path = \"{here}/../../tracer-rt\" }}\n\n\
         [build-dependencies]\ntumit-build = {{ path = \"{here}\" }}\n"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::copy(Path::new(here).join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let calls = "l0::e0(1, 2); l1::e1(1, \"a\", 0.5); let _span = l3::e3(1);";
    let (script, program) = match way {
        "macro" => ("", format!("tracer_rt::events!(\"large.tumit\");\nfn main() {{ {calls} }}\n")),
        "script" => (
            "tumit_build::compile(\"large.tumit\");",
            format!("tracer_rt::include_events!(\"large\");\nfn main() {{ {calls} }}\n"),
        ),
        _ => ("", "fn main() { tracer_rt::set_level(\"all\", true); tracer_rt::finish(); }\n".to_owned()),
    };
    fs::write(folder.join("build.rs"), format!("fn main() {{ {script} }}\n")).unwrap();
    fs::write(folder.join("src/main.rs"), program).unwrap();
    folder
}

/// Builds the changed program, and returns the time that it took.
fn build(program: &Path, arguments: &[&str]) -> Duration {
    let main = program.join("src/main.rs");
    fs::write(&main, fs::read_to_string(&main).unwrap() + "\n").unwrap();
    let start = Instant::now();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(program).args(arguments).args(["--offline", "--quiet", "--target-dir"]);
    cargo.arg(program.with_file_name("target")).env_remove("CARGO_TARGET_DIR");
    assert!(cargo.status().unwrap().success());
    start.elapsed()
}

#[test]
#[ignore = "it builds programs again and again, for figures"]
fn the_code_has_a_function_for_each_of_a_thousand_events() {
    let text = spec();
    let start = Instant::now();
    let (compiled, diagnostics) = tumit::compile_text("large.tumit", &text);
    let compiled = compiled.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    let understood = start.elapsed();
    let start = Instant::now();
    let code = rust::text(&compiled, &CodegenOptions::default()).unwrap();
    println!("spec        {EVENTS} events, {} records, {} KiB", compiled.records.len(), text.len() / 1024);
    println!("compiled    in {understood:.0?}, printed in {:.0?} (a debug build of Tumit)", start.elapsed());
    println!("code        {} lines, {} KiB", code.lines().count(), code.len() / 1024);
    println!("schema      {} KiB, in the program and in each trace", compiled.schema().encode().len() / 1024);
    assert!((0..EVENTS).all(|event| code.contains(&format!("pub fn e{event}("))));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("large-spec-costs");
    println!("{:<12}{:>10}{:>10}{:>10}{:>14}", "program", "check", "debug", "release", "stripped KiB");
    for way in ["none", "macro", "script"] {
        let program = program(&folder, way);
        let times = [&["check"][..], &["build"], &["build", "--release", "--config", "profile.release.strip=true"]]
            .map(|arguments| {
                build(&program, arguments);
                // The dependencies are already built. The shortest of three times is that of the
                // program alone.
                (0..3).map(|_| build(&program, arguments)).min().unwrap_or_default().as_secs_f64()
            });
        let bytes = fs::metadata(folder.join("target/release").join(way)).unwrap().len();
        println!("{way:<12}{:>8.2} s{:>8.2} s{:>8.2} s{:>14}", times[0], times[1], times[2], bytes / 1024);
    }
}
