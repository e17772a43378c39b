//! Options of `tumit convert`: formats of timestamps and definitions, the target of the result, the
//! origin of the rules.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tests::programs::{molecular_dynamics, output, succeed, tumit};

/// A run with states, variables, links, fields and source positions.
fn run_in(folder: &Path) -> PathBuf {
    let run = folder.join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &run).current_dir(folder));
    run
}

fn convert(folder: &Path, args: &[&str]) -> Output {
    output(tumit().arg("convert").args(args).current_dir(folder))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows of a Pajé file, sorted.
fn rows(folder: &Path, args: &[&str]) -> Vec<String> {
    let out = convert(folder, &[&["-o", "-", "--pj-dump"], args].concat());
    assert_eq!((out.status.code(), stderr(&out).as_str()), (Some(0), ""), "{args:?}");
    let mut rows: Vec<String> = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
    rows.sort_unstable();
    rows
}

/// The rows as `pj_dump` prints them, without any message.
fn peer_rows(file: &Path, args: &[&str]) -> Vec<String> {
    let out = output(Command::new("pj_dump").args(["-l", "9", "-e", "1e300"]).args(args).arg(file));
    assert!(out.status.success() && out.stderr.is_empty(), "{args:?}: {out:?}");
    let mut rows: Vec<String> = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
    let kinds = ["Container, ", "State, ", "Variable, ", "Event, ", "Link, "];
    assert!(rows.iter().all(|row| kinds.iter().any(|kind| row.starts_with(kind))), "{args:?}: it complains");
    rows.sort_unstable();
    rows
}

/// A row without its timestamps.
fn undated(row: &str) -> Vec<&str> {
    let dates = match row.split(", ").next() {
        Some("Event") => 3..4,
        _ => 3..6,
    };
    row.split(", ").enumerate().filter(|(index, _)| !dates.contains(index)).map(|(_, cell)| cell).collect()
}

#[test]
fn every_output_style_is_read_by_pj_dump_and_tumit() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path());
    let file = dir.path().join("x.paje");
    let write = |args: &[&str]| {
        let out = convert(dir.path(), &[&["run.tmt", "-o", "x.paje"], args].concat());
        assert_eq!((out.status.code(), stderr(&out).as_str()), (Some(0), ""), "{args:?}");
        fs::read_to_string(&file).unwrap()
    };
    let reference = write(&[]);
    assert_eq!(reference, write(&["--precision", "9", "--unit", "s", "--header", "reference"]));
    let expected = peer_rows(&file, &[]);
    assert!(expected.len() > 1000);
    let actual = rows(dir.path(), &["x.paje"]);
    let definitions = |text: &str| text.lines().filter(|line| line.starts_with("%EventDef")).count();
    assert!(reference.contains("% Line int") && definitions(&reference) > 17);

    let old = write(&["--header", "old"]);
    assert_eq!(peer_rows(&file, &["-n"]), expected);
    assert_eq!(rows(dir.path(), &["x.paje"]), actual);
    for name in
        ["ContainerType", "EntityType", "SourceContainerType", "DestContainerType", "SourceContainer", "DestContainer"]
    {
        assert!(old.contains(&format!("% {name} string\n")) && !reference.contains(&format!("% {name} ")), "{name}");
    }
    assert!(!old.contains("StartContainer") && old.contains("% Line int"));
    let lines = |text: &str| text.lines().filter(|line| !line.starts_with('%')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&old), lines(&reference));

    let basic = write(&["--header", "basic"]);
    assert_eq!(peer_rows(&file, &[]), expected);
    assert_eq!(rows(dir.path(), &["x.paje"]), actual);
    assert_eq!(definitions(&basic), 17);
    assert!(!basic.contains("Line") && basic.lines().all(|line| !line.starts_with('2') || line.starts_with("2 t")));

    // The units are read back. Fewer digits give the same timestamps, truncated.
    for unit in ["ms", "us", "ns"] {
        let text = write(&["--unit", unit]);
        assert!(peer_rows(&file, &[]).len() == expected.len() && text != reference);
        assert_eq!(rows(dir.path(), &["x.paje", "--unit", unit]), actual);
        assert!(rows(dir.path(), &["x.paje"]) != actual, "taken for seconds, the dates are others");
    }
    for (unit, digits) in [("s", "6"), ("s", "3"), ("s", "0"), ("ms", "1"), ("us", "0")] {
        write(&["--unit", unit, "--precision", digits, "--header", "old"]);
        let peer = peer_rows(&file, &["-n"]);
        // Of several values of a variable at one timestamp, only the last counts.
        let is_no_variable = |rows: &&String| !rows.starts_with("Variable");
        let mut cut: Vec<_> = peer.iter().filter(is_no_variable).map(|row| undated(row)).collect();
        let mut whole: Vec<_> = expected.iter().filter(is_no_variable).map(|row| undated(row)).collect();
        cut.sort_unstable();
        whole.sort_unstable();
        assert_eq!(cut, whole, "{unit} {digits}");
        let negative =
            peer.iter().filter(|row| row.starts_with("State") && row.split(", ").nth(5).unwrap().starts_with('-'));
        assert_eq!(negative.count(), 0, "an end comes before its start");
        let checked = output(tumit().args(["check", "--strict", "--unit", unit, "x.paje"]).current_dir(dir.path()));
        let stdout = String::from_utf8_lossy(&checked.stdout).into_owned();
        assert!(!stdout.contains("error:"), "{stdout}");
    }
}

