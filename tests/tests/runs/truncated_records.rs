//! Records that are larger than a slot: C programs truncate them, and every reader shows that.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::lang::c::{GNU99, build_with_shared_recorder, folder, record};
use tests::programs::{output, succeed, tumit, workspace};
use tests::run::{ProcessFile, read};
use tracer_format::tags::{integer, tag};

const SPEC: &str = "trace t;\nlevel L { event tick { n: u64 } event say { name: string, text: string } }\n\
                    level K { event table { cells: [u8; 5000] } }\n";
/// Bytes of text in a record of `say` with the name `long`: a slot of 64 KiB, or a part of one,
/// minus its head, a wide timestamp, an account of losses, a mark, id, delta, counts and name.
const fn most_in(slot: usize) -> usize {
    slot - 64 - 14 - 42 - 42 - 6 - 4 - 4
}

/// Characters of two bytes after one of one byte, so that a cut after an even number of bytes
/// splits a character.
const LONG: &str = r#"
#include "t_trace.h"
#include <signal.h>
#include <pthread.h>
static char text[70002];
static void prepare(void) {
    int i;
    text[0] = 'x';
    for (i = 1; i < 70001; i += 2) { memcpy(text + i, "\303\251", 2); }
}
__attribute__((unused)) static void on_signal(int number) {
    (void)number;
    t_say("long", text);
}
"#;

fn single_file(run: &Path) -> ProcessFile {
    let mut files = read(run);
    assert_eq!(files.len(), 1, "one process, one file");
    files.remove(0)
}

fn truncated_records(file: &ProcessFile) -> Option<u64> {
    file.end.as_ref().and_then(|end| integer(end.get(&tag::RECORDS_TRUNCATED)?))
}

