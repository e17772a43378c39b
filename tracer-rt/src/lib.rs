//! Records the events of a Rust program at hardly more than the cost of reading the clock.
