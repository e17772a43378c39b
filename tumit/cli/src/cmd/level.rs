//! `tumit level`: switches a level of a running program on or off.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tracer_format::live_file::{LIVE_MAGIC, REQUEST_BYTES, head};
use tumit::diagnostics::did_you_mean;
use tumit_converter::convert::launches::LaunchSelection;
use tumit_converter::run::OpenRun;
use tumit_converter::run::active_recorders;
use tumit_converter::run::{LevelName, ProcessInRun, levels_of_live};

use super::exit_status::ExitStatus;
use crate::term;

/// Switches a level of a running program on or off
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The recorder of the program reads the request from its live file within 0.1 seconds. A program with private buffers
(TUMIT_BUFFERS=private) has no live file and cannot be switched, nor can a program on another machine. A program whose levels are
all off has no live file before its first record: start it with TUMIT_START=1 to switch on a level later.

Examples:
  tumit level 4711 MPI on          one process
  tumit level run.tmt APP off      every process that records into this run
  tumit level run.tmt heat.APP on  a level of one spec, if several specs have such a level
  tumit level run.tmt all off

Exit status: 0 success, 1 a process has no such level, 2 could not run.")]
pub(crate) struct Args {
    /// The process id of a running program, or the run into which it records
    #[arg(value_name = "PID|RUN")]
    target: String,

    /// The level: NAME, SPEC.NAME, or `all` for all levels
    #[arg(value_name = "LEVEL")]
    level: String,

    /// The new state of the level
    #[arg(value_enum, value_name = "on|off")]
    to: LevelSwitch,

    /// Maximum time to wait for the answer of each process, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    timeout: u64,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum LevelSwitch {
    On,
    Off,
}

/// A process that accepts requests.
struct SwitchTarget {
    name: String,
    live: PathBuf,
    levels: Vec<LevelName>,
}

/// The answer of a process.
enum SwitchAnswer {
    Done,
    UnknownLevel,
}

const PAUSE: Duration = Duration::from_millis(10);

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    if args.level.is_empty() || args.level.contains([',', '=']) {
        bail!("`{}` is not the name of a level: write NAME, SPEC.NAME or `all`", args.level);
    }
    let text = format!("{}={}", args.level, if matches!(args.to, LevelSwitch::On) { "on" } else { "off" });
    if text.len() > REQUEST_BYTES {
        bail!("the name of the level has {} bytes, which is too long", args.level.len());
    }
    let is_run = Path::new(&args.target).exists();
    let targets = match args.target.parse::<u32>() {
        Ok(pid) if !is_run => process_targets(pid)?,
        _ => run_targets(Path::new(&args.target))?,
    };
    let mut status = ExitStatus::Done;
    for target in &targets {
        let answer = send_request(&target.live, &text, Duration::from_secs(args.timeout))
            .with_context(|| format!("{}: cannot switch `{}`", target.name, args.level))?;
        if matches!(answer, SwitchAnswer::UnknownLevel) {
            term::note(&format!("tumit: {}: {}", target.name, unknown_level_message(&args.level, &target.levels)));
            status = ExitStatus::InputHasMistakes;
        }
    }
    Ok(status)
}

fn process_targets(pid: u32) -> anyhow::Result<Vec<SwitchTarget>> {
    let files = match active_recorders::live_files(pid) {
        Ok(files) => files,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!("there is no process {pid} on this machine"),
        Err(error) => return Err(error).with_context(|| format!("cannot inspect process {pid}")),
    };
    if files.is_empty() {
        bail!(
            "process {pid} has no live file: it has recorded nothing yet, or its buffers are private (TUMIT_BUFFERS=private); \
             set its levels at its start, as in `TUMIT_LEVELS=APP=on`, or start it with TUMIT_START=1 and switch them later"
        );
    }
    let target = |live: PathBuf| SwitchTarget { name: format!("process {pid}"), levels: levels_of_live(&live), live };
    Ok(files.into_iter().map(target).collect())
}

