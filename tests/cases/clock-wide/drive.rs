//! Dates far apart.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/clock-wide/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(0);

pub fn main() {
    const DELTA: u64 = u32::MAX as u64;
    let dates = [0, DELTA, 2 * DELTA, 3 * DELTA + 1, 3 * DELTA + 2, 1 << 40, (1 << 40) + DELTA, 1 << 63, u64::MAX - 1];
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1_000_000_000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("far".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");
    for (n, date) in dates.into_iter().enumerate() {
        TICKS.store(date, Ordering::Relaxed);
        all::tick(n as u32);
        all::tick(100 + n as u32);
    }
}
