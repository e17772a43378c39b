//! A clock that goes back.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/clock-back/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(5000);

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("back".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");
    for (n, date) in [5000, 6000, 5500, 5000, 0, 5999, 6000, 6001, 6000].into_iter().enumerate() {
        TICKS.store(date, Ordering::Relaxed);
        all::tick(n as u32);
        drop(all::step());
    }
}
