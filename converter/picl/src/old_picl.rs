//! Old PICL (PICL 1.x), in its compact and its verbose form.

pub(crate) mod old_keys;
mod old_parser;
mod old_record;

pub(crate) use old_keys::{OLD_KEYS, key_of_name};
pub(crate) use old_parser::OldParser;
