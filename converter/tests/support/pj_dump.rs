//! The reference implementation: `pj_dump` of PajeNG. A test that needs it fails if it is missing.

#![allow(unreachable_pub, reason = "part of each test")]

use std::io::Write;
use std::process::Command;

/// The sorted rows of a Pajé file, with user fields. The validator has to accept the file first.
pub fn rows(text: &[u8]) -> Vec<String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new("pj_dump").args(arguments).arg(file.path()).output();
        let output = output.expect("pj_dump runs (Debian package pajeng)");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "pj_dump {arguments:?}: {text}");
        text
    };
    let quiet = run(&["-q"]);
    assert_eq!(quiet, "");
    let mut rows: Vec<String> = run(&["-u", "-l", "9", "-e", "1e300"]).lines().map(str::to_owned).collect();
    for row in &rows {
        let first = row.split(", ").next().unwrap();
        assert!(["Container", "State", "Variable", "Event", "Link"].contains(&first), "{row}");
    }
    rows.sort();
    rows
}
