//! The Rust drivers of all cases in one program. `trace_driver NAME` makes the calls of
//! `cases/NAME/drive.rs`.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match CASES.iter().find(|(known, _)| *known == name) {
        Some((_, drive)) => drive(),
        None => {
            eprintln!("trace_driver: unknown case `{name}`");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
