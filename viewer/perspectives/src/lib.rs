//! The views of `ParaGraph` for any trace: utilization, communication, tasks, and the critical
//! path.
//!
//! An [`Execution`](execution::Execution) prepares a trace: its units, their categories, messages
//! and tasks.

pub mod analysis;
pub mod cards;
pub mod chart;
pub mod chart_text;
pub mod diagram;
mod diagram_rows;
pub mod draw;
pub mod error;
pub mod execution;
pub mod gallery;
mod message_scale;
mod network;
pub mod option_titles;
pub mod options;
pub mod series_filter;
mod span_label;
pub mod unit_lists;
pub mod view;
mod views;
