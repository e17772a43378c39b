//! The subcommands.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod cut;
pub(crate) mod diagnose;
pub(crate) mod doc;
pub(crate) mod dump;
mod exit_status;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod generate;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod level;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod repair;
pub(crate) mod stats;
pub(crate) mod sync;
pub(crate) mod view;

pub(crate) use exit_status::ExitStatus;