#[test]
fn the_unit_of_a_file_applies_to_all_commands() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path());
    convert(dir.path(), &["run.tmt", "-o", "s.paje"]);
    convert(dir.path(), &["run.tmt", "-o", "ms.paje", "--unit", "ms"]);
    let stats = |args: &[&str]| succeed(tumit().args(["stats", "--csv"]).args(args).current_dir(dir.path()));
    assert_eq!(stats(&["ms.paje", "--unit", "ms"]), stats(&["s.paje"]));
    assert!(stats(&["ms.paje"]) != stats(&["s.paje"]));
    // An index contains its unit.
    let indexed = |file: &str, unit: &str, index: &str| stats(&[file, "--unit", unit, "--index", index]);
    let (right, wrong) = (indexed("s.paje", "s", "a.tmtx"), indexed("ms.paje", "s", "b.tmtx"));
    assert!(right != wrong);
    assert_eq!([indexed("ms.paje", "ms", "c.tmtx"), indexed("ms.paje", "s", "c.tmtx")], [right, wrong]);
    for (args, words) in [
        (&["run.tmt", "-o", "x.csv", "--unit", "ms"][..], "is a run"),
        (&["run.tmt", "-o", "x.csv", "--precision", "3"], "`--precision` needs Pajé text"),
        (&["s.paje", "-o", "x.json", "--header", "old"], "`--header` needs Pajé text"),
        (&["run.tmt", "-o", "x.paje", "--precision", "10"], "0..=9"),
    ] {
        let out = convert(dir.path(), args);
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        assert!(stderr(&out).contains(words), "{}", stderr(&out));
    }
    assert!(!dir.path().join("x.csv").exists() && !dir.path().join("x.json").exists());
}

