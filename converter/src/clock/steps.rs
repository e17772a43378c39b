//! Steps of a clock, observed by the recorder or found from messages.

pub(crate) mod from_messages;
pub(crate) mod from_readings;
