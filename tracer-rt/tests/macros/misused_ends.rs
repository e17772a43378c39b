tracer_rt::events!("ends.tumit", mod = trace);

#[tracer_rt::traced(trace::db::wait(1))]
fn traced() {}

#[tracer_rt::traced(trace::db::take("name"))]
async fn polled() {}

fn lacks_parameters() {
    let wait = trace::db::wait(1);
    wait.end(3);
}

fn ends_twice() {
    let wait = trace::db::wait(1);
    wait.end(3, 4);
    wait.end(5, 6);
}

fn main() {
    traced();
    drop(polled());
    lacks_parameters();
    ends_twice();
}
