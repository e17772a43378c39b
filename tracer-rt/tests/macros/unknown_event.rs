tracer_rt::events!("good.tumit");

fn main() {
    com::recv(1, 2);
    com::pots(1, 2);
    net::post(1, 2);
}
