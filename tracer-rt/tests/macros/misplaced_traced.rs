tracer_rt::events!("good.tumit");

#[tracer_rt::traced(app::iteration(1))]
const fn constant() {}

#[tracer_rt::traced(app::iteration(1))]
struct NoFunction;

#[tracer_rt::traced(app::idle)]
impl NoFunction {}

#[tracer_rt::traced(app::idle)]
mod attributed_module {}

trait Work {
    #[tracer_rt::traced(app::idle)]
    fn work(&self);
}

#[tracer_rt::traced(app::idle)]
trait Others {}

unsafe extern "C" {
    #[tracer_rt::traced(app::idle)]
    fn foreign();
}

fn main() {}
