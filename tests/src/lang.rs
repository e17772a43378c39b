//! Compilation and execution of drivers in the recording languages.

pub mod c;
pub mod fortran;
pub mod program_cache;
pub mod rust;
