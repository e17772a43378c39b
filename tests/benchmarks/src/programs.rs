//! Builds and runs the measured programs, under a tracer if necessary, and counts their events.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tumit::codegen::{Backend as _, CodegenOptions, c::CBackend};
use tumit_converter::run::OpenRun;

use crate::disturbance::Ticks;
use crate::recorders::Tool;

/// Events per round. No tool's buffers overflow with this number.
const BURST: u64 = 20_000;
/// The recorded item.
const SPECIFICATION: &str = include_str!("../peers.tumit");

/// Memory for records that are not yet in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Each recorder's default.
    Default,
    /// 64 MiB.
    Ample,
}

/// The outcome of one run of the program `paced`.
pub struct PacedRun {
    /// Calls of the program.
    pub calls: u64,
    /// Events that can be read.
    pub recorded: u64,
    /// Wall time of the loop that records.
    pub seconds: f64,
    /// The share of the processors that other programs took.
    pub disturbance: f64,
}

/// A program that was killed while it recorded.
#[derive(Clone, Copy)]
pub struct KilledRun {
    /// Events recorded before the program was killed.
    pub recorded: u64,
    /// Events readable afterwards.
    pub readable: u64,
}

/// Loops that keep the processors busy until this value is dropped.
struct BackgroundLoad(Vec<Child>);

impl BackgroundLoad {
    fn start(loops: usize) -> Self {
        let spawn = |_| {
            let program = std::env::current_exe().expect("this program");
            Command::new(program).args(["child", "busy"]).spawn().expect("a busy loop starts")
        };
        Self((0..loops).map(spawn).collect())
    }
}

impl Drop for BackgroundLoad {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where the programs are.
pub struct Programs {
    folder: PathBuf,
    /// LTTng's session daemon, if this program started it.
    daemon: Option<Child>,
}

impl Drop for Programs {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            // The daemon ends its child processes when it terminates.
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let _ = daemon.wait();
        }
    }
}