fn dumped(command: &mut Command) -> Vec<Value> {
    String::from_utf8(output(command).stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_policy_and_handler_truncates_between_two_characters() {
    let folder = folder();
    let source = format!(
        "{LONG}int main(void) {{\n    int i;\n    prepare();\n    signal(SIGUSR1, on_signal);\n    \
         for (i = 0; i < 20; i++) {{ t_tick(7); t_say(\"long\", text); }}\n    raise(SIGUSR1);\n    t_tick(20);\n    \
         return 0;\n}}\n"
    );
    let program =
        build_with_shared_recorder(folder.path(), GNU99, SPEC, &source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let policies = ["L=drop", "L=block", "L=overwrite"];
    for (policy, buffers) in policies.iter().flat_map(|policy| [(policy, "mapped"), (policy, "private")]) {
        let settings = [("TUMIT_POLICY", *policy), ("TUMIT_BUFFERS", buffers)];
        let file = single_file(&record(&program, folder.path(), &format!("{policy}-{buffers}.tmt"), &settings));
        assert_eq!(
            (file.totals(), file.truncated, truncated_records(&file)),
            ((42, 0), 21, Some(21)),
            "{policy} {buffers}"
        );
        let records: Vec<_> = file.records.values().flatten().collect();
        let long = |text: &str| text.starts_with("say") && text.ends_with("é\" (truncated)");
        let is_whole = |text: &str| text.starts_with("tick") && !text.contains("truncated");
        assert!(records.iter().all(|record| long(&record.text) || is_whole(&record.text)), "{policy} {buffers}");
        // The last character would not fit, so the text is one byte shorter.
        let bytes = 2 + 4 + 2 + most_in(1 << 16) - 1;
        assert!(records.iter().filter(|record| long(&record.text)).all(|record| record.bytes.len() == bytes));
    }
}

#[test]
fn records_are_truncated_to_the_free_part_of_a_slot() {
    let folder = folder();
    let source = format!(
        "{LONG}static pthread_barrier_t taken, done;\n\
         static void *hold(void *nothing) {{\n    t_say(\"\", text);\n    pthread_barrier_wait(&taken);\n    \
         pthread_barrier_wait(&done);\n    return nothing;\n}}\n\
         int main(void) {{\n    static const uint8_t cells[5000];\n    pthread_t threads[3];\n    int i;\n    prepare();\n    \
         text[9999] = '\\0';\n    pthread_barrier_init(&taken, NULL, 4);\n    pthread_barrier_init(&done, NULL, 4);\n    \
         for (i = 0; i < 3; i++) {{ pthread_create(&threads[i], NULL, hold, NULL); }}\n    pthread_barrier_wait(&taken);\n    \
         t_tick(1);\n    text[5001] = '\\0';\n    t_say(\"long\", text);\n    t_table(cells);\n    \
         pthread_barrier_wait(&done);\n    for (i = 0; i < 3; i++) {{ pthread_join(threads[i], NULL); }}\n    return 0;\n}}\n"
    );
    let program = build_with_shared_recorder(folder.path(), GNU99, SPEC, &source, &["-pthread"])
        .unwrap_or_else(|error| panic!("{error}"));
    // The writer thread may free the part too late for the first record, which is then dropped.
    // This does not happen in all of ten runs.
    let run =
        |at: usize| single_file(&record(&program, folder.path(), &format!("{at}.tmt"), &[("TUMIT_MEMORY", "256k")]));
    let file = (0..10).map(run).find(|file| file.totals().0 == 5).unwrap();
    // A record without a field that can be truncated is dropped.
    assert_eq!((file.totals(), file.truncated, truncated_records(&file)), ((5, 1), 1, Some(1)));
    let short = file.records.values().find(|records| records[0].text.starts_with("tick")).unwrap();
    assert_eq!(short[1].bytes.len(), 2 + 4 + 2 + most_in(1 << 12) - 1);
    assert!(short[1].text.ends_with("é\" (truncated)"));
}

#[test]
fn readers_and_copies_mark_truncated_records() {
    let folder = folder();
    let source = format!(
        "{LONG}int main(void) {{\n    prepare();\n    t_tick(1);\n    t_say(\"long\", text);\n    t_say(\"short\", \"\");\n    \
         t_say(\"long\", text);\n    t_tick(2);\n    return 0;\n}}\n"
    );
    let program =
        build_with_shared_recorder(folder.path(), GNU99, SPEC, &source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = record(&program, folder.path(), "run.tmt", &[]);
    let (sorted, cut) = (folder.path().join("sorted.tmt"), folder.path().join("cut.tmt"));
    succeed(tumit().args(["merge", "--sort"]).arg(&run).arg("-o").arg(&sorted));
    succeed(tumit().args(["cut", "--event", "say"]).arg(&run).arg("-o").arg(&cut));
    let expected_text = "2 records are truncated";
    for (run, ticks) in [(&run, 1), (&sorted, 1), (&cut, 0)] {
        let marks = |records: &[Value]| records.iter().map(|record| record["truncated"] == true).collect::<Vec<_>>();
        let expected = [vec![false; ticks], vec![true, false, true], vec![false; ticks]].concat();
        let name = run.display();
        assert_eq!(marks(&dumped(tumit().args(["dump", "--json"]).arg(run))), expected, "{name}");
        let mut second = Command::new("python3");
        second.arg(workspace().join("tests/python_reader/dump.py")).arg(run).env("PYTHONDONTWRITEBYTECODE", "1");
        assert_eq!(marks(&dumped(&mut second)), expected, "{name}");
        let dump = output(tumit().arg("dump").arg(run));
        let lines = String::from_utf8(dump.stdout).unwrap();
        assert_eq!(lines.lines().filter(|line| line.ends_with("  (truncated)")).count(), 2, "{name}");
        assert!(String::from_utf8_lossy(&dump.stderr).contains(expected_text) && dump.status.success(), "{name}");
        let info: Value = serde_json::from_str(&succeed(tumit().args(["info", "--json"]).arg(run))).unwrap();
        assert_eq!((&info["truncated_records"], &info["losses"]), (&Value::from(2), &Value::Array(Vec::new())));
        assert!(info["diagnostics"].to_string().contains(expected_text), "{name}: {}", info["diagnostics"]);
        let info = succeed(tumit().arg("info").arg(run));
        assert!(
            info.contains(expected_text) && info.ends_with("\nNo other data is dropped, missing or damaged.\n"),
            "{info}"
        );
        let converted = output(tumit().arg("convert").arg(run).args(["-o", "-"]));
        let text = String::from_utf8_lossy(&converted.stdout);
        assert!(!text.contains("unknown (records dropped or missing)"), "{name}");
        assert!(String::from_utf8_lossy(&converted.stderr).contains(expected_text), "{name}");
    }
}
