//! Traces in several files: the root file names the others in the field `Filename`.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{header, rows, run};

/// The definition of containers with the field.
const CREATES: &str = "%EventDef PajeCreateContainer 60\n% Time date\n% Alias string\n% Type string\n% Container string\n\
                       % Name string\n% Filename string\n%EndEventDef\n";
/// Another numbering, as a part may have.
const OWN: &str = "%EventDef PajePushState 70\n% Type string\n% Time date\n% Container string\n% Value string\n\
                   %EndEventDef\n%EventDef PajePopState 71\n% Time date\n% Type string\n% Container string\n%EndEventDef\n";
const TREE: &str = "1 T 0 Thread\n3 S T State\n6 w S work \"0 1 0\"\n";

/// A root file with two parts: one with definitions, one with those of the root.
fn write(folder: &Path) {
    let root = format!(
        "{CREATES}{OWN}{}{TREE}60 0 a T 0 a parts/a.trace\n60 0 b T 0 b \"\"\n60 2 c T 0 c parts/c.trace\n70 S 4 b w\n71 9 S b\n",
        header()
    );
    fs::create_dir_all(folder.join("parts")).unwrap();
    fs::write(folder.join("root.trace"), root).unwrap();
    let own = OWN.replace("70", "1").replace("71", "2");
    fs::write(folder.join("parts/a.trace"), format!("{own}1 S 1 a w\n2 6 S a\n")).unwrap();
    fs::write(folder.join("parts/c.trace"), "70 S 3 c w\n71 5 S c\n").unwrap();
}

#[test]
fn the_files_of_a_trace_are_read_as_one() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let states: Vec<String> =
        rows(dir.path(), "root.trace").into_iter().filter(|row| row.starts_with("State")).collect();
    let times = |row: &String| row.split(',').skip(1).take(5).map(str::to_owned).collect::<Vec<_>>().join(",");
    let expected = [
        "a,State,1.000000000,6.000000000,5.000000000",
        "b,State,4.000000000,9.000000000,5.000000000",
        "c,State,3.000000000,5.000000000,2.000000000",
    ];
    assert_eq!(states.iter().map(times).collect::<Vec<_>>(), expected);
    let (code, out, _) = run(dir.path(), &["check", "root.trace"], b"");
    assert!(code == Some(0) && out.contains("trace in several files (`parts/a.trace`), 2 times"), "{out}");
    let (code, out, errors) = run(dir.path(), &["stats", "root.trace"], b"");
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    // The copy is one file.
    let (code, _, errors) = run(dir.path(), &["convert", "root.trace", "-o", "one.paje"], b"");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(!fs::read_to_string(dir.path().join("one.paje")).unwrap().contains("Filename"));
    let of_one: Vec<String> = rows(dir.path(), "one.paje").into_iter().filter(|row| row.starts_with("State")).collect();
    assert_eq!(of_one.iter().map(times).collect::<Vec<_>>(), expected);
    let (code, _, errors) = run(dir.path(), &["convert", "root.trace", "-o", "parts/a.trace"], b"");
    assert!(code == Some(2) && errors.contains("parts/a.trace"), "{errors}");
}

#[test]
fn compressed_files_of_a_trace_are_read() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let states = |root: &str| -> Vec<String> {
        rows(dir.path(), root).into_iter().filter(|row| row.starts_with("State")).collect()
    };
    let expected = states("root.trace");
    assert_eq!(expected.len(), 3);
    let compress = |name: &str, program: &str| {
        assert!(Command::new(program).arg(dir.path().join(name)).status().unwrap().success());
    };
    // The trace names the part without its new extension.
    compress("parts/a.trace", "gzip");
    compress("parts/c.trace", "xz");
    assert_eq!(states("root.trace"), expected);
    // With the extension, and below a compressed root.
    let root = fs::read_to_string(dir.path().join("root.trace")).unwrap();
    fs::write(dir.path().join("named.trace"), root.replace("parts/a.trace", "parts/a.trace.gz")).unwrap();
    assert_eq!(states("named.trace"), expected);
    compress("root.trace", "bzip2");
    assert_eq!(states("root.trace.bz2"), expected);
    let (code, out, errors) = run(dir.path(), &["check", "root.trace.bz2"], b"");
    assert!(code == Some(0) && out.contains(" 3 states") && out.contains("2 times"), "{out}{errors}");
    let (code, _, errors) = run(dir.path(), &["convert", "root.trace.bz2", "-o", "parts/a.trace.gz"], b"");
    assert!(code == Some(2) && errors.contains("parts/a.trace.gz"), "{errors}");
    // A page reads most compressed files as a pipe, which has no folder.
    let page = ["view", "root.trace.bz2", "--no-open", "--until-idle", "1"];
    let (code, _, errors) = run(dir.path(), &page, b"");
    assert!(code == Some(0) && errors.contains("The page is closed") && !errors.contains("not read"), "{errors}");
    // An index follows the parts of a compressed root, too.
    let index = || run(dir.path(), &["index", "root.trace.bz2", "--index", "i.tmtx"], b"").2;
    assert!(index().contains("made"), "the first time");
    assert!(index().contains("is there already"));
    fs::remove_file(dir.path().join("parts/c.trace.xz")).unwrap();
    assert!(index().contains("parts/c.trace"), "one is missing");
}

