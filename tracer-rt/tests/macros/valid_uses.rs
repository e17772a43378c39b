#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused)]
//! Correct uses cause no warning, also with lints that programs often enable.

tracer_rt::events!("good.tumit");

/// Functions of a level that is compiled out take the same arguments.
pub mod compiled_out {
    tracer_rt::events!(pub "good.tumit", off = [APP, COM]);
}

/// A spec that comes with the language.
pub mod standard {
    tracer_rt::events!(pub "std:paje");
}

/// Names with a meaning in Rust.
pub mod reserved_names {
    ::tracer_rt::events!(pub "odd.tumit", off = [],);
}

mod db {}

// With a module of its own, all names of the spec stay free for the program.
tracer_rt::events!(pub "ends.tumit", off = [], mod = trace);

#[tracer_rt::traced(trace::db::query("select", 3))]
fn query() {}

fn waits() -> Option<()> {
    let wait: trace::db::wait = trace::db::wait(1);
    query();
    let take = trace::db::take(7, "text");
    take.end(tracer_rt::InternedText::new("x"), &[1, 2]);
    wait.end(-1, 4);
    let _none = trace::db::wait(2);
    None
}

#[tracer_rt::traced(app::iteration(n))]
fn traced(n: u32) -> u32 {
    n + 1
}

#[tracer_rt::traced(app::iteration(n),)]
async fn later(n: u32) -> u32 {
    n + 1
}

#[tracer_rt::traced(reserved_names::core::u32_(reserved_names::Option::Clone))]
fn odd_names() {
    let _bool = reserved_names::core::bool_();
    reserved_names::core::u8(reserved_names::RESULT, &reserved_names::RESULT);
    reserved_names::core::u16(1, 2, "", &[reserved_names::Option::Self_]);
}

#[tracer_rt::traced(reserved_names::core::wide(1, 2, 3, 4, 5, 6, 7, "", &[tracer_rt::now()], [reserved_names::Option::Some; 2]))]
async fn wide() {}

/// Used by other crates.
#[tracer_rt::traced(app::fetch("text"))]
pub fn public() -> impl Future<Output = u32> {
    async { later(1).await }
}

fn main() {
    com::post(1, 2);
    compiled_out::com::post(1, 2);
    let _span = compiled_out::app::iteration(traced(3));
    let _future = public();
    odd_names();
    let _wide = wide();
    assert!(waits().is_none());
}
