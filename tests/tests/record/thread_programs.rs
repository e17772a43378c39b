//! Programs with threads.

use tests::programs::{succeed, tumit};

use crate::record_folder::{OPEN_MPI, RecordFolder};

/// One wait of each kind. The sleeps are long enough for the other thread to wait.
const WAITS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int is_ready;
static void *work(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_mutex_lock(&guard);
    while (!is_ready) pthread_cond_wait(&condition, &guard);
    pthread_mutex_unlock(&guard);
    sem_wait(&semaphore);
    pthread_barrier_wait(&barrier);
    usleep(100000);
    pthread_exit(argument);
}
int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_rwlock_rdlock(&lock);
    pthread_create(&thread, NULL, work, NULL);
    usleep(100000);
    pthread_mutex_unlock(&mutex);
    usleep(100000);
    pthread_rwlock_unlock(&lock);
    usleep(100000);
    pthread_mutex_lock(&guard);
    is_ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&guard);
    usleep(100000);
    sem_post(&semaphore);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn each_kind_of_wait_is_recorded_with_its_cause() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", WAITS, &["-pthread", "-D_GNU_SOURCE"]).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
    assert!(output.status.success(), "{messages}");
    assert!(messages.contains("threads attached to"), "{messages}");
    let count = |event: &str| folder.event_count("run.tmt", event);
    for event in ["first_thread", "create_thread", "begin_thread", "end_thread"] {
        assert_eq!(count(event), 1, "{event}");
    }
    for wait in ["join", "mutex_wait", "rwlock_wait", "condition_wait", "semaphore_wait"] {
        assert_eq!((count(&format!("{wait}.begin")), count(&format!("{wait}.end"))), (1, 1), "{wait}");
    }
    assert_eq!(count("barrier_wait.begin"), 2);
    // The first thread has the mutex, signals the condition and increases the semaphore.
    let dump = succeed(tumit().arg("dump").arg(folder.file("run.tmt")));
    let field = |event: &str, name: &str| {
        let line = dump.lines().find(|line| line.contains(event)).expect(event);
        let (_, value) = line.split_once(&format!("{name}=")).expect(line);
        value.split(' ').next().unwrap().to_owned()
    };
    assert_eq!(field("begin_thread", "start_function"), "\"work\"");
    let first = field("mutex_wait.begin", "owner");
    assert!(dump.contains(&format!("pid {first} ")), "{dump}");
    assert_eq!([field("condition_wait.end", "waker"), field("semaphore_wait.end", "waker")], [first.clone(), first]);
}

/// Each function that waits until a time: first it gives up, then it gets what it waits for. The
/// status is 0 if all results are those of the C library.
const TIMED_WAITS: &str = r#"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int has_given_up;
static struct timespec after(clockid_t clock, long milliseconds) {
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += milliseconds % 1000 * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}
static void *work(void *argument) {
    struct timespec soon = after(CLOCK_REALTIME, 1), soon_monotonic = after(CLOCK_MONOTONIC, 1);
    struct timespec late = after(CLOCK_REALTIME, 60000), late_monotonic = after(CLOCK_MONOTONIC, 60000);
    int failures = 0;
    failures += pthread_mutex_timedlock(&mutex, &soon) != ETIMEDOUT;
    failures += pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon_monotonic) != ETIMEDOUT;
    failures += pthread_rwlock_timedrdlock(&lock, &soon) != ETIMEDOUT;
    failures += pthread_rwlock_timedwrlock(&lock, &soon) != ETIMEDOUT;
    failures += pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &soon_monotonic) != ETIMEDOUT;
    failures += pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon_monotonic) != ETIMEDOUT;
    failures += sem_timedwait(&semaphore, &soon) != -1 || errno != ETIMEDOUT;
    failures += sem_clockwait(&semaphore, CLOCK_MONOTONIC, &soon_monotonic) != -1 || errno != ETIMEDOUT;
    pthread_mutex_lock(&guard);
    failures += pthread_cond_timedwait(&condition, &guard, &soon) != ETIMEDOUT;
    failures += pthread_cond_clockwait(&condition, &guard, CLOCK_MONOTONIC, &soon_monotonic) != ETIMEDOUT;
    pthread_mutex_unlock(&guard);
    __atomic_store_n(&has_given_up, 1, __ATOMIC_RELEASE);
    failures += pthread_rwlock_timedwrlock(&lock, &late) != 0 || pthread_rwlock_unlock(&lock) != 0;
    failures += pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &late_monotonic) != 0 || pthread_mutex_unlock(&mutex) != 0;
    return (char *)argument + failures;
}
int main(void) {
    struct timespec time;
    pthread_t thread;
    void *failures = NULL;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    pthread_create(&thread, NULL, work, NULL);
    while (!__atomic_load_n(&has_given_up, __ATOMIC_ACQUIRE)) usleep(1000);
    if (pthread_tryjoin_np(thread, &failures) != EBUSY) return 101;
    time = after(CLOCK_REALTIME, 100);
    if (pthread_timedjoin_np(thread, &failures, &time) != ETIMEDOUT) return 102;
    time = after(CLOCK_MONOTONIC, 1);
    if (pthread_clockjoin_np(thread, &failures, CLOCK_MONOTONIC, &time) != ETIMEDOUT) return 103;
    pthread_rwlock_unlock(&lock);
    usleep(50000);
    pthread_mutex_unlock(&mutex);
    time = after(CLOCK_REALTIME, 60000);
    if (pthread_timedjoin_np(thread, &failures, &time) != 0) return 104;
    return (int)(size_t)failures;
}
"#;

