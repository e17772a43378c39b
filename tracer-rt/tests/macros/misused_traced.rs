tracer_rt::events!("good.tumit");

#[tracer_rt::traced(app::iteration)]
fn no_arguments() {}

#[tracer_rt::traced(app::iteration(1, 2))]
fn too_many() {}

#[tracer_rt::traced(app::iteration("one"))]
fn wrong_type() {}

#[tracer_rt::traced(app::iteration(1), task = 1)]
fn no_async_span() {}

#[tracer_rt::traced(app::fetch("u"), task = "one")]
fn no_number() {}

#[tracer_rt::traced(app::fetch(1, "u"))]
fn task_among_the_arguments() {}

fn main() {
    no_arguments();
}
