//! Several levels: each is a module.

tracer_rt::events!("cases/levels-several/spec.tumit");

pub fn main() {
    four::f(1);
    three::e(2);
    two::c(3);
    one::b(4);
    {
        let _d = two::d(5);
        one::a(6);
    }
    tracer_rt::set_level("THREE", true);
    three::e(7);
}
