//! Everything between a recorded run and the stream of [`paje::PajeEvent`]s that the viewer simulates.

pub mod clock;
pub mod compression;
pub mod convert;
pub mod digits;
pub(crate) mod naming;
pub mod paje;
pub mod report;
mod rules;
pub mod run;
pub mod time;
pub mod tools;
pub mod waiting;
