#![deny(unused_must_use)]
tracer_rt::events!("good.tumit");

fn main() {
    app::iteration(1);
    app::fetch(tracer_rt::new_task(), "u");
    tracer_rt::new_task();
}
