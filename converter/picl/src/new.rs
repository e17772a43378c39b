//! New PICL (PICL 2.0, MPICL).

mod event_keys;
mod parser;
mod record;

pub(crate) use event_keys::event_of;
pub(crate) use parser::{NewParser, OTHER_RECORDS};
