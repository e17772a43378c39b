tracer_rt::events!("good.tumit");

#[tracer_rt::traced(app::fetch(url.len()))]
async fn wrong_type(url: String) -> usize {
    url.len()
}

#[tracer_rt::traced(com::post(1, 2))]
async fn no_span() {}

#[tracer_rt::traced(app::iteration(1))]
async fn wrong_result() -> u32 {
    "text"
}

#[tracer_rt::traced(app::iteration())]
async fn no_arguments() {}

async fn guard_over_await() {
    let _span = app::iteration(1);
    std::future::ready(()).await;
}

fn spawn<F: Future + Send + 'static>(_: F) {}

fn main() {
    spawn(guard_over_await());
}
