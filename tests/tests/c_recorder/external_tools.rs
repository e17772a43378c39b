//! The C runtime with tools that observe or replace parts of it: sanitizers, valgrind, MPI, the
//! dynamic linker, another LZ4.

use std::path::Path;

use tests::lang::c::{CCompiler, GNU99, build, folder, header, record};
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;

const TYPES: &str = include_str!("../../cases/types/spec.tumit");
const TICK: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: string } }\n";

/// Checks a run of `threads.c`: 8 threads with 2000 rounds each.
fn check_threads(run: &Path, forked: bool) {
    let mut files = read(run);
    files.sort_by_key(|file| file.process.contains_key(&tag::PARENT_ID));
    assert_eq!(files.len(), if forked { 2 } else { 1 }, "parent and child");
    assert_eq!(files[0].totals(), (8 * (3 * 2000 + 200) + 40, 0));
    assert!(!forked || files[1].totals() == (2, 0));
}

#[test]
fn sanitizers_report_nothing() {
    let source = include_str!("../../cases/types/threads.c");
    // The thread sanitizer does not support threads that a forked child starts.
    for (sanitizer, define) in [
        ("-fsanitize=address,undefined", "-DALL"),
        ("-fsanitize=thread", "-DNO_FORK"),
        ("-fsanitize=thread", "-DTUMIT_NO_THREAD"),
    ] {
        for buffers in ["mapped", "private"] {
            let folder = folder();
            let extra = [sanitizer, define, "-fno-sanitize-recover=all", "-O1"];
            let program = build(folder.path(), GNU99, TYPES, source, &extra).unwrap_or_else(|error| panic!("{error}"));
            let environment = [("TSAN_OPTIONS", "halt_on_error=1"), ("TUMIT_BUFFERS", buffers)];
            check_threads(&record(&program, folder.path(), "run.tmt", &environment), define != "-DNO_FORK");
        }
    }
}

