tracer_rt::events!("good.tumit");

#[tracer_rt::traced(app::iteration(1))]
async fn asynchronous() {}

#[tracer_rt::traced]
fn without() {}

#[tracer_rt::traced(app::iteration)]
fn no_call() {}

#[tracer_rt::traced(com::post(1, 2))]
fn no_span() {}

#[tracer_rt::traced(app::iteration(1))]
const fn constant() {}

#[tracer_rt::traced(app::iteration(1))]
struct NoFunction;

fn main() {}
