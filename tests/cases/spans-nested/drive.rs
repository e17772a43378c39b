//! Spans inside spans, the same one inside itself.

tracer_rt::events!("cases/spans-nested/spec.tumit");

#[tracer_rt::traced(all::call(depth))]
fn descend(depth: u8) {
    if depth == 3 {
        let _leaf = all::leaf();
        return;
    }
    descend(depth + 1);
    descend(depth + 1);
}

pub fn main() {
    descend(0);
}
