//! Tumit's viewer: simulates, stores, queries, lays out and draws streams of Pajé events.
//!
//! Data flow in one direction. [`open`](open()) reads a trace through `sim` into a store in memory
//! or an [`index`] in a file. [`query::TimelineSource`] is the only interface to it. `stats` and
//! `tables` count and list entities; `layout` and `scene` convert answers to primitives independent
//! of any toolkit; `export` writes these to files. The package `tumit-server` shows them on a page.

#![deny(unsafe_code)]

pub mod export;
pub mod filter;
pub mod generated_file;
pub mod index;
pub mod input;
pub mod layout;
pub mod open;
mod parallel;
pub mod query;
pub mod scene;
pub mod sim;
pub mod stats;
pub mod store;
pub mod style;
pub mod tables;
pub mod text;

pub use crate::input::options::{IndexChoice, OpenOptions, TraceOpenError};
pub use open::{PreparedIndex, make_index, open};
