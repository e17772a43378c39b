//! More threads than one, after one another and at once.

use std::thread;

tracer_rt::events!("cases/threads-many/spec.tumit");

fn work(number: u32) {
    tracer_rt::set_thread_name(&format!("thread {number:02}"));
    for n in 0..500 {
        all::tick(number, n);
        if n % 50 == 0 {
            all::text(&"x".repeat(number as usize * 10));
        }
    }
}

pub fn main() {
    for number in 0..20 {
        thread::spawn(move || work(number)).join().expect("it does not panic");
    }
    let threads: Vec<_> = (20..32).map(|number| thread::spawn(move || work(number))).collect();
    for thread in threads {
        thread.join().expect("it does not panic");
    }
}
