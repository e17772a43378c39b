//! The reference implementation of Pajé: `pj_dump` of PajeNG. A test fails if it is missing.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

/// The kinds of rows.
const KINDS: [&str; 5] = ["Container", "State", "Variable", "Event", "Link"];

/// The rows of a Pajé file that `pj_dump` prints.
#[derive(Debug)]
pub struct PjDumpRows(Vec<Vec<String>>);

/// Asserts that `pj_dump -q` accepts a file without output.
///
/// # Panics
/// If it does not.
pub fn accept(path: &Path) {
    let output = output(&["-q"], path);
    let printed = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success() && printed.is_empty(),
        "pj_dump -q {} ended with {}: {}",
        path.display(),
        output.status,
        String::from_utf8_lossy(&printed)
    );
}

/// The sorted rows of a Pajé text, with user fields.
///
/// # Panics
/// If `pj_dump` does not accept the text, or prints a line that is not a row.
#[must_use]
pub fn rows(text: &[u8]) -> Vec<String> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text).expect("room for the text");
    accept(file.path());
    let text = succeed(&["-u", "-l", "9", "-e", "1e300"], file.path());
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    for row in &rows {
        let kind = row.split(", ").next().unwrap_or_default();
        assert!(KINDS.contains(&kind), "not a row of pj_dump: {row}");
    }
    rows.sort();
    rows
}

fn output(arguments: &[&str], path: &Path) -> Output {
    let output = Command::new("pj_dump").args(arguments).arg(path).output();
    output.expect("pj_dump runs (Debian package pajeng)")
}

/// The standard output of a call that succeeds.
fn succeed(arguments: &[&str], path: &Path) -> String {
    let output = output(arguments, path);
    assert!(
        output.status.success(),
        "pj_dump {} {} ended with {}: {}{}",
        arguments.join(" "),
        path.display(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("pj_dump prints UTF-8")
}

impl PjDumpRows {
    /// Reads a file with `pj_dump -l 9 -e 1e300`: all entities, with nanoseconds.
    ///
    /// # Panics
    /// If `pj_dump` rejects the file or prints a line that is not a row.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let text = succeed(&["-l", "9", "-e", "1e300"], path);
        let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(", ").map(str::to_owned).collect()).collect();
        for row in &rows {
            assert!(KINDS.contains(&row[0].as_str()), "not a row of pj_dump: {}", row.join(", "));
        }
        Self(rows)
    }

    /// The rows of one kind: `Container`, `State`, `Variable`, `Event`, `Link`.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a [String]> + 'a {
        self.0.iter().filter(move |row| row[0] == kind).map(Vec::as_slice)
    }

    /// Number of rows of one kind; for containers, without the root.
    #[must_use]
    pub fn count(&self, kind: &str) -> u64 {
        self.of(kind).filter(|row| kind != "Container" || row[1] != "0" || row[2] != "0").count() as u64
    }

    /// Number of links that end before they start.
    #[must_use]
    pub fn reversed_links(&self) -> usize {
        self.of("Link").filter(|row| row[5].starts_with('-')).count()
    }

    /// Total seconds in states of type `ty` with one of `values`, in the containers for which
    /// `keep` returns true.
    ///
    /// # Panics
    /// If a duration is not a number.
    pub fn seconds_in(&self, ty: &str, values: &[&str], keep: impl Fn(&str) -> bool) -> f64 {
        self.of("State")
            .filter(|row| row[2] == ty && values.contains(&row[7].as_str()) && keep(&row[1]))
            .map(|row| row[5].parse::<f64>().expect("the duration is a number"))
            .sum()
    }
}
