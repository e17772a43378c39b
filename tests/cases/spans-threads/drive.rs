//! Spans in several threads at once.

use std::thread;

tracer_rt::events!("cases/spans-threads/spec.tumit");

fn work(number: u16) {
    tracer_rt::set_thread_name(&format!("worker {number}"));
    let _outer = all::outer(number);
    for round in 0..5 {
        let _work = all::work(number, round);
        all::tick(round * u32::from(number));
    }
}

pub fn main() {
    all::tick(0);
    let threads: Vec<_> = (1..5).map(|number| thread::spawn(move || work(number))).collect();
    for thread in threads {
        thread.join().expect("it does not panic");
    }
    all::tick(1);
}
