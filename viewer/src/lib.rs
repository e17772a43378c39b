//! Tumit's viewer: simulates, stores, queries, lays out and draws streams of Pajé events.
//!
//! Data flow in one direction. [`open`](open()) reads a trace through `sim` into a store in memory
//! or an [`index`] in a file. [`query::TimelineSource`] is the only interface to it. `stats` and
//! `tables` count and list entities; `layout` and `scene` convert answers to primitives independent
//! of any toolkit; `export` writes these to files. The package `tumit-server` shows them on a page.
//!
//! In this example, the only thread of a trace works for 2 s of 3 s:
//!
//! ```
//! use tumit_viewer::stats::{RowGrouping, table};
//! use tumit_viewer::{OpenOptions, open};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("example.paje");
//! # std::fs::write(&path, format!("{header}{body}"))?;
//! let source = open(&path, &OpenOptions::default())?;
//! let rows = table(source.as_ref(), source.extent(), RowGrouping::Value, None)?;
//! assert_eq!(rows[0].value.as_deref(), Some("work"));
//! assert_eq!((rows[0].time, rows[0].count), (Some(2.0), Some(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(unsafe_code)]

pub mod export;
pub mod filter;
pub mod generated_file;
pub mod index;
pub mod input;
pub mod layout;
pub mod open;
pub mod parallel_map;
pub mod query;
pub mod scene;
pub mod sim;
pub mod stats;
pub mod store;
pub mod style;
pub mod tables;
pub mod text;

pub use crate::input::first_finding::first_finding;
pub use crate::input::open_options::{IndexChoice, OpenOptions, TraceOpenError};
pub use open::{PreparedIndex, make_index, open};
