//! Containers and entities as rows: `-o x.csv`, `-o x.json`, `--pj-dump`.

use std::io::{self, BufWriter, Write as _};

use tumit_viewer::query::TimelineSource;
use tumit_viewer::tables::{self, hierarchy};
use tumit_viewer::{IndexChoice, OpenOptions, TraceOpenError};

use super::args::Args;
use super::messages::with_output_name;
use crate::cmd::ExitStatus;
use crate::output_file::OutputFile;
use crate::progress::ProgressDisplay;
use crate::run_options::is_mistake;
use crate::trace_input::TraceInput;
use crate::{printed_diagnostics, term};

pub(super) fn run(args: &Args, input: &TraceInput, format: tables::TableFormat) -> anyhow::Result<ExitStatus> {
    let mut options = OpenOptions::default();
    options.unit = args.style.input_unit()?;
    options.unit_is_known = args.style.unit.is_some();
    options.wall_clock = args.wall_clock;
    options.launches = args.launch.launches();
    input.apply(&mut options);
    let Some(convert) = args.convert_choices().options()? else { return Ok(ExitStatus::InputHasMistakes) };
    options.convert = convert;
    if !args.strict.accepts(input, &options)? {
        return Ok(ExitStatus::InputHasMistakes);
    }
    let bar = ProgressDisplay::new(if input.path().is_dir() { "{human_len} records" } else { "{total_bytes}" });
    options.convert.progress = bar.callback();
    let result = if args.out.as_os_str() == "-" {
        tables::write(input.path(), &options, format, &mut term::stdout())
    } else {
        let file = OutputFile::create(&args.out)?;
        let written = match file.whole_file() {
            Some(file) => tables::write_to_file(input.path(), &options, format, file),
            None => tables::write(input.path(), &options, format, &mut &file),
        };
        match written {
            Ok(account) => file.finish().map(|()| Ok(account))?,
            Err(error) => Err(error),
        }
    };
    drop(bar);
    let account = match result {
        Ok(account) => account,
        Err(TraceOpenError::Convert(error)) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(ExitStatus::InputHasMistakes);
        }
        Err(TraceOpenError::Convert(error)) => return Err(with_output_name(error, &args.out)),
        Err(error) => return Err(error.into()),
    };
    write_hierarchies(args, input, options)?;
    printed_diagnostics::print(&account.diagnostics);
    Ok(if account.errors().is_empty() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// Writes the tables of --entity-hierarchy and --type-hierarchy. They need the whole trace, which
/// is read a second time.
fn write_hierarchies(args: &Args, input: &TraceInput, options: OpenOptions) -> anyhow::Result<()> {
    type Write = fn(&dyn TimelineSource, &mut dyn io::Write) -> io::Result<()>;
    let outputs: [(_, Write); 2] =
        [(&args.entity_hierarchy, hierarchy::write_entities), (&args.type_hierarchy, hierarchy::write_types)];
    if outputs.iter().all(|(path, _)| path.is_none()) {
        return Ok(());
    }
    let mut options = options;
    (options.index, options.convert.progress) = (IndexChoice::None, None);
    let source = tumit_viewer::open(input.path(), &options)?;
    for (path, write) in outputs.into_iter().filter_map(|(path, write)| Some((path.as_ref()?, write))) {
        let file = OutputFile::create(path)?;
        let mut out = BufWriter::new(&file);
        write(source.as_ref(), &mut out)?;
        out.flush()?;
        drop(out);
        file.finish()?;
    }
    Ok(())
}
