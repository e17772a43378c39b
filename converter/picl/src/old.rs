//! Old PICL (PICL 1.x), in its compact and its verbose form.

pub(crate) mod keys;
mod parser;
mod record;

pub(crate) use keys::{OLD_KEYS, key_of_name};
pub(crate) use parser::OldParser;
