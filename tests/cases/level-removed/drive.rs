//! A level that the program compiles out.

tracer_rt::events!("cases/level-removed/spec.tumit", off = [APP]);

pub fn main() {
    tracer_rt::set_level("APP", true);
    for n in 0..3 {
        let _send = com::send(n);
        let _work = app::work(n);
        let _place = app::place(n);
        app::step(n, "never", &[1, 2], [0.5, 1.5]);
        app::here(n);
        com::post(n);
    }
}
