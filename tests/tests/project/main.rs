//! The project as a new user finds it: the README, the examples, the licences; the limits of its
//! files.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod examples;
mod fft_hypercube;
mod licences;
mod page_files;
mod readme;
