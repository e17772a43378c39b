//! The preloaded library that records MPI calls, with Open MPI and MPICH.

mod bindings;
mod environment;
mod matching;
mod operations;
mod waiting_receives;
mod windows;
