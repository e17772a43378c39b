//! Containers and entities as rows: `-o x.csv`, `-o x.json`, `--pj-dump`.

use converter::pipeline::Options;
use viewer::entities::{self, Account};
use viewer::{OpenError, OpenOptions};

use super::{Args, is_mistake, named};
use crate::cmd::Status;
use crate::output_file::OutputFile;
use crate::progress::Bar;
use crate::run_options;
use crate::trace_input::TraceInput;
use crate::{spec_files, term};

pub(super) fn run(args: &Args, input: &TraceInput, format: entities::Format) -> anyhow::Result<Status> {
    let mut options = OpenOptions::default();
    let Options { clock, causal, threads, memory, .. } = run_options::options(args.dating, args.resources);
    (options.clock, options.causal, options.threads, options.memory) = (clock, causal, threads, memory);
    options.unit = args.style.of_input()?;
    options.unit_is_known = args.style.unit.is_some();
    options.wall_clock = args.wall_clock;
    options.launches = args.launch.launches();
    options.output.clone_from(&args.text_output);
    input.apply(&mut options)?;
    if let Some(path) = &args.rules {
        let Some(spec) = spec_files::compile(path)? else { return Ok(Status::InputHasMistakes) };
        options.rules = Some(spec);
    }
    let bar = Bar::new(if input.path().is_dir() { "{human_len} records" } else { "{total_bytes}" });
    options.progress = bar.teller();
    let made = if args.out.as_os_str() == "-" {
        entities::write(input.path(), &options, format, &mut term::stdout())
    } else {
        let file = OutputFile::create(&args.out)?;
        let made = match file.whole_file() {
            Some(file) => entities::write_to_file(input.path(), &options, format, file),
            None => entities::write(input.path(), &options, format, &mut &file),
        };
        match made {
            Ok(account) => file.finish().map(|()| Ok(account))?,
            Err(error) => Err(error),
        }
    };
    drop(bar);
    let Account { faults, remarks, .. } = match made {
        Ok(account) => account,
        Err(OpenError::Convert(error)) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(Status::InputHasMistakes);
        }
        Err(OpenError::Convert(error)) => return Err(named(error, &args.out)),
        Err(error) => return Err(error.into()),
    };
    for line in faults.iter().chain(&remarks) {
        term::note(&format!("tumit: {line}"));
    }
    Ok(if faults.is_empty() { Status::Done } else { Status::InputHasMistakes })
}
