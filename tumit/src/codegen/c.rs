//! The C back end.
