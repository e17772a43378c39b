//! No rules: events are marks and spans are states.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/rules-default/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(0);

fn work(name: &str) {
    tracer_rt::set_thread_name(name);
    for n in 0..2 {
        let _step = all::step(n);
        TICKS.fetch_add(100, Ordering::Relaxed);
        all::tick(n, name);
        TICKS.fetch_add(100, Ordering::Relaxed);
    }
}

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("default".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");
    work("first");
    thread::spawn(|| work("second")).join().expect("it does not panic");
}