#[test]
fn an_output_never_replaces_its_input() {
    let dir = tempfile::tempdir().unwrap();
    let run = run_in(dir.path());
    convert(dir.path(), &["run.tmt", "-o", "x.paje"]);
    symlink("x.paje", dir.path().join("link.csv")).unwrap();
    fs::hard_link(dir.path().join("x.paje"), dir.path().join("hard.csv")).unwrap();
    let process = fs::read_dir(&run).unwrap().next().unwrap().unwrap().path();
    fs::hard_link(&process, dir.path().join("hard.paje")).unwrap();
    let before = (fs::read(dir.path().join("x.paje")).unwrap(), fs::read(&process).unwrap());
    let inside = run.join("x.paje").display().to_string();
    fs::write(dir.path().join("s.tumit"), "trace s;\n").unwrap();
    for args in [
        &["convert", "x.paje", "-o", "x.paje", "--format", "csv"][..],
        &["convert", "x.paje", "-o", "link.csv"],
        &["convert", "x.paje", "-o", "hard.csv"],
        &["convert", "x.paje", "-o", "./link.csv", "--pj-dump"],
        &["convert", "run.tmt", "-o", "hard.paje"],
        &["convert", "run.tmt", "-o", &inside],
        &["convert", "run.tmt", "--rules", "s.tumit", "-o", "s.tumit", "--format", "paje"],
        &["cut", "run.tmt", "-o", "run.tmt/x.tmt", "--interval", "..1"],
        &["cut", "run.tmt", "-o", "run.tmt", "--interval", "..1"],
        &["merge", "run.tmt", "-o", "run.tmt/all.tmt"],
    ] {
        let out = output(tumit().args(args).current_dir(dir.path()));
        assert_eq!(out.status.code(), Some(2), "{args:?}");
        let stderr = stderr(&out);
        let is_clear = ["itself", "is inside the input", "of the input"].iter().any(|words| stderr.contains(words));
        assert!(is_clear && stderr.lines().count() == 1, "{args:?}: {stderr}");
    }
    assert!(before == (fs::read(dir.path().join("x.paje")).unwrap(), fs::read(&process).unwrap()));
    assert_eq!(fs::read_dir(&run).unwrap().count(), 1);
    // A name next to the run is accepted.
    assert_eq!(convert(dir.path(), &["run.tmt", "-o", "run.tmt.paje"]).status.code(), Some(0));
}

#[test]
fn links_permissions_and_special_files_are_preserved() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path());
    convert(dir.path(), &["run.tmt", "-o", "wanted.paje"]);
    let expected = fs::read(dir.path().join("wanted.paje")).unwrap();
    let path = |name: &str| dir.path().join(name);
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;

    fs::create_dir(path("there")).unwrap();
    fs::write(path("there/real.paje"), "old").unwrap();
    fs::set_permissions(path("there/real.paje"), Permissions::from_mode(0o600)).unwrap();
    symlink("there/real.paje", path("a.paje")).unwrap();
    symlink("a.paje", path("b.paje")).unwrap();
    symlink("there/new.paje", path("c.paje")).unwrap();
    for name in ["b.paje", "c.paje"] {
        let out = convert(dir.path(), &["run.tmt", "-o", name]);
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
        assert!(fs::symlink_metadata(path(name)).unwrap().is_symlink(), "{name}");
        assert!(fs::read(path(name)).unwrap() == expected);
    }
    assert!(fs::symlink_metadata(path("a.paje")).unwrap().is_symlink());
    assert_eq!(mode("there/real.paje"), 0o600);
    assert!(
        fs::read(path("there/real.paje")).unwrap() == expected && fs::read(path("there/new.paje")).unwrap() == expected
    );
    symlink("round.paje", path("round.paje")).unwrap();
    let out = convert(dir.path(), &["run.tmt", "-o", "round.paje"]);
    assert!(out.status.code() == Some(2) && stderr(&out).contains("is a symbolic link to itself"), "{}", stderr(&out));

    succeed(Command::new("mkfifo").arg(path("pipe.paje")));
    let file = fs::File::create(path("through")).unwrap();
    let mut reader = Command::new("cat").arg(path("pipe.paje")).stdout(file).spawn().unwrap();
    assert_eq!(convert(dir.path(), &["run.tmt", "-o", "pipe.paje"]).status.code(), Some(0));
    assert!(reader.wait().unwrap().success() && fs::read(path("through")).unwrap() == expected);
    assert!(fs::metadata(path("pipe.paje")).unwrap().file_type().is_fifo());

    // The existing contents of the file that standard output refers to stay before the output.
    let csv = convert(dir.path(), &["run.tmt", "-o", "-", "--format", "csv"]).stdout;
    for (format, expected) in [("paje", &expected), ("csv", &csv)] {
        let through = convert(dir.path(), &["run.tmt", "-o", "/dev/stdout", "--format", format]);
        assert!(through.stdout == *expected, "{format}: {}", stderr(&through));
        let all_path = path("all");
        fs::write(&all_path, "before\n").unwrap();
        let file = fs::File::options().append(true).open(&all_path).unwrap();
        let mut command = tumit();
        command.args(["convert", "run.tmt", "-o", "/dev/stdout", "--format", format]).current_dir(dir.path());
        assert!(command.stdout(file).status().unwrap().success());
        assert!(fs::read(&all_path).unwrap() == [b"before\n", &expected[..]].concat(), "{format}");
    }
    // The whole folder contains no unfinished file.
    assert!(
        !fs::read_dir(dir.path()).unwrap().any(|entry| entry.unwrap().file_name().to_string_lossy().contains(".part"))
    );
}

