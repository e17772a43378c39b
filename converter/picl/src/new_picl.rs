//! New PICL (PICL 2.0, MPICL).

mod collective_values;
mod event_keys;
mod new_parser;
mod new_record;

pub(crate) use collective_values::{CollectiveValue, collective_values, end_value};
pub(crate) use event_keys::{event_of, event_of_name};
pub(crate) use new_parser::{NewParser, OTHER_RECORDS, SUBSET, SUBSET_EVENT};
