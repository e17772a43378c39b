#![deny(warnings, missing_docs, unreachable_pub, unused)]
//! Right uses make no warning, also with the lints that programs like to turn on.

tracer_rt::events!("good.tumit");

/// A level left out takes the same arguments.
pub mod without {
    tracer_rt::events!(pub "good.tumit", off = [APP, COM]);
}

#[tracer_rt::traced(app::iteration(n))]
fn traced(n: u32) -> u32 {
    n + 1
}

fn main() {
    com::post(1, 2);
    without::com::post(1, 2);
    let _span = without::app::iteration(traced(3));
}
