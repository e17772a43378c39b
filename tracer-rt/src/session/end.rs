//! The end of recording, by a call or with the process.

use std::time::Duration;

use crate::cursor::{CURSOR, busy};
use crate::diagnostics::report;
use crate::locks;
use crate::names::TABLES;
use crate::process::launch;
use crate::reentrancy::is_own_process;
use crate::state::{Phase, STATE};
use crate::writer::{SINK, Writer};

pub(super) fn finish_with(sink: &mut Writer) {
    let mut state = STATE.lock();
    if !state.is_recording() {
        return;
    }
    state.phase = Phase::Finished;
    let (unknown, policies) = (state.levels.unknown(), state.levels.unknown_policies());
    drop(state);
    for name in unknown {
        report(&format!("TUMIT_LEVELS: no spec that this program uses has a level `{name}`"));
    }
    for name in policies {
        report(&format!("a policy is given to level `{name}`, which no spec that this program uses has"));
    }
    let dropped = sink.finish();
    let state = STATE.lock();
    let (folder, tells_folder) = (state.folder.clone().unwrap_or_default(), state.tells_folder);
    drop(state);
    if dropped > 0 {
        report(&format!("{dropped} records are missing from {}", folder.display()));
    }
    // Once per launch.
    if tells_folder && launch::is_first() {
        report(&format!("the trace is in {}", folder.display()));
    }
}

pub(super) extern "C" fn at_exit() {
    // The helper may be in the midst of a write; a thread that never runs again may hold a lock.
    const PATIENCE: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(500);
    if !is_own_process() {
        return;
    }
    CURSOR.with(|cursor| {
        // A signal handler may end the process in the midst of a record of its own thread: that record alone is lost,
        // unless it was in the slow path and holds a lock: others may hold the sink and wait for that.
        let before = cursor.begin_work();
        if locks::held() != 0 {
            return;
        }
        if before != busy::IDLE && (STATE.lock_within(SHORT).is_none() || TABLES.lock_within(SHORT).is_none()) {
            return;
        }
        if let Some(mut sink) = SINK.lock_within(PATIENCE) {
            finish_with(&mut sink);
        }
        cursor.end_work(before);
    });
}
