//! The views of `ParaGraph` for any trace: utilisation, communication, tasks, and the critical path.
//!
//! An [`Execution`](execution::Execution) prepares a trace: its units, their categories, messages and tasks.

pub mod activity;
pub mod categories;
pub mod category_timeline;
pub mod chart;
pub mod error;
pub mod execution;
pub mod gallery;
pub mod messages;
pub mod options;
pub mod order;
pub mod routes;
pub mod size_scale;
pub mod step_function;
pub mod tasks;
pub mod topology;
pub mod units;
pub mod view;
mod views;
