//! Switches of levels, by generated code and by the program.

use std::sync::atomic::Ordering;

use crate::cursor::{CURSOR, ThreadCursor, work_state};
use crate::levels::level_table::{Level, Provider};
use crate::reentrancy::run_unnested;
use crate::session::start_if_requested;
use crate::signal::{handler_detection, handler_requests};
use crate::state::STATE;
use crate::stream::count_stray_drop;
use crate::writer::write_names;

impl Level {
    /// The base of the level, added to the number of a record type for [`crate::private::record`].
    /// It consists of the base id of the provider and the class of the level's stream. 0 if the
    /// level is off.
    #[inline(always)]
    pub fn base(&self) -> u32 {
        let word = self.word.load(Ordering::Relaxed);
        if word.cast_signed() < 0 {
            return self.first_use();
        }
        word
    }

    #[cold]
    #[inline(never)]
    fn first_use(&self) -> u32 {
        if !register(self.provider) {
            if self.provider.levels.iter().any(|(_, on, level)| *on && std::ptr::eq(*level, self)) {
                count_stray_drop();
            }
            return 0;
        }
        self.word.load(Ordering::Relaxed)
    }
}

/// Whether the caller may register a spec, as in [`register`].
pub(super) fn can_register() -> bool {
    let is_idle = CURSOR.with(|cursor| cursor.work_state.load(Ordering::Relaxed)) == work_state::IDLE;
    is_idle && !handler_detection::runs()
}

/// Registers a spec and switches its levels. Returns false in a signal handler, and for an
/// allocator that the recorder calls.
///
/// They may record during a slow path of their own thread, and must not wait for the locks of that
/// thread. Registering the spec also allocates memory, which a handler cannot do. A record that
/// would be written otherwise is counted as dropped.
pub(super) fn register(provider: &'static Provider) -> bool {
    let previous_state = CURSOR.with(ThreadCursor::begin_work);
    let is_possible = previous_state == work_state::IDLE && !handler_detection::runs();
    if is_possible {
        let logged = STATE.lock().levels.register(provider);
        if !logged {
            write_names();
            STATE.lock().levels.apply_all();
        }
        start_if_requested();
    }
    CURSOR.with(|cursor| cursor.end_work(previous_state));
    is_possible
}

/// Switches a level on or off by its name (`APP`), its name with that of its trace (`taktuk.APP`),
/// or all levels (`all`).
/// Case does not matter. The switch also applies to specs that are first used later.
///
/// A signal handler that interrupted the recorder leaves the switch to the writer thread, which
/// executes it within 0.1 s. The same applies to [`pause`], [`resume`], [`crate::flush`] and
/// [`crate::dump`]. Eight names of up to 64 bytes can wait. The function returns false if the
/// switch could not be queued.
pub fn set_level(name: &str, is_on: bool) -> bool {
    run_unnested(|| STATE.lock().levels.switch(name, is_on)) || handler_requests::request_level(name, is_on)
}

/// Switches all levels off until [`resume`].
/// Spans that have begun are still ended. Switches made meanwhile take effect after [`resume`].
pub fn pause() {
    set_paused(true);
}

/// Ends a [`pause`].
pub fn resume() {
    set_paused(false);
}

fn set_paused(is_paused: bool) {
    let is_switched = run_unnested(|| {
        STATE.lock().levels.set_paused(is_paused);
    });
    if !is_switched {
        handler_requests::request(if is_paused { handler_requests::PAUSE } else { handler_requests::RESUME });
    }
}
