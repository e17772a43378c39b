//! The size of the generated C header, and of the code and data that it adds to a program.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use tests::lang::c::{CCompiler, CXX11, GNU99, folder, header};
use tests::programs::succeed;

/// A realistic spec with this many events.
fn large(events: usize) -> String {
    let types = ["u32", "u64", "u16", "f64", "string", "interned"];
    let mut text = String::from("//! Measures.\ntrace big;\n");
    for level in 0..10 {
        let _ = writeln!(text, "level L{level} {{");
        for event in level * events / 10..(level + 1) * events / 10 {
            let ty = types[event % 6];
            let _ = writeln!(
                text,
                "    /// What happens at step {event}, with its {ty}.\n    event step{event} {{ node: u16, thread: u16, stamp: u64, value{}: {ty} }}",
                event % 7
            );
        }
        text.push_str("}\n");
    }
    text
}

/// Bytes of code and data that a program loads, according to `size`.
fn loaded(program: &Path) -> usize {
    let text = succeed(Command::new("size").arg(program));
    let line = text.lines().nth(1).expect("a line of numbers");
    line.split_whitespace().take(2).map(|number| number.parse::<usize>().expect("a number")).sum()
}

/// The measures of docs/generated-code.md. `--nocapture` prints them; `TUMIT_MEASURES` adds the
/// slow ones:
/// `TUMIT_MEASURES=1 cargo test -p tests --test c_recorder header_adds -- --nocapture`.
#[test]
fn the_header_adds_little_code_to_a_program() {
    let source = "#include \"big_trace.h\"\nint main(int argc, char **argv) {\n    (void)argv;\n\
                  big_step0(1, 2, 3, (uint32_t)argc); big_step1(1, 2, 3, 4); big_step2(1, 2, 3, 4);\n\
                  big_step3(1, 2, 3, 4.0); big_step4(1, 2, 3, \"x\");\n    return 0;\n}\n";
    let mut sizes = Vec::new();
    for events in [10, 1000] {
        let folder = folder();
        header(folder.path(), &large(events));
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("use.c"), source).expect("a writable folder");
        let bytes = std::fs::metadata(path("big_trace.h")).expect("a header").len();
        println!("{events} events: the header has {} KiB", bytes / 1024);
        let compilers = [GNU99, CCompiler { command: "clang", flags: &["-std=gnu99"] }, CXX11];
        // These builds are slow, and only print their times.
        let is_measured = std::env::var_os("TUMIT_MEASURES").is_some();
        for compiler in compilers.into_iter().filter(|_| is_measured) {
            for define in ["-DNONE", "-DTUMIT_EXTERN", "-DTUMIT_OFF"] {
                let start = Instant::now();
                let object = path("use.o");
                compiler.compile(&[&path("use.c")], &object, &["-O2", "-c", define]).unwrap_or_else(|e| panic!("{e}"));
                println!("  {:7} -O2 {define:15} {:.2} s", compiler.command, start.elapsed().as_secs_f64());
            }
        }
        let size = |define: &str| {
            let program = path("use");
            GNU99.compile(&[&path("use.c")], &program, &["-O2", define]).unwrap_or_else(|error| panic!("{error}"));
            loaded(&program)
        };
        let added = size("-DNONE") - size("-DTUMIT_OFF");
        println!("  it adds {:.1} KiB to a program that records five of them", added as f64 / 1024.0);
        sizes.push(added);
    }
    let event_bytes = (sizes[1] - sizes[0]) as f64 / 990.0;
    println!(
        "each event adds {event_bytes:.0} bytes, the recorder itself {:.1} KiB",
        (sizes[0] as f64 - 10.0 * event_bytes) / 1024.0
    );
    // The ends of threads, the launch id, truncated records and 32-bit clocks take 4 KiB of it.
    assert!(sizes[0] < 70 << 10, "the recorder: {} bytes", sizes[0]);
    assert!(event_bytes < 80.0, "an event: {event_bytes} bytes");
}
