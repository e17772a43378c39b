//! Libraries that record programs without changes of their source code. `tumit record` attaches
//! them.

#![forbid(unsafe_code)]

pub mod mpi;
