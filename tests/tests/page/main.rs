//! The page in a real browser: elements found by roles and names, moved by real wheel, drag and key
//! events, read like a user reads.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod accessibility;
mod browser_processes;
mod connection;
mod costs;
mod image;
mod interaction;
mod panels;
mod screenshots;
