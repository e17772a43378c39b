//! Converts Pajé text to Pajé text, and any filtered trace to Pajé text.

use std::io::{self, Write};

use tumit_paje::write::in_style;
use tumit_viewer::filter::FilterChain;
use tumit_viewer::query::replay::replay;
use tumit_viewer::{IndexChoice, OpenOptions, TraceOpenError};

use super::args::Args;
use super::messages::note_changed_texts;
use crate::cmd::ExitStatus;
use crate::cmd::check::{is_paje, picl_format};
use crate::output_file::OutputFile;
use crate::progress::ProgressDisplay;
use crate::run_options::is_mistake;
use crate::trace_input::TraceInput;
use crate::{diagnostics, term};

pub(super) fn run(args: &Args, input: &TraceInput, chain: &FilterChain) -> anyhow::Result<ExitStatus> {
    let Some(convert) = args.convert_choices().options()? else { return Ok(ExitStatus::InputHasMistakes) };
    let mut open = OpenOptions::default();
    open.convert = convert;
    open.index = IndexChoice::None;
    open.launches = args.launch.launches();
    input.apply(&mut open);
    let mut style = args.style;
    if is_paje(input.path()) && picl_format(input.path()).is_none() {
        // The unit is that of the input. The output is in seconds.
        open.unit_is_known = style.unit.is_some();
        open.unit = style.unit.take().unwrap_or_default().into();
    }
    let bar = ProgressDisplay::new(if input.path().is_dir() { "{human_len} records" } else { "{total_bytes}" });
    open.convert.progress = bar.callback();
    let opened = tumit_viewer::open(input.path(), &open);
    drop(bar);
    let source = match opened {
        Ok(source) => source,
        Err(TraceOpenError::Convert(error)) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(ExitStatus::InputHasMistakes);
        }
        Err(error) => return Err(error.into()),
    };
    let summary = source.summary();
    let source = args.filters.apply(chain, source)?;
    let write = |out: &mut dyn Write| -> io::Result<u64> {
        let mut sink = in_style(out, style.text_style());
        replay(source.as_ref(), &mut *sink)?;
        Ok(sink.changed_texts())
    };
    let changed = if args.out.as_os_str() == "-" {
        write(&mut term::stdout())?
    } else {
        let file = OutputFile::create(&args.out)?;
        let changed = write(&mut &file)?;
        file.finish()?;
        changed
    };
    diagnostics::print(&summary.diagnostics);
    note_changed_texts(changed);
    Ok(if summary.is_intact() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}