fn run_targets(path: &Path) -> anyhow::Result<Vec<SwitchTarget>> {
    let run = OpenRun::open_launches(path, LaunchSelection::All)?;
    let mut private = Vec::new();
    let mut targets = Vec::new();
    for (number, process) in run.processes.iter().enumerate().filter(|(_, process)| !process.has_ended) {
        let name = process.rank.map_or_else(|| format!("process {}", process.pid), |_| run.process_name(number));
        match process.live.as_ref().filter(|live| live.is_used) {
            Some(live) if active_recorders::user_of(&[&live.path]).is_some() => {
                targets.push(SwitchTarget { name, live: live.path.clone(), levels: levels(process) });
            }
            None if active_recorders::user_of(&[&process.path]).is_some() => private.push(name),
            _ => {}
        }
    }
    if targets.is_empty() && private.is_empty() {
        bail!("{}: no process on this machine is recording into this run", path.display());
    }
    if targets.is_empty() {
        bail!(
            "{}: {} cannot be switched: private buffers (TUMIT_BUFFERS=private) have no live file",
            path.display(),
            private.join(", ")
        );
    }
    for name in private {
        term::note(&format!("tumit: {name} has private buffers and cannot be switched"));
    }
    Ok(targets)
}

fn levels(process: &ProcessInRun) -> Vec<LevelName> {
    let schemas = process.providers.iter().map(|provider| &provider.schema);
    schemas.flat_map(LevelName::from_schema).collect()
}

