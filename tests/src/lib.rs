//! Harness of the end-to-end tests: builds and drives the real programs.

pub mod lang;
pub mod run;
