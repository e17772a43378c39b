//! Keeps the messages of at least so many bytes, and all that is no message: `filter-rust RUN.tmt OUT.tmt BYTES`.

use std::path::Path;

use tumit_converter::run::Run;
use tumit_converter::tools::records::{Reader, Writer};

tracer_rt::records!("../taktuk/taktuk.tumit");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, run, out, bytes] = &arguments[..] else { return Err("usage: filter-rust RUN.tmt OUT.tmt BYTES".into()) };
    let (run, least) = (Run::open(run)?, bytes.parse::<u32>()?);
    for (number, process) in run.processes.iter().enumerate() {
        let mut reader = Reader::<taktuk::Trace>::new(&run, number)?;
        let mut writer = Writer::copy(process, Path::new(out))?;
        while let Some(recorded) = reader.next()? {
            match &recorded.record {
                taktuk::Record::Post(post) if post.bytes < least => eprintln!("{post} is left out"),
                _ => writer.write(&recorded)?,
            }
        }
        writer.finish()?;
    }
    Ok(())
}