#[test]
fn messages_name_damaged_and_too_large_compressed_parts() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let mut text = String::from("70 S 3 c w\n71 5 S c\n");
    // Long enough that a part of it can be decompressed.
    for number in 0..50_000_u64 {
        let date = 5.0 + number as f64 * 1e-5;
        text += &format!("70 S {date:.5} c w\n71 {date:.5} S c\n");
    }
    fs::write(dir.path().join("parts/c.trace"), text).unwrap();
    assert!(Command::new("gzip").arg(dir.path().join("parts/c.trace")).status().unwrap().success());
    let part = dir.path().join("parts/c.trace.gz");
    let (code, out, _) = run(dir.path(), &["check", "root.trace", "--input-limit", "1000"], b"");
    assert!(code == Some(1) && out.contains("`--input-limit SIZE` raises the limit"), "{out}");
    let bytes = fs::read(&part).unwrap();
    fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();
    let (code, out, _) = run(dir.path(), &["check", "root.trace"], b"");
    assert!(code == Some(1) && out.contains("its gzip data are damaged or cut short"), "{out}");
    let states: u64 = out.rsplit_once(" states").unwrap().0.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((1_000..50_000).contains(&states), "what was decompressed is read: {out}");
    fs::write(dir.path().join("parts/c.trace.gz"), b"\0\x01\x02 binary").unwrap();
    let (code, out, _) = run(dir.path(), &["check", "root.trace"], b"");
    assert!(code == Some(1) && out.contains("it does not contain text"), "{out}");
}

#[test]
fn messages_name_unreadable_parts() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("trace");
    write(&folder);
    fs::write(dir.path().join("secret"), "70 S 1 b w\n71 2 S b\n").unwrap();
    std::os::unix::fs::symlink("../secret", folder.join("link")).unwrap();
    std::os::unix::fs::symlink("parts/c.trace", folder.join("inner")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("fifo")).status().unwrap().success());
    let mut root = fs::read_to_string(folder.join("root.trace")).unwrap();
    let secret = dir.path().join("secret");
    let names =
        ["none", "../secret", secret.to_str().unwrap(), "link", "fifo", "/dev/zero", "parts", "inner", "root.trace"];
    for (index, name) in names.iter().enumerate() {
        root.push_str(&format!("60 9 x{index} T 0 x{index} {name}\n"));
    }
    fs::write(folder.join("root.trace"), &root).unwrap();
    let (code, out, _) = run(&folder, &["check", "root.trace"], b"");
    assert_eq!(code, Some(1), "{out}");
    let line = |name: &str| root.lines().position(|line| line.ends_with(&format!(" {name}"))).unwrap() + 1;
    assert!(
        out.contains(&format!("root.trace:{}: error: file of a split trace that cannot be read", line("none"))),
        "{out}"
    );
    let refused = format!("root.trace:{}: error: file of a split trace that is rejected", line("../secret"));
    assert!(out.contains(&refused) && out.contains("6 times from this line on"), "{out}");
    for name in ["link", "fifo", "/dev/zero", "parts"] {
        assert!(out.contains(&format!("line {}, {name}: it is ", line(name))), "{name}: {out}");
    }
    // The remaining parts are read.
    assert!(out.contains(" 3 states"), "{out}");
    // Without a folder no part is opened.
    let text = fs::read(folder.join("root.trace")).unwrap();
    let (code, _, errors) = run(&folder, &["stats", "-"], &text);
    assert!(code == Some(1) && errors.contains("because its folder is unknown"), "{errors}");
}

#[test]
fn the_index_of_a_split_trace_is_rebuilt_if_a_part_changes() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let index = || run(dir.path(), &["index", "root.trace"], b"").2;
    assert!(index().contains("made"), "the first time");
    assert!(index().contains("is there already"));
    fs::write(dir.path().join("parts/c.trace"), "70 S 3 c w\n71 4 S c\n70 S 4 c w\n71 5 S c\n").unwrap();
    let index_report = index();
    assert!(index_report.contains("the trace has changed") && index_report.contains("4 entities"), "{index_report}");
    fs::remove_file(dir.path().join("parts/a.trace")).unwrap();
    assert!(index().contains("the trace has changed"));
    assert!(index().contains("parts/a.trace"));
}

#[test]
fn messages_about_faults_name_their_part() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    fs::write(dir.path().join("parts/c.trace"), "70 S 3 c w\n71 5 S c\n71 6 S c\n70 S 6 nobody w\n").unwrap();
    let (code, out, _) = run(dir.path(), &["check", "root.trace"], b"");
    assert!(code == Some(1) && out.contains("root.trace: parts/c.trace:4: error: line with a container"), "{out}");
    assert!(out.contains("root.trace: parts/c.trace:3: error: "), "{out}");
    let (_, _, errors) = run(dir.path(), &["stats", "root.trace"], b"");
    assert!(errors.contains("line 4 of parts/c.trace: line with a container"), "{errors}");
    assert!(errors.contains("in line 3 of parts/c.trace"), "{errors}");
}
