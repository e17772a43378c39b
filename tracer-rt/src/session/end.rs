//! The end of recording, by a call or with the process.

use std::time::Duration;

use crate::cursor::{CURSOR, work_state};
use crate::intern_tables::TABLES;
use crate::locks;
use crate::process::launch_id;
use crate::reentrancy::is_own_process;
use crate::state::{STATE, SessionPhase};
use crate::user_messages::report;
use crate::writer::{BLOCK_WRITER, BlockWriter};

pub(super) fn finish_with(writer: &mut BlockWriter) {
    let mut state = STATE.lock();
    if !state.is_recording() {
        return;
    }
    state.phase = SessionPhase::Finished;
    let (unknown, policies) = (state.levels.unknown_names(), state.levels.unknown_policies());
    drop(state);
    for name in unknown {
        report(&format!("TUMIT_LEVELS: no spec that this program uses has a level `{name}`"));
    }
    for name in policies {
        report(&format!(
            "TUMIT_POLICY or a call sets a policy for level `{name}`, but no spec that this program uses has such a level"
        ));
    }
    let dropped = writer.finish();
    let state = STATE.lock();
    let (folder, prints_folder) = (state.folder.clone().unwrap_or_default(), state.prints_folder);
    drop(state);
    if dropped > 0 {
        report(&format!("{dropped} records were dropped from {}", folder.display()));
    }
    // Once per launch.
    if prints_folder && launch_id::is_first() {
        report(&format!("the trace is in {}", folder.display()));
    }
}

pub(super) extern "C" fn at_exit() {
    // The writer thread may be in a write. A thread that never runs again may hold a lock.
    const MAX_WAIT: Duration = Duration::from_secs(10);
    const SHORT_WAIT: Duration = Duration::from_millis(500);
    if !is_own_process() {
        return;
    }
    CURSOR.with(|cursor| {
        // A signal handler may end the process during a record of its own thread. Only that record
        // is dropped, unless the thread holds a lock in the slow path: other threads may then hold
        // the writer and wait for that lock.
        let previous_state = cursor.begin_work();
        if locks::held_locks() != 0 {
            return;
        }
        if previous_state != work_state::IDLE
            && (STATE.lock_within(SHORT_WAIT).is_none() || TABLES.lock_within(SHORT_WAIT).is_none())
        {
            return;
        }
        if let Some(mut writer) = BLOCK_WRITER.lock_within(MAX_WAIT) {
            finish_with(&mut writer);
        }
        cursor.end_work(previous_state);
    });
}
