//! Deliberate defects, for the tests of the tests: `TUMIT_FAULT=NAME` breaks the recorder in one way, in builds with debug
//! assertions alone. All are in slow paths.

use std::sync::OnceLock;

/// Whether the recorder is to be broken in this way.
pub(crate) fn injected(name: &str) -> bool {
    static FAULT: OnceLock<Option<String>> = OnceLock::new();
    cfg!(debug_assertions)
        && FAULT.get_or_init(|| std::env::var("TUMIT_FAULT").ok()).as_deref().is_some_and(|fault| fault == name)
}