impl Programs {
    /// Builds the C programs and starts LTTng's daemon.
    pub fn build(folder: &Path) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c");
        let spec = tumit::compile_text("peers.tumit", SPECIFICATION).0.expect("a spec without mistakes");
        for file in CBackend.generate(&spec, &CodegenOptions::default()).expect("a header").0 {
            std::fs::write(folder.join(&file.name), &file.text).expect("a writable folder");
        }
        for (program, libraries) in
            [("limit-c", &[][..]), ("tumit-c", &["-pthread"]), ("lttng", &["-llttng-ust", "-ldl"])]
        {
            let name = program.split('-').next().expect("a name");
            let mut command = Command::new("cc");
            command.args(["-O2", "-g", "-std=gnu11", "-I"]).arg(folder).arg("-I").arg(&source);
            command.arg(source.join(name).with_extension("c")).arg("-o").arg(folder.join(program)).args(libraries);
            succeed(&mut command);
        }
        Self { folder: folder.to_owned(), daemon: daemon() }
    }

    fn command(&self, tool: Tool, memory: Memory) -> Command {
        let mut command = if tool.is_c() {
            Command::new(self.folder.join(tool.word()))
        } else {
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command.args(["child", tool.word()]);
            command
        };
        for variable in ["TUMIT_LEVELS", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_MEMORY", "TUMIT_POLICY"] {
            command.env_remove(variable);
        }
        // A program waits for LTTng's daemon without a limit. By default it gives up after 3 s.
        command.env("TUMIT_TRACE", "run.tmt").env("LTTNG_UST_REGISTER_TIMEOUT", "-1");
        if memory == Memory::Ample {
            command.env("TUMIT_MEMORY", "64M");
        }
        command
    }

    /// Nanoseconds of an event; see `task.rs`.
    pub fn nanos(&self, tool: Tool, task: &str, rounds: u64) -> Option<f64> {
        let session = TracerSession::new(tool);
        let mut command = self.command(tool, Memory::Ample);
        command.args([task, &rounds.to_string(), &BURST.to_string()]).current_dir(session.path());
        let output = succeed(&mut command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("ns ")?.parse().ok())
    }

    /// Instructions of the recording thread per event: those of a long run minus those of a short
    /// one, divided by the number of events between them.
    pub fn instructions(&self, tool: Tool) -> Option<f64> {
        // The instructions of the start vary by a million. This is much for tools with a few dozen
        // instructions per event, so these record as many events as the buffers hold.
        let (few, many) = if tool.is_cheap() { (100_000u64, 2_100_000u64) } else { (20_000, 120_000) };
        let of = |events: u64| {
            let session = TracerSession::new(tool);
            let program = self.command(tool, Memory::Ample);
            let mut command = Command::new("valgrind");
            command.args(["--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=calls", "-q"]);
            command.arg(program.get_program()).args(program.get_args());
            command.args(["instructions", &events.to_string()]).current_dir(session.path());
            command.env("TUMIT_TRACE", "run.tmt").env("TUMIT_MEMORY", "64M");
            let output = command.output().ok()?;
            output.status.success().then_some(())?;
            let text = std::fs::read_to_string(session.path().join("calls-01")).ok()?;
            text.lines().find_map(|line| line.strip_prefix("totals: ")?.split(' ').next()?.parse::<u64>().ok())
        };
        let (few_took, many_took) = (of(few)?, of(many)?);
        Some(many_took.checked_sub(few_took)? as f64 / (many - few) as f64)
    }

    /// Bytes on disk per event.
    pub fn bytes(&self, tool: Tool, task: &str, events: u64) -> Option<f64> {
        tool.has_files().then_some(())?;
        let session = TracerSession::new(tool);
        succeed(self.command(tool, Memory::Ample).args([task, &events.to_string()]).current_dir(session.path()));
        session.stop();
        let record_count = session.count();
        assert_eq!(record_count, events, "{tool:?} dropped some");
        Some(session.size() as f64 / events as f64)
    }

    /// Records at a rate, with busy loops, and counts the events that can be read; see `task.rs`.
    pub fn paced(&self, tool: Tool, memory: Memory, loops: usize, rate: u64, millis: u64) -> PacedRun {
        let session = TracerSession::with_memory(tool, memory);
        let mut command = self.command(tool, memory);
        command.args(["paced", &rate.to_string(), &millis.to_string()]).current_dir(session.path());
        // The busy loops end before the events are counted, so that counting is fast.
        let before = Ticks::now();
        let load = BackgroundLoad::start(loops);
        let output = succeed(&mut command);
        drop(load);
        let disturbance = Ticks::now().others_since(&before);
        session.stop();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let value = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.unwrap_or_else(|| panic!("{command:?}: expected a line `{name} N`, found {text:?}"))
        };
        let calls = value("calls").parse().expect("a number of calls");
        let seconds = value("seconds").parse().expect("a number of seconds");
        let recorded = session.count();
        if let Some(dropped) = session.dropped() {
            assert_eq!(recorded + dropped, calls, "{tool:?}: recorded and dropped events are all calls");
        }
        PacedRun { calls, recorded, seconds, disturbance }
    }

    /// Kills a recording program. Counts the recorded and the readable events.
    pub fn kill(&self, tool: Tool, millis: u64) -> Option<KilledRun> {
        (tool.has_files() || tool == Tool::Fastrace).then_some(())?;
        let session = TracerSession::new(tool);
        let witness = session.path().join("witness");
        std::fs::write(&witness, [0; 4096]).expect("a writable folder");
        let mut command = self.command(tool, Memory::Ample);
        command.arg("kill").arg(&witness).current_dir(session.path()).stdout(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(millis));
        child.kill().expect("it runs");
        child.wait().expect("it ran");
        session.stop();
        let bytes = std::fs::read(&witness).expect("it is there");
        let word = |offset: usize| u64::from_le_bytes(bytes[offset..offset + 8].try_into().expect("eight bytes"));
        let readable = if tool == Tool::Fastrace { word(8) } else { session.count() };
        Some(KilledRun { recorded: word(0), readable })
    }
}

/// The folder of a measurement, and the session of a tracer that needs one.
struct TracerSession {
    tool: Tool,
    folder: tempfile::TempDir,
}

impl TracerSession {
    fn new(tool: Tool) -> Self {
        Self::with_memory(tool, Memory::Ample)
    }

