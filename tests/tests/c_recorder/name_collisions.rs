//! No name of a spec collides with names in C or C++, or with definitions of a program before it
//! includes the header.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use tests::lang::c::{C99, CCompiler, CXX11, EVERY, WARNINGS, folder, header, record};
use tests::run::read;

/// Keywords of C23 and C++23, macros and functions of common headers, and names that the runtime
/// itself might use.
const WORDS: &str = "
    alignas auto bool char8_t class co_await complex concept constexpr consteval const default delete do double enum errno
    explicit export false final for friend goto I imaginary import inline int linux long major max min minor module mutable
    namespace near far new noexcept NULL nullptr operator override private protected public register requires restrict
    signals slots emit signed sizeof stat static stderr stdin stdout struct switch task template this thread_local throw
    typename typeof typeof_unqual union unix unsigned using virtual void volatile wchar_t while xor _B _Bool _C p t s n x
    data size length count name text level event span type from to int_ node_ t_name tv_sec main assert EOF EINTR TRUE DEBUG
    ERROR read write open close exit _exit index y0 j1 gamma log sin div abs time clock signal kill wait fork uint8_t size_t
    va_list offsetof INFINITY NAN M_PI isnan st_atime environ program file line at on off scope guard p_ tumi";

/// The words that the language distinguishes: it compares names in snake case.
fn words() -> Vec<&'static str> {
    let mut distinct = std::collections::HashSet::new();
    let all = WORDS.split_whitespace();
    all.filter(|word| distinct.insert(word.to_lowercase().trim_matches('_').replace('_', ""))).collect()
}

/// A spec in which every word is a parameter, an event, a level, a value of an enum and a field of
/// spans.
fn spec(trace: &str, words: &[&str]) -> String {
    let long = "L".repeat(63);
    let mut text = format!("//! All names */ that /* meet ??/\n//! \u{202e}\ntrace `{trace}`;\nversion 7;\n");
    let values: String = words.iter().map(|word| format!("`{word}`, ")).collect();
    let _ = writeln!(text, "enum `class` {{ {values} `{long}` }}\nenum `{long}` {{ a, b }}");
    let _ = writeln!(text, "const k_default = 3;\nconst K = \"x\";\nlevel `int` {{");
    for word in words.iter().copied().chain([long.as_str()]) {
        let (count, bytes) = (&word[..word.len().min(50)], &word[..word.len().min(40)]);
        let _ = writeln!(
            text,
            "    /// A `{word}`. */\n    event `{word}` {{ `{word}`: u32, k: `class`, `{count}_count`: [u8], `{bytes}_bytes`: bytes }}"
        );
    }
    for word in words.iter().take(9).copied().chain([&long[..58]]) {
        let _ = writeln!(
            text,
            "    span `s_{word}` {{ `{word}`: u32 }}\n    span `l_{word}` located {{ `{word}`: string }}"
        );
    }
    text.push_str("}\n");
    for word in words.iter().copied().filter(|word| *word != "int").chain([&long[..60]]) {
        let _ = writeln!(text, "level `{word}` {{ event `e_{word}` {{}} }}");
    }
    text
}

/// Macros and globals that a program may have. It includes its headers first, as any program
/// may.
const PRELUDE: &str = r"
#include <stdio.h>
#include <math.h>
#include <signal.h>
static int node, node2, file; int thread; void *path; const char *length, *error, *block, *ticks, *payload, *rank;
#define signals public
#define slots
#define emit
#define weak __attribute__((weak))
#define noinline __attribute__((noinline))
#define unused __attribute__((unused))
#define always_inline
#define visibility hidden
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define major(a) a
#define minor(a) a
#define assert_equal unix
";

/// The prelude of a program: common short words are macros. Words that system headers themselves
/// need are left out, because no program can define them.
fn prelude(cxx: bool) -> String {
    let mut text = String::from(if cxx {
        "#include <complex>\n#include <algorithm>\n#include <thread>\n"
    } else {
        "#include <complex.h>\n"
    });
    text.push_str(PRELUDE);
    for (number, word) in
        "p t c s i n m k q r at on to id hz ids key raw end from text name count value bytes size level tag trace entry line \
         busy slot hash head seed want thread_name anchors next last first done table width peer round me mine given"
            .split_whitespace()
            .enumerate()
    {
        let _ = writeln!(text, "#define {word} {number}");
    }
    text
}

const MAIN: &str = r"
int main(void) {
    int_int(1u, int_class_int, NULL, 0, NULL, 0);
    size_t_(1u, size_class_min, NULL, 0, NULL, 0);
    pthread_kill_(2, pthread_class_I_, NULL, 0, NULL, 0);
    unix_linux(2, unix_class_unix, NULL, 0, NULL, 0);
    unix_e_errno();
    unix_l_auto_begin(unix_K);
    unix_l_auto_end();
    (void)node; (void)node2; (void)file; (void)path;
    return thread + unix_k_default - TUMIT_VERSION_unix + 4;
}
";

