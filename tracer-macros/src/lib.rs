//! The macros of `tracer-rt`, which re-exports them.
