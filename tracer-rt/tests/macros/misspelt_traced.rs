tracer_rt::events!("good.tumit");

#[tracer_rt::traced]
fn without() {}

#[tracer_rt::traced(1 + 1)]
fn no_path() {}

#[tracer_rt::traced(app::idle(), n = 1)]
fn no_option() {}

#[tracer_rt::traced(app::idle(), task = 1, 2)]
fn too_much() {}

// The functions still exist, so that their callers cause no further errors.
fn main() {
    without();
    no_path();
}
