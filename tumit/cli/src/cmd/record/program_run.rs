//! Runs the program with its own standard streams, passes on signals, and ends as the program did.
//!
//! The program stays in the process group of this command. A key such as Ctrl-C therefore reaches
//! both, and this command only waits. A signal from another process reaches only this command,
//! which passes it on.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus as ChildStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getpid, kill_process, setrlimit, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::Cause;
use tumit_preload::environment::RecordingEnvironment;

use crate::cmd::exit_status::ExitStatus;
use crate::signals::is_ignored;

/// Signals that are passed on to the program.
const PASSED_ON: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP];
/// The shell that runs executable texts without a first line `#!`.
const SHELL: &str = "/bin/sh";

/// How a program ended.
#[derive(Debug)]
pub(crate) enum ProgramEnd {
    /// With this exit status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// The system could not start it.
    NotStarted(io::Error),
}

/// A run of the program.
#[derive(Debug)]
pub(crate) struct ProgramRun {
    pub(crate) end: ProgramEnd,
    pub(crate) wall_time: Duration,
}

/// Runs the program to its end.
///
/// # Errors
/// If the handlers of signals cannot be installed, or the system cannot wait for the program.
pub(crate) fn run(environment: &RecordingEnvironment) -> anyhow::Result<ProgramRun> {
    // The program inherits ignored signals (`nohup`), and this command ignores them, too.
    let handled = PASSED_ON.into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = SignalsInfo::<WithOrigin>::new(handled).context("cannot install handlers of signals")?;
    let start = Instant::now();
    let mut child = match spawn(environment) {
        Ok(child) => child,
        Err(error) => return Ok(ProgramRun { end: ProgramEnd::NotStarted(error), wall_time: start.elapsed() }),
    };
    let pid = Pid::from_child(&child);
    // The id of the program while it is valid. Signals are sent under this lock.
    let running = Arc::new(Mutex::new(Some(pid)));
    let (handle, target) = (signals.handle(), Arc::clone(&running));
    let passing = std::thread::spawn(move || {
        for received in signals.forever().filter(|received| received.cause != Cause::Kernel) {
            let target = target.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(pid), Some(signal)) = (*target, Signal::from_named_raw(received.signal)) {
                // The program may have ended.
                let _ = kill_process(pid, signal);
            }
        }
    });
    let ended = await_end(pid);
    *running.lock().unwrap_or_else(PoisonError::into_inner) = None;
    let wall_time = start.elapsed();
    let status = ended.and_then(|()| child.wait()).context("cannot wait for the program");
    handle.close();
    let _ = passing.join();
    // From now on, signals end this command.
    for signal in PASSED_ON.into_iter().filter(|&signal| !is_ignored(signal)) {
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true)));
    }
    Ok(ProgramRun { end: end_of(status?), wall_time })
}

/// Starts the program. As in `execvp`, a shell runs a file that the system cannot execute.
fn spawn(environment: &RecordingEnvironment) -> io::Result<Child> {
    let variables = || environment.variables.iter().map(|(name, value)| (*name, value));
    let words = &environment.words;
    match Command::new(&words[0]).args(&words[1..]).envs(variables()).spawn() {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
            let path = std::env::var_os("PATH");
            let file = tumit_preload::program_file::ProgramFile::find(&words[0], path.as_deref());
            let path = file.map_or_else(|_obstacle| words[0].clone().into(), |file| file.path);
            Command::new(SHELL).arg(path).args(&words[1..]).envs(variables()).spawn()
        }
        other => other,
    }
}

/// Waits until the program has ended. Its id stays valid. While the program is stopped, this
/// process stops, too, so that a shell reports a stopped job. Both continue together.
fn await_end(pid: Pid) -> io::Result<()> {
    let either = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
    loop {
        match waitid(WaitId::Pid(pid), either | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) if status.stopped() => {
                // Without NOWAIT, the stop is reported once.
                let _ = waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOHANG);
                let _ = kill_process(getpid(), Signal::STOP);
                let _ = kill_process(pid, Signal::CONT);
            }
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn end_of(status: ChildStatus) -> ProgramEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => ProgramEnd::Exit(code),
        (None, signal) => ProgramEnd::Signal(signal.unwrap_or(0)),
    }
}

/// Ends like the program. After a signal, this process ends by the same signal, so that a caller
/// sees the same status as without recording. A shell's 128 + signal would be another status for
/// callers that distinguish signals, such as shells that stop a loop after Ctrl-C. The second core
/// dump is suppressed.
pub(crate) fn end_like(end: &ProgramEnd) -> ExitStatus {
    match *end {
        ProgramEnd::Exit(code) => ExitStatus::Program(u8::try_from(code & 0xff).unwrap_or(u8::MAX)),
        ProgramEnd::Signal(signal) => {
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            let _ = emulate_default_handler(signal);
            // Real-time signals have no handler to emulate.
            ExitStatus::Program(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
        ProgramEnd::NotStarted(_) => ExitStatus::Program(126),
    }
}
