//! Guards end a span with their block, also when an error leaves it.

tracer_rt::events!("cases/guards/spec.tumit");

fn fails() -> Result<(), ()> {
    let _step = all::step(2);
    all::tick();
    Err(())
}

pub fn main() {
    {
        let _step = all::step(1);
        let _bare = all::bare();
        all::tick();
    }
    let _ = fails();
    for _ in 0..2 {
        let _placed = all::placed("loop");
    }
    let _part = all::task_part(7, 1);
    let moved = all::step(3);
    let last = moved;
    all::tick();
    drop(last);
}