#[test]
fn waits_until_a_time_are_recorded_and_end_as_without_recording() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", TIMED_WAITS, &["-pthread", "-D_GNU_SOURCE"]).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    let count = |event: &str| folder.event_count("run.tmt", event);
    // The last join waits only if the thread has not ended before it.
    let counts = [("mutex_wait", 3), ("rwlock_wait", 5), ("condition_wait", 2), ("semaphore_wait", 2)];
    for (wait, expected) in counts {
        assert_eq!((count(&format!("{wait}.begin")), count(&format!("{wait}.end"))), (expected, expected), "{wait}");
    }
    assert!((2..=3).contains(&count("join.begin")), "{messages}");
    assert_eq!(count("join.begin"), count("join.end"));
}

#[test]
fn a_thread_of_cxx_has_the_name_of_its_function() {
    let folder = RecordFolder::new();
    let text = "#include <thread>\nint main() { std::thread thread([] {}); thread.join(); }\n";
    let program = folder.compile("g++", "program", text, &["-pthread"]).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
    assert!(output.status.success(), "{messages}");
    let dump = succeed(tumit().arg("dump").arg(folder.file("run.tmt")));
    assert!(dump.contains("start_function=\"main::{lambda()#1}\""), "{dump}");
}

/// Locks that are free, a thread that is cancelled, and a child process.
const FREE_LOCKS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *sleep_long(void *argument) {
    for (;;) sleep(10);
    return argument;
}
int main(void) {
    pthread_t thread;
    sem_t semaphore;
    int i, status = 0;
    sem_init(&semaphore, 0, 1000);
    for (i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        sem_wait(&semaphore);
    }
    pthread_create(&thread, NULL, sleep_long, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    if (fork() == 0) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        _exit(5);
    }
    wait(&status);
    return WEXITSTATUS(status);
}
"#;

#[test]
fn free_locks_are_not_recorded() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", FREE_LOCKS, &["-pthread", "-D_GNU_SOURCE"]).display().to_string();
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
    assert_eq!(output.status.code(), Some(5), "{messages}");
    let count = |event: &str| folder.event_count("run.tmt", event);
    assert_eq!((count("create_thread"), count("mutex_wait.begin"), count("semaphore_wait.begin")), (1, 0, 0));
    // A thread that is cancelled before its function begins has neither a begin nor an end.
    assert_eq!(count("end_thread"), count("begin_thread"));
}

#[test]
fn threads_of_mpi_and_its_launcher_are_not_recorded() {
    let folder = RecordFolder::new();
    let ring = folder.ring(OPEN_MPI).display().to_string();
    let (output, messages) =
        folder.recorded(&["--with", "mpi,threads", "-o", "run.tmt", "--", OPEN_MPI.launcher, "-n", "2", &ring]);
    assert!(output.status.success(), "{messages}");
    assert_eq!(folder.processes("run.tmt"), 2, "{messages}");
    assert_eq!((folder.event_count("run.tmt", "create_thread"), folder.event_count("run.tmt", "send")), (0, 6));
}

/// Operations in which a recorder may hang or change the program: a semaphore that a signal handler
/// increases, and a free semaphore as a cancellation point. The status is 0 if both end.
const SPECIAL_THREADS: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static sem_t ticks, free_semaphore;
static void tick(int number) {
    (void)number;
    sem_post(&ticks);
}
static void *use_semaphore(void *argument) {
    for (;;) {
        sem_wait(&free_semaphore);
        sem_post(&free_semaphore);
    }
    return argument;
}
int main(void) {
    struct itimerval timer = {{0, 200}, {0, 200}};
    pthread_t thread;
    int i;
    sem_init(&ticks, 0, 0);
    sem_init(&free_semaphore, 0, 1);
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (i = 0; i < 500; i++) while (sem_wait(&ticks) != 0) {}
    timer.it_value.tv_usec = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    pthread_create(&thread, NULL, use_semaphore, NULL);
    usleep(10000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn semaphores_work_in_signal_handlers_and_as_cancellation_points() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", SPECIAL_THREADS, &["-pthread", "-D_GNU_SOURCE"]);
    let mut command = folder.command("timeout");
    command.arg("120").arg(tumit().get_program()).args(["record", "-o", "run.tmt", "--"]).arg(program);
    let output = tests::programs::output(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.event_count("run.tmt", "semaphore_wait.begin") > 0);
}

/// A library whose constructor waits for a thread. The thread must not need the loader's lock.
const CONSTRUCTOR: &str = r#"
#include <pthread.h>
static void *run(void *argument) { return argument; }
__attribute__((constructor)) static void start(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
}
"#;
const LOADER: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
int main(int argc, char **argv) {
    void *(*unused)(void) = (void *(*)(void))pthread_create;
    return argc == 2 && dlopen(argv[1], RTLD_NOW) != 0 && unused != 0 ? 0 : 1;
}
"#;

#[test]
fn a_library_may_create_threads_while_it_is_loaded() {
    let folder = RecordFolder::new();
    let library = folder.compile("gcc", "library.so", CONSTRUCTOR, &["-pthread", "-shared", "-fPIC"]);
    let program = folder.compile("gcc", "program", LOADER, &["-pthread", "-ldl"]);
    let mut command = folder.command("timeout");
    command.arg("120").arg(tumit().get_program()).args(["record", "-o", "run.tmt", "--"]).arg(program).arg(library);
    let output = tests::programs::output(&mut command);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.event_count("run.tmt", "begin_thread"), 1);
}
