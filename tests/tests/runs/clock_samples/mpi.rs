//! Clock samples of MPI ranks, at points of a loop.

use tests::lang::c::{CCompiler, build};
use tests::programs::{mpirun, succeed};
use tests::run::read;
use tracer_format::tags::tag;

use super::SPEC;
use super::child::truth;

/// Ranks with separate clocks that call a point in a loop. `TUMIT_MPI_LATE` gives rank 1 other
/// options.
const MPI: &str = r#"
#define TUMIT_MPI
#include "samples_trace.h"
#include <stdlib.h>
static int64_t base, offset;
static int64_t truth(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static uint64_t ticks(void) { return (uint64_t)(offset + truth() - base); }
int main(int argc, char **argv) {
    int rank = atoi(getenv("OMPI_COMM_WORLD_RANK")), i, took = 0;
    char domain[16];
    base = atoll(argv[1]);
    offset = 10000000000 + (int64_t)rank * 3000000000;
    if (rank != 0) { setenv("TUMIT_SYNC_EXCHANGES", "77", 1); setenv("TUMIT_SYNC_SECONDS", "0", 1); }
    snprintf(domain, sizeof domain, "clock %d", rank);
    if (tumit1_set_clock(ticks, 1000000000u, domain) != 0) { return 1; }
    MPI_Init(&argc, &argv);
    for (i = 0; i < 500; i++) {
        struct timespec pause = {0, 4000000};
        took += tumit1_mpi_sync_point();
        (void)nanosleep(&pause, NULL);
    }
    samples_mark(tumit1_now(), (uint64_t)truth());
    MPI_Finalize();
    if (rank == 0) { printf("took %d\n", took); }
    return 0;
}
"#;

#[test]
fn sync_points_of_ranks_take_samples_with_the_options_of_rank_0() {
    for (command, flags) in [("mpicc", &["-std=gnu99"][..]), ("mpicxx", &["-std=c++11", "-x", "c++"][..])] {
        let folder = tempfile::tempdir().unwrap();
        let program =
            build(folder.path(), CCompiler { command, flags }, SPEC, MPI, &[]).unwrap_or_else(|e| panic!("{e}"));
        for (seconds, exchanges) in [("1", "15"), ("0", "15"), ("1", "0")] {
            let run = folder.path().join(format!("{seconds}-{exchanges}.tmt"));
            let mut job = mpirun(3);
            job.arg(&program).arg(truth().to_string()).current_dir(folder.path()).env("TUMIT_TRACE", &run);
            let stdout = succeed(job.env("TUMIT_SYNC_SECONDS", seconds).env("TUMIT_SYNC_EXCHANGES", exchanges));
            let took: usize = stdout.trim().strip_prefix("took ").unwrap().parse().unwrap();
            assert_eq!(took > 0, (seconds, exchanges) == ("1", "15"), "{stdout}");
            let mut files = read(&run);
            files.sort_by_key(|file| file.process_integer(tag::RANK));
            let bursts = if exchanges == "0" { 0 } else { took + 2 };
            let samples = bursts * exchanges.parse::<usize>().unwrap();
            assert_eq!([0, 1, 2].map(|rank: usize| files[rank].sync.len()), [2 * samples, 0, 0], "{took} in between");
        }
    }
}
