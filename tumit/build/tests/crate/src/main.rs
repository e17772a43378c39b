//! Makes the same records with the macro or with the code of the build script. The argument selects
//! one of the two.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]
#![deny(unused, nonstandard_style, rust_2018_idioms, rust_2021_compatibility, let_underscore_drop, single_use_lifetimes)]
#![deny(clippy::all, clippy::pedantic, clippy::allow_attributes_without_reason)]

/// Functions from the macro.
mod by_macro {
    tracer_rt::events!("specs/app.tumit");
}

/// Functions from the build script.
mod by_script {
    tracer_rt::include_events!("app");
}

/// Functions with one level removed.
pub mod without_level {
    include!(concat!(env!("OUT_DIR"), "/quiet.rs"));
}

/// Functions with all levels removed.
pub mod without_levels {
    tracer_rt::events!(pub "specs/app.tumit", off = [APP, DEBUG, NET]);
}

macro_rules! program {
    ($name:ident, $trace:ident) => {
        mod $name {
            use super::$trace::net::fetch;
            use super::$trace::{Color, LANES, RATIO, app, debug};

            #[tracer_rt::traced(app::iteration(n + 1, Color::DarkBlue))]
            fn iterate(n: u32) -> Option<u32> {
                let less = n.checked_sub(1)?;
                app::type_(1, 2, 3, 4);
                Some(less)
            }

            #[tracer_rt::traced(fetch(&url))]
            async fn load(url: String) -> Result<String, std::num::ParseIntError> {
                std::future::ready(()).await;
                let number: u32 = url.parse()?;
                Ok(number.to_string())
            }

            #[tracer_rt::traced(debug::deep(7))]
            async fn unseen() {
                debug::detail(1);
            }

            pub(super) fn run() {
                assert_eq!((LANES, RATIO.to_bits()), (4, 0.625_f64.to_bits()));
                assert_eq!(iterate(0), None);
                assert_eq!(iterate(3), Some(2));
                app::numbers(1, -2, 0.5, true, [1, 2, 3, 4], &[Color::Red, Color::DarkBlue], tracer_rt::Date::from_ticks(9));
                app::texts("a name", "a text", &[1, 2], std::ptr::without_provenance::<u8>(0x10));
                assert_eq!(super::ready(load("12".to_owned())).as_deref(), Ok("12"));
                super::ready(unseen());
                let task = tracer_rt::new_task();
                {
                    let _part = fetch(task, "by hand");
                }
            }
        }
    };
}
program!(with_macro, by_macro);
program!(with_script, by_script);

/// The output of a future that is ready at once.
fn ready<T>(future: impl std::future::Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = std::future::Future::poll(future.as_mut(), &mut context) {
            return output;
        }
    }
}

fn main() {
    without_level::app::type_(1, 2, 3, 4);
    drop(without_levels::net::fetch(1, "nothing"));
    assert_eq!(by_macro::APP_VERSION, by_script::APP_VERSION);
    match std::env::args().nth(1).as_deref() {
        Some("macro") => with_macro::run(),
        _ => with_script::run(),
    }
}
