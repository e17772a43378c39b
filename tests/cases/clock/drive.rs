//! A user clock.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/clock/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(7);

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("steps".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");

    for n in 0..10 {
        all::tick(n);
        TICKS.fetch_add(u64::from(n), Ordering::Relaxed);
        let _step = all::step(tracer_rt::now());
        TICKS.fetch_add(100, Ordering::Relaxed);
    }
    assert!(!tracer_rt::set_clock(|| 0, 1), "it is too late");
    all::tick(10);
}
