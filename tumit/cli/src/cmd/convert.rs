//! `tumit convert`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use converter::clock::Method;
use converter::paje::write::Writer;
use converter::pipeline::{ConvertError, Options, convert, convert_to_text, own_paje_output};
use converter::report::Report;
use converter::run::Run;

use super::Status;
use crate::output_file::OutputFile;
use crate::progress::Bar;
use crate::{spec_files, term};

/// Converts a run to Pajé text, or to a text format of your own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit convert run.tmt -o run.paje                    the rules of the recorded spec, clocks corrected
  tumit convert run.tmt -o - | pj_dump                 to standard output
  tumit convert run.tmt --rules other.tumit -o x.paje  an old run seen in a new way
  tumit convert run.tmt --output by-hand -o run.txt    the lines of `output text \"by-hand\"` of the spec

The file appears under its name only when it is complete. What was lost, damaged or repaired is told on standard error.
Exit status: 0 done, 1 there were losses or damage (the rest was converted), 2 could not run.")]
pub(crate) struct Args {
    /// The run: a folder NAME.tmt, or one process file of it
    #[arg(value_name = "RUN")]
    input: PathBuf,

    /// Where to write: a file that ends in .paje or .trace, or - for standard output
    #[arg(short, long = "out", value_name = "FILE")]
    out: PathBuf,

    /// How clocks of different hosts are brought together
    #[arg(long, value_enum, default_value_t)]
    clock: Clock,

    /// Uses the rules of this spec instead of those recorded with the run
    #[arg(long, value_name = "SPEC")]
    rules: Option<String>,

    /// Writes this text output of the spec instead of Pajé
    #[arg(long = "output", value_name = "NAME")]
    output: Option<String>,
}

/// How clocks are corrected.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Clock {
    /// By the messages that processes exchanged for it: offset and drift
    #[default]
    Bursts,
    /// Not at all: shows what each clock says
    None,
}

impl From<Clock> for Method {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Bursts => Self::Bursts,
            Clock::None => Self::None,
        }
    }
}

/// A text output that the user named and the spec lacks is a mistake of the input.
pub(super) fn is_mistake(error: &ConvertError) -> bool {
    matches!(error, ConvertError::NoOutput { .. })
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let to_stdout = args.out.as_os_str() == "-";
    if !to_stdout && args.output.is_none() {
        check_ending(&args.out)?;
    }
    let mut options = Options::default();
    options.clock = args.clock.into();
    options.output.clone_from(&args.output);
    if let Some(path) = &args.rules {
        let Some(spec) = spec_files::compile(path)? else { return Ok(Status::InputHasMistakes) };
        options.rules = Some(spec);
    }
    let recorded = Run::open(&args.input)?;
    if options.output.is_none() && options.rules.is_none() {
        options.output = own_paje_output(&recorded);
    }
    let bar = Bar::new("{human_len} records");
    options.progress = bar.teller();
    let made = if to_stdout {
        write(&recorded, &options, &mut term::stdout())
    } else {
        let file = OutputFile::create(&args.out)?;
        let made = write(&recorded, &options, &mut &file);
        match made {
            Ok(report) => file.finish().map(|()| Ok(report))?,
            Err(error) => Err(error),
        }
    };
    drop(bar);
    let report = match made {
        Ok(report) => report,
        Err(error) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(Status::InputHasMistakes);
        }
        Err(error) => return Err(error.into()),
    };
    for line in report.lines() {
        term::note(&format!("tumit: {line}"));
    }
    Ok(if report.is_clean() { Status::Done } else { Status::InputHasMistakes })
}

fn write(run: &Run, options: &Options, out: &mut dyn Write) -> Result<Report, ConvertError> {
    if options.output.is_some() {
        let mut buffered = std::io::BufWriter::with_capacity(1 << 16, out);
        let report = convert_to_text(run, options, &mut buffered)?;
        buffered.flush()?;
        return Ok(report);
    }
    let mut writer = Writer::new(out);
    convert(run, options, &mut writer)
}

fn check_ending(path: &Path) -> anyhow::Result<()> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    if !matches!(ending, "paje" | "trace") {
        bail!(
            "the format follows from the ending of the file: `{}` should end in .paje or .trace (or be - for standard output)",
            path.display()
        );
    }
    Ok(())
}
