//! `pj_dump`, the reference program that checks our Pajé files, and its rows.

use std::path::Path;
use std::process::Command;

use crate::programs::{output, succeed};

/// The rows of a Pajé file that `pj_dump` prints.
#[derive(Debug)]
pub struct PjDumpRows(Vec<Vec<String>>);

/// Asserts that `pj_dump -q` accepts a file without output.
///
/// # Panics
/// If it does not.
pub fn accept(path: &Path) {
    let output = output(Command::new("pj_dump").arg("-q").arg(path));
    let said = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success() && said.is_empty(),
        "pj_dump -q {} ended with {}: {}",
        path.display(),
        output.status,
        String::from_utf8_lossy(&said)
    );
}

impl PjDumpRows {
    /// Reads a file with `pj_dump -l 9 -e 1e300`: all entities, with nanoseconds.
    ///
    /// # Panics
    /// If `pj_dump` rejects the file or prints a line that is not a row.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let text = succeed(Command::new("pj_dump").args(["-l", "9", "-e", "1e300"]).arg(path));
        let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(", ").map(str::to_owned).collect()).collect();
        for row in &rows {
            let known = ["Container", "State", "Variable", "Event", "Link"].contains(&row[0].as_str());
            assert!(known, "not a row of pj_dump: {}", row.join(", "));
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
