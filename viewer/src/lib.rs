//! From the stream of Pajé events to pictures: simulate, store, query, lay out, draw, serve.
//!
//! Data flows one way: [`open`](open()) reads a trace through `sim` into a store in memory or an [`index`] in a file; [`query::TimelineSource`] is the one door to it;
//! `stats` and `rows` count and list what is behind it; `layout` and `scene` turn answers into primitives without a toolkit; `export` and `server` show those. Only `server` and `ui` know of a page.

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

pub use crate::input::options::{IndexChoice, OpenError, OpenOptions};
pub use open::{Indexed, make_index, open};
