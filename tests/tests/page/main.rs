//! The page in a real browser: elements found by roles and names, moved by real wheel, drag and key
//! events, read like a user reads.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod address;
mod audit;
mod axes;
mod basics;
mod compare;
mod costs;
mod counting;
mod diagram;
mod entities;
mod files;
mod filters;
mod forced;
mod growth;
mod hands;
mod keys;
mod legend;
mod looks;
mod lost;
mod more;
mod names;
mod panes;
mod reach;
mod refresh;
mod rows;
mod seen;
mod shots;
mod sizes;
mod time;
mod tools;
mod trouble;
