//! A level that the generator leaves out.

tracer_rt::events!("cases/level-left-out/spec.tumit", off = [APP]);

pub fn main() {
    tracer_rt::set_level("all", true);
    let _work = app::work(1);
    app::step(1, "never", &[1, 2], [0.5, 1.5], "never", Color::Green, tracer_rt::now());
    app::here();
    com::post(2);
    other::done();
}