#[test]
fn names_of_generated_code_do_not_collide() {
    let folder = folder();
    let long = "L".repeat(63);
    let all = words();
    let traces = ["unix", "int", "size", "pthread", "LL", &long];
    let mut main = String::new();
    for trace in traces {
        let few = ["int", "t", "kill", "min", "I", "class", "scope", "at"];
        header(folder.path(), &spec(trace, if trace == "unix" { &all } else { &few }));
        let _ = writeln!(main, "#include \"{trace}_trace.h\"");
    }
    main.push_str(MAIN);
    let source = |cxx: bool| {
        let path = folder.path().join(if cxx { "main.cc" } else { "main.c" });
        std::fs::write(&path, prelude(cxx) + &main).expect("a writable folder");
        path
    };
    let (c, cxx) = (source(false), source(true));
    for compiler in EVERY {
        let mut command = Command::new(compiler.command);
        command.args(compiler.flags).args(WARNINGS).arg("-fsyntax-only");
        let output = command.arg(if compiler.is_cxx() { &cxx } else { &c }).output().expect("a compiler");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler:?}:\n{}", &errors[..errors.len().min(4000)]);
    }
    for (compiler, source) in [(C99, &c), (CXX11, &cxx)] {
        let program = folder.path().join("program");
        compiler.compile(&[source], &program, &["-O0"]).unwrap_or_else(|error| panic!("{error}"));
        let run = record(&program, folder.path(), "run.tmt", &[]);
        let texts = read(&run)[0].texts();
        std::fs::remove_dir_all(&run).expect("the run can go");
        let names: Vec<_> = texts.iter().map(|text| text.split(' ').next().unwrap_or_default()).collect();
        assert_eq!(names, ["int", "t", "kill", "linux", "e_errno", "l_auto.begin", "l_auto.end"]);
    }
}

/// Compiles a file that includes these headers; `Err` contains the messages of the compiler.
fn compile_with_headers(folder: &Path, compiler: CCompiler, headers: [&str; 2], main: &str) -> Result<(), String> {
    let path = folder.join("both.c");
    let includes: String = headers.iter().map(|name| format!("#include \"{name}\"\n")).collect();
    std::fs::write(&path, includes + main).expect("a writable folder");
    compiler.compile(&[&path], &folder.join("both"), &[])
}

#[test]
fn two_specs_share_a_file() {
    let folder = folder();
    let items =
        "enum color { red, green } level APP { event tick { n: color } span work { n: u32 } event placed located {} }";
    header(folder.path(), &format!("trace one;\n{items}"));
    header(folder.path(), &format!("trace two;\n{items}"));
    let main = "int main(void) { one_tick(one_color_red); two_tick(two_color_green); one_work_begin(1); two_work_begin(2);\n\
                two_work_end(); one_work_end(); one_placed(); two_placed(); return 0; }\n";
    let expected = ["tick n=red", "tick n=green", "work.begin n=Unsigned(1)", "work.begin n=Unsigned(2)"];
    for headers in [["one_trace.h", "two_trace.h"], ["two_trace.h", "one_trace.h"]] {
        for compiler in [C99, CXX11] {
            compile_with_headers(folder.path(), compiler, headers, main).unwrap_or_else(|error| panic!("{error}"));
            let run = record(&folder.path().join("both"), folder.path(), "run.tmt", &[]);
            let file = read(&run).remove(0);
            std::fs::remove_dir_all(&run).expect("the run can go");
            assert_eq!(file.texts()[..4], expected);
            assert_eq!(file.texts()[4..], ["work.end", "work.end", "placed @both", "placed @both"]);
            assert_eq!(file.schemas.len(), 2);
        }
    }
}

#[test]
fn colliding_specs_are_reported() {
    let folder = folder();
    let write = |name: &str, text: &str| {
        header(folder.path(), text);
        let trace = text.split([' ', ';']).nth(1).expect("a name");
        std::fs::rename(folder.path().join(format!("{trace}_trace.h")), folder.path().join(name)).expect("it is there");
    };
    write("a.h", "trace a; level L { event b_c {} }");
    write("a_again.h", "trace a; level L { event b_c {} }");
    write("a_other.h", "trace a; level L { event b_d {} }");
    write("a_b.h", "trace a_b; level L { event c {} }");
    write("a_b_calm.h", "trace a_b; level L { event d {} }");
    let main = "int main(void) { return 0; }\n";
    let twice = "two different specs have the name `a`";
    for (headers, expected) in [
        (["a.h", "a_other.h"], Some(twice)),
        (["a_other.h", "a.h"], Some(twice)),
        (["a.h", "a_b.h"], Some("some of the names of `a_b`")),
        (["a_b.h", "a.h"], Some("some of the names of `a`")),
        (["a.h", "a_again.h"], None),
        (["a.h", "a_b_calm.h"], None),
    ] {
        let result = compile_with_headers(folder.path(), C99, headers, main);
        match expected {
            None => result.unwrap_or_else(|error| panic!("{headers:?}: {error}")),
            Some(words) => {
                let error = result.expect_err("they collide");
                assert!(
                    error.contains(&format!("#error \"tumit: {}", &words[..3])) || error.contains(words),
                    "{error}"
                );
                assert!(error.contains(words), "{headers:?}: {error}");
            }
        }
    }
}

#[test]
fn two_versions_of_a_spec_live_in_one_program() {
    let folder = folder();
    let (first_folder, second_folder) = (folder.path().join("1"), folder.path().join("2"));
    for (part, text) in
        [(&first_folder, "trace a; level L { event old {} }"), (&second_folder, "trace a; level L { span work {} }")]
    {
        std::fs::create_dir(part).expect("a folder");
        header(part, text);
    }
    std::fs::write(
        first_folder.join("u.c"),
        "#include \"a_trace.h\"\nvoid work(void);\nint main(void) { a_old(); work(); return 0; }\n",
    )
    .expect("a writable folder");
    std::fs::write(
        second_folder.join("u.c"),
        "#include \"a_trace.h\"\nvoid work(void);\nvoid work(void) { a_work_begin(); a_work_end(); }\n",
    )
    .expect("a writable folder");
    let program = folder.path().join("program");
    C99.compile(&[&first_folder.join("u.c"), &second_folder.join("u.c")], &program, &[])
        .unwrap_or_else(|error| panic!("{error}"));
    let file = read(&record(&program, folder.path(), "run.tmt", &[])).remove(0);
    assert_eq!(file.texts(), ["old", "work.begin", "work.end"]);
    assert_eq!(file.schemas.len(), 2);
}
