//! Async spans: each guard is a part of a task, on its thread.

use std::thread;

tracer_rt::events!("cases/spans-async/spec.tumit");

pub fn main() {
    {
        let _part = all::fetch(1, "a", 10);
        all::tick(1);
        let _other = all::fetch(2, "b", 20);
    }
    thread::spawn(|| {
        tracer_rt::set_thread_name("other");
        let _part = all::fetch(1, "a", 10);
        all::tick(2);
        drop(all::poll(u64::MAX));
    })
    .join()
    .expect("it does not panic");
    let _part = all::fetch(2, "b", 20);
    drop(all::poll(0));
    let _placed = all::placed(3, 4);
}