#[test]
fn valgrind_reports_nothing() {
    let folder = folder();
    let source = include_str!("../../cases/types/threads.c");
    let program = build(folder.path(), GNU99, TYPES, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = folder.path().join("run.tmt");
    let mut valgrind = std::process::Command::new("valgrind");
    valgrind.args(["--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite", "--error-exitcode=9"]);
    let output = valgrind.arg(&program).env("TUMIT_TRACE", &run).output().expect("valgrind is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    check_threads(&run, true);
}

const MPI: &str = r#"
#define TUMIT_MPI
#define TUMIT_CLOCK_HZ 1000000000u
#include "t_trace.h"
static uint64_t ticks(void) { return tumit1_nanos(CLOCK_MONOTONIC_RAW); }
int main(int argc, char **argv) {
    int rank;
    char domain[16];
    if (getenv("OWN_CLOCK") != NULL) {
        snprintf(domain, sizeof domain, "clock %s", getenv("OMPI_COMM_WORLD_RANK"));
        if (tumit1_set_clock(ticks, 1000000000u, domain) != 0) { return 1; }
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    t_tick((uint64_t)rank);
    MPI_Finalize();
    return 0;
}
"#;

#[test]
fn ranks_share_a_folder_and_compare_clocks() {
    for (command, flags) in
        [("mpicc", &["-std=c99", "-D_GNU_SOURCE"][..]), ("mpicxx", &["-std=c++11", "-x", "c++"][..])]
    {
        let folder = folder();
        let program =
            build(folder.path(), CCompiler { command, flags }, TICK, MPI, &[]).unwrap_or_else(|e| panic!("{e}"));
        for (own_clock, leaders) in [(false, 1), (true, 5)] {
            let name = format!("{leaders}.tmt");
            let mut mpirun = tests::programs::mpirun(5);
            mpirun.arg(&program).current_dir(folder.path()).env("TUMIT_TRACE", folder.path().join(&name));
            if own_clock {
                mpirun.env("OWN_CLOCK", "1");
            }
            tests::programs::succeed(&mut mpirun);
            let files = read(&folder.path().join(&name));
            assert_eq!(files.len(), 5);
            for (rank, file) in files.iter().enumerate() {
                assert_eq!(file.process_integer(tag::RANK), Some(rank as u64));
                assert_eq!(file.process_integer(tag::RANKS), Some(5));
                assert_eq!(file.texts(), [format!("tick n=Unsigned({rank})")]);
                assert!(file.sync.iter().all(|s| s.t1 <= s.t4 && s.t2 <= s.t3), "time runs forward");
            }
            check_hypercube(&files, leaders);
        }
    }
}

/// Exchanges of a pair in a burst, unless `TUMIT_SYNC_EXCHANGES` is set.
const EXCHANGES: usize = 300;

/// In each pair `i`, `i XOR 2^k` of `leaders` clocks, the lower one has [`EXCHANGES`] samples of
/// each of two bursts.
fn check_hypercube(files: &[ProcessFile], leaders: usize) {
    let id = |file: &ProcessFile| u64::from_le_bytes(*file.process[&tag::PROCESS_ID].first_chunk().expect("16 bytes"));
    for (rank, file) in files.iter().enumerate() {
        let peers: Vec<usize> =
            (0..3).map(|k| rank ^ (1 << k)).filter(|&peer| rank < peer && peer < leaders && rank < leaders).collect();
        assert_eq!(file.sync.len(), peers.len() * 2 * EXCHANGES, "rank {rank} of {leaders} clocks");
        for peer in peers {
            let with = |burst| file.sync.iter().filter(move |s| s.burst == burst && s.peer == id(&files[peer])).count();
            assert_eq!((with(0), with(1)), (EXCHANGES, EXCHANGES), "ranks {rank} and {peer}");
        }
    }
}

const MPI_WITHOUT_RECORDER: &str = "
#define TUMIT_EXTERN
#include \"t_trace.h\"
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    t_tick((uint64_t)rank);
    (void)tumit1_mpi_sync_point();
    MPI_Finalize();
    return 0;
}
";

/// All files of a program are compiled with `-DTUMIT_MPI`; one contains the recorder, another one
/// calls `MPI_Init`.
#[test]
fn mpi_may_be_initialised_in_a_file_without_the_recorder() {
    for (command, flags) in
        [("mpicc", &["-std=c99", "-D_GNU_SOURCE"][..]), ("mpicxx", &["-std=c++11", "-x", "c++"][..])]
    {
        let compiler = CCompiler { command, flags };
        let folder = folder();
        header(folder.path(), TICK);
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("main.c"), MPI_WITHOUT_RECORDER).unwrap();
        std::fs::write(path("trace.c"), "#include \"t_trace.h\"\n").unwrap();
        let sources = [path("main.c"), path("trace.c")];
        let sources: Vec<&Path> = sources.iter().map(std::path::PathBuf::as_path).collect();
        compiler.compile(&sources, &path("program"), &["-DTUMIT_MPI"]).unwrap_or_else(|error| panic!("{error}"));
        let mut mpirun = tests::programs::mpirun(2);
        let run = path("run.tmt");
        tests::programs::succeed(mpirun.arg(path("program")).current_dir(folder.path()).env("TUMIT_TRACE", &run));
        let files = read(&run);
        assert_eq!(files.len(), 2);
        for (rank, file) in files.iter().enumerate() {
            assert_eq!(file.process_integer(tag::RANK), Some(rank as u64));
            assert_eq!(file.texts(), [format!("tick n=Unsigned({rank})")]);
        }
        // The file with the recorder is compiled without `-DTUMIT_MPI`.
        compiler.compile(&sources[..1], &path("main.o"), &["-c", "-DTUMIT_MPI"]).unwrap_or_else(|e| panic!("{e}"));
        compiler.compile(&sources[1..], &path("trace.o"), &["-c"]).unwrap_or_else(|error| panic!("{error}"));
        let linked = std::process::Command::new(command)
            .args([path("main.o"), path("trace.o")])
            .args(["-pthread", "-o"])
            .arg(path("wrong"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&linked.stderr);
        let advice = "tumit1_the_file_without_TUMIT_EXTERN_must_be_compiled_with_TUMIT_MPI";
        assert!(!linked.status.success() && stderr.contains(advice), "{stderr}");
    }
}

#[test]
fn ranks_without_a_set_folder_agree_on_one() {
    let folder = folder();
    let mpicc = CCompiler { command: "mpicc", flags: &["-std=gnu99"] };
    let program = build(folder.path(), mpicc, TICK, MPI, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut mpirun = tests::programs::mpirun(3);
    tests::programs::succeed(mpirun.arg(&program).current_dir(folder.path()).env_remove("TUMIT_TRACE"));
    let entries = std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").path());
    let runs: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "tmt")).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(read(&runs[0]).len(), 3);
}

#[test]
fn compressed_blocks_unpack_to_their_input() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
static uint16_t table[1u << TUMIT1_LZ4_BITS];
static unsigned char from[TUMIT1_BLOCK], to[TUMIT1_BLOCK];
int main(void) {
    uint32_t round, i, random = 1;
    FILE *file = fopen("pairs", "wb");
    if (file == NULL) { return 1; }
    for (round = 0; round < 3000; round++) {
        uint32_t bytes, packed, room, letters = 1 + round % 7 * 40, kind = round % 4;
        random = random * 1664525u + 1013904223u;
        bytes = round < 100 ? round : (round % 50 == 0 ? TUMIT1_BLOCK - round % 3 : (random >> 8) % 3000);
        for (i = 0; i < bytes; i++) {
            random = random * 1664525u + 1013904223u;
            from[i] = (unsigned char)(kind == 0 ? 0 : kind == 1 || i < 22 ? (random >> 24) % letters
                                                : kind == 2 ? from[i - 22] + (i % 22 == 2 ? 1u : 0u) : i / (letters * 3));
        }
        room = round % 3 == 0 ? bytes : round % 3 == 1 ? bytes / 2 : TUMIT1_BLOCK;
        packed = tumit1_lz4_compress(from, bytes, to, room, table);
        if (packed > room) { return 2; }
        fwrite(&bytes, 4, 1, file);
        fwrite(&packed, 4, 1, file);
        fwrite(from, 1, bytes, file);
        fwrite(to, 1, packed, file);
    }
    return fclose(file);
}
"#;
    let extra = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-conversion"];
    let program = build(folder.path(), GNU99, TICK, source, &extra).unwrap_or_else(|error| panic!("{error}"));
    let _ = record(&program, folder.path(), "run.tmt", &[]);
    let pairs = std::fs::read(folder.path().join("pairs")).expect("pairs");
    let (mut rest, mut packed, mut all) = (&pairs[..], 0, 0);
    while let Some((sizes, bytes)) = rest.split_first_chunk::<8>() {
        let size = |offset: usize| u32::from_le_bytes(*sizes[offset..].first_chunk().expect("four bytes")) as usize;
        let (raw, bytes) = bytes.split_at(size(0));
        let (small, bytes) = bytes.split_at(size(4));
        if !small.is_empty() {
            assert_eq!(lz4_flex::block::decompress(small, raw.len()).expect("a good block"), raw);
            packed += 1;
        }
        all += 1;
        rest = bytes;
    }
    assert!(all == 3000 && packed > 1500, "{packed} of {all} were compressed");
}

