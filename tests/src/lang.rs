//! Driving the languages that record.

pub mod c;
