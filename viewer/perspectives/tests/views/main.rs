//! Tests of the views and of the quantities that they show, with random programs.

#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

mod activity;
mod all_requests;
mod card_charts;
mod card_faults;
mod diagram_modes;
mod example;
mod request;
mod series;
mod tasks;
mod unit_choice;
mod unit_program;
mod utilization;
