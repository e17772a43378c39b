//! Checks that the commands of a report of `tumit diagnose` print the numbers of the report.

use std::path::Path;
use std::process::Command;

use crate::programs::{succeed, tumit};

/// A number of a report.
#[derive(Debug)]
struct ReportNumber {
    /// As the report prints it.
    text: String,
    /// In seconds, percent, or as a count.
    value: f64,
    /// Half of its last digit.
    tolerance: f64,
}

/// Units of measurement, with the size of the largest base unit that tables have.
const UNITS: [(&str, f64); 8] =
    [("%", 1.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9), ("wait", 1.0), ("waits", 1.0), ("×", 1.0)];

/// The numbers with a unit of measurement in a line. Digits in names have none.
fn numbers_of(line: &str) -> Vec<ReportNumber> {
    // In `rank 0 waits most`, the number belongs to the name.
    let line = line.replace(" waits most", "");
    let words: Vec<&str> = line.split(' ').collect();
    let mut numbers = Vec::new();
    for pair in words.windows(2) {
        let digits: String = pair[0].trim_start_matches('(').chars().filter(|letter| *letter != '\u{202f}').collect();
        let unit = pair[1].trim_end_matches([',', ')', ':', ';', '.']);
        let Some((_, size)) = UNITS.into_iter().find(|(name, _)| *name == unit) else { continue };
        let Ok(value) = digits.parse::<f64>() else { continue };
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let step = 10_f64.powi(-i32::try_from(decimals).unwrap_or(0));
        let text = format!("{} {unit}", pair[0].trim_start_matches('('));
        numbers.push(ReportNumber { text, value: value * size, tolerance: step * size * 0.501 });
    }
    numbers
}

/// Whether a table, or another report, has a number.
fn has_number(output: &str, number: &ReportNumber) -> bool {
    let cells = output.lines().flat_map(|line| line.split(',')).filter_map(|cell| cell.parse::<f64>().ok());
    let fits = |cell: f64| (cell - number.value).abs() <= number.tolerance.max(number.value.abs() * 1e-9);
    cells.into_iter().any(fits) || output.contains(&number.text)
}

/// Runs a command of a report in a shell.
fn run_in_shell(folder: &Path, command: &str) -> String {
    let program = tumit().get_program().to_owned();
    let quoted = command.replacen("tumit", &format!("'{}'", Path::new(&program).display()), 1);
    succeed(Command::new("sh").args(["-c", &quoted]).current_dir(folder))
}

/// Runs all commands of a report. The commands of a section, after `>`, print all of its numbers.
/// Each of them prints at least one. The others draw an image. Returns the number of commands and
/// of numbers.
///
/// # Panics
/// If a command fails, or does not print a number.
pub fn check(folder: &Path, report: &str) -> [usize; 2] {
    let (mut commands, mut count) = (0, 0);
    for section in report.split("\n\n") {
        let is_command = |line: &&str| line.trim().starts_with("> ") || line.trim().starts_with("drawing: ");
        let numbers: Vec<ReportNumber> = section
            .lines()
            .filter(|line| !is_command(line))
            .flat_map(|line| numbers_of(&line.replace("(5 % or more)", "")))
            .collect();
        let mut outputs = Vec::new();
        for line in section.lines().filter(is_command).map(str::trim) {
            commands += 1;
            if let Some(command) = line.strip_prefix("> ") {
                let output = run_in_shell(folder, command);
                assert!(
                    numbers.is_empty() || numbers.iter().any(|number| has_number(&output, number)),
                    "`{command}` prints no number of\n{section}\nbut\n{output}"
                );
                outputs.push(output);
            } else if let Some(command) = line.strip_prefix("drawing: ") {
                run_in_shell(folder, command);
            }
        }
        for number in &numbers {
            assert!(
                outputs.iter().any(|output| has_number(output, number)),
                "no command prints {number:?} of\n{section}\nThe commands print\n{}",
                outputs.join("\n")
            );
        }
        count += numbers.len();
    }
    [commands, count]
}
