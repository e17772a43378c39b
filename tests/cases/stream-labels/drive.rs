//! Streams have labels: given before the first record, after it, twice.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/stream-labels/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(0);

fn work(name: &str) {
    tracer_rt::set_thread_name(name);
    if name != "third" {
        tracer_rt::set_stream_label("io");
    }
    for n in 0..2 {
        let _step = all::step(n);
        TICKS.fetch_add(100, Ordering::Relaxed);
    }
    if name == "first" {
        tracer_rt::set_stream_label("compute");
    }
}

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("labels".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");
    for name in ["first", "second", "third"] {
        thread::spawn(move || work(name)).join().expect("it does not panic");
    }
}
