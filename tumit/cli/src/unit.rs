//! Units of the dates of Pajé text, as users write them.

/// In what dates are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Unit {
    /// Seconds, as the format says
    #[default]
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// Nanoseconds
    Ns,
}

impl From<Unit> for tumit_paje::time::Unit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::S => Self::Seconds,
            Unit::Ms => Self::Millis,
            Unit::Us => Self::Micros,
            Unit::Ns => Self::Nanos,
        }
    }
}
