//! Spans: a guard ends them.

tracer_rt::events!("cases/spans/spec.tumit");

pub fn main() {
    for n in 0..3 {
        let _step = all::step(n);
        all::between(n);
    }
    drop(all::pause());
    {
        let _read = all::read("a.txt", 1 << 40, &[1, 2, 3], "quickly");
        all::between(100);
    }
    let _last = all::step(u32::MAX);
}