    fn with_memory(tool: Tool, memory: Memory) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let session = Self { tool, folder };
        if tool == Tool::Lttng {
            let output = format!("--output={}", session.path().join("ctf").display());
            lttng(&["create", "peers", &output]);
            if memory == Memory::Ample {
                // A buffer has 64 MiB per user and processor, more than the records between pauses.
                lttng(&["enable-channel", "-u", "--subbuf-size=8M", "--num-subbuf=8", "peers"]);
                lttng(&["enable-event", "-u", "-c", "peers", "peers:*"]);
            } else {
                lttng(&["enable-event", "-u", "peers:*"]);
            }
            lttng(&["start"]);
        }
        session
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes the tracer write its buffered events.
    fn stop(&self) {
        if self.tool == Tool::Lttng {
            lttng(&["stop"]);
        }
    }

    /// Events with two numbers that can be read.
    fn count(&self) -> u64 {
        match self.tool {
            Tool::Lttng => {
                // babeltrace2 counts the events, because text for millions of events takes minutes.
                let mut command = Command::new("babeltrace2");
                command.arg(self.path().join("ctf")).args(["--component=sink.utils.counter"]);
                let text = String::from_utf8_lossy(&succeed(&mut command).stdout).into_owned();
                let count = event_messages(&text);
                count.unwrap_or_else(|| panic!("{command:?}: expected a line `N Event messages`, found {text:?}"))
            }
            Tool::Chrome => {
                let text = std::fs::read_to_string(self.path().join("run.json")).unwrap_or_default();
                text.matches("\"second\"").count() as u64
            }
            Tool::Puffin => {
                let Ok(file) = std::fs::File::open(self.path().join("run.puffin")) else { return 0 };
                let mut file = std::io::BufReader::new(file);
                let frames = std::iter::from_fn(|| puffin::FrameData::read_next(&mut file).ok().flatten());
                frames.map(|frame| frame.meta().num_scopes as u64).sum()
            }
            _ => {
                let run = self.run();
                run.processes
                    .iter()
                    .flat_map(|process| &process.streams)
                    .map(tumit_converter::run::StreamInRun::records)
                    .sum()
            }
        }
    }

    /// Events that Tumit reports as dropped.
    fn dropped(&self) -> Option<u64> {
        let is_tumit = matches!(self.tool, Tool::TumitMapped | Tool::TumitPrivate | Tool::TumitC);
        is_tumit.then(|| self.run().processes.iter().map(tumit_converter::run::ProcessInRun::dropped_records).sum())
    }

    fn run(&self) -> OpenRun {
        OpenRun::open(self.path().join("run.tmt")).expect("a run")
    }

    /// Bytes of all files.
    fn size(&self) -> u64 {
        fn of(folder: &Path) -> u64 {
            let entries = std::fs::read_dir(folder).expect("a readable folder");
            entries
                .filter_map(|entry| {
                    let entry = entry.ok()?;
                    let about = entry.metadata().ok()?;
                    Some(if about.is_dir() { of(&entry.path()) } else { about.len() })
                })
                .sum()
        }
        of(self.path())
    }
}

impl Drop for TracerSession {
    fn drop(&mut self) {
        if self.tool == Tool::Lttng {
            let _ = Command::new("lttng").args(["destroy", "peers"]).output();
        }
    }
}

/// If no session daemon answers, starts one and waits until it answers.
fn daemon() -> Option<Child> {
    let answers =
        || Command::new("lttng").args(["--no-sessiond", "list"]).output().is_ok_and(|out| out.status.success());
    if answers() {
        return None;
    }
    let mut command = Command::new("lttng-sessiond");
    let child = command.arg("--no-kernel").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child = child.expect("LTTng is installed: lttng-tools, liblttng-ust-dev, babeltrace2");
    for _ in 0..100 {
        if answers() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Some(child)
}

/// The number of events in the output of `sink.utils.counter`. It prints the counts so far every
/// 10,000 messages; the last ones are the totals.
fn event_messages(text: &str) -> Option<u64> {
    text.lines().filter_map(|line| line.trim().strip_suffix("Event messages")?.trim().parse().ok()).next_back()
}

fn lttng(words: &[&str]) {
    succeed(Command::new("lttng").args(words));
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_counts_of_babeltrace_are_the_totals() {
        let text = "          9998 Event messages\n             1 Packet beginning message\n\n         \
                    14321 Event messages\n             2 Packet end messages\n";
        assert_eq!(event_messages(text), Some(14_321));
        assert_eq!(event_messages("             0 messages (TOTAL)\n"), None);
    }
}
