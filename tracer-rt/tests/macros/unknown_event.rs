tracer_rt::events!("good.tumit");

fn main() {
    com::recv(1, 2);
}
