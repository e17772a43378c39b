//! The C recorder on 64-bit ARM, in an emulator of the processor. It reads the counter if the
//! kernel uses that for its time, and the clock of the kernel otherwise; no record is dropped.
//! The emulator cannot show the memory ordering of ARM. It also has a thread of its own; the writer
//! thread would wait for it after the last thread of the program has ended.

use std::path::Path;
use std::process::Command;

use tests::lang::c::{CCompiler, build, folder};
use tests::programs::succeed;
use tests::run::read;
use tracer_format::ClockKind;
use tracer_format::tags::tag;

const ARM: CCompiler = CCompiler { command: "aarch64-linux-gnu-gcc", flags: &["-std=gnu99", "-static", "-O2"] };
const TICK: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: interned } }\n";
const SOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";

/// Runs the program in a system with the kernel clock source `source`. Returns kind and rate of the
/// clock that the recorder chose.
fn clock_of(folder: &Path, program: &Path, way: &str, source: &str) -> (Option<u64>, Option<u64>) {
    let root = folder.join("root");
    std::fs::create_dir_all(root.join(SOURCE).parent().expect("a folder")).expect("a writable folder");
    std::fs::write(root.join(SOURCE), source).expect("a writable folder");
    std::fs::write(folder.join("witness"), [0; 4096]).expect("a writable folder");
    let run = folder.join("run.tmt");
    let mut command = Command::new("qemu-aarch64");
    command.arg("-L").arg(&root).arg(program).arg(way).current_dir(folder);
    succeed(command.env("TUMIT_TRACE", &run).env("WITNESS", folder.join("witness")).env_remove("TUMIT_LEVELS"));
    let files = read(&run);
    let page = std::fs::read(folder.join("witness")).expect("the witness is there");
    let returned = u64::from_le_bytes(*page.first_chunk().expect("a page"));
    assert!(returned >= 12_000, "{returned}");
    assert_eq!(files[0].totals(), (returned, 0), "{way}: all is there");
    std::fs::remove_dir_all(run).expect("the run can go");
    (files[0].process_integer(tag::CLOCK_KIND), files[0].process_integer(tag::CLOCK_HZ))
}

#[test]
#[ignore = "needs qemu-user and gcc-aarch64-linux-gnu; cargo test --workspace --test c_recorder -- --ignored arm"]
fn the_counter_is_read_if_the_kernel_keeps_time_by_it() {
    let folder = folder();
    let driver = include_str!("../../c_programs/process_exits.c");
    let program = build(folder.path(), ARM, TICK, driver, &["-D_GNU_SOURCE"]).unwrap_or_else(|error| panic!("{error}"));
    for way in ["return", "exit"] {
        let (kind, hz) = clock_of(folder.path(), &program, way, "arch_sys_counter\n");
        assert_eq!(kind, Some(ClockKind::ArmCounter as u64), "{way}");
        assert!(hz.is_some_and(|hz| hz >= 1_000_000), "the processor tells its rate: {hz:?}");
        let (kind, hz) = clock_of(folder.path(), &program, way, "jiffies\n");
        assert_eq!((kind, hz), (Some(ClockKind::MonotonicRaw as u64), Some(1_000_000_000)), "{way}");
    }
}
