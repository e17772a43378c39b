//! A process that compares its clock with those of other processes. Its clock is a function of this
//! file, so that the true time of each reading is known.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tracer_rt::clock_sync::{self, DuplexStream, StreamLinks, SyncGroup};

use super::app;

static BASE: AtomicI64 = AtomicI64::new(0);
static OFFSET: AtomicI64 = AtomicI64::new(0);
static PPM: AtomicI64 = AtomicI64::new(0);
/// The clock step so far.
static STEP: AtomicI64 = AtomicI64::new(0);
/// The step is longer than the time between two readings of the clocks, so that no other gap
/// between records equals it.
const STEP_NANOS: i64 = 1_000_000_000;

pub(crate) fn truth() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as i64
}

fn ticks() -> u64 {
    let elapsed = truth() - BASE.load(Ordering::Relaxed);
    let drift = elapsed / 1000 * PPM.load(Ordering::Relaxed) / 1000;
    (OFFSET.load(Ordering::Relaxed) + elapsed + drift + STEP.load(Ordering::Relaxed)) as u64
}

/// Records a timestamp and the true time, read closely together.
fn record_mark() {
    let read = || {
        let before = truth();
        let at = tracer_rt::now();
        (before, at, truth() - before)
    };
    let (before, at, width) = (0..1000).map(|_| read()).find(|(.., width)| *width < 10_000).unwrap_or_else(read);
    app::mark(at, (before + width / 2) as u64);
}

fn pause() {
    std::thread::sleep(Duration::from_millis(150));
}

/// Connects a socket to each other process.
fn connect_all(folder: &Path, me: u32, all: u32) -> Vec<Option<UnixStream>> {
    let path = |number| folder.join(format!("{number}.sock"));
    let listener = UnixListener::bind(path(me)).unwrap();
    let mut streams: Vec<Option<UnixStream>> = (0..all).map(|_| None).collect();
    for peer in 0..me {
        let mut stream = (0..10_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(2));
            UnixStream::connect(path(peer)).ok()
        });
        stream.as_mut().unwrap().write_all(&[me as u8]).unwrap();
        streams[peer as usize] = stream;
    }
    for _ in me + 1..all {
        let (mut stream, _) = listener.accept().unwrap();
        let mut number = [0];
        stream.read_exact(&mut number).unwrap();
        streams[usize::from(number[0])] = Some(stream);
    }
    streams
}

/// The process with these arguments: its number, the number of processes, the folder of the
/// sockets, the offset and drift of its clock, the base time, and the action.
pub(crate) fn run(arguments: &str) {
    let words: Vec<&str> = arguments.split(' ').collect();
    let [me, all, folder, offset, ppm, base, act] = words[..] else { panic!("{words:?}") };
    let (me, all): (u32, u32) = (me.parse().unwrap(), all.parse().unwrap());
    for (to, text) in [(&OFFSET, offset), (&PPM, ppm), (&BASE, base)] {
        to.store(text.parse().unwrap(), Ordering::Relaxed);
    }
    let streams = connect_all(Path::new(folder), me, all);
    // Each socket becomes two handles, like a pair of pipes.
    let streams =
        streams.into_iter().map(|stream| stream.map(|stream| DuplexStream(stream.try_clone().unwrap(), stream)));
    let mut group = SyncGroup::new(StreamLinks::new(streams), me, all);
    let mut config = tracer_rt::RecorderConfig::default();
    if std::env::var_os("MACHINE_CLOCK").is_none() {
        assert!(tracer_rt::set_clock(ticks, 1_000_000_000));
        config.clock_domain = Some(format!("clock {me}"));
    }
    tracer_rt::start(config).unwrap();
    record_mark();
    if act == "fork" {
        // SAFETY: no other thread of this process has a lock that the child needs.
        let child = unsafe { libc::fork() };
        if child != 0 {
            let mut status = -1;
            // SAFETY: the pointer is to a local of the right type.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            return assert_eq!(status, 0);
        }
    }
    if act == "silent" && me == all - 1 {
        tracer_rt::finish();
    }
    if act == "measure" {
        measure(&mut group, me);
    }
    for _ in 0..2 {
        group = compare_clocks(group, act, me, all);
        pause();
        if act == "step" && me == 1 {
            STEP.store(STEP_NANOS, Ordering::Relaxed);
        }
        record_mark();
        pause();
    }
    let points = if act == "points" { 500 } else { 0 };
    for _ in 0..points {
        group.sync_point().unwrap();
        std::thread::sleep(Duration::from_millis(4));
    }
    record_mark();
    if act == "fork" {
        // SAFETY: ends the process in order.
        unsafe { libc::exit(0) };
    }
}

/// One burst: in a star, the last process queries all others.
fn compare_clocks<L: clock_sync::SyncLink>(mut group: SyncGroup<L>, act: &str, me: u32, all: u32) -> SyncGroup<L> {
    if act != "star" {
        group.sync().unwrap();
        return group;
    }
    let mut link = group.into_inner();
    let peers: Vec<u32> = (0..all - 1).collect();
    let result =
        if me == all - 1 { clock_sync::ask(&mut link, &peers) } else { clock_sync::answer(&mut link, all - 1) };
    result.unwrap();
    SyncGroup::new(link, me, all)
}

/// Prints the best and the median duration of twenty bursts, and the duration of a point.
fn measure(group: &mut SyncGroup<impl clock_sync::SyncLink>, me: u32) {
    const POINTS: u32 = 1_000_000;
    let mut times: Vec<Duration> = (0..20)
        .map(|_| {
            let start = Instant::now();
            group.sync().unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    let start = Instant::now();
    for _ in 0..POINTS {
        group.sync_point().unwrap();
    }
    let point = start.elapsed() / POINTS;
    if me == 0 {
        eprintln!("a burst: {:?}, at best {:?}; a point: {point:?}", times[10], times[0]);
    }
}
