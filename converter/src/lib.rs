//! Everything between a recorded run and the stream of [`paje::PajeEvent`]s that the viewer simulates.

mod ahead;
pub mod census;
pub mod clock;
pub mod cut;
pub mod digits;
pub mod input;
mod join;
mod lane;
pub mod listing;
mod made;
mod merge;
pub mod missing;
pub mod paje;
mod pass;
pub mod pipeline;
mod plan;
mod ready;
pub mod records;
mod reorder;
pub mod repair;
pub mod report;
mod rules;
pub mod run;
pub mod sort;
pub mod time;
mod who;
mod window;
