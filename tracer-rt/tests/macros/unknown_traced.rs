tracer_rt::events!("good.tumit");

#[tracer_rt::traced(app::iteration(m))]
fn no_parameter(n: u32) {}

#[tracer_rt::traced(com::post(1, 2))]
fn an_event_is_no_span() {}

#[tracer_rt::traced(app::iterations(1))]
fn mistyped() {}

#[tracer_rt::traced(net::iteration(1))]
fn no_such_level() {}

fn main() {}
