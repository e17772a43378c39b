//! The preparation of a conversion, before its passes: the programs and facts of each stream, the
//! ends of threads and processes, and the suffixes of container labels.

pub(crate) mod labels;
pub(crate) mod plan;
mod rule_match;
pub(crate) mod shared_facts;
pub(crate) mod thread_ends;