/// Fields of all widths and forms, in records with values close to each other, far apart, few, and
/// of any size.
const SHAPES: &str = r#"trace t;
level APP {
    event a { x: u64, y: u8, z: i16, w: f64 }
    event b { s: string, q: [u16; 3], v: [u64], t: [u8; 5] }
    event c { i: interned, n: i32 }
    event d { }
    event e { far: u64, p: pointer }
}
"#;

#[test]
fn columns_hold_the_records_of_other_codecs() {
    let source = r#"
#include "t_trace.h"
static uint64_t state = 88172645463325252u;
static uint64_t next(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
int main(void) {
    static const char text[] = "a text that comes in pieces of all lengths, again and again";
    uint32_t n;
    for (n = 0; n < 60000; n++) {
        const uint64_t r = next();
        const uint16_t three[3] = {(uint16_t)n, 7, (uint16_t)r};
        const uint64_t some[4] = {n, r, r >> (r % 64), 1};
        const uint8_t five[5] = {1, 2, (uint8_t)n, (uint8_t)r, 0};
        /* First one type alone, then all: steps, constants, noise, and exceptions of the
           greatest size. */
        switch (n < 9000 ? 0 : r % 5) {
        case 0: t_a(n % 1000 == 7 ? UINT64_MAX : n * 64u, (uint8_t)(r >> 8), (int16_t)(n % 90 == 0 ? -30000 : 5), (double)(n / 7)); break;
        case 1: t_b(text + r % 50, three, some, (uint16_t)(r % 5), five); break;
        case 2: t_c(text + r % 9, (int32_t)(r >> 40) - (int32_t)n); break;
        case 3: t_d(); break;
        default: t_e((next() % 300) * 0x9E3779B97F4A7C15u, (const void *)(uintptr_t)(next() >> (n % 64))); break;
        }
        if (n % 4000 == 0) { tumit1_flush(); }
    }
    return 0;
}
"#;
    let mut all = Vec::new();
    let checked = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for (flags, codec) in [(&checked[..], 2), (&["-fsanitize=thread"], 2), (&["-DTUMIT_NO_THREAD"], 1)] {
        let folder = folder();
        let program = build(folder.path(), GNU99, SHAPES, source, flags).unwrap_or_else(|error| panic!("{error}"));
        let file = read(&record(&program, folder.path(), "run.tmt", &[])).remove(0);
        // The rest of a flushed slot may be as short as one record, which no codec makes shorter.
        let packed = file.blocks.iter().filter(|block| block.kind == 6 && block.codec != 0 && block.raw_bytes > 1024);
        let packed: Vec<_> = packed.map(|block| block.codec).collect();
        assert!(packed.len() > 15 && packed.iter().all(|block_codec| *block_codec == codec), "{packed:?}");
        all.push(file.texts());
    }
    assert_eq!(all[0].len(), 60_000);
    assert!(all.iter().all(|texts| *texts == all[0]), "the same records");
}
