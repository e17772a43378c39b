//! Further features of the C header: disabling all of it, C++ guards, tasks, liblz4.

use std::path::Path;
use std::process::Command;

use tests::lang::c::{C99, CCompiler, CXX11, GNU99, build, build_with_shared_recorder, folder, header, record};
use tests::programs::succeed;
use tests::run::{ProcessFile, read};

const SPANS: &str = r#"
trace t;
/// Words that
/// are kept.
level APP {
    span iteration { n: u32 }
    span outer {}
    span load located { path: string }
    span fetch async { url: interned }
    event tick {
        /// How many,
        /// so far.
        n: u64,
    }
    event here located { n: u32 }
}
enum color { red = 3,
    green = 300 }
"#;

fn texts(run: &Path) -> Vec<String> {
    let texts = read(run).iter().flat_map(ProcessFile::texts).collect();
    std::fs::remove_dir_all(run).expect("the run can go");
    texts
}

const GUARDS: &str = r#"
#include "t_trace.h"
#include <utility>
#ifndef TUMIT_OFF
#define BEGUN 1
#endif

struct Holder {
    t_iteration_scope span;
    explicit Holder(uint32_t n) : span(n) {}
};

static t_iteration_scope make(uint32_t n) { return t_iteration_scope(n); }

int main() {
    {
        t_iteration_scope guard(1);
        auto inner = t_outer_scope();
        t_tick(1);
    }
    {
        TUMIT_SCOPE(t_iteration_scope(2)); TUMIT_SCOPE(t_outer_scope()); TUMIT_SCOPE(t_load_scope("file, with a comma"));
    }
    {
        t_iteration_scope first = make(3);
        t_iteration_scope second(std::move(first));
        t_tick(2);
    }
    { Holder holder(4); }
    {
        uint64_t task = tumit1_new_task();
        auto load = t_load_scope((t_tick(3), "x"));
        t_fetch_scope part(task, "url");
    }
#if defined __cpp_exceptions || defined __EXCEPTIONS
    try {
        t_iteration_scope guard(5);
        throw 1;
    } catch (int) {
        t_tick(4);
    }
#endif
    t_iteration_begin(6);
    t_iteration_end();
    return 0;
}
"#;

#[test]
fn guards_end_their_spans() {
    let mut expected = vec![
        "iteration.begin n=Unsigned(1)",
        "outer.begin",
        "tick n=Unsigned(1)",
        "outer.end",
        "iteration.end",
        "iteration.begin n=Unsigned(2)",
        "outer.begin",
        "load.begin @drive path=\"file, with a comma\"",
        "load.end @drive",
        "outer.end",
        "iteration.end",
        "iteration.begin n=Unsigned(3)",
        "tick n=Unsigned(2)",
        "iteration.end",
        "iteration.begin n=Unsigned(4)",
        "iteration.end",
        "tick n=Unsigned(3)",
        "load.begin @drive path=\"x\"",
        "fetch.begin task=Unsigned(1) url=\"url\"",
        "fetch.end task=Unsigned(1)",
        "load.end @drive",
        "iteration.begin n=Unsigned(5)",
        "iteration.end",
        "tick n=Unsigned(4)",
        "iteration.begin n=Unsigned(6)",
        "iteration.end",
    ];
    let clang17 = CCompiler { command: "clang++", flags: &["-std=c++17", "-x", "c++"] };
    let gnu20 = CCompiler { command: "g++", flags: &["-std=gnu++20", "-x", "c++"] };
    let options: &[&str] = &["-fno-exceptions", "-fno-rtti", "-O0"];
    for (compiler, flags) in [(CXX11, &[][..]), (clang17, &["-O0"]), (gnu20, &["-flto", "-O1"]), (CXX11, options)] {
        let folder = folder();
        if flags == options {
            expected.drain(expected.len() - 5..expected.len() - 2);
        }
        let program = build(folder.path(), compiler, SPANS, GUARDS, flags).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(texts(&record(&program, folder.path(), "run.tmt", &[])), expected, "{compiler:?} {flags:?}");
        let program = build(folder.path(), compiler, SPANS, GUARDS, &[flags, &["-DTUMIT_OFF"]].concat())
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(!record(&program, folder.path(), "off.tmt", &[]).exists());
    }
    let copy = GUARDS.replace("(std::move(first))", "(first)");
    let error = build(folder().path(), CXX11, SPANS, &copy, &[]).expect_err("a span has one end");
    assert!(error.contains("deleted"), "{error}");
}

