//! A signal ends a conversion: it leaves no incomplete file, and its exit status reports the signal
//! in the way of shells.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tests::programs::{succeed, tumit};

/// Waits up to a minute for a condition.
fn until(name: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(60), "never: {name}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A child process that is killed at the end of the test.
struct ConversionProcess(Child);

impl Drop for ConversionProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn send(signal: &str, child: &Child) {
    succeed(Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]));
}

fn is_unfinished(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| entry.unwrap().file_name().to_string_lossy().contains(".part"))
}

#[test]
fn an_interrupted_conversion_leaves_no_incomplete_file() {
    let dir = tempfile::tempdir().unwrap();
    // Reading takes much longer than the test. A pipe would be copied before the output begins.
    let head = "%EventDef PajeDefineContainerType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajeDefineStateType 3\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajeCreateContainer 7\n% Time date\n% Alias string\n% Type string\n% Container string\n\
                % Name string\n%EndEventDef\n%EventDef PajeSetState 10\n% Time date\n% Type string\n\
                % Container string\n% Value string\n%EndEventDef\n1 T 0 T\n3 S T S\n7 0 c T 0 c\n";
    let lines = (0..4_000_000).map(|at| format!("10 {at} S c v\n")).collect::<String>();
    fs::write(dir.path().join("long.paje"), [head, &lines].concat()).unwrap();
    let before = "what was there before";
    for (signal, status, ignored) in [("INT", 130, ""), ("TERM", 143, ""), ("HUP", 129, ""), ("TERM", 143, "HUP")] {
        let result = dir.path().join("result.csv");
        fs::write(&result, before).unwrap();
        let tumit = tumit().get_program().to_owned();
        let script = format!(
            // The parent of the test process may ignore this signal.
            "{} \"$0\" convert long.paje -o result.csv",
            if ignored.is_empty() { "exec env --default-signal=HUP" } else { "trap '' HUP; exec" }
        );
        let mut child = ConversionProcess(
            Command::new("sh").args(["-c", &script]).arg(tumit).current_dir(dir.path()).spawn().unwrap(),
        );
        let child = &mut child.0;
        until("it has begun to write", || is_unfinished(dir.path()));
        // A process that ignores the signal continues.
        for ignored in ignored.split_whitespace() {
            send(ignored, child);
            std::thread::sleep(Duration::from_millis(300));
            assert!(child.try_wait().unwrap().is_none() && is_unfinished(dir.path()), "{ignored}");
        }
        send(signal, child);
        let mut exit = None;
        until("it ends", || {
            exit = child.try_wait().unwrap();
            exit.is_some()
        });
        assert_eq!(exit.and_then(|exit| exit.code()), Some(status), "{signal}");
        assert!(!is_unfinished(dir.path()), "{signal}");
        assert_eq!(fs::read_to_string(&result).unwrap(), before, "{signal}");
    }
}
