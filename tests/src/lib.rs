//! Test harness of the end-to-end tests: builds the real programs and runs them.
//!
//! A missing tool fails the test with a sentence that names the tool. No test is skipped.

pub mod browser;
pub mod corpus;
pub mod lang;
pub mod page;
pub mod programs;
pub mod report_numbers;
pub mod run;
