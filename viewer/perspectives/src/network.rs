//! The shape of the network that connects the units, and the routes of messages in it.

pub mod routes;
pub mod topology;