#[test]
fn a_full_disk_is_reported_with_the_name_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path());
    symlink("/dev/full", dir.path().join("full.paje")).unwrap();
    symlink("/dev/full", dir.path().join("full.csv")).unwrap();
    for name in ["full.paje", "full.csv"] {
        let out = convert(dir.path(), &["run.tmt", "-o", name]);
        assert_eq!(out.status.code(), Some(2));
        assert!(
            stderr(&out).contains(&format!("cannot write `{name}`")) && stderr(&out).contains("No space"),
            "{}",
            stderr(&out)
        );
    }
    // Files of a folder: a limit on their size has the same effect as a full disk.
    for args in ["merge run.tmt -o m.tmt", "merge --sort run.tmt -o m.tmt", "cut run.tmt --interval 0.. -o m.tmt"] {
        let line = format!("trap '' XFSZ; ulimit -f 2; exec \"$0\" {args}");
        let out = output(Command::new("sh").args(["-c", &line]).arg(tumit().get_program()).current_dir(dir.path()));
        assert_eq!(out.status.code(), Some(2), "{args}: {}", stderr(&out));
        assert!(stderr(&out).contains(".tmt") && stderr(&out).contains("too large"), "{args}: {}", stderr(&out));
        assert!(!dir.path().join("m.tmt").exists(), "{args}");
    }
}

#[test]
fn rules_that_do_not_fit_a_run_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    succeed(Command::new(env!("CARGO_BIN_EXE_make_trace")).arg(dir.path().join("run.tmt")).args(["300", "2"]));
    let spec = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let tree = "paje { container program \"Program\" { event log \"Log\" } }\n";
    let rule = |event: &str| format!("rule {event} -> mark log = \"it\" on program;\n");
    spec("other.tumit", &format!("trace other;\nlevel A {{ event nobody {{ n: u32 }} }}\n{tree}{}", rule("nobody")));
    for args in [&["-o", "x.paje"][..], &["-o", "x.csv"]] {
        let out = convert(dir.path(), &[&["run.tmt", "--rules", "other.tumit"], args].concat());
        let stderr = stderr(&out);
        assert_eq!(out.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains("no event of the spec `other` is in this run")
                && stderr.contains("give the rules of the recorded program"),
            "{stderr}"
        );
        assert!(!dir.path().join(args[1]).exists());
    }
    let stats = output(tumit().args(["stats", "run.tmt", "--rules", "other.tumit"]).current_dir(dir.path()));
    assert_eq!((stats.status.code(), stderr(&stats).contains("no event of the spec `other`")), (Some(1), true));

    let newer =
        "trace newer;\nlevel messages { event send { to: string, n: u32, bytes: u32 } event later { n: u32 } }\n";
    spec("newer.tumit", &format!("{newer}{tree}{}{}", rule("send"), rule("later")));
    let out = convert(dir.path(), &["run.tmt", "--rules", "newer.tumit", "-o", "x.paje"]);
    let stderr = stderr(&out);
    assert_eq!(out.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("`newer` has rules for events that are not in this run: `later`"), "{stderr}");
    assert!(stderr.contains("`to` of `send` (string, recorded as "), "{stderr}");
    assert!(fs::read_to_string(dir.path().join("x.paje")).unwrap().contains("\"it\""));
    assert!(!stderr.contains("`n` of `send`"), "{stderr}");
}

