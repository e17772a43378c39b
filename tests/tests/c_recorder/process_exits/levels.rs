//! Levels, pauses and statistics: functions of the program, and `tumit level`.

use std::time::Duration;

use tests::lang::c::{GNU99, build, folder};
use tests::programs::{output, tumit};
use tests::run::read;
use tracer_format::tags::{integer, tag};

use super::{TICK, collect, launch, program, sums, witness};

#[test]
fn levels_pauses_and_statistics_work_from_the_program() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
int main(void) {
    struct tumit1_stats stats;
    t_tick(1);
    tumit1_pause();
    t_tick(2);
    (void)tumit1_set_level("L", 1);
    t_tick(3);
    tumit1_resume();
    t_tick(4);
    tumit1_flush();
    tumit1_get_stats(&stats);
    if (stats.written_ != 2 || stats.dropped_ != 0 || stats.streams_ != 1 || stats.blocks_ != 1 || !stats.mapped_ || !stats.writer_thread_ ||
        stats.slots_ != 256 || stats.slots_free_ >= 256) { return 1; }
    tumit1_finish();
    t_tick(5);
    tumit1_get_stats(&stats);
    return stats.writer_thread_ == 0 && stats.written_ == 2 ? 0 : 2;
}
"#;
    let program = build(folder.path(), GNU99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let files = read(&tests::lang::c::record(&program, folder.path(), "run.tmt", &[]));
    assert_eq!(files[0].texts(), ["tick n=Unsigned(1)", "tick n=Unsigned(4)"]);
    assert_eq!(integer(&files[0].end.as_ref().expect("an end")[&tag::RECORDS_WRITTEN]), Some(2));
}

#[test]
fn levels_are_switched_from_outside() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let mut child = launch(folder.path(), &program, "gently", &[]).spawn().expect("it starts");
    let run = folder.path().join("run.tmt");
    let calls_after = |before: u64| {
        while witness(folder.path()) <= before {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    calls_after(0);
    let unknown = output(tumit().args(["level", &child.id().to_string(), "NONE", "off", "--timeout", "60"]));
    let switched = output(tumit().args(["level", &child.id().to_string(), "L", "off", "--timeout", "60"]));
    let again = output(tumit().args(["level", &run.display().to_string(), "L", "off", "--timeout", "60"]));
    calls_after(witness(folder.path()));
    child.kill().expect("it can be killed");
    child.wait().expect("it ended");
    for (call, good) in [(&unknown, false), (&switched, true), (&again, true)] {
        assert_eq!(call.status.success(), good, "{}", String::from_utf8_lossy(&call.stderr));
    }
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no level `NONE`"), "{unknown:?}");
    let (recorded, dropped) = sums(&collect(folder.path()));
    assert!(recorded + dropped < witness(folder.path()), "calls went on, records did not");
}
