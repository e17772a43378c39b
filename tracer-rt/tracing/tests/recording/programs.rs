//! The recorded programs.

use std::fmt;

use tracing::field::Empty;
use tracing::{Level, debug, error, event, info, info_span, span, trace, trace_span, warn};

pub(crate) fn run(case: &str) {
    tumit_tracing::init();
    match case {
        "values" => values(),
        "spans" => spans(),
        "threads" => threads(),
        "log" => log_messages(),
        "tokio" => tokio_tasks(),
        other => panic!("no case {other}"),
    }
}

fn values() {
    let error: Box<dyn std::error::Error> = "broken".into();
    event!(
        name: "every_type",
        Level::INFO,
        i = -1,
        u = 2u8,
        f = 0.5f32,
        yes = true,
        text = "é",
        debug = ?[1, 2],
        display = %3,
        wide = i128::MIN,
        error = &*error,
        none = Option::<u32>::None,
        "a {}",
        7
    );
    generic(Some(&7));
    generic(Some(&"text"));
    generic(Some(&8));
    generic(None);
    event!(name: "odd_names", Level::INFO, rank = 1, http.method = "GET", httpMethod = "PUT", "or" = 2);
    event!(name: "nested", Level::INFO, outer = ?Nested);
    let long = "x".repeat(40_000);
    event!(name: "long", Level::INFO, a = long, b = long);
    error!("a message");
    warn!(n = 1);
    debug!("a {{message}} of \"module\\path\"");
    trace!(n = 2);
}

/// All types of values share the callsite.
fn generic(value: Option<&dyn tracing::Value>) {
    event!(name: "generic", Level::INFO, value);
}

/// Records an event while it is formatted.
struct Nested;

impl fmt::Debug for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        event!(name: "nested", Level::INFO, inner = 9);
        f.write_str("value")
    }
}

fn spans() {
    let outer = info_span!("outer", number = 7);
    outer.in_scope(|| info_span!("inner").in_scope(|| ()));
    let late = info_span!("late", status = Empty, path = "/index");
    late.in_scope(|| {
        late.record("status", 200);
    });
    late.record("path", "/other");
    late.in_scope(|| ());
    let follower = info_span!("follower");
    let unused = info_span!("unused");
    follower.follows_from(&outer);
    follower.follows_from(&unused);
    follower.in_scope(|| ());
    // The level is off during an exit, an entry, and from its creation.
    let switched = span!(Level::DEBUG, "switched");
    let entered = switched.enter();
    tracer_rt::set_level("DEBUG", false);
    drop(entered);
    switched.in_scope(|| ());
    let never = span!(Level::DEBUG, "never");
    tracer_rt::set_level("tracing.DEBUG", true);
    never.in_scope(|| ());
    switched.in_scope(|| ());
}

struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        event!(name: "in_destructor", Level::INFO, "the thread ends");
    }
}

thread_local! {
    static AT_END: AtEnd = const { AtEnd };
}

fn threads() {
    let shared = info_span!("shared");
    let work = || {
        // Before the variables of the recorder, so that it is destroyed after them.
        AT_END.with(|_| ());
        for _ in 0..10 {
            shared.in_scope(std::thread::yield_now);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        // The scope does not wait for destructors, `join` does.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    event!(name: "debug_is_off", Level::DEBUG, "not selected");
    event!(name: "before_exit", Level::INFO, "the process ends");
    std::process::exit(0);
}

fn log_messages() {
    // With the feature `log`, the package has done so.
    let _ = tracing_log::LogTracer::init();
    for number in 1..=2 {
        let target = if number == 1 { "first" } else { "second" };
        tracing_log::log::info!(target: target, "a message {number}");
    }
    tracing_log::log::info!(target: "quiet", "not selected");
    tracing_log::log::debug!(target: "first", "not selected");
    tracing_log::log::warn!(target: "first", "a warning");
}

/// The span of a task, as `tokio` 1.54 makes it.
macro_rules! task {
    ($id:expr, $name:expr, $kind:expr) => {
        trace_span!(
            target: "tokio::task",
            parent: None,
            "runtime.spawn",
            kind = %$kind,
            task.name = %$name,
            task.id = $id as u64,
            original_size.bytes = Option::<u64>::None,
            size.bytes = 64u64,
            loc.file = "src/main.rs",
            loc.line = 12u32,
            loc.col = 5u32,
        )
    };
}

fn waker(operation: &'static str, task: &tracing::Span) {
    let id = task.id().unwrap().into_u64();
    trace!(target: "tokio::task::waker", op = operation, task.id = id);
}

/// A poll of a resource without a result, with the spans of `tokio::sync::Mutex`.
fn poll_mutex(mutex: &tracing::Span, semaphore: &tracing::Span) {
    mutex.in_scope(|| {
        let operation = trace_span!(target: "tokio::util::trace", "runtime.resource.async_op", source = "Mutex::lock", inherits_child_attrs = false);
        operation.in_scope(|| {
            let poll = trace_span!(target: "tokio::util::trace", "runtime.resource.async_op.poll");
            poll.in_scope(|| {
                semaphore.in_scope(|| {
                    trace!(target: "runtime::resource::state_update", permits = 1u64, permits.op = "sub");
                    trace!(target: "runtime::resource::poll_op", op_name = "poll_acquire", is_ready = false);
                });
                trace!(target: "runtime::resource::poll_op", op_name = "poll", is_ready = false);
            });
        });
    });
}

fn tokio_tasks() {
    let mutex = trace_span!(
        target: "tokio::sync::mutex",
        parent: None,
        "runtime.resource",
        concrete_type = "Mutex",
        kind = "Sync",
        loc.file = "src/main.rs",
        loc.line = 3u32,
        loc.col = 1u32,
    );
    let semaphore = trace_span!(
        target: "tokio::sync::batch_semaphore",
        parent: None,
        "runtime.resource",
        concrete_type = "Semaphore",
        kind = "Sync",
        is_internal = true,
    );
    let task = task!(7, "", "task");
    let other = task!(8, "", "task");
    let named = task!(9, "named", "local");
    task.in_scope(|| {
        waker("waker.clone", &task);
        poll_mutex(&mutex, &semaphore);
    });
    waker("waker.wake_by_ref", &task);
    waker("waker.wake", &task);
    task.in_scope(|| waker("waker.wake_by_ref", &task));
    task.in_scope(|| ());
    // The future is dropped in its span.
    task.in_scope(|| ());
    drop(task);
    drop(task!(10, "", "task"));
    // The main future of `block_on` has other wakers.
    let main = task!(11, "", "block_on");
    main.in_scope(|| ());
    drop((other, named, main));
    info!(target: "tokio_like", "a service event");
}