#[test]
fn each_task_has_a_number() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
static void *work(void *unused) {
    int i;
    for (i = 0; i < 1000; i++) {
        uint64_t task = tumit1_new_task();
        t_fetch_begin(task, "part");
        t_fetch_end(task);
    }
    return unused;
}
int main(void) {
    pthread_t threads[4];
    int i;
    for (i = 0; i < 4; i++) { if (pthread_create(&threads[i], NULL, work, NULL) != 0) { return 1; } }
    for (i = 0; i < 4; i++) { pthread_join(threads[i], NULL); }
    return tumit1_new_task() == 4001 ? 0 : 1;
}
"#;
    let program = build(folder.path(), C99, SPANS, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let texts = texts(&record(&program, folder.path(), "run.tmt", &[]));
    let mut ends: Vec<u64> = texts
        .iter()
        .filter_map(|text| text.strip_prefix("fetch.end task=Unsigned(")?.strip_suffix(')')?.parse().ok())
        .collect();
    ends.sort_unstable();
    assert_eq!(ends, (1..=4000).collect::<Vec<_>>());
}

/// A program with or without its tracing calls.
fn traced(calls: bool) -> String {
    let call = |text: &'static str| if calls { text } else { "" };
    format!(
        "#include \"t_trace.h\"\n#include <stdio.h>\nint main(int argc, char **argv) {{\n    unsigned n = 0;\n\
         {}{}{}{}{}    printf(\"%u %s\\n\", n, argv[argc - 1]);\n    return 0;\n}}\n",
        call("    t_iteration_begin((uint32_t)argc);\n"),
        call("    t_tick((uint64_t)argc); t_here(7); t_load_begin(\"x\"); t_load_end();\n"),
        "    n++;\n",
        call("    t_fetch_begin(tumit1_new_task(), argv[0]); t_fetch_end(1);\n"),
        call(
            "    t_iteration_end(); tumit1_flush(); tumit1_set_thread_name(\"x\"); (void)tumit1_set_level(\"APP\", 0);\n"
        ),
    )
}

/// The sections of an object that remain in a program, as `objdump` shows them.
fn contents(object: &Path) -> String {
    let sections =
        succeed(Command::new("objdump").args(["-d", "-s", "-j", ".text", "-j", ".text.startup"]).arg(object));
    sections.lines().filter(|line| !line.contains("file format")).collect::<Vec<_>>().join("\n")
}

#[test]
fn disabled_tracing_generates_no_code() {
    let folder = folder();
    header(folder.path(), SPANS);
    for compiler in [C99, CXX11, CCompiler { command: "clang", flags: &["-std=gnu11"] }] {
        let mut objects = Vec::new();
        for calls in [true, false] {
            let (source, object) = (folder.path().join("off.c"), folder.path().join("off.o"));
            std::fs::write(&source, traced(calls)).expect("a writable folder");
            compiler
                .compile(&[&source], &object, &["-O1", "-c", "-g0", "-DTUMIT_OFF"])
                .unwrap_or_else(|error| panic!("{error}"));
            let names = succeed(Command::new("nm").arg(&object));
            assert!(!names.contains("tumit") && !names.contains("t_"), "{compiler:?}: {names}");
            objects.push(contents(&object));
        }
        assert_eq!(objects[0], objects[1], "{compiler:?}: the same code as without the calls");
        assert!(objects[0].contains("main"));
    }
    // A disabled level leaves no trace of its calls, although the recorder stays.
    let main_of = |calls: bool| {
        let flags = ["-O1", "-g0", "-DT_OFF_APP"];
        let program = build_with_shared_recorder(folder.path(), GNU99, SPANS, &traced(calls), &flags)
            .unwrap_or_else(|error| panic!("{error}"));
        succeed(Command::new("objdump").args(["-d", "--disassemble=main", "--no-addresses"]).arg(program))
    };
    assert!(!main_of(true).contains("tumit1_make_room") && main_of(false).contains("<main>"));
}

#[test]
fn arguments_are_checked_and_evaluated_once_even_when_off() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
int main(void) {
    uint32_t calls = 0;
    const uint8_t bytes[4] = {1, 2, 3, 4};
    t_tick(++calls); t_here(++calls); t_iteration_begin(++calls); t_iteration_end(); t_fetch_begin(++calls, "u");
    t_load_begin((++calls, "p")); t_load_end(); t_fetch_end(++calls);
    (void)bytes;
    return calls == 6 ? 0 : 1;
}
"#;
    for flag in ["-DTUMIT_OFF", "-DT_OFF_APP", "-DNONE"] {
        let program = build(folder.path(), C99, SPANS, source, &[flag]).unwrap_or_else(|error| panic!("{error}"));
        let _ = record(&program, folder.path(), "run.tmt", &[]);
        for mistake in
            [source.replace("t_tick(++calls)", "t_tick(\"one\")"), source.replace("t_iteration_end()", "t_none()")]
        {
            let flags = [flag, "-DTUMIT_EXTERN"];
            let error = build(folder.path(), C99, SPANS, &mistake, &flags).expect_err("a mistake");
            assert!(error.contains("t_tick") || error.contains("t_none"), "{error}");
        }
    }
}

