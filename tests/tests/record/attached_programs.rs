//! `tumit record` recognises programs that cannot be recorded, and names the reason.

use std::fs;
use std::path::Path;

use tests::programs::succeed;

use crate::record_folder::{OPEN_MPI, RecordFolder};

const EMPTY: &str = "int main(void) { return 3; }\n";

/// The messages of a dry run.
fn dry_run(folder: &RecordFolder, program: &Path) -> String {
    let (output, messages) = folder.recorded(&["--dry-run", "-o", "run.tmt", "--", &program.display().to_string()]);
    assert!(output.status.success(), "{messages}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn static_programs_run_without_a_recording() {
    let folder = RecordFolder::new();
    for (flag, words) in [("-static", "it is statically linked, "), ("-static-pie", "linked (static-pie), ")] {
        let program = folder.compile("gcc", "program", EMPTY, &[flag]);
        let (output, messages) = folder.recorded(&[&program.display().to_string()]);
        assert_eq!(output.status.code(), Some(3), "{messages}");
        assert!(messages.contains(words) && messages.contains("link it without -static"), "{messages}");
        assert!(messages.contains("nothing was recorded: "), "{messages}");
    }
    assert!(folder.runs().is_empty());
}

#[test]
fn a_program_without_mpi_is_not_disturbed() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", EMPTY, &[]);
    let (output, messages) = folder.recorded(&[&program.display().to_string()]);
    assert_eq!(output.status.code(), Some(3), "{messages}");
    assert!(messages.contains("which needs no MPI library and no OpenMP runtime, but may load one"), "{messages}");
    assert!(
        messages.contains(
            "nothing was recorded: no program called MPI_Init in a shared library or used an OpenMP runtime with an interface for recorders"
        )
    );
    assert!(output.stdout.is_empty() && folder.runs().is_empty());
}

#[test]
fn obstacles_are_found_before_the_start() {
    let folder = RecordFolder::new();
    let contained = "int PMPI_Init(void) { return 0; }\nint main(void) { return PMPI_Init(); }\n";
    let contained = folder.compile("gcc", "contained", contained, &[]);
    let text = dry_run(&folder, &contained);
    assert!(text.contains("it contains its MPI library") && text.contains("LD_PRELOAD="), "{text}");

    let musl = folder.compile("gcc", "musl", EMPTY, &["-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1"]);
    let text = dry_run(&folder, &musl);
    assert!(text.contains("its loader is /lib/ld-musl-x86_64.so.1") && !text.contains("LD_PRELOAD="), "{text}");

    // The processor type is at byte 18 of the header.
    let mut program_bytes = fs::read(folder.compile("gcc", "other", EMPTY, &[])).unwrap();
    program_bytes[18] = 22;
    fs::write(folder.file("other"), program_bytes).unwrap();
    let text = dry_run(&folder, &folder.file("other"));
    assert!(text.contains("it is a program for s390") && !text.contains("LD_PRELOAD="), "{text}");

    let _ =
        folder.compile("gcc", "libmpi.so.1", "int f(void) { return 0; }\n", &["-shared", "-Wl,-soname,libmpi.so.1"]);
    let using = "int f(void);\nint main(void) { return f(); }\n";
    let old = folder.compile("gcc", "old", using, &["./libmpi.so.1"]);
    let text = dry_run(&folder, &old);
    assert!(
        text.contains("it needs libmpi.so.1, and the recorder supports") && !text.contains("LD_PRELOAD="),
        "{text}"
    );
    // The MPI library is no obstacle for other recorders.
    let text = succeed(&mut folder.record(&["--dry-run", "--with", "threads", "--", &old.display().to_string()]));
    assert!(text.contains("threads attached to") && text.contains("LD_PRELOAD="), "{text}");
}

#[test]
fn the_mpi_library_of_a_library_is_found() {
    let folder = RecordFolder::new();
    let solver = "#include <mpi.h>\nint solve(void) { return MPI_Barrier(MPI_COMM_WORLD); }\n";
    let _ = folder.compile(OPEN_MPI.compiler, "libsolver.so", solver, &["-shared", "-fPIC"]);
    let using = "int solve(void);\nint main(void) { return solve(); }\n";
    let flags = ["-L.", "-lsolver", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags"];
    let program = folder.compile("gcc", "program", using, &flags);
    let text = dry_run(&folder, &program);
    assert!(text.contains("(Open MPI, libmpi.so.40)"), "{text}");
}

#[test]
fn scripts_and_interpreters_record_the_programs_that_they_start() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI);
    let script = folder.script("job.sh", &format!("#!/bin/sh -e\nmpirun -n 2 {}\n", ring.display()));
    let (output, messages) = folder.recorded(&["-o", "script.tmt", &script.display().to_string()]);
    assert!(output.status.success() && messages.contains("to the script"), "{messages}");
    assert!(messages.contains("(/bin/sh) and to the programs that it starts"), "{messages}");
    assert_eq!(folder.processes("script.tmt"), 2, "{messages}");

    // Python loads a library that calls MPI, as mpi4py does.
    let work =
        "#include <mpi.h>\nint work(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }\n";
    let _ = folder.compile(OPEN_MPI.compiler, "libwork.so", work, &["-shared", "-fPIC"]);
    fs::write(folder.file("app.py"), "import ctypes\nctypes.CDLL('./libwork.so').work()\n").unwrap();
    let (output, messages) = folder.recorded(&["-o", "python.tmt", "mpirun", "-n", "2", "python3", "app.py"]);
    assert!(output.status.success() && messages.contains("`python3`"), "{messages}");
    assert_eq!((folder.processes("python.tmt"), folder.runs().len()), (2, 2), "{messages}");
}
