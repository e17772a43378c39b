//! What conversions cost: time, processor time, peak memory and, where valgrind is there, instructions of each path.
//!
//! ```console
//! $ cargo run --release -p tests --bin measure_conversion -- 50000000 64    # states, threads: about 10^8 records
//! $ cargo run --release -p tests --bin measure_conversion -- --smoke        # a small run, for tests of this command
//! ```
//!
//! It makes the trace by `make_trace`, which must be built beside it, in a folder that it removes. Each path runs in a process
//! of its own, so that its peak memory is its own: the one in which the simulation hands all entities to one who counts
//! them, too. `pj_dump -q` reads the same file when it is installed. Times mean something on a quiet machine only.

#![expect(clippy::print_stdout, reason = "it is a command")]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use tumit_converter::convert::{Options, convert};
use tumit_converter::run::Run;
use tumit_paje::read::Reader;
use tumit_paje::time::GlobalNanos;
use tumit_paje::write::Writer;
use tumit_paje::{Extra, Source, ValueId};
use tumit_viewer::OpenOptions;
use tumit_viewer::query::Interval;
use tumit_viewer::sim::{EndedLink, EndedState, Entities, Place, Simulation};
use tumit_viewer::tables::{self, Format};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// The paths: name, what a unit is, whether the input is Pajé text.
const PATHS: [(&str, &str, bool); 5] = [
    ("run-paje", "records", false),
    ("run-entities", "records", false),
    ("run-csv", "rows", false),
    ("paje-entities", "events", true),
    ("paje-csv", "rows", true),
];
/// States of the run under valgrind: enough that what is done once for a run counts little.
const COUNTED_STATES: u32 = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["--path", path, input, out] => take(path, Path::new(input), Path::new(out)),
        ["--smoke"] => measure(2000, 4, false),
        [] => measure(5_000_000, 64, true),
        [states] => states.parse().map_err(Into::into).and_then(|states| measure(states, 64, true)),
        [states, threads] => match (states.parse(), threads.parse()) {
            (Ok(states), Ok(threads)) => measure(states, threads, true),
            _ => Err(USAGE.into()),
        },
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("measure_conversion: {why}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "usage: measure_conversion [--smoke | STATES [THREADS]]";

/// Makes the trace, sends it along each path, and prints a line for each.
fn measure(states: u32, threads: u32, counting: bool) -> Fallible<()> {
    let folder = tempfile::tempdir()?;
    let run = make(folder.path(), "measured", states, threads)?;
    let small = match counting && is_there("valgrind") {
        true => Some(make(folder.path(), "counted", COUNTED_STATES.min(states), threads)?),
        false => None,
    };
    println!(
        "{:<14} {:>11} {:>8} {:>8} {:>8} {:>9} {:>13}",
        "path", "units", "M/s", "wall s", "cpu s", "peak MB", "instructions"
    );
    let paje = |run: &Path| run.with_extension("paje");
    for (path, unit, is_text) in PATHS {
        let input = |run: &Path| if is_text { paje(run) } else { run.to_owned() };
        let out = if path == "run-paje" { paje(&run) } else { folder.path().join("out") };
        let cost = run_path(path, &input(&run), &out)?;
        let counted = small.as_deref().map(|small| {
            let out = if path == "run-paje" { paje(small) } else { folder.path().join("out") };
            instructions(path, &input(small), &out)
        });
        let counted = counted.transpose()?.map_or_else(|| "-".to_owned(), |count| format!("{count:.0} a unit"));
        let Cost { units, wall, cpu, peak } = cost;
        let speed = per_second(units, wall);
        println!("{path:<14} {units:>11} {speed:>8.2} {wall:>8.2} {cpu:>8.2} {peak:>9.1} {counted:>13}  ({unit})");
    }
    println!("{}", "the Pajé text has ".to_owned() + &std::fs::metadata(paje(&run))?.len().to_string() + " bytes");
    if is_there("pj_dump") { peer(&paje(&run)) } else { Ok(()) }
}

fn per_second(units: u64, seconds: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "printed with two decimals")]
    let units = units as f64;
    units / seconds.max(1e-9) / 1e6
}

/// A trace of the folder, made by `make_trace`.
fn make(folder: &Path, name: &str, states: u32, threads: u32) -> Fallible<PathBuf> {
    let maker = std::env::current_exe()?.with_file_name("make_trace");
    if !maker.is_file() {
        return Err(format!("{} is missing; `cargo build --release -p tests` makes it", maker.display()).into());
    }
    let run = folder.join(name).with_extension("tmt");
    let status =
        Command::new(maker).arg(&run).args([states.to_string(), threads.to_string()]).stdout(Stdio::null()).status()?;
    if status.success() { Ok(run) } else { Err(format!("make_trace ended with {status}").into()) }
}

fn is_there(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|at| at.join(program).is_file()))
}

