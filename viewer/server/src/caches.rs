//! Results that the server keeps between requests.

pub(crate) mod execution_cache;
pub(crate) mod filtered_cache;
pub(crate) mod keyed_cache;
pub(crate) mod sent_drawings;
