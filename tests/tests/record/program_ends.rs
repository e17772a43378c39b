//! A recorded program ends as it does without recording: exit status, signals, output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};

use tests::programs::{output, succeed, tumit};

use crate::record_folder::{BOTH, OPEN_MPI, RecordFolder};

#[test]
fn status_and_output_of_a_program_are_kept() {
    let folder = RecordFolder::new();
    for text in [
        "true",
        "echo out; echo err >&2; exit 3",
        "exit 255",
        "kill -TERM $$",
        "kill -KILL $$",
        "kill -SEGV $$",
        "kill -INT $$",
        "kill -USR1 $$",
        "kill -PIPE $$",
    ] {
        let direct = output(folder.command("sh").args(["-c", text]));
        let recorded = output(&mut folder.record(&["--quiet", "--", "sh", "-c", text]));
        assert_eq!(recorded, direct, "{text}");
    }
    assert!(folder.runs().is_empty(), "no run is left: {:?}", folder.runs());
}

#[test]
fn the_program_reads_standard_input() {
    let folder = RecordFolder::new();
    let mut command = folder.record(&["-q", "cat", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a line\0and bytes\xff").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"a line\0and bytes\xff");
}

#[test]
fn signals_of_other_processes_are_passed_on() {
    let folder = RecordFolder::new();
    let program = "trap 'echo term; exit 7' TERM; trap 'echo usr1' USR1; echo ready; while :; do sleep 0.02; done";
    let mut child = folder.record(&["-q", "--", "sh", "-c", program]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "ready");
    let send = |signal: &str| succeed(Command::new("kill").args([signal, &child.id().to_string()]));
    let _ = send("-USR1");
    assert_eq!(next(), "usr1");
    let _ = send("-TERM");
    assert_eq!(next(), "term");
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

/// The terminal sends the signal of Ctrl-C to both processes. The program gets it once.
#[test]
fn an_interrupt_of_the_terminal_arrives_once() {
    const TERMINAL: &str = r#"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while b"ready" not in text:
    text += os.read(terminal, 1000)
os.write(terminal, b"\x03")
try:
    while True:
        text += os.read(terminal, 1000)
except OSError:
    pass
status = os.waitpid(pid, 0)[1]
print("interrupts:", text.count(b"interrupted"), "status:", os.waitstatus_to_exitcode(status))
"#;
    let folder = RecordFolder::new();
    let program = "trap 'echo interrupted; n=$((n+1))' INT; n=0; echo ready; i=0; \
                   while [ $i -lt 30 ]; do sleep 0.02; i=$((i+1)); done; exit $((40 + n))";
    let run = |program: &str| {
        let mut command = folder.command("python3");
        command.args(["-c", TERMINAL]).arg(tumit().get_program()).args(["record", "-q", "--", "sh", "-c", program]);
        succeed(&mut command)
    };
    assert_eq!(run(program), "interrupts: 1 status: 41\n");
    // A program without a handler ends by the signal, and so does the recording.
    assert_eq!(run("echo ready; sleep 10"), "interrupts: 0 status: -2\n");
}

/// A shell sees a stopped job if the program stops.
#[test]
fn a_stopped_program_continues_with_the_recording() {
    const SHELL: &str = r#"
import os, signal, sys
pid = os.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
status = os.waitpid(pid, os.WUNTRACED)[1]
print("stopped:", os.WIFSTOPPED(status), flush=True)
os.kill(pid, signal.SIGCONT)
print("status:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;
    let folder = RecordFolder::new();
    let mut command = folder.command("python3");
    command.args(["-c", SHELL]).arg(tumit().get_program()).args(["record", "-q", "--", "sh", "-c"]);
    let text = succeed(command.arg("kill -STOP $$; echo continued; exit 3"));
    assert_eq!(text, "stopped: True\ncontinued\nstatus: 3\n");
}

#[test]
fn a_command_that_cannot_start_has_the_status_of_a_shell() {
    let folder = RecordFolder::new();
    std::fs::write(folder.file("data"), "text").unwrap();
    for (command, status, message) in [
        ("./nothing", 127, "`./nothing` is not found"),
        ("nothing-in-the-path", 127, "`nothing-in-the-path` is not found"),
        ("./data", 126, "`./data` cannot be executed"),
        ("/", 126, "`/` cannot be executed"),
    ] {
        let (output, messages) = folder.recorded(&["--", command, "x"]);
        assert_eq!(output.status.code(), Some(status), "{command}: {messages}");
        assert!(messages.contains(message), "{messages}");
    }
    // A shell runs a text without a first line `#!`.
    let _ = folder.script("plain", "echo \"$1\"; exit 5\n");
    let (output, messages) = folder.recorded(&["./plain", "an argument"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(5), &b"an argument\n"[..]), "{messages}");
    assert!(folder.runs().is_empty());
}

/// The text without the number in `PID 4711`, which MPICH's launcher prints.
fn without_pid(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut words = text.split(' ');
    let mut all: Vec<&str> = words.next().into_iter().collect();
    for word in words {
        all.push(if all.last().is_some_and(|before| before.ends_with("PID")) { "NUMBER" } else { word });
    }
    all.join(" ")
}

/// The output of a command that starts a launcher. MPICH's launcher sometimes ends by SIGPIPE if
/// the ranks end before they call MPI, also without recording. The command is then repeated.
fn output_of_launcher(command: &mut Command) -> Output {
    let mut result = output(command);
    for _ in 0..20 {
        if result.status.signal() != Some(libc::SIGPIPE) {
            break;
        }
        result = output(command);
    }
    result
}

/// With a launcher: the status of the launcher and the standard output. Launchers print process ids
/// and times on standard error.
#[test]
fn failing_ranks_fail_in_the_same_way() {
    let folder = RecordFolder::new();
    for mpi in BOTH {
        let ring = folder.ring(mpi);
        for end in [&["exit", "6"][..], &["abort", "9"], &["segv"], &["early", "4"]] {
            let mut direct = folder.command(mpi.launcher);
            let direct = output_of_launcher(direct.args(["-n", "2"]).arg(&ring).args(end));
            let mut recorded = folder.record(&["-q", "--overwrite", "-o", "run.tmt", "--", mpi.launcher, "-n", "2"]);
            let recorded = output_of_launcher(recorded.arg(&ring).args(end));
            assert_eq!(recorded.status, direct.status, "{mpi:?} {end:?}: {recorded:?}");
            assert_eq!(without_pid(&recorded.stdout), without_pid(&direct.stdout), "{mpi:?} {end:?}");
            let expected = if end[0] == "early" { 0 } else { 2 };
            assert_eq!(folder.processes("run.tmt"), expected, "{mpi:?} {end:?}");
        }
    }
}

/// Without a launcher, all output is equal.
#[test]
fn a_single_rank_has_the_same_output() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI);
    for end in [&["exit", "6"][..], &["early", "4"]] {
        let direct = output(folder.command(&ring).args(end));
        let recorded = output(folder.record(&["-q", "--overwrite", "-o", "run.tmt", "--"]).arg(&ring).args(end));
        assert_eq!(recorded, direct, "{end:?}");
    }
}
