//! Libraries that record programs without changes of their source code, and the facts about
//! programs that decide how they are attached. `tumit record` attaches them.

#![forbid(unsafe_code)]

pub mod attachment;
pub mod elf_file;
pub mod environment;
pub mod launcher_syntax;
pub mod library_file;
pub mod library_search;
pub mod mpi_family;
pub mod openmp_runtime;
pub mod program_command;
pub mod program_file;
pub mod recorder_library;
pub mod recorders;
