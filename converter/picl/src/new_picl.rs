//! New PICL (PICL 2.0, MPICL).

mod event_keys;
mod new_parser;
mod new_record;

pub(crate) use event_keys::event_of;
pub(crate) use new_parser::{NewParser, OTHER_RECORDS};