fn unknown_level_message(level: &str, levels: &[LevelName]) -> String {
    let name = level.rsplit('.').next().unwrap_or(level);
    let mut names: Vec<&str> = levels.iter().map(|level| level.level.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let help = match did_you_mean(name, names.iter().copied()) {
        Some(help) => help,
        None if names.is_empty() => "it has recorded no events of such a spec yet".to_owned(),
        None => format!("it has {}", names.join(", ")),
    };
    format!("no level `{level}`; {help}")
}

/// Withdraws a request. Returns `false` if the process has completed it. A process that is just
/// running it completes it in any case.
fn withdraw_request(file: &mut File, number: u32) -> anyhow::Result<bool> {
    let completed_request = word(file, head::REQUEST_DONE)?;
    if completed_request != number {
        put(file, head::REQUEST, &completed_request.to_le_bytes())?;
    }
    Ok(word(file, head::REQUEST_DONE)? != number)
}

/// Writes a request into a live file, and waits until the process has completed it. The file is
/// written instead of mapped. Both show the same bytes on the file systems of live files.
fn send_request(live: &Path, text: &str, timeout: Duration) -> anyhow::Result<SwitchAnswer> {
    let path = live.display();
    let mut file =
        OpenOptions::new().read(true).write(true).open(live).with_context(|| format!("cannot open `{path}`"))?;
    let mut magic = [0; LIVE_MAGIC.len()];
    file.read_exact(&mut magic).with_context(|| format!("cannot read `{path}`"))?;
    if magic != LIVE_MAGIC {
        bail!("`{path}` is not a live file");
    }
    let last = word(&mut file, head::REQUEST)?.max(word(&mut file, head::REQUEST_DONE)?);
    let number = last.wrapping_add(1);
    let length = u32::try_from(text.len()).context("the request is too long")?;
    put(&mut file, head::REQUEST_TEXT, text.as_bytes())?;
    put(&mut file, head::REQUEST_LENGTH, &length.to_le_bytes())?;
    // This is the last write, because the process reads the request when the number changes.
    put(&mut file, head::REQUEST, &number.to_le_bytes())?;
    let deadline = Instant::now() + timeout;
    while word(&mut file, head::REQUEST_DONE)? != number {
        if word(&mut file, head::REQUEST)? != number {
            bail!("another request was made at the same time; try again");
        }
        if !live.exists() {
            bail!("the process has ended");
        }
        if Instant::now() >= deadline && !withdraw_request(&mut file, number)? {
            break;
        }
        if Instant::now() >= deadline {
            bail!(
                "no answer in {} s, so the request is withdrawn: the process is stopped, has no writer thread (after `fork`, or with `TUMIT_NO_THREAD`), or was killed and left `{path}`",
                timeout.as_secs()
            );
        }
        std::thread::sleep(PAUSE);
    }
    let mut carried_out = vec![0; text.len()];
    file.seek(SeekFrom::Start(head::REQUEST_TEXT as u64)).and_then(|_| file.read_exact(&mut carried_out))?;
    if carried_out != text.as_bytes() {
        bail!("another request was made at the same time; try again");
    }
    Ok(if word(&mut file, head::REQUEST_RESULT)? == 0 { SwitchAnswer::Done } else { SwitchAnswer::UnknownLevel })
}

fn word(file: &mut File, offset: usize) -> anyhow::Result<u32> {
    let mut bytes = [0; 4];
    file.seek(SeekFrom::Start(offset as u64))
        .and_then(|_| file.read_exact(&mut bytes))
        .context("cannot read its live file")?;
    Ok(u32::from_le_bytes(bytes))
}

fn put(file: &mut File, offset: usize, bytes: &[u8]) -> anyhow::Result<()> {
    file.seek(SeekFrom::Start(offset as u64))
        .and_then(|_| file.write_all(bytes))
        .context("cannot write to its live file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(level: &str) -> LevelName {
        LevelName { trace: "heat".to_owned(), level: level.to_owned() }
    }

    #[test]
    fn unknown_levels_get_help() {
        assert_eq!(unknown_level_message("AP", &[level("APP"), level("MPI")]), "no level `AP`; did you mean `APP`?");
        assert_eq!(
            unknown_level_message("heat.zzz", &[level("APP"), level("MPI")]),
            "no level `heat.zzz`; it has APP, MPI"
        );
        assert_eq!(unknown_level_message("APP", &[]), "no level `APP`; it has recorded no events of such a spec yet");
    }

    /// Acts as the writer thread of a recorder for one request.
    fn answer(path: &Path, result: u32) -> String {
        let mut file = OpenOptions::new().read(true).write(true).open(path).unwrap();
        loop {
            let number = word(&mut file, head::REQUEST).unwrap();
            if number != word(&mut file, head::REQUEST_DONE).unwrap() {
                let mut text = vec![0; word(&mut file, head::REQUEST_LENGTH).unwrap() as usize];
                file.seek(SeekFrom::Start(head::REQUEST_TEXT as u64)).unwrap();
                file.read_exact(&mut text).unwrap();
                put(&mut file, head::REQUEST_RESULT, &result.to_le_bytes()).unwrap();
                put(&mut file, head::REQUEST_DONE, &number.to_le_bytes()).unwrap();
                return String::from_utf8(text).unwrap();
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn requests_are_answered_or_time_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.live");
        let mut bytes = vec![0; 4096];
        bytes[..8].copy_from_slice(&LIVE_MAGIC);
        std::fs::write(&path, &bytes).unwrap();
        for (result, is_done) in [(0, true), (1, false), (0, true)] {
            let text = std::thread::scope(|scope| {
                let responder = scope.spawn(|| answer(&path, result));
                let answer = send_request(&path, "APP=on", Duration::from_secs(60)).unwrap();
                assert_eq!(matches!(answer, SwitchAnswer::Done), is_done);
                responder.join().unwrap()
            });
            assert_eq!(text, "APP=on");
        }
        let error = send_request(&path, "APP=on", Duration::ZERO).err().unwrap().to_string();
        assert!(error.starts_with("no answer in 0 s"), "{error}");
        std::fs::write(&path, b"something else").unwrap();
        assert!(
            send_request(&path, "APP=on", Duration::ZERO).err().unwrap().to_string().contains("is not a live file")
        );
    }
}
