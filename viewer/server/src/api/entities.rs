//! Requests about single entities: their neighbours, their links, and the longest of them.

pub(crate) mod link_chain;
pub(crate) mod longest_entity;
pub(crate) mod neighbour;
pub(crate) mod rematch;
