//! Rules of every verb, seen through the converter.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/rules/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(1_000_000);

fn at(microseconds: u64) {
    TICKS.store(1_000_000 + microseconds, Ordering::Relaxed);
}

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1_000_000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("rules".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");

    com::start(0, "server");
    com::start(1, "client");
    at(10);
    com::enter(0, Mode::Busy);
    com::load(0, 0.5);
    at(20);
    com::send(0, 1, 77, 1024);
    let since = tracer_rt::now();
    at(30);
    com::receive(1, 77, since);
    com::load(0, -1.0);
    com::say(1, "hello", &[7, 8]);
    at(40);
    com::leave(0);
    com::stop(0);
    at(50);
    com::stop(1);
}
