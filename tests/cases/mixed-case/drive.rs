//! Names in mixed case.

tracer_rt::events!("cases/mixed-case/spec.tumit");

pub fn main() {
    my_level::recv_done(1, 2, 3, TrafficLight::Red);
    my_level::recv_done(4, 5, 6, TrafficLight::LightBlue);
    my_level::http_request("http://localhost/");
    let _outer = my_level::outer_loop(7);
    my_level::x2y(1, 2, 3);
}
