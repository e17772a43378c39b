//! A program that ends in a thread, without return from `main`.

use std::{process, thread};

tracer_rt::events!("cases/exit/spec.tumit");

pub fn main() {
    let _step = all::step(1);
    all::tick(1);
    let last = thread::spawn(|| {
        tracer_rt::set_thread_name("last");
        let _step = all::step(2);
        all::tick(2);
        process::exit(0);
    });
    drop(last.join());
    all::tick(3);
}
