//! Requests about single entities: their neighbours, links and operations.

pub(crate) mod link_chain;
pub(crate) mod longest_entity;
pub(crate) mod neighbour;
pub(crate) mod operation;
pub(crate) mod rematch;
