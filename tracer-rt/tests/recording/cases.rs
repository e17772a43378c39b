//! The recorded programs.

use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::{Date, InternedText};

tracer_rt::events!("tests/all.tumit");

mod second {
    tracer_rt::events!("tests/other.tumit", off = []);
}

pub(crate) fn run(case: &str) {
    match case {
        "types" => types(),
        "threads" => threads(),
        "exits" => exits(),
        "flood" => flood(),
        "oversize" => oversize(),
        "levels" => levels(),
        "two specs" => {
            com::tick(1, 2);
            second::com::tick(3);
            com::tick(4, 5);
        }
        "fork" => fork(),
        "many forks" => many_forks(),
        "spans" => spans(),
        "user clock" => user_clock(),
        "flush" => flush(),
        "truncated" => truncated(),
        "truncated in parts" => truncated_in_parts(),
        "truncated in handlers" => signals(record_long_on_signal, 40),
        "signals" => signals(on_signal, 600),
        "first in a handler" => first_in_handler(),
        "exit in a handler" => exit_in_handler(),
        "unwritable" => unwritable(),
        "full disk" => full_disk(),
        "start" => start(),
        "dynamic" => dynamic(),
        other => panic!("no case {other}"),
    }
}

fn types() {
    com::numbers(1, 2, 3, 4, -1, -2, -3, -4, 0.5, 0.25, true);
    let address = std::ptr::without_provenance::<u8>(0x1234);
    com::others(tracer_rt::now(), address, "a text", "a name", &[0, 255], Color::DarkBlue);
    let names = [InternedText::new("a name")];
    com::arrays([1, -1, 300], &[1.0, 2.0], &[Color::DarkBlue, Color::Red], [Color::Green, Color::Red], &names);
    com::arrays([0; 3], &[], &[], [Color::Red; 2], &[]);
}

fn threads() {
    tracer_rt::set_thread_name("not yet recording");
    tracer_rt::set_thread_name("renamed");
    com::tick(0, 77);
    let workers = (0..4).map(|worker| {
        let work = move || {
            for n in 0..10_000 {
                com::tick(n, worker);
            }
        };
        std::thread::Builder::new().name(format!("worker {worker}")).spawn(work).unwrap()
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.join().unwrap();
    }
}

struct DropRecord(&'static str);

impl Drop for DropRecord {
    fn drop(&mut self) {
        com::text(self.0);
    }
}

thread_local! {
    static AT_END: Cell<Option<DropRecord>> = const { Cell::new(None) };
}

extern "C" fn at_exit() {
    com::text("at exit");
}

extern "C" fn in_key_destructor(_: *mut libc::c_void) {
    com::text("destructor of a key");
}

/// Makes a record after the recorder has ended the thread's streams.
/// The destructors of C library keys run in the order of their creation.
fn late_destructor() {
    let mut key = 0;
    // SAFETY: the pointer is to a live local.
    unsafe { libc::pthread_key_create(&raw mut key, Some(in_key_destructor)) };
    let quiet = move || {
        // SAFETY: the key was just made, and its value is not used.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(1)) };
    };
    std::thread::spawn(quiet).join().unwrap();
    let work = move || {
        com::text("thread with a key");
        quiet();
    };
    std::thread::Builder::new().name("a name longer than the system's".into()).spawn(work).unwrap().join().unwrap();
}

/// A thread that ends, a thread that never ends, and the exit by a third thread.
fn exits() {
    static RECORDED: AtomicU64 = AtomicU64::new(0);
    std::thread::spawn(|| AT_END.set(Some(DropRecord("destructor of a thread")))).join().unwrap();
    late_destructor();
    // Registered after the recorder's own handler, so it runs before that one.
    // SAFETY: the handler is a plain function.
    unsafe { libc::atexit(at_exit) };
    let detached = || {
        for n in 0.. {
            com::tick(n, 1);
            RECORDED.store(n + 1, Ordering::Release);
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    };
    std::thread::Builder::new().name("detached".into()).spawn(detached).unwrap();
    while RECORDED.load(Ordering::Acquire) < 100 {
        std::thread::yield_now();
    }
    let exiting = std::thread::spawn(|| {
        AT_END.set(Some(DropRecord("destructor of the thread that exits")));
        com::text("before exit");
        com::tick(RECORDED.load(Ordering::Acquire), 99);
        std::process::exit(0);
    });
    exiting.join().unwrap();
}

fn flood() {
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for n in 0..300_000 {
                    com::tick(n, thread);
                }
            });
        }
    });
    tracer_rt::finish();
    println!("dropped {}", tracer_rt::counts().dropped);
}

fn oversize() {
    com::blob(b"small");
    com::blob(&vec![1; 65_500]);
    com::blob(&vec![1; 100_000]);
    com::blob(&vec![7; 60_000]);
    com::blob(b"last");
}

fn truncated() {
    for n in 0..50 {
        com::tick(n, 0);
        com::blob(&LONG);
    }
}

