//! The options of `tumit record` for counters.

use anyhow::ensure;
use tumit_paje::time_text;
use tumit_preload::environment::{COUNTER_NAMES, CounterChoice};
use tumit_preload::recorders::{Recorder, RecorderSet};

/// Minimum time between two samples, in nanoseconds.
const MIN_INTERVAL_NANOS: i64 = 100_000;

/// The choice of counters and of their rate.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CounterOptions {
    /// Counters to record, separated by commas: task-clock, page-faults, context-switches,
    /// migrations, cycles, instructions, cache-misses, branch-misses, process, machine [default:
    /// all]
    #[arg(long, value_name = "COUNTERS", value_parser = counter_list, help_heading = "Counters")]
    counters: Option<String>,

    /// Time between two samples of the threads, at least 100us [default: 10ms]
    #[arg(long, value_name = "TIME", value_parser = interval, help_heading = "Counters")]
    counter_interval: Option<u64>,
}

impl CounterOptions {
    /// Checks that the options have an effect.
    ///
    /// # Errors
    /// If there are options, and the recorder of counters is not among `recorders`.
    pub(crate) fn check(&self, recorders: Option<&RecorderSet>) -> anyhow::Result<()> {
        let is_used = self.counters.is_some() || self.counter_interval.is_some();
        let is_recorded = recorders.is_some_and(|recorders| recorders.contains(&Recorder::Counters));
        ensure!(
            is_recorded || !is_used,
            "--counters and --counter-interval have no effect without the recorder of counters: add --with counters, or --with mpi,openmp,counters"
        );
        Ok(())
    }

    pub(crate) fn choice(&self) -> CounterChoice {
        CounterChoice { counters: self.counters.clone(), interval_nanos: self.counter_interval }
    }
}

/// Checks a list of counters.
fn counter_list(text: &str) -> Result<String, String> {
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    match names.iter().find(|name| !COUNTER_NAMES.contains(name)) {
        None => Ok(names.join(",")),
        Some(name) => Err(format!("`{name}` is no counter: write some of {}", COUNTER_NAMES.join(","))),
    }
}

/// Reads an interval, in nanoseconds.
fn interval(text: &str) -> Result<u64, String> {
    let nanos = time_text::parse(text).map_err(|error| error.to_string())?;
    let nanos = Some(nanos).filter(|&nanos| nanos >= MIN_INTERVAL_NANOS);
    nanos.and_then(|nanos| u64::try_from(nanos).ok()).ok_or_else(|| format!("`{text}` is shorter than 100us"))
}

#[cfg(test)]
mod tests {
    use tumit_preload::recorders::{Recorder, RecorderSet};

    use super::{CounterOptions, counter_list, interval};

    #[test]
    fn values_are_checked() {
        assert_eq!(interval("1ms"), Ok(1_000_000));
        assert!(interval("99us").is_err() && interval("-1ms").is_err() && interval("soon").is_err());
        assert_eq!(counter_list("cycles, machine"), Ok("cycles,machine".to_owned()));
        for wrong in ["", "cycles,", "cycle", "cycles;machine"] {
            assert!(counter_list(wrong).is_err(), "{wrong}");
        }
        let options = CounterOptions { counters: Some("cycles".to_owned()), counter_interval: None };
        assert!(options.check(None).is_err() && CounterOptions::default().check(None).is_ok());
        assert!(options.check(Some(&RecorderSet::from([Recorder::Counters]))).is_ok());
    }
}
