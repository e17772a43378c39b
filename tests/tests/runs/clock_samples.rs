//! Clock samples over a channel of the program: processes in Rust, in C, and both together. Each
//! has a separate clock that is seconds off and runs faster or slower. The true timestamps of all
//! samples are known.

use std::path::Path;

use serde_json::Value;
use tests::lang::c::{C99, CCompiler, CXX11, build};
use tests::programs::tumit;
use tracer_format::tags::tag;
use tracer_rt::clock_sync::{self, StreamLinks, SyncLink as _};

use self::process_job::{ParticipantProgram, run};

mod child;
mod mpi;
mod process_job;

tracer_rt::events!("tests/runs/clock_samples/samples.tumit");

const SPEC: &str = include_str!("clock_samples/samples.tumit");
const PROGRAM: &str = include_str!("clock_samples/program.c");
const ARGUMENTS: &str = "TUMIT_TEST_PROCESS";
/// Exchanges with a peer in a burst, unless specified otherwise.
const EXCHANGES: usize = 300;

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if let Ok(arguments) = std::env::var(ARGUMENTS) {
        child::run(&arguments);
    }
}

fn in_c(folder: &Path, compiler: CCompiler, extra: &[&str]) -> ParticipantProgram {
    ParticipantProgram::C(build(folder, compiler, SPEC, PROGRAM, extra).unwrap_or_else(|error| panic!("{error}")))
}

/// The peers that each of two and of four processes queries: for each pair of numbers that differ
/// in one bit, the lower one queries.
const TWO: [&[usize]; 2] = [&[1], &[]];
const FOUR: [&[usize]; 4] = [&[1, 2], &[3], &[3], &[]];

#[test]
fn processes_in_rust_compare_their_clocks() {
    let job = run(&[ParticipantProgram::Rust, ParticipantProgram::Rust], "all", &[]);
    job.check(&TWO, 2, EXCHANGES);
    job.check_corrected(2);
    let four = vec![ParticipantProgram::Rust; 4];
    let job = run(&four, "all", &[("TUMIT_SYNC_EXCHANGES", "40")]);
    job.check(&FOUR, 2, 40);
    job.check_corrected(2);
    // A process that is not the reference queries all others: one burst each time.
    let job = run(&four, "star", &[("TUMIT_SYNC_EXCHANGES", "40")]);
    job.check(&[&[], &[], &[], &[0, 1, 2]], 2, 40);
    job.check_corrected(2);
}

#[test]
fn processes_in_c_compare_their_clocks() {
    for compiler in [C99, CXX11, CCompiler { command: "clang", flags: &["-std=gnu11"] }] {
        let folder = tempfile::tempdir().unwrap();
        let c = in_c(folder.path(), compiler, &[]);
        let job = run(&vec![c.clone(); 4], "all", &[]);
        job.check(&FOUR, 2, EXCHANGES);
        job.check_corrected(2);
        let job = run(&vec![c; 3], "star", &[("TUMIT_SYNC_EXCHANGES", "35")]);
        job.check(&[&[], &[], &[0, 1]], 2, 35);
        job.check_corrected(2);
    }
}

#[test]
fn rust_and_c_use_the_same_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &[]);
    for (processes, act) in [
        ([ParticipantProgram::Rust, c.clone(), c.clone(), ParticipantProgram::Rust], "all"),
        ([c.clone(), ParticipantProgram::Rust, ParticipantProgram::Rust, c.clone()], "all"),
    ] {
        let job = run(&processes, act, &[("TUMIT_SYNC_EXCHANGES", "50")]);
        job.check(&FOUR, 2, 50);
        job.check_corrected(2);
    }
    for pair in [[ParticipantProgram::Rust, c.clone()], [c, ParticipantProgram::Rust]] {
        let job = run(&pair, "star", &[("TUMIT_SYNC_EXCHANGES", "50")]);
        job.check(&[&[], &[0]], 2, 50);
    }
}

#[test]
fn processes_without_exchanges_finish_without_samples() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &[]);
    let off_folder = tempfile::tempdir().unwrap();
    let off = in_c(off_folder.path(), C99, &["-DTUMIT_OFF"]);
    let four = [ParticipantProgram::Rust, c.clone(), c.clone(), ParticipantProgram::Rust];
    let job = run(&four, "all", &[("MACHINE_CLOCK", "1")]);
    assert!(job.files.len() == 4 && job.files.iter().all(|file| file.sync.is_empty()), "one clock");
    let job = run(&four, "all", &[("TUMIT_SYNC_EXCHANGES", "0")]);
    job.check(&[&[] as &[usize]; 4], 2, 0);
    let job = run(&[c.clone(), ParticipantProgram::Rust], "star", &[("TUMIT_SYNC_EXCHANGES", "0")]);
    job.check(&[&[] as &[usize]; 2], 2, 0);
    assert!(job.sync().iter().all(|clock| clock["status"] != "bursts"), "without samples");
    // The last process has ended its recording; the others compare their clocks.
    let silent: [&[usize]; 4] = [&[1, 2], &[], &[], &[]];
    for last in [ParticipantProgram::Rust, c.clone()] {
        let processes = [c.clone(), ParticipantProgram::Rust, c.clone(), last];
        run(&processes, "silent", &[("TUMIT_SYNC_EXCHANGES", "20")]).check(&silent, 2, 20);
    }
    for pair in [[off.clone(), ParticipantProgram::Rust], [ParticipantProgram::Rust, off.clone()], [off, c]] {
        let job = run(&pair, "star", &[]);
        assert!(job.files.len() == 1 && job.files[0].sync.is_empty(), "a peer without a recorder");
    }
}

