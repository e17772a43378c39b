//! What a user sees who makes a mistake with the macros.

use std::path::Path;

#[test]
fn misuse_is_explained() {
    // The cases are compiled in a package of `trybuild`'s, from whose folder the paths of specs count.
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tests/trybuild/tracer-rt");
    std::fs::create_dir_all(&package).unwrap();
    for spec in ["good.tumit", "bad.tumit", "odd.tumit"] {
        std::fs::copy(Path::new("tests/macros").join(spec), package.join(spec)).unwrap();
    }
    let cases = trybuild::TestCases::new();
    cases.pass("tests/macros/right.rs");
    for case in [
        "mistakes_in_the_spec",
        "no_such_spec",
        "unknown_event",
        "wrong_types",
        "misused_options",
        "misused_traced",
        "misspelt_traced",
        "unknown_traced",
        "misplaced_traced",
        "misused_async",
        "unused_guard",
        "span_leaves_its_thread",
    ] {
        cases.compile_fail(format!("tests/macros/{case}.rs"));
    }
}
