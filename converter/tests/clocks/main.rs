//! The correction of clocks: accuracy, error bounds, clock steps, collective operations.

mod clock_accuracy;
mod clock_check;
mod clock_correction;
mod clock_error_bounds;
mod collectives;
