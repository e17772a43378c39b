//! Programs with OpenMP.

use tests::programs::{succeed, tumit};

use crate::record_folder::{OPEN_MPI, RecordFolder};

/// Regions, a barrier, tasks with a dependence, and a critical section for which threads wait.
const PROGRAM: &str = r#"
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int step, a = 0, sum = 0;
    for (step = 0; step < 2; step++) {
        #pragma omp parallel num_threads(3) reduction(+ : sum)
        {
            int i;
            #pragma omp for
            for (i = 0; i < 30; i++) sum += i;
            #pragma omp barrier
        }
    }
    #pragma omp parallel num_threads(3)
    {
        #pragma omp critical
        usleep(20000);
    }
    #pragma omp parallel num_threads(2)
    #pragma omp single
    {
        #pragma omp task depend(out : a)
        usleep(20000);
        #pragma omp task depend(in : a)
        usleep(1000);
        #pragma omp taskwait
    }
    printf("%d\n", sum);
    return 0;
}
"#;

/// The records of the program, which do not depend on the order of its threads.
fn check_events(folder: &RecordFolder, run: &str) {
    let count = |event: &str| folder.event_count(run, event);
    assert_eq!((count("parallel.begin"), count("parallel.end")), (4, 4));
    assert_eq!(count("region_part.begin"), 3 * 3 + 2);
    // Each part of a region ends, also that of a worker that the program does not need again.
    assert_eq!(count("region_part.end") + count("late_leave"), 3 * 3 + 2);
    assert!(count("late_leave") >= 2, "the workers leave their last region at the end of the program");
    assert_eq!((count("task_create"), count("task_begin"), count("task_end")), (2, 2, 2));
    assert_eq!((count("dependence_begin"), count("dependence_end")), (1, 1));
    assert!(count("lock_wait.begin") + count("long_lock_wait") >= 2, "two of three threads wait");
    assert_eq!(count("lock_wait.begin"), count("lock_wait.end"));
}

#[test]
fn regions_tasks_and_waits_of_openmp_are_recorded() {
    let folder = RecordFolder::new();
    let program = folder.compile("clang", "program", PROGRAM, &["-fopenmp", "-g"]);
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program.display().to_string()]);
    assert_eq!(output.stdout, b"870\n", "{messages}");
    assert!(messages.contains("openmp attached to") && messages.contains("(libomp.so.5)"), "{messages}");
    assert!(messages.contains("of the time of all threads waiting for other threads"), "{messages}");
    check_events(&folder, "run.tmt");
    let stats = succeed(tumit().arg("stats").arg(folder.file("run.tmt")));
    assert!(stats.contains("  main (program.c:8) ") && stats.contains(" (program.c:24) "), "{stats}");
    let mut diagnose = tumit();
    diagnose.args(["diagnose", "--section", "waits", "--format", "csv"]).arg(folder.file("run.tmt"));
    let waits = succeed(&mut diagnose);
    assert!(waits.contains("Waits for a critical section") && waits.contains("lock"), "{waits}");
}

#[test]
fn the_runtime_of_gcc_can_be_replaced() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", PROGRAM, &["-fopenmp"]).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
    assert_eq!(output.stdout, b"870\n", "{messages}");
    let (_, remedy) = messages
        .split_once("libgomp.so.1 has no interface for recorders; to use that of LLVM instead, run: LD_PRELOAD=")
        .expect(&messages);
    let runtime = remedy.split(' ').next().unwrap();
    let (output, messages) = {
        let mut command = folder.record(&["-o", "replaced.tmt", "--", &program]);
        let output = tests::programs::output(command.env("LD_PRELOAD", runtime));
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        (output, messages)
    };
    assert_eq!(output.stdout, b"870\n", "{messages}");
    assert!(!messages.contains("cannot be attached"), "{messages}");
    check_events(&folder, "replaced.tmt");
}

#[test]
fn ranks_with_openmp_have_both_recorders() {
    let folder = RecordFolder::new();
    let text = PROGRAM
        .replace("#include <omp.h>", "#include <mpi.h>")
        .replace("int step,", "MPI_Init(NULL, NULL); int step,")
        .replace("return 0;", "MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0;");
    let source = folder.file("hybrid.c");
    std::fs::write(&source, text).unwrap();
    let program = folder.file("hybrid");
    let mut compile = folder.command(OPEN_MPI.compiler);
    let _ = succeed(compile.env("OMPI_CC", "clang").arg(&source).arg("-o").arg(&program).arg("-fopenmp"));
    let program = program.display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", OPEN_MPI.launcher, "-n", "2", &program]);
    assert_eq!(output.stdout, b"870\n870\n", "{messages}");
    assert!(messages.contains("mpi, openmp attached to"), "{messages}");
    assert_eq!(folder.processes("run.tmt"), 2);
    assert_eq!(
        (folder.event_count("run.tmt", "collective.begin"), folder.event_count("run.tmt", "parallel.begin")),
        (2, 8)
    );
    let stats = succeed(tumit().args(["stats", "--csv"]).arg(folder.file("run.tmt")));
    assert!(stats.contains("state,MPI,,,MPI_Barrier") && stats.contains("state,OpenMP,,,Implicit barrier"), "{stats}");
    // Recorders that are not attached leave nothing in the run.
    assert!(!stats.contains("Bytes read"), "{stats}");
    // A recorder that is not wanted is not attached.
    let (output, messages) =
        folder.recorded(&["--with", "openmp", "-o", "openmp.tmt", "--", OPEN_MPI.launcher, "-n", "2", &program]);
    assert!(output.status.success(), "{messages}");
    assert_eq!(
        (folder.event_count("openmp.tmt", "job.begin"), folder.event_count("openmp.tmt", "parallel.begin")),
        (0, 8)
    );
}
