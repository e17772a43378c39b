//! Tests of the views and of the quantities that they show, with random programs.

mod activity;
mod all_requests;
mod example;
mod random_program;
mod request;
mod tasks;
mod utilization;
