mod unknown_level {
    tracer_rt::events!("good.tumit", off = [NET]);
}
mod mistyped_level {
    tracer_rt::events!("good.tumit", off = [APP, COMM]);
}
mod unknown_option {
    tracer_rt::events!("good.tumit", on = [APP]);
}
mod no_list {
    tracer_rt::events!("good.tumit", off = APP);
}
mod no_text {
    tracer_rt::events!(good);
}
mod empty_level {
    tracer_rt::events!();
}
mod visibility {
    tracer_rt::events!(pub(super) "good.tumit");
}
mod unknown_options {
    tracer_rt::events!("good.tumit", off = [APP], "other.tumit");
}
mod no_module {
    tracer_rt::events!("good.tumit", mod = a::b);
}
mod keyword {
    tracer_rt::events!("good.tumit", mod = "trace");
}
mod repeated_options {
    tracer_rt::events!("good.tumit", mod = a, off = [APP], mod = b);
}

fn main() {}
