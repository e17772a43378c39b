//! Code that the tests and benches of several packages share: generated test data with known
//! contents, reference implementations, and readers that share no code with the product.
//!
//! | module | contents |
//! |---|---|
//! | [`synthetic_run`], [`synthetic_live_file`] | files of runs with given contents |
//! | [`decoded_run`] | reads a run by `tracer-format` and checks all guarantees of the format |
//! | [`raw_run`] | reads the files of processes according to FORMAT.md only |
//! | [`paje_text`] | random Pajé text |
//! | [`pj_dump`] | the reference implementation of Pajé |
//! | [`xorshift`] | reproducible random numbers |
//! | `clock_truth` | runs with known true timestamps, and the errors of their conversion |
//! | `trace_model`, `random_trace` | traces as plain lists, and a check of all queries |
//! | `table_trace` | a trace that answers queries by scanning tables |
//!
//! A failure is a panic, because it is the result of a test.

#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

#[cfg(feature = "clock")]
pub mod clock_truth;
pub mod decoded_run;
pub mod paje_text;
pub mod pj_dump;
#[cfg(feature = "trace")]
pub mod random_trace;
pub mod raw_run;
pub mod synthetic_live_file;
pub mod synthetic_run;
#[cfg(feature = "trace")]
pub mod table_trace;
#[cfg(feature = "trace")]
pub mod trace_model;
pub mod xorshift;
