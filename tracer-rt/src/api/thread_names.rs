//! Names and labels that a program gives to its threads.

use std::cell::Cell;

use crate::cursor::{CURSOR, Cursor};
use crate::files::cut;
use crate::reentrancy::unnested;
use crate::state::STATE;
use crate::state::stream_entry::Names;

/// Bytes of a name that a program gives; the rest is cut, as the C recorder does.
const MAX_NAME_BYTES: usize = 47;

/// Names the calling thread in the trace; without it, the name is that of its `std::thread`. At most 47 bytes are kept.
pub fn set_thread_name(name: &str) {
    rename(name, |cursor| &cursor.name, |names| &mut names.thread);
}

/// Labels what the calling thread records: `"io"`, `"GPU 0"`, whatever its streams are to the program. Rules know it as
/// `stream_label`, and can group threads by it. A later label takes the place of an earlier one, for the whole run. At most 47 bytes are kept.
pub fn set_stream_label(label: &str) {
    rename(label, |cursor| &cursor.label, |names| &mut names.label);
}

fn rename(text: &str, kept: fn(&Cursor) -> &Cell<Option<&'static str>>, of: fn(&mut Names) -> &mut Option<String>) {
    let text = cut(text, MAX_NAME_BYTES);
    unnested(|| {
        CURSOR.with(|cursor| {
            if cursor.streams.iter().all(|stream| stream.get().is_null()) {
                // Kept for a thread that may never record: too small to track.
                return kept(cursor).set(Some(Box::leak(text.into())));
            }
            let mut state = STATE.lock();
            for entry in state.entries.iter_mut().filter(|entry| std::ptr::eq(entry.cursor, cursor)) {
                *of(&mut entry.names) = Some(text.to_owned());
                entry.told = false;
                // Best effort: records do not depend on it, and it is written soon.
                entry.log();
            }
        });
    });
}
