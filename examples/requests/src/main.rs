//! A small server: requests run on two threads and wait for a slow store. Each run of a request is
//! a part of its span, on the thread of that run; the parts share the number of their task.

mod executor;

/// The tracing functions, made by `build.rs`.
mod trace {
    tracer_rt::include_events!("requests");
}

use std::time::Duration;

use trace::{Kind, app};

const REQUESTS: u32 = 12;

#[tracer_rt::traced(app::request(number, kind))]
async fn request(number: u32, kind: Kind) {
    let mut result = compute(u64::from(number), 20_000);
    if kind == Kind::Write {
        executor::wait(Duration::from_millis(3)).await;
        result = compute(result, 40_000);
    }
    executor::wait(Duration::from_millis(1)).await;
    app::answered(number, compute(result, 10_000));
}

#[tracer_rt::traced(app::compute(rounds))]
fn compute(seed: u64, rounds: u32) -> u64 {
    (0..u64::from(rounds)).fold(seed, |sum, round| (sum ^ round).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17))
}

fn main() {
    let requests = (0..REQUESTS).map(|number| {
        let kind = if number % 3 == 0 { Kind::Write } else { Kind::Read };
        request(number, kind)
    });
    executor::run(2, requests);
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    assert_eq!(counts.dropped, 0);
}