/// What a path took.
struct Cost {
    units: u64,
    /// Seconds.
    wall: f64,
    /// Seconds of all its threads.
    cpu: f64,
    /// Megabytes.
    peak: f64,
}

/// Runs a path in a process of its own, which prints units, processor time and peak memory.
fn run_path(path: &str, input: &Path, out: &Path) -> Fallible<Cost> {
    let begin = Instant::now();
    let output = Command::new(std::env::current_exe()?).args(["--path", path]).arg(input).arg(out).output()?;
    let wall = begin.elapsed().as_secs_f64();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = told.split_whitespace();
    let (Some(units), Some(cpu), Some(peak), true) =
        (words.next(), words.next(), words.next(), output.status.success())
    else {
        return Err(format!("{path}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)).into());
    };
    Ok(Cost { units: units.parse()?, wall, cpu: cpu.parse()?, peak: peak.parse()? })
}

/// Instructions of a path by unit, as callgrind counts them.
fn instructions(path: &str, input: &Path, out: &Path) -> Fallible<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    let output = command.arg(std::env::current_exe()?).args(["--path", path]).arg(input).arg(out).output()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = told.lines().find_map(|line| line.split("Collected :").nth(1)).map(str::trim);
    let units = String::from_utf8_lossy(&output.stdout).into_owned();
    let (Some(count), Some(units)) = (count, units.split_whitespace().next()) else {
        return Err(format!("callgrind said nothing of {path}: {told}").into());
    };
    Ok(count.parse::<f64>()? / units.parse::<f64>()?)
}

/// What `pj_dump -q` takes for the same file. Its memory is looked at while it runs, every few milliseconds.
fn peer(paje: &Path) -> Fallible<()> {
    let begin = Instant::now();
    let mut child = Command::new("pj_dump").arg("-q").arg(paje).stdout(Stdio::null()).spawn()?;
    let mut peak = 0.0;
    let status = loop {
        peak = peak_of(&child.id().to_string()).unwrap_or(peak);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    let wall = begin.elapsed().as_secs_f64();
    println!("{:<14} {:>11} {:>8} {wall:>8.2} {:>8} {peak:>9.1} {:>13}  ({status})", "pj_dump -q", "-", "-", "-", "-");
    Ok(())
}

/// The peak memory of a process, in megabytes.
fn peak_of(process: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// Processor time of this process, in seconds.
fn cpu_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which is in brackets: utime and stime are the 12th and 13th word, in hundredths.
    let mut words = stat.rsplit(')').next()?.split_whitespace().skip(11);
    let (user, system) = (words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?);
    Some((user + system) / 100.0)
}

/// One path, in this process.
fn take(path: &str, input: &Path, out: &Path) -> Fallible<()> {
    let units = match path {
        "run-paje" => {
            let report = convert(&Run::open(input)?, &Options::default(), &mut Writer::new(File::create(out)?))?;
            report.counts.records
        }
        "run-entities" => {
            let mut simulation = Simulation::into_entities("0", Counted::default());
            let report = convert(&Run::open(input)?, &Options::default(), &mut simulation)?;
            simulation.entities().check()?;
            report.counts.records
        }
        "paje-entities" => {
            let mut simulation = Simulation::into_entities("0", Counted::default());
            let text = io::BufReader::with_capacity(1 << 18, File::open(input)?);
            let report = Reader::new(text).read(&mut simulation)?;
            simulation.entities().check()?;
            report.events
        }
        "run-csv" | "paje-csv" => {
            let made = tables::write_to_file(input, &OpenOptions::default(), Format::Csv, &File::create(out)?)?;
            made.rows
        }
        _ => return Err(USAGE.into()),
    };
    println!("{units} {} {}", cpu_time().unwrap_or(f64::NAN), peak_of("self").unwrap_or(f64::NAN));
    Ok(())
}

/// Takes entities and counts them.
#[derive(Debug, Default)]
struct Counted {
    entities: u64,
    details: u32,
}

impl Counted {
    /// A path along which nothing came measures nothing.
    fn check(&self) -> Fallible<()> {
        if self.entities > 0 { Ok(()) } else { Err("no entities came".into()) }
    }
}

impl Entities for Counted {
    fn can_begin_anew(&self) -> bool {
        true
    }

    fn begin_anew(&mut self) -> io::Result<()> {
        *self = Self::default();
        Ok(())
    }

    fn detail(&mut self, _: &[Extra<'_>], _: Option<Source<'_>>) -> u32 {
        self.details = self.details.wrapping_add(1);
        self.details
    }

    fn join(&mut self, start: u32, _: u32) -> u32 {
        start
    }

    fn state(&mut self, _: Place, _: EndedState) {
        self.entities += 1;
    }

    fn event(&mut self, _: Place, _: GlobalNanos, _: ValueId, _: u32) {
        self.entities += 1;
    }

    fn sample(&mut self, _: Place, _: Interval, _: f64) {
        self.entities += 1;
    }

    fn link(&mut self, _: &EndedLink) {
        self.entities += 1;
    }
}