/// Three threads own three of the four slots, and the fourth slot is divided.
fn truncated_in_parts() {
    let (all_taken, end_barrier) = (Barrier::new(4), Barrier::new(4));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                com::blob(&[1; 10_000]);
                all_taken.wait();
                end_barrier.wait();
            });
        }
        all_taken.wait();
        com::tick(0, 0);
        com::blob(&[2; 5_000]);
        end_barrier.wait();
    });
}

fn levels() {
    com::tick(1, 0);
    app::detail(1);
    tracer_rt::set_level("APP", false);
    app::detail(2);
    let unseen = app::step(2);
    tracer_rt::set_level("app", true);
    drop(unseen);
    app::detail(3);
    let step = app::step(4);
    tracer_rt::set_level("all.APP", false);
    // The span began while the level was on, so its end is recorded as well.
    drop(step);
    com::tick(2, 0);
}

fn fork() {
    com::text("before");
    // SAFETY: the child does nothing but record and end.
    let child = unsafe { libc::fork() };
    if child == 0 {
        com::text("child");
        com::text("before");
        // SAFETY: ends the process in order.
        unsafe { libc::exit(0) };
    }
    let mut status = -1;
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0);
    com::text("parent");
}

/// Forks while other threads record.
fn many_forks() {
    static STOP: AtomicU64 = AtomicU64::new(0);
    let workers = (0..3).map(|worker| {
        std::thread::spawn(move || {
            let mut n = 0;
            while STOP.load(Ordering::Relaxed) == 0 {
                com::tick(n, worker);
                n += 1;
            }
            n
        })
    });
    let workers: Vec<_> = workers.collect();
    for child in 0..6 {
        // SAFETY: the child does nothing but record and end.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            for n in 0..5_000 {
                com::tick(n, 100 + child);
            }
            // SAFETY: ends the process in order.
            unsafe { libc::exit(0) };
        }
        let mut status = -1;
        // SAFETY: the pointer is to a local of the right type.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        assert_eq!(status, 0);
    }
    STOP.store(1, Ordering::Relaxed);
    let calls: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
    println!("calls {calls} ");
}

struct Worker {
    number: u32,
}

impl Worker {
    #[tracer_rt::traced(com::work(self.number))]
    fn method(&self) -> Result<u32, std::num::ParseIntError> {
        "not a number".parse::<u32>()?;
        Ok(self.number)
    }
}

#[tracer_rt::traced(com::work(n))]
fn generic<T: Into<u64>>(n: u32, value: T) -> u64 {
    value.into() + u64::from(n)
}

fn spans() {
    {
        let _work = com::work(1);
        com::tick(7, 8);
    }
    assert!(Worker { number: 2 }.method().is_err());
    assert_eq!(generic(3, 4u8), 7);
}

static TIME: AtomicU64 = AtomicU64::new(1_000);

fn user_clock() {
    assert!(tracer_rt::set_clock(|| TIME.load(Ordering::Relaxed), 1_000_000));
    for timestamp in
        [1_000, 10_000_000_000, 5_000, 10_000_000_001, 10_000_000_001 + 0xFFFF_FFFF, 10_000_000_001 + 0x1_FFFF_FFFF]
    {
        TIME.store(timestamp, Ordering::Relaxed);
        com::tick(timestamp, 0);
    }
    assert!(!tracer_rt::set_clock(|| 0, 1), "too late");
    assert_eq!(tracer_rt::now(), Date::from_ticks(10_000_000_001 + 0x1_FFFF_FFFF));
}

fn flush() {
    for n in 0..300 {
        com::tick(n, tracer_rt::now().ticks());
        if n % 100 == 50 {
            tracer_rt::flush();
        } else if n % 100 == 99 {
            // Another thread flushes this one.
            std::thread::spawn(tracer_rt::flush).join().unwrap();
        }
    }
}

static IN_HANDLER: AtomicU64 = AtomicU64::new(0);

extern "C" fn on_signal(_: libc::c_int) {
    com::tick(IN_HANDLER.fetch_add(1, Ordering::Relaxed), 2);
}

/// Larger than any slot.
static LONG: [u8; 70_000] = [3; 70_000];

