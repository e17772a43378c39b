//! The lanes of an index: states, events, variables and links as rows of tables, with the sums that
//! make their queries fast.

pub(crate) mod link_density;
pub(crate) mod links;
pub(crate) mod marks;
pub(crate) mod open_links;
pub(crate) mod prefix_counts;
pub(crate) mod states;
pub(crate) mod variables;
