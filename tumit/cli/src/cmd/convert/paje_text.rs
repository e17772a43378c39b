//! Converts Pajé, PICL and Alog traces, and any filtered trace, to Pajé text or PICL.

use std::io::Write;

use tumit_viewer::filter::FilterChain;
use tumit_viewer::query::replay::replay;
use tumit_viewer::query::{GlobalNanos, PajeTypeKind, TimeRange, TimelineSource};
use tumit_viewer::{IndexChoice, OpenOptions, TraceOpenError};

use super::args::{Args, OutputFormat};
use super::text_style::TextStyle;
use crate::cmd::ExitStatus;
use crate::cmd::check::is_paje;
use crate::output_file::OutputFile;
use crate::progress::ProgressDisplay;
use crate::run_options::is_mistake;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term};

pub(super) fn run(
    args: &Args,
    input: &TraceInput,
    chain: &FilterChain,
    format: OutputFormat,
) -> anyhow::Result<ExitStatus> {
    let Some(convert) = args.convert_choices().options()? else { return Ok(ExitStatus::InputHasMistakes) };
    let mut open = OpenOptions::default();
    open.convert = convert;
    open.index = IndexChoice::None;
    open.launches = args.launch.launches();
    input.apply(&mut open);
    let mut options = args.style;
    if is_paje(input.path()) {
        // The unit is that of the input. The output is in seconds.
        open.unit_is_known = options.unit.is_some();
        open.unit = options.unit.take().unwrap_or_default().into();
    }
    let style = TextStyle::new(options, format)?;
    if !args.strict.accepts(input, &open)? {
        return Ok(ExitStatus::InputHasMistakes);
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
    let write = |out: &mut dyn Write| style.write(out, |sink| replay(source.as_ref(), sink));
    let ((), changes) = if args.out.as_os_str() == "-" {
        write(&mut term::stdout())?
    } else {
        let file = OutputFile::create(&args.out)?;
        let output = write(&mut &file)?;
        file.finish()?;
        output
    };
    printed_diagnostics::print(&summary.diagnostics);
    changes.print(open_link_count(source.as_ref())?);
    Ok(if summary.is_intact() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// The number of links that never end.
fn open_link_count(source: &dyn TimelineSource) -> anyhow::Result<u64> {
    let ever = TimeRange { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };
    let mut count = 0;
    for ty in source.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        count += source.open_links(ty.id, ever)?.len() as u64;
    }
    Ok(count)
}
