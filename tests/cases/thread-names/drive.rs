//! Names of threads.

use std::thread::Builder;

tracer_rt::events!("cases/thread-names/spec.tumit");

fn run(builder: Builder, work: impl FnOnce() + Send + 'static) {
    builder.spawn(work).expect("a thread").join().expect("it does not panic");
}

pub fn main() {
    all::tick(0);
    run(Builder::new().name("of the system".to_owned()), || all::tick(1));
    run(Builder::new(), || all::tick(2));
    run(Builder::new(), || {
        tracer_rt::set_thread_name("before");
        all::tick(3);
    });
    run(Builder::new(), || {
        all::tick(4);
        tracer_rt::set_thread_name("after");
        all::tick(5);
        tracer_rt::set_thread_name("after, again");
    });
    run(Builder::new().name("replaced".to_owned()), || {
        tracer_rt::set_thread_name("r\u{e9}seau \u{4e16}\u{754c}");
        all::tick(6);
    });
    run(Builder::new(), || {
        tracer_rt::set_thread_name("forty-seven bytes are kept of the name of a threadpool");
        all::tick(7);
    });
    run(Builder::new(), || {
        // The 47th and the 48th byte are one character.
        tracer_rt::set_thread_name("between characters a name is cut, not in th\u{e9}m\u{e9}s and others");
        all::tick(8);
    });
}
