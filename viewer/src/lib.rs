//! From the stream of Pajé events to pictures: simulate, store, query, lay out, draw, serve.
//!
//! Data flows one way: [`open`](open()) reads a trace through `sim` into a store in memory or an [`index`] in a file; [`query::TimelineSource`] is the one door to it;
//! `stats` and `rows` count and list what is behind it; `layout` and `scene` turn answers into primitives without a toolkit; `export` and `server` show those. Only `server` and `ui` know of a page.

#![deny(unsafe_code)]

mod answers;
mod color;
mod csv_cell;
mod current;
pub mod entities;
pub mod export;
mod feed;
pub mod filter;
pub mod index;
pub mod layout;
pub mod live;
mod looks;
mod mending;
mod open;
mod options;
pub mod own_file;
mod parallel;
mod pass;
mod preview;
pub mod query;
pub mod replay;
pub mod rows;
pub mod scene;
pub mod server;
pub mod sim;
pub mod stats;
pub mod store;
pub mod theme;
pub mod time_text;

pub use open::{Indexed, make_index, open};
pub use options::{IndexChoice, OpenError, OpenOptions};
