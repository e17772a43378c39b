//! The library that records calls of MPI.

/// The shared library. It serves all families of MPI libraries, needs only the C library, and writes
/// nothing in processes that do not call MPI.
pub const LIBRARY: &[u8] = include_bytes!(env!("TUMIT_PRELOAD_LIBRARY"));

/// The name of the file that contains [`LIBRARY`].
pub const LIBRARY_NAME: &str = "libtumit_preload.so";
