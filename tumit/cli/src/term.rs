//! The terminal. Only this module writes to standard output and standard error.

use std::io::{self, IsTerminal, Write};

/// Prints an error with one line for each of its causes. A cause that the line before it contains
/// is left out.
pub(crate) fn error(error: &anyhow::Error) {
    let mut err = io::stderr().lock();
    let mut previous = error.to_string();
    let _ = writeln!(err, "tumit: {previous}");
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !previous.contains(&cause) {
            let _ = writeln!(err, "  because {cause}");
            previous = cause;
        }
    }
}

/// A message for the user on standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Standard output, buffered. Flush it at the end: a full disk or a closed pipe is an error.
pub(crate) fn stdout() -> io::BufWriter<io::StdoutLock<'static>> {
    io::BufWriter::new(io::stdout().lock())
}

/// Whether progress may be drawn.
pub(crate) fn is_interactive() -> bool {
    io::stderr().is_terminal()
}

/// Whether standard error supports colours and the user wants them.
pub(crate) fn is_colored() -> bool {
    is_interactive() && std::env::var_os("NO_COLOR").is_none()
}

/// Whether standard output supports colours and the user wants them.
pub(crate) fn is_stdout_colored() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Whether the reader of our output has closed the pipe (`tumit dump … | head`), which is no error.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe))
}
