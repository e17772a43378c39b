//! Time ranges as values of options. All commands parse them here.

use tumit_paje::time_range::OpenTimeRange;
use tumit_paje::time_text::TimeTextError;

/// The help text of `--interval`.
pub(crate) const HELP: &str = "Only this time range: FROM..TO, FROM.., ..TO or FROM+LENGTH; TO is excluded. Times are in \
     seconds or have units: 250ms, 1h 30min (ns, us, ms, s, min, h, d). A bound without a unit has the unit of the other \
     bound: 200..400ms";

/// Parses a time range.
pub(crate) fn time_range(text: &str) -> Result<OpenTimeRange, TimeTextError> {
    text.parse()
}