/// A clock step in a short run is reported, and the corrected clock follows it.
#[test]
fn a_clock_step_in_a_run_of_less_than_a_second_is_reported_and_corrected() {
    let folder = tempfile::tempdir().unwrap();
    for process in [ParticipantProgram::Rust, in_c(folder.path(), C99, &[])] {
        let job = run(&vec![process; 2], "step", &[]);
        let output = tumit().args(["sync", "--json"]).arg(&job.run).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "it is a fault");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let errors = report["errors"].to_string();
        assert!(errors.contains("was stepped by +1000.0") && errors.matches("was stepped").count() == 1, "{errors}");
        let spread = job.spread("graph");
        assert!(spread < 1_000_000, "{spread} ns");
    }
}

/// Samples taken after a fork belong to the children: their files contain them, with the ids of the
/// children.
#[test]
fn forked_children_compare_their_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &[]);
    let mut job = run(&[c, ParticipantProgram::Rust], "fork", &[("TUMIT_SYNC_EXCHANGES", "20")]);
    let (children, parents) = job.files.drain(..).partition(|file| file.process.contains_key(&tag::PARENT_ID));
    job.files = parents;
    job.check(&[&[], &[]], 2, 20);
    job.files = children;
    job.check(&TWO, 2, 20);
}

/// A channel that transmits wrong data causes an error on that side, and no sample.
#[test]
fn a_tcp_peer_is_sampled_and_one_that_sends_wrong_data_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.path().join("run.tmt"));
    tracer_rt::start(config).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    let mut link = StreamLinks::tcp([None, Some(stream)]).unwrap();
    assert!(peer.set_nodelay(true).is_ok() && link.send(0, &[0; 24]).is_err(), "there is no stream to 0");
    let peer = std::thread::spawn(move || {
        let mut link = StreamLinks::new([Some(peer)]);
        // Both ends are in one process with one clock, so that there is nothing to measure.
        clock_sync::answer(&mut link, 0).unwrap();
        let mut message = [1; 24];
        link.receive(0, &mut message).unwrap();
        link.send(0, &message.map(|byte| !byte)).unwrap();
        link.into_inner().remove(0).unwrap()
    });
    clock_sync::ask(&mut link, &[1]).unwrap();
    let error = clock_sync::ask(&mut link, &[1]).unwrap_err();
    assert!(error.to_string().starts_with("peer 1 sent 0x"), "{error}");
    drop(peer.join().unwrap());
    assert!(clock_sync::ask(&mut link, &[1]).is_err(), "the peer is gone");
    assert!(link.into_inner()[1].as_ref().unwrap().nodelay().unwrap());
    tracer_rt::finish();
}

#[test]
#[ignore = "measures, for docs/clock-samples.md: --ignored --nocapture times_and_sizes"]
fn times_and_sizes_of_bursts_are_printed() {
    for processes in [2, 4] {
        for exchanges in ["0", "10", "30", "300", "1000"] {
            eprint!("{processes} processes, {exchanges} exchanges: ");
            let job =
                run(&vec![ParticipantProgram::Rust; processes], "measure", &[("TUMIT_SYNC_EXCHANGES", exchanges)]);
            let bytes: u64 = job.files.iter().map(|file| std::fs::metadata(&file.path).unwrap().len()).sum();
            eprintln!("  {} bytes a burst in all files", bytes / 22);
        }
    }
}

#[test]
fn sync_points_take_samples_when_the_last_samples_are_old() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &["-DTUMIT_SYNC_EXCHANGES=10", "-DTUMIT_SYNC_SECONDS=3600"]);
    let seconds = [("TUMIT_SYNC_SECONDS", "1"), ("TUMIT_SYNC_EXCHANGES", "10")];
    for processes in [
        [ParticipantProgram::Rust, c.clone(), ParticipantProgram::Rust],
        [c.clone(), ParticipantProgram::Rust, c.clone()],
    ] {
        let job = run(&processes, "points", &seconds);
        let bursts = job.files[0].sync.iter().map(|sample| sample.burst).max().unwrap() as usize + 1;
        assert!((3..=2 + 5).contains(&bursts), "{bursts} bursts");
        job.check(&[&[1, 2], &[], &[]], bursts, 10);
    }
    // The interval of an hour is not over, at compile time or at run time.
    run(&vec![c; 3], "points", &[]).check(&[&[1, 2], &[], &[]], 2, 10);
    let job = run(&[ParticipantProgram::Rust, ParticipantProgram::Rust], "points", &[("TUMIT_SYNC_SECONDS", "0")]);
    job.check(&TWO, 2, EXCHANGES);
}
