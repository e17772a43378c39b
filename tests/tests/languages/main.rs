//! All languages record and read the same bytes: recorders in Rust, C, C++ and Fortran, generated
//! readers, and a reader in Python.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod corpus;
mod fortran;
mod generated_readers;
mod python_reader;

tracer_rt::events!("tests/runs/ticks.tumit");
