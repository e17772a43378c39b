mod first {
    tracer_rt::events!("good.tumit", off = [NET]);
}
mod second {
    tracer_rt::events!("good.tumit", on = [APP]);
}
mod third {
    tracer_rt::events!(good);
}
mod fourth {
    tracer_rt::events!(pub(super) "good.tumit");
}

fn main() {}
