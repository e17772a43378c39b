//! Self-tracing in C, level `TUMIT`: the run contains the actions of the writer thread and the
//! waits of other threads like other records.

use std::process::Command;

use tests::lang::c::{GNU99, build, folder};
use tests::programs::{output, tumit};

const SPEC: &str = "trace t;\nlevel L { event tick { n: u64 } }\n";
/// Fills four slots many times.
const PROGRAM: &str =
    "#include \"t_trace.h\"\nint main(void) { uint64_t n; for (n = 0; n < 60000; n++) { t_tick(n); } return 0; }\n";
const TICKS: usize = 60_000;

/// The records of the run as text, and the output of `tumit info`.
fn record(extra: &[&str], levels: &str) -> [String; 2] {
    let folder = folder();
    let program = build(folder.path(), GNU99, SPEC, PROGRAM, extra).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.path().join("run.tmt");
    let mut command = Command::new(program);
    command.env("TUMIT_TRACE", &run).env("TUMIT_MEMORY", "256K").env("TUMIT_POLICY", "all=block");
    let output_of = output(command.env("TUMIT_LEVELS", levels).env_remove("TUMIT_BUFFERS"));
    assert!(output_of.status.success(), "{}", String::from_utf8_lossy(&output_of.stderr));
    // A record of the writer thread may find no slot, as that thread never waits: then `tumit`
    // exits with a non-zero status.
    ["dump", "info"].map(|word| String::from_utf8(output(tumit().arg(word).arg(&run)).stdout).expect("UTF-8"))
}

fn count(dump: &str, text: &str) -> usize {
    dump.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn waits_and_writes_of_the_recorder_are_in_the_run() {
    // The writer thread does nothing until the recording thread waits for it. Without a writer
    // thread, the recording thread does its work.
    for (extra, cause) in [("-DTUMIT1_HELD", "room"), ("-DTUMIT_NO_THREAD", "call")] {
        let [dump, info] = record(&[extra], "TUMIT=on");
        assert_eq!(count(&dump, " tick "), TICKS, "they were waited for");
        // Of thirteen slots, those after the first four.
        assert!(count(&dump, "wait.begin") >= 3, "{extra}: {}", dump.lines().take(5).collect::<Vec<_>>().join("\n"));
        assert_eq!(count(&dump, "wait.begin"), count(&dump, "wait.end"));
        assert!(dump.lines().filter(|line| line.contains("wait.begin")).any(|line| line.contains(cause)), "{extra}");
        assert!(info.contains("wait") && info.contains("tracer"), "{info}");
        let writes = [count(&dump, "write.begin"), count(&dump, "write.end")];
        if cause == "room" {
            assert!(writes[0] >= 3 && writes[0].abs_diff(writes[1]) <= 2, "{writes:?}");
            assert!(info.contains("tumit-writer"), "{info}");
        }
    }
}

#[test]
fn the_level_is_off_unless_it_is_named() {
    for levels in ["all=on", "all=on,TUMIT=off"] {
        let [dump, info] = record(&[], levels);
        assert_eq!(count(&dump, " tick "), TICKS);
        assert!(!dump.contains("wait.begin") && !dump.contains("write.begin"));
        assert!(!info.contains("tracer"), "nor is its spec in the run: {info}");
    }
}