#[test]
fn conflicting_options_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path());
    for (args, told_of) in [
        (&["convert", "run.tmt", "-o", "rows.paje", "--pj-dump"][..], "--pj-dump writes rows"),
        (&["merge", "run.tmt", "-o", "all.tmt", "--clock", "none"], "--sort"),
        (&["merge", "run.tmt", "-o", "all.tmt", "--threads", "1"], "--sort"),
    ] {
        let out = output(tumit().args(args).current_dir(dir.path()));
        assert!(out.status.code() == Some(2) && stderr(&out).contains(told_of), "{args:?}: {}", stderr(&out));
        assert!(!dir.path().join(args[3]).exists(), "{args:?}");
    }
    for (threads, name) in [("1", "one.tmt"), ("2", "two.tmt")] {
        let args = ["merge", "run.tmt", "-o", name, "--sort", "--threads", threads, "--memory", "1M"];
        let out = output(tumit().args(args).current_dir(dir.path()));
        assert_eq!(out.status.code(), Some(0), "{}", stderr(&out));
    }
    let sorted = |name: &str| fs::read(dir.path().join(name).join("sorted.tmt")).unwrap();
    assert!(sorted("one.tmt") == sorted("two.tmt"));
}

/// Records that wait for the timestamp of a later record go to a file when they have no room in
/// memory.
#[test]
fn pending_records_are_in_temporary_files_if_memory_is_short() {
    const SPEC: &str = "trace t;
level L { event tick { n: u32 } event region { since: date } }
paje { container thread[tid: u64] \"Thread {tid}\" { state phase { whole } event seen { tick } } }
rule tick -> mark seen = tick on thread[tid] with { n };
rule region -> push phase = whole on thread[tid] at since -> pop phase on thread[tid];
";
    const PROGRAM: &str = "#include \"t_trace.h\"
int main(void) {
    uint32_t n;
    const uint64_t since = tumit1_now();
    for (n = 0; n < 40000; n++) { t_tick(n); }
    t_region(since);
    return 0;
}
";
    let folder = tempfile::tempdir().unwrap();
    let program = tests::lang::c::build(folder.path(), tests::lang::c::GNU99, SPEC, PROGRAM, &["-O2"]);
    let run = folder.path().join("run.tmt");
    let _ = succeed(Command::new(program.unwrap_or_else(|error| panic!("{error}"))).env("TUMIT_TRACE", &run));
    let convert = |memory: &str| {
        let output = output(tumit().arg("convert").arg(&run).args(["-o", "-"]).env("TUMIT_BLOCK_MEMORY", memory));
        String::from_utf8(output.stdout).unwrap()
    };
    let (plenty, scarce) = (convert("512"), convert("1"));
    assert!(plenty.lines().count() > 40_000 && plenty == scarce, "{} and {} bytes", plenty.len(), scarce.len());
}

/// The options of `pj_dump` for user fields and hierarchies give the same rows, regardless of the
/// order.
#[test]
fn user_fields_and_hierarchies_equal_those_of_pj_dump() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("x.paje");
    fs::write(&trace, include_str!("../../paje/user-fields.paje")).unwrap();
    let sorted = |text: String| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let read = |name: &str| sorted(fs::read_to_string(folder.path().join(name)).unwrap());
    let expected =
        ["-l", "9", "-e", "1e300", "-u", "--entity-hierarchy=e.theirs", "--type-hierarchy=t.theirs", "x.paje"];
    let expected = sorted(succeed(Command::new("pj_dump").args(expected).current_dir(folder.path())));
    let ours = ["--entity-hierarchy", "e.ours", "--type-hierarchy", "t.ours"];
    let args = [&["x.paje", "-o", "-", "--pj-dump", "--user-fields"], &ours[..]].concat();
    let ours = convert(folder.path(), &args);
    assert_eq!((ours.status.code(), stderr(&ours).as_str()), (Some(0), ""));
    assert_eq!(sorted(String::from_utf8(ours.stdout).unwrap()), expected);
    assert_eq!(read("e.ours"), read("e.theirs"));
    assert_eq!(read("t.ours"), read("t.theirs"));
    // A table does not replace the trace.
    let refused = convert(folder.path(), &["x.paje", "-o", "-", "--pj-dump", "--type-hierarchy", "x.paje"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
}
