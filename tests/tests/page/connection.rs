//! The connection to the server and to the browser: growing traces, remote access, broken
//! connections.

mod browser_driver;
mod disturbances;
mod growing_traces;
mod remote_access;
mod server_loss;
