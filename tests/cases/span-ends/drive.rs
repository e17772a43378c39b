//! Ends of spans with parameters, and guards that are dropped without.

use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::RecorderConfig;

tracer_rt::events!("cases/span-ends/spec.tumit");

static TICKS: AtomicU64 = AtomicU64::new(1_000_000);

fn at(microseconds: u64) {
    TICKS.store(1_000_000 + microseconds, Ordering::Relaxed);
}

fn fails() -> Result<(), ()> {
    let _wait = all::wait(2);
    at(20);
    Err(())
}

pub fn main() {
    tracer_rt::set_clock(|| TICKS.load(Ordering::Relaxed), 1_000_000);
    let mut config = RecorderConfig::from_env();
    config.clock_domain = Some("ends".to_owned());
    tracer_rt::start(config).expect("nothing was recorded before");

    let wait = all::wait(1);
    at(10);
    wait.end(-3, 1 << 40);
    let _ = fails();
    at(30);
    let wait = all::wait(3);
    let probe = all::probe();
    all::tick();
    at(40);
    probe.end(0);
    wait.end(0, 0);
    drop(all::probe());
    at(50);
    for n in 0..2 {
        let load = all::load("input");
        if n == 0 {
            load.end("done", "a text", &[7, 8]);
        }
    }
    let fetch = all::fetch(9, "a");
    let placed = all::placed(u64::MAX);
    at(60);
    placed.end(true);
    fetch.end(404);
    at(70);
    let _placed = all::placed(5);
    let _fetch = all::fetch(9, "b");
    at(80);
}
