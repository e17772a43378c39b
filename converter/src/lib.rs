//! Everything between a recorded run and the stream of [`paje::PajeEvent`]s that the viewer simulates.

pub mod paje;
pub mod time;
