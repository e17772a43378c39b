//! Units of the timestamps of Pajé text, in the notation of users.

/// The unit of timestamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TimeUnitChoice {
    /// Seconds, as the format requires
    #[default]
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

impl From<TimeUnitChoice> for tumit_paje::time::TimeUnit {
    fn from(unit: TimeUnitChoice) -> Self {
        match unit {
            TimeUnitChoice::S => Self::Seconds,
            TimeUnitChoice::Ms => Self::Millis,
            TimeUnitChoice::Us => Self::Micros,
            TimeUnitChoice::Ns => Self::Nanos,
        }
    }
}
