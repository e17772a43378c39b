//! Converts PICL and Alog traces to Pajé text or PICL, without filters. The operations are not kept
//! in memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use anyhow::{Context as _, bail};
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::convert::{ConvertOptions, ProgressFn};
use tumit_picl::{PiclFaultKind, PiclReader, TraceFormat};

use super::args::Args;
use super::text_style::TextStyle;
use crate::cmd::ExitStatus;
use crate::output_file::OutputFile;
use crate::progress::ProgressDisplay;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term};

/// Bytes between two updates of the progress bar.
const PORTION_BYTES: usize = 1 << 20;

/// Reports the progress of reading.
struct ProgressReader {
    inner: File,
    done_bytes: u64,
    total: u64,
    progress: Option<ProgressFn>,
}

impl Read for ProgressReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.done_bytes += read as u64;
        if let Some(progress) = &self.progress {
            progress(self.done_bytes, self.total.max(self.done_bytes));
        }
        Ok(read)
    }
}

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
    if !args.strict.accepts_run(input, &ConvertOptions::default(), LaunchSelection::default())? {
        return Ok(ExitStatus::InputHasMistakes);
    }
    let cannot_read = || format!("cannot read `{}`", args.input.display());
    let file = File::open(input.path()).with_context(cannot_read)?;
    let total = file.metadata().map_or(0, |metadata| metadata.len());
    let bar = ProgressDisplay::new("{total_bytes}");
    let input = ProgressReader { inner: file, done_bytes: 0, total, progress: bar.callback() };
    let reader = PiclReader::new(BufReader::with_capacity(PORTION_BYTES, input), format);
    let write = |out: &mut dyn Write| style.write(out, |sink| reader.read(sink).with_context(cannot_read));
    let (report, changes) = if args.out.as_os_str() == "-" {
        write(&mut term::stdout())?
    } else {
        let file = OutputFile::create(&args.out)?;
        let output = write(&mut &file)?;
        file.finish()?;
        output
    };
    drop(bar);
    let diagnostics = report.diagnostics();
    printed_diagnostics::print(&diagnostics);
    let is_open = |kind: PiclFaultKind| kind == PiclFaultKind::UnmatchedSend;
    changes.print(report.faults.iter().filter(|fault| is_open(fault.kind)).map(|fault| fault.count).sum());
    let is_intact = diagnostics.iter().all(|diagnostic| !diagnostic.is_error());
    Ok(if is_intact { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}
