//! Compilation and execution of drivers in the recording languages.

pub mod c;
pub mod fortran;
pub mod once;
pub mod rust;
