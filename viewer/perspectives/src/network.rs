//! The shape of the network that connects the units, and the routes of messages in it.

pub(crate) mod routes;
pub(crate) mod topology;
