//! Messages of the recorder to the user.

/// Writes one line for the user to the standard error. Errors of the write are ignored.
pub(crate) fn report(line: &str) {
    let text = format!("tumit: {line}\n");
    // SAFETY: pointer and length are those of one live string.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
