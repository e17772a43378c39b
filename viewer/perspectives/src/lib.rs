//! The views of `ParaGraph` for any trace: utilisation, communication, tasks, and the critical path.
//!
//! An [`Execution`](execution::Execution) prepares a trace: its units, their categories, messages and tasks.

pub mod activity;
mod captions;
pub mod categories;
mod category_legend;
pub mod category_timeline;
pub mod chart;
pub mod chart_text;
pub mod collectives;
pub mod critical_path;
pub mod derived_trace;
pub mod diagnosis;
pub mod diagram;
pub mod draw;
pub mod efficiency;
pub mod error;
pub mod execution;
pub mod gallery;
pub mod innermost_state;
pub mod messages;
mod moving_window;
pub mod options;
pub mod order;
pub mod routes;
pub mod size_scale;
pub mod step_function;
pub mod tasks;
pub mod topology;
mod unit_bundles;
pub mod units;
pub mod view;
mod views;
pub mod wait_states;
