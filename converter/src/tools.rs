//! Tools that read or rewrite a run without converting it.

pub mod cut;
pub mod dump;
pub mod info;
pub mod join;
pub mod records;
pub mod repair;
pub mod sort;
