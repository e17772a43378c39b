//! Containers and entities as rows: `-o x.csv`, `-o x.json`, `--pj-dump`.

use viewer::entities::{self, Account};
use viewer::{OpenError, OpenOptions};

use super::{Args, Causal, is_mistake};
use crate::cmd::Status;
use crate::output_file::OutputFile;
use crate::progress::Bar;
use crate::{spec_files, term};

pub(super) fn run(args: &Args, format: entities::Format) -> anyhow::Result<Status> {
    let mut options = OpenOptions::default();
    options.clock = args.clock.into();
    options.causal = args.causal == Causal::On;
    options.threads = args.threads;
    options.memory = args.memory.0;
    options.output.clone_from(&args.output);
    if let Some(path) = &args.rules {
        let Some(spec) = spec_files::compile(path)? else { return Ok(Status::InputHasMistakes) };
        options.rules = Some(spec);
    }
    let bar = Bar::new(if args.input.is_dir() { "{human_len} records" } else { "{total_bytes}" });
    options.progress = bar.teller();
    let made = if args.out.as_os_str() == "-" {
        entities::write(&args.input, &options, format, &mut term::stdout())
    } else {
        let file = OutputFile::create(&args.out)?;
        match entities::write_to_file(&args.input, &options, format, file.file()) {
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
        Err(error) => return Err(error.into()),
    };
    for line in faults.iter().chain(&remarks) {
        term::note(&format!("tumit: {line}"));
    }
    Ok(if faults.is_empty() { Status::Done } else { Status::InputHasMistakes })
}
