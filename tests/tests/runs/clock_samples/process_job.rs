//! A job of several processes with separate clocks, and checks of their records.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tests::programs::{child_test, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;

use super::ARGUMENTS;
use super::child::truth;

/// One of the programs that take part.
#[derive(Clone)]
pub(crate) enum ParticipantProgram {
    Rust,
    C(PathBuf),
}

impl ParticipantProgram {
    fn start(&self, arguments: &[String], run: &Path, environment: &[(&str, &str)]) -> Child {
        let mut command = match self {
            Self::Rust => {
                let mut command = child_test("runs::clock_samples");
                command.env(ARGUMENTS, arguments.join(" "));
                command
            }
            Self::C(program) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        for variable in ["TUMIT_LEVELS", "TUMIT_SYNC_EXCHANGES", "TUMIT_SYNC_SECONDS"] {
            command.env_remove(variable);
        }
        command.env("TUMIT_TRACE", run).envs(environment.iter().copied()).stdout(Stdio::null()).spawn().unwrap()
    }
}

/// A clock: its reading at the base time, and its drift in millionths.
#[derive(Clone, Copy)]
struct ProcessClock {
    offset: i64,
    ppm: i64,
}

fn clock(me: usize) -> ProcessClock {
    let me = me as i64;
    ProcessClock { offset: 10_000_000_000 + me * 3_000_000_000, ppm: [0, 40, -50, 25, -10][me as usize % 5] }
}

/// The run of some processes that have ended.
pub(crate) struct SampledJob {
    pub(crate) run: PathBuf,
    base: i64,
    /// In the order of the processes' numbers.
    pub(crate) files: Vec<ProcessFile>,
    _folder: tempfile::TempDir,
}

/// Runs these processes. `act` selects their action.
pub(crate) fn run(processes: &[ParticipantProgram], act: &str, environment: &[(&str, &str)]) -> SampledJob {
    let folder = tempfile::tempdir().unwrap();
    let (run, base) = (folder.path().join("run.tmt"), truth());
    let children: Vec<Child> = (0..)
        .zip(processes)
        .map(|(me, process)| {
            let ProcessClock { offset, ppm } = clock(me);
            let path = folder.path().display().to_string();
            let numbers = [me as i64, processes.len() as i64, offset, ppm, base].map(|number| number.to_string());
            let [me, all, offset, ppm, base] = numbers;
            process.start(&[me, all, path, offset, ppm, base, act.to_owned()], &run, environment)
        })
        .collect();
    for (me, mut child) in children.into_iter().enumerate() {
        assert!(child.wait().unwrap().success(), "process {me}");
    }
    let mut files = read(&run);
    files.sort_by_key(|file| file.process[&tag::CLOCK_DOMAIN].clone());
    SampledJob { run, base, files, _folder: folder }
}

impl SampledJob {
    fn id(&self, me: usize) -> u64 {
        u64::from_le_bytes(*self.files[me].process[&tag::PROCESS_ID].first_chunk().unwrap())
    }

    /// The true time at a reading of a process's clock.
    fn true_time(&self, me: usize, ticks: u64) -> i64 {
        let ProcessClock { offset, ppm } = clock(me);
        let elapsed = (ticks as i64 - offset) as f64 / (1.0 + ppm as f64 * 1e-6);
        self.base + elapsed as i64
    }

    /// Checks that every process has `exchanges` samples of each burst with each of these peers,
    /// and that all of them are true.
    pub(crate) fn check(&self, peers: &[&[usize]], bursts: usize, exchanges: usize) {
        const ROUNDING: i64 = 3000;
        assert_eq!(self.files.len(), peers.len());
        for (me, (file, peers)) in self.files.iter().zip(peers).enumerate() {
            assert_eq!(file.sync.len(), peers.len() * bursts * exchanges, "process {me}");
            for &peer in *peers {
                for burst in 0..bursts {
                    let samples = file.sync.iter().filter(|s| s.burst == burst as u32 && s.peer == self.id(peer));
                    assert_eq!(samples.count(), exchanges, "process {me} with {peer}, burst {burst}");
                }
            }
            for sample in &file.sync {
                let peer = peers.iter().copied().find(|peer| self.id(*peer) == sample.peer).unwrap();
                let times = [(me, sample.t1), (peer, sample.t2), (peer, sample.t3), (me, sample.t4)]
                    .map(|(of, ticks)| self.true_time(of, ticks));
                assert!(times.windows(2).all(|two| two[0] <= two[1] + ROUNDING), "process {me} with {peer}: {times:?}");
                assert!(times[0] > self.base && times[3] < self.base + 600_000_000_000, "{times:?}");
            }
        }
    }

    pub(crate) fn sync(&self) -> Vec<Value> {
        let text = succeed(tumit().args(["sync", "--json"]).arg(&self.run));
        serde_json::from_str::<Value>(&text).unwrap()["clocks"].as_array().unwrap().clone()
    }

    /// The largest difference between the corrected timestamps of the marks and the true time, in
    /// nanoseconds.
    pub(crate) fn spread(&self, clock: &str) -> i64 {
        let dumped = tumit().arg("dump").arg(&self.run).args(["--clock", clock]).output().unwrap();
        let text = String::from_utf8(dumped.stdout).unwrap();
        let errors = text.lines().filter_map(|line| {
            let value = |name| line.split_whitespace().find_map(|word| word.strip_prefix(name));
            let truth: i64 = value("truth=")?.parse().ok()?;
            let (seconds, nanos) = value("at=")?.split_once('.')?;
            let sign = if seconds.starts_with('-') { -1 } else { 1 };
            let nanos = seconds.parse::<i64>().ok()? * 1_000_000_000 + sign * nanos.parse::<i64>().ok()?;
            Some(nanos - (truth - self.base))
        });
        let errors: Vec<i64> = errors.collect();
        assert!(errors.len() > 3, "{text}");
        errors.iter().max().unwrap() - errors.iter().min().unwrap()
    }

    pub(crate) fn check_corrected(&self, bursts: u64) {
        const BOUND: i64 = 300_000;
        let clocks = self.sync();
        assert_eq!(clocks.len(), self.files.len());
        for clock in clocks.iter().filter(|clock| clock["status"] != "reference") {
            assert!(clock["status"] == "bursts" && clock["bursts"] == bursts, "{clock}");
        }
        for by in ["bursts", "graph"] {
            let spread = self.spread(by);
            assert!(spread < BOUND, "{by}: {spread} ns");
        }
        let spread = self.spread("none");
        assert!(spread > 1_000_000_000, "as they are: {spread} ns");
    }
}
