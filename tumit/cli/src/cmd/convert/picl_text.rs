//! Converts PICL and Alog traces to Pajé text or PICL, without filters. The operations are not kept
//! in memory.

use std::fs::File;
use std::io::{BufReader, Write};

use anyhow::{Context as _, bail};
use tumit_converter::convert::ConvertOptions;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_picl::{PiclReader, TraceFormat};

use super::args::Args;
use super::text_style::TextStyle;
use crate::cmd::ExitStatus;
use crate::output_file::OutputFile;
use crate::trace_input::TraceInput;
use crate::{diagnostics, term};

pub(super) fn run(
    args: &Args,
    input: &TraceInput,
    format: TraceFormat,
    style: TextStyle,
) -> anyhow::Result<ExitStatus> {
    let Some(convert) = args.convert_choices().options()? else { return Ok(ExitStatus::InputHasMistakes) };
    let is_for_runs = convert.rules.is_some()
        || convert.output.is_some()
        || convert.clock != ConvertOptions::default().clock
        || args.launch.launches() != LaunchSelection::default();
    if is_for_runs {
        bail!("{} is no run: options for clocks, rules, outputs and launches are for runs only", args.input.display());
    }
    let cannot_read = || format!("cannot read `{}`", args.input.display());
    let file = File::open(input.path()).with_context(cannot_read)?;
    let reader = PiclReader::new(BufReader::new(file), format);
    let write = |out: &mut dyn Write| style.write(out, |sink| reader.read(sink).with_context(cannot_read));
    let (report, changed) = if args.out.as_os_str() == "-" {
        write(&mut term::stdout())?
    } else {
        let file = OutputFile::create(&args.out)?;
        let written = write(&mut &file)?;
        file.finish()?;
        written
    };
    let found = report.diagnostics();
    diagnostics::print(&found);
    style.note_changes(changed);
    let is_intact = found.iter().all(|diagnostic| !diagnostic.is_error());
    Ok(if is_intact { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}
