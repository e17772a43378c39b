//! The options of `tumit record` for functions.

use tumit_paje::time_text;
use tumit_preload::environment::FunctionLimits;

/// The limits of the recorder of functions.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FunctionOptions {
    /// Functions to record: patterns with `*` and `?`, separated by `;`. A pattern with `!`
    /// excludes, and the last one that matches decides [default: all]
    #[arg(long, value_name = "PATTERNS", value_parser = patterns, help_heading = "Functions")]
    functions: Option<String>,

    /// Maximum nesting depth of recorded calls [default: 128]
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Functions")]
    function_depth: Option<u32>,

    /// Maximum number of calls of a function per second and thread. A function with more calls is
    /// no longer recorded [default: 100000]
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Functions")]
    function_rate: Option<u32>,

    /// Minimum duration of a call, such as 10us. Shorter calls are not recorded [default: none]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Functions")]
    function_minimum: Option<u64>,
}

impl FunctionOptions {
    pub(crate) fn limits(&self) -> FunctionLimits {
        FunctionLimits {
            patterns: self.functions.clone(),
            depth: self.function_depth,
            rate: self.function_rate,
            minimum_nanos: self.function_minimum,
        }
    }
}

/// Checks a list of patterns.
fn patterns(text: &str) -> Result<String, String> {
    let is_empty = |pattern: &str| pattern.strip_prefix('!').unwrap_or(pattern).is_empty();
    if text.split(';').any(is_empty) {
        return Err(
            "a pattern is empty: write names with `*` or `?`, separated by `;`, as in solve*;!*print*".to_owned()
        );
    }
    Ok(text.to_owned())
}

/// Reads a duration, in nanoseconds.
fn duration(text: &str) -> Result<u64, String> {
    let nanos = time_text::parse(text).map_err(|error| error.to_string())?;
    u64::try_from(nanos).map_err(|_negative| format!("`{text}` is negative: write a duration, as in 10us"))
}

#[cfg(test)]
mod tests {
    use super::{duration, patterns};

    #[test]
    fn invalid_durations_and_patterns_are_rejected() {
        assert_eq!(duration("10us"), Ok(10_000));
        assert!(duration("-1ms").is_err() && duration("soon").is_err());
        assert!(patterns("a*;!b").is_ok());
        for wrong in ["", "a;", "!", "a;;b"] {
            assert!(patterns(wrong).is_err(), "{wrong}");
        }
    }
}
