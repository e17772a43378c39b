tracer_rt::events!("bad.tumit");

fn main() {}
