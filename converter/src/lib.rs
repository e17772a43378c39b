//! Converts a recorded run to the stream of [`tumit_paje::PajeEvent`]s that the viewer simulates.

pub mod clock;
pub mod convert;
pub(crate) mod naming;
pub mod report;
mod rules;
pub mod run;
#[cfg(test)]
mod test_streams;
pub mod tools;
