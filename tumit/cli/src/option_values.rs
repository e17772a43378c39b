//! The values of options that several commands share, in the notation of users.

pub(crate) mod byte_sizes;
pub(crate) mod category_option;
pub(crate) mod time_range_option;
pub(crate) mod time_unit;
