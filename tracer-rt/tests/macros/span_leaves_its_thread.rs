tracer_rt::events!("good.tumit");

fn main() {
    let span = app::iteration(1);
    std::thread::spawn(move || drop(span));
}
