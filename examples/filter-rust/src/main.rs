//! Copies a run without the messages smaller than BYTES: `filter-rust RUN.tmt OUT.tmt BYTES`.

use std::path::Path;

use tumit_converter::run::OpenRun;
use tumit_converter::tools::records::{RecordReader, RecordWriter};

tracer_rt::records!("../taktuk/taktuk.tumit");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, run, out, bytes] = &arguments[..] else { return Err("usage: filter-rust RUN.tmt OUT.tmt BYTES".into()) };
    let (run, least) = (OpenRun::open(run)?, bytes.parse::<u32>()?);
    for (number, process) in run.processes.iter().enumerate() {
        let mut reader = RecordReader::<taktuk::Trace>::new(&run, number)?;
        let mut writer = RecordWriter::copy(process, Path::new(out))?;
        while let Some(recorded) = reader.next()? {
            match &recorded.record {
                taktuk::Record::Post(post) if post.bytes < least => eprintln!("{post} is left out"),
                _ => writer.write(&recorded)?,
            }
        }
        writer.finish()?;
        for damage in reader.damage() {
            eprintln!(
                "{}: {} bytes at offset {}: {}",
                process.path.display(),
                damage.bytes,
                damage.offset,
                damage.reason
            );
        }
        if reader.damaged_records() > 0 {
            eprintln!("{} records cannot be read", reader.damaged_records());
        }
    }
    Ok(())
}
