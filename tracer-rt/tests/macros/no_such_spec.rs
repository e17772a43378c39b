tracer_rt::events!("nowhere.tumit");

fn main() {}
