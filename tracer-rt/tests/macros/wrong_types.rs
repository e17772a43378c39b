tracer_rt::events!("good.tumit");

fn main() {
    com::post(70_000_i64, 2);
    com::post(1);
}
