//! Switches of levels, by generated code and by the program.

use std::sync::atomic::Ordering;

use crate::cursor::{CURSOR, Cursor, busy};
use crate::levels::table::Level;
use crate::reentrancy::unnested;
use crate::session::start_if_asked;
use crate::signal::{deferred, handler_detection};
use crate::state::STATE;
use crate::stream::lose_stray;
use crate::writer::write_names;

impl Level {
    /// What is added to the number of a record type for [`crate::private::record`]: the provider's base id, and the class of the level's
    /// stream; 0 when the level is off.
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
        // A signal handler or an allocator that records in the midst of a slow path of its own thread must not wait for its locks; and to
        // make the spec known takes memory, which a handler has not. What is not recorded for that is counted, if it would be else.
        let before = CURSOR.with(Cursor::begin_work);
        if before != busy::IDLE || handler_detection::runs() {
            CURSOR.with(|cursor| cursor.end_work(before));
            if self.provider.levels.iter().any(|(_, on, level)| *on && std::ptr::eq(*level, self)) {
                lose_stray();
            }
            return 0;
        }
        let logged = STATE.lock().levels.register(self.provider);
        if !logged {
            write_names();
            STATE.lock().levels.apply_all();
        }
        start_if_asked();
        CURSOR.with(|cursor| cursor.end_work(before));
        self.word.load(Ordering::Relaxed)
    }
}

/// Switches a level on or off from now on, by its name (`APP`), with the name of its trace (`taktuk.APP`), or all of
/// them (`all`). Case does not matter. It holds for specs that are used only later, too.
///
/// In a signal handler that interrupted a record or other work of the recorder it is left to the helper thread, as are there [`pause`], [`resume`],
/// [`crate::flush`] and [`crate::dump`]: it does so a tenth of a second later at most. Eight names of up to 64 bytes can wait for that; false
/// says that a switch was one too many, and not made.
pub fn set_level(name: &str, on: bool) -> bool {
    unnested(|| STATE.lock().levels.switch(name, on)) || deferred::ask_level(name, on)
}

/// Switches all levels off until [`resume`]. What was begun is ended all the same, and levels may be switched meanwhile: it
/// counts from then on.
pub fn pause() {
    set_paused(true);
}

/// Ends a [`pause`].
pub fn resume() {
    set_paused(false);
}

fn set_paused(paused: bool) {
    let done = unnested(|| {
        STATE.lock().levels.set_paused(paused);
    });
    if !done {
        deferred::ask(if paused { deferred::PAUSE } else { deferred::RESUME });
    }
}
