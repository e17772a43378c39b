//! A process that forks.

tracer_rt::events!("cases/fork/spec.tumit");

mod c {
    unsafe extern "C" {
        pub(super) safe fn fork() -> i32;
        pub(super) fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    }
}

pub fn main() {
    all::named("before");
    all::tick(1);
    let step = all::step();
    let child = c::fork();
    if child == 0 {
        all::tick(2);
        all::named("before");
        all::named("child");
        drop(step);
        std::process::exit(0);
    }
    let mut status = 0;
    // SAFETY: the pointer is to a local of the right type.
    let ended = unsafe { c::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0), "the child ended well");
    all::tick(3);
    all::named("parent");
}
