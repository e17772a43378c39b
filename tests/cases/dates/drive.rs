//! Dates from a user clock as parameters.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::{RecorderConfig, Date};

tracer_rt::events!("cases/dates/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(1000);

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1_000_000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("corpus".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");

    let before = tracer_rt::now();
    TICKS.fetch_add(500, Ordering::Relaxed);
    let after = tracer_rt::now();
    all::one(before);
    all::one(after);
    all::one(Date::from_ticks(0));
    all::one(Date::from_ticks(u64::MAX));
    all::several([before, after], &[after, before, after]);
    all::several([after, after], &[]);
}
