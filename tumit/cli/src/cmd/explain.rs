//! `tumit explain`: explains the codes of mistakes, with examples.

use std::ffi::OsStr;
use std::io::Write as _;

use anyhow::Context as _;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use tumit::Code;
use tumit::explain;

use super::exit_status::ExitStatus;
use crate::term;

/// Explains codes of mistakes, each with a wrong and a right example
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit explain T0062              the meaning, a spec with the mistake, and a correct spec
  tumit explain t62 3              case, T and leading zeros are optional
  tumit explain                    all codes, one per line
  tumit explain --markdown > mistakes.md")]
pub(crate) struct Args {
    /// Codes such as T0062 [default: a list of all codes]
    #[arg(value_name = "CODE", value_parser = CodeParser, hide_possible_values = true)]
    codes: Vec<Code>,

    /// Writes Markdown; without codes, a page that explains all of them
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let text = match (args.codes.as_slice(), args.markdown) {
        ([], false) => table(),
        ([], true) => explain::markdown_page(),
        (codes, true) => codes.iter().map(|code| explain::markdown(*code)).collect::<Vec<_>>().join("\n"),
        (codes, false) => {
            let color = term::is_stdout_colored();
            codes.iter().map(|code| explain::text(*code, color)).collect::<Vec<_>>().join("\n")
        }
    };
    let mut out = term::stdout();
    out.write_all(text.as_bytes()).context("cannot write")?;
    out.flush().context("cannot write")?;
    Ok(ExitStatus::Done)
}

/// A table of all codes with the first sentence of each.
fn table() -> String {
    Code::ALL.iter().map(|code| format!("{code}  {}\n", explain::headline(*code))).collect()
}

/// Parses codes, and lists all of them for completion.
#[derive(Clone)]
struct CodeParser;

impl TypedValueParser for CodeParser {
    type Value = Code;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<Code, clap::Error> {
        value.to_str().and_then(Code::parse).ok_or_else(|| {
            let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(command);
            let name = arg.map_or_else(|| "CODE".to_owned(), ToString::to_string);
            error.insert(ContextKind::InvalidArg, ContextValue::String(name));
            error.insert(ContextKind::InvalidValue, ContextValue::String(value.to_string_lossy().into_owned()));
            let help = "expected a code such as T0062; `tumit explain` lists all codes".to_owned();
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![help.into()]));
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Code::ALL.iter().map(|code| PossibleValue::new(code.to_string()))))
    }
}
