//! Driving the languages that record.

pub mod c;
pub mod fortran;
pub mod once;
pub mod rust;