extern "C" fn record_long_on_signal(_: libc::c_int) {
    com::blob(&LONG);
    IN_HANDLER.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn exit_on_signal(_: libc::c_int) {
    // SAFETY: the interrupted thread does nothing but record, which holds no lock of the C library.
    unsafe { libc::exit(0) };
}

fn on_alarm(handler: extern "C" fn(libc::c_int)) {
    // SAFETY: the handlers only record and count, or end the process.
    unsafe { libc::signal(libc::SIGALRM, handler as *const () as libc::sighandler_t) };
}

fn exit_in_handler() {
    com::tick(0, 0);
    on_alarm(exit_on_signal);
    let after = |tv_usec| libc::timeval { tv_sec: 0, tv_usec };
    let timer = libc::itimerval { it_interval: after(0), it_value: after(100) };
    // SAFETY: the pointer is to a live local.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
    // Less than a slot: a thread that is interrupted while it changes slots holds a lock, and its
    // trace has no end.
    for n in 1..2_500 {
        com::tick(n, 0);
    }
    loop {
        std::hint::spin_loop();
    }
}

/// Another thread interrupts the recording thread. The handler records, too.
fn signals(handler: extern "C" fn(libc::c_int), handled: u64) {
    com::tick(0, 0);
    on_alarm(handler);
    // SAFETY: takes nothing.
    let target = unsafe { libc::pthread_self() };
    let sender = std::thread::spawn(move || {
        // Signals that come while another one is pending are merged. The loop therefore counts the
        // handled signals.
        while IN_HANDLER.load(Ordering::Relaxed) < handled {
            // SAFETY: the thread waits for this one.
            unsafe { libc::pthread_kill(target, libc::SIGALRM) };
            std::thread::sleep(std::time::Duration::from_micros(30));
        }
    });
    let mut next = 1;
    while !sender.is_finished() {
        com::tick(next, 1);
        next += 1;
    }
    // Waiting is a system call, so no signal is pending after it.
    sender.join().unwrap();
    println!("calls {} and {} ", next, IN_HANDLER.load(Ordering::Relaxed));
}

/// A signal handler makes the first record of the process, and then the first record of a thread.
fn first_in_handler() {
    on_alarm(on_signal);
    // SAFETY: a signal with a handler.
    unsafe { libc::raise(libc::SIGALRM) };
    // SAFETY: as above.
    let raise = || unsafe { libc::raise(libc::SIGALRM) };
    std::thread::Builder::new().name("other".to_owned()).spawn(raise).unwrap().join().unwrap();
    com::tick(2, 2);
}

fn unwritable() {
    for n in 0..100_000 {
        com::tick(n, 0);
    }
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    assert_eq!(counts.written, 0);
    println!("all of {} dropped", counts.dropped);
}

fn full_disk() {
    let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
    // SAFETY: an ignored signal has no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    // SAFETY: the pointer is to a live local.
    unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
    let mut random = 1u64;
    for n in 0..1_000_000 {
        // Incompressible data, so that a megabyte is full soon.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n);
        com::tick(random, random.rotate_left(17));
    }
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    println!("written {} dropped {} sum {}", counts.written, counts.dropped, counts.written + counts.dropped);
}

fn start() {
    let session = tracer_rt::start(tracer_rt::RecorderConfig::from_env()).unwrap();
    assert!(session.folder().is_absolute() && session.folder().ends_with("run.tmt"));
    com::tick(1, 1);
    println!("late: {}", tracer_rt::start(tracer_rt::RecorderConfig::default()).unwrap_err());
    session.finish();
    for n in 0..10_000 {
        com::tick(n, 2);
    }
    println!("after the end: {:?}", tracer_rt::counts());
}

/// Specs made at run time, two thousand of them: more than the live file has space for.
fn dynamic() {
    use tracer_rt::format::schema::{FieldInfo, LevelInfo, RecordKind, RecordType, SCHEMA_VERSION, Scalar};
    use tracer_rt::format::{FieldType, Schema};
    use tracer_rt::runtime_specs::{register, source_position};
    let schema = |name: String| {
        let fields = [("number", Scalar::I64), ("text", Scalar::String)];
        let fields = fields.map(|(name, ty)| FieldInfo { name: name.into(), ty: FieldType::One(ty) }).to_vec();
        let record = |kind, level, has_location| RecordType {
            name: name.clone(),
            level,
            kind,
            has_location,
            fields: fields.clone(),
        };
        let levels = ["APP", "LATE"].map(|level| LevelInfo { name: level.into(), is_enabled: level == "APP" });
        Schema {
            version: SCHEMA_VERSION,
            name: "dynamic".into(),
            levels: levels.to_vec(),
            records: vec![record(RecordKind::Event, 0, true), record(RecordKind::Event, 1, false)],
            ..Schema::default()
        }
    };
    let mut fields = source_position("made/at/run/time.rs", 42).to_le_bytes().to_vec();
    assert_eq!(source_position(&String::from("made/at/run/time.rs"), 42).to_le_bytes(), fields[..]);
    fields.extend((-5i64).to_le_bytes());
    fields.extend(b"\x02\0hi");
    for number in 0..2_000 {
        let types = register(&schema(format!("event_{number}"))).unwrap();
        let before = tracer_rt::now();
        let time = types[0].record(&fields).unwrap();
        assert!(before <= time && time <= tracer_rt::now());
        assert_eq!((types[1].base(), types[1].record(&fields[4..])), (0, None), "its level is off");
        if number == 1_999 {
            tracer_rt::set_level("dynamic.LATE", true);
            let base = types[1].base();
            assert!(types[1].record_parts(&fields[4..9], &fields[9..]).is_some());
            tracer_rt::set_level("LATE", false);
            assert!(types[1].record_at(base, &fields[4..]).is_some(), "an end, although the level is off");
        }
    }
}
