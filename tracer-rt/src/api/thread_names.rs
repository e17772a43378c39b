//! Names and labels that a program gives to its threads.

use std::cell::Cell;

use crate::cursor::{CURSOR, ThreadCursor};
use crate::files::cut;
use crate::reentrancy::run_unnested;
use crate::state::STATE;
use crate::state::stream_entry::StreamNames;

/// Maximum bytes of a name. A longer name is cut, as in the C recorder.
const MAX_NAME_BYTES: usize = 47;

/// Sets the name of the calling thread in the trace, at most 47 bytes.
/// The default is the name of its `std::thread`.
pub fn set_thread_name(name: &str) {
    rename(name, |cursor| &cursor.name, |names| &mut names.thread);
}

/// Sets the label of the calling thread's streams, such as `"io"` or `"GPU 0"`, at most 47 bytes.
/// In rules it is `stream_label`, and rules can group threads by it. A later label replaces an
/// earlier one for the whole run.
pub fn set_stream_label(label: &str) {
    rename(label, |cursor| &cursor.label, |names| &mut names.label);
}

fn rename(
    text: &str,
    cell_of: fn(&ThreadCursor) -> &Cell<Option<&'static str>>,
    name_of: fn(&mut StreamNames) -> &mut Option<String>,
) {
    let text = cut(text, MAX_NAME_BYTES);
    run_unnested(|| {
        CURSOR.with(|cursor| {
            if cursor.streams.iter().all(|stream| stream.get().is_null()) {
                // Leaked for a thread that may never record, because the text is small.
                return cell_of(cursor).set(Some(Box::leak(text.into())));
            }
            let mut state = STATE.lock();
            for entry in state.entries.iter_mut().filter(|entry| std::ptr::eq(entry.cursor, cursor)) {
                *name_of(&mut entry.names) = Some(text.to_owned());
                entry.names_written = false;
                // Best effort: records do not depend on it, and the writer thread writes it soon.
                entry.log();
            }
        });
    });
}
