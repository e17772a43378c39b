//! Messages of the recorder to the user.

/// One line for the user, on the standard error; nothing more can be done.
pub(crate) fn report(line: &str) {
    let text = format!("tumit: {line}\n");
    // SAFETY: pointer and length are of one live string.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}