#[test]
fn liblz4_compresses_the_same_records() {
    let source = r#"
#include "t_trace.h"
int main(void) {
    uint64_t n;
    for (n = 0; n < 20000; n++) { t_tick(n); if (n % 100 == 0) { t_fetch_begin(n, "again and again"); } }
    return 0;
}
"#;
    let mut all = Vec::new();
    for (compiler, flags) in [
        (C99, &[][..]),
        (C99, &["-DTUMIT_LZ4"]),
        (CXX11, &["-DTUMIT_LZ4"]),
        (C99, &["-DTUMIT_LZ4", "-fsanitize=address"]),
    ] {
        let folder = folder();
        header(folder.path(), SPANS);
        let (path, object) = (folder.path().join("drive.c"), folder.path().join("drive.o"));
        std::fs::write(&path, source).expect("a writable folder");
        compiler.compile(&[&path], &object, &[flags, &["-c"]].concat()).unwrap_or_else(|error| panic!("{error}"));
        let mut link = Command::new("gcc");
        link.args(flags).arg(&object).args(["-pthread", "-o"]).arg(folder.path().join("drive"));
        succeed(if flags.is_empty() { &mut link } else { link.arg("-llz4") });
        let names = succeed(Command::new("nm").arg(&object));
        assert_eq!(names.contains("LZ4_compress_default"), !flags.is_empty());
        let file = read(&record(&folder.path().join("drive"), folder.path(), "run.tmt", &[])).remove(0);
        let mut large = file.blocks.iter().filter(|block| block.kind == 6 && block.raw_bytes >= 16_384).peekable();
        assert!(large.peek().is_some() && large.all(|block| block.codec != 0), "they compress");
        all.push(file.texts());
    }
    assert_eq!(all[0].len(), 20_200);
    assert!(all.iter().all(|texts| *texts == all[0]));
}

#[test]
fn documentation_constants_and_numbers_reach_the_header() {
    let folder = folder();
    let spec = r#"
//! A layer.
trace t;
version 12;
/// How many there may be.
const LIMIT = 16;
const RATIO = 0.5;
const NAME = "a\"b\u{e9}";
const DEEP = -9000000000;
type rank = u16;
/// A paint.
enum color {
    /// Like blood.
    red = 3,
    green = 300,
}
/// The application.
level APP {
    /// One step
    /// of many.
    event tick {
        /// Who.
        who: rank,
        tint: color,
        to: [rank; LIMIT],
    }
}
"#;
    header(folder.path(), spec);
    let text = std::fs::read_to_string(folder.path().join("t_trace.h")).expect("a header");
    for expected in [
        " * A layer.\n",
        "/* How many there may be. */\n#define t_LIMIT 16\n",
        "#define t_NAME \"a\\\"b\\303\\251\"\n",
        "#define TUMIT_NAME_t \"t\"\n#define TUMIT_VERSION_t 12\n",
        "/* A paint. */\nenum t_color {\n    t_color_red = 3, /* Like blood. */\n    t_color_green = 300\n};\n",
        "/* The application. */\n#if defined TUMIT_OFF || defined T_OFF_APP\n",
        "/* One step\n * of many.\n *   who   rank  Who.\n *   tint  color\n *   to    [rank; LIMIT] */\n",
        "TUMIT1_HOT void t_tick(uint16_t who_, enum t_color tint_, const uint16_t *to_) {\n",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in the header");
    }
    let source = r#"
#include "t_trace.h"
#if t_LIMIT != 16 || TUMIT_VERSION_t < 12 || t_DEEP != -9000000000
#error "constants are there for the preprocessor"
#endif
int main(void) {
    const uint16_t to[t_LIMIT] = {1};
    t_tick(1, t_color_green, to);
    return strcmp(t_NAME, "a\"b\xC3\xA9") == 0 && t_RATIO > 0.4 && strcmp(TUMIT_NAME_t, "t") == 0 ? 0 : 1;
}
"#;
    for compiler in [C99, CXX11] {
        let program = build(folder.path(), compiler, spec, source, &[]).unwrap_or_else(|error| panic!("{error}"));
        let texts = texts(&record(&program, folder.path(), "run.tmt", &[]));
        assert!(texts[0].starts_with("tick who=Unsigned(1) tint=green to="), "{texts:?}");
    }
}

#[test]
fn code_in_the_documentation_is_in_the_generated_header() {
    let root = tests::programs::workspace();
    let page = std::fs::read_to_string(root.join("docs/generated-code.md")).expect("the page");
    let spec = std::fs::read_to_string(root.join("examples/taktuk/taktuk.tumit")).expect("the spec");
    let folder = folder();
    header(folder.path(), &spec);
    let generated = std::fs::read_to_string(folder.path().join("taktuk_trace.h")).expect("a header");
    let documented: Vec<_> = page.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(documented.iter().any(|code| code.contains("taktuk_post")));
    for code in documented {
        assert!(generated.contains(code), "the header does not have:\n{code}");
    }
}
