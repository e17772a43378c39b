//! A counter of 32 bits that wraps.

use std::sync::atomic::{AtomicU32, Ordering};

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/clock-wrap/spec.tumit");

static TICKS: AtomicU32 = AtomicU32::new(0);

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed).into(), 1_000_000_000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("wrap".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");
    for (n, date) in [5, 4_294_967_290, 7, 2_000_000_000, 4_000_000_000, 0, 3, 2_000_000_000, 1_000_000_000, 2_000_000_001]
        .into_iter()
        .enumerate()
    {
        TICKS.store(date, Ordering::Relaxed);
        all::tick(n as u32);
    }
}
