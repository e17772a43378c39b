/* The thread that reads the counters of the processor and of the system at a fixed rate. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "code_names/runtime_code.h"
#include "counters_trace.h"
#include "exec/recorder_ends.h"

#define EXPORTED __attribute__((visibility("default")))

#include "options.h"

#include "proc_files.h"

#include "perf_groups.h"

#include "thread_samples.h"

#include "process_samples.h"

#include "machine_samples.h"

/* Bytes of the stack of the sampler. */
#define STACK_BYTES 262144
/* Minimum pause after a sample, as a multiple of its processor time. A process with hundreds of
 * threads has fewer samples. */
#define PAUSE 20
/* Maximum time that the end of the program waits for a sample, in steps of 50 microseconds. */
#define MAX_WAITS 20000

static int is_attached, is_stopped;
/* The word that the sampler waits for. */
static uint32_t stop_word;
/* Held while samples are taken. */
static int sampling_lock;
/* The time of the last sample of the process and of the machine. */
static uint64_t slow_nanos;
/* The begin of the process. */
static uint64_t begin_nanos;
/* Whether the threads and files are still those of the parent process. */
static int has_threads_of_parent;

static int try_lock_sampling(void) { return !__atomic_exchange_n(&sampling_lock, 1, __ATOMIC_ACQUIRE); }

static void unlock_sampling(void) { __atomic_store_n(&sampling_lock, 0, __ATOMIC_RELEASE); }

/* The value of `kernel.perf_event_paranoid`; 2, its usual value, if it cannot be read. */
static int paranoid_setting(void) {
    const char *text = read_file("/proc/sys/kernel/perf_event_paranoid");
    return text != NULL ? (int)strtol(text, NULL, 10) : 2;
}

static enum counters_counter_limit reason_of(int error) {
    switch (error) {
    case EACCES:
        return counters_counter_limit_permission;
    case EPERM:
    case ENOSYS:
        return counters_counter_limit_sandbox;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return counters_counter_limit_hardware;
    default:
        return counters_counter_limit_error;
    }
}

/* Records once which counters of the processor are not available. The system has files for those
 * of its software. */
static void record_limits(void) {
    static pid_t process;
    int counter;
    if (process == getpid()) {
        return;
    }
    process = getpid();
    for (counter = GROUP_COUNTERS; counter < COUNTERS; counter++) {
        if (options.has_counter[counter] && counter_errors[counter] != 0) {
            counters_counter_limited((enum counters_thread_counter)counter, reason_of(counter_errors[counter]),
                                     paranoid_setting());
        } else if (options.has_counter[counter] && excludes_kernel) {
            counters_counter_limited((enum counters_thread_counter)counter, counters_counter_limit_user_code_only,
                                     paranoid_setting());
        }
    }
}

/* Stores the values of all threads, from which their rates begin. */
static void begin_threads(void) {
    previous_nanos = 0;
    (void)list_threads();
    previous_date = tumit1_now();
    previous_nanos = nanoseconds_now(CLOCK_MONOTONIC);
}

/* Replaces the threads of the parent process by those of this process. The files of their counters
 * are copies. */
static void forget_threads_of_parent(void) {
    size_t i;
    for (i = 0; i < thread_count; i++) {
        close_groups(&threads[i]);
    }
    thread_count = 0;
    file_count = 0;
    forget_machine();
    begin_threads();
    has_threads_of_parent = 0;
}

/* Takes all samples that are due. */
static void take_samples(int is_end) {
    const uint64_t nanos = nanoseconds_now(CLOCK_MONOTONIC);
    static pid_t started_process;
    if (has_threads_of_parent) {
        forget_threads_of_parent();
    }
    is_first_sample = started_process != getpid();
    if (is_first_sample) {
        started_process = getpid();
        counters_sampler_start(options.interval);
        first_date = tumit1_now();
    }
    sample_threads(is_end);
    record_limits();
    if (is_end || nanos - slow_nanos >= MIN_SLOW_INTERVAL) {
        slow_nanos = nanos;
        if (options.has_process) {
            sample_process(0);
        }
        if (options.has_machine) {
            sample_machine();
        }
    }
}

/* Waits until a time of the monotonic clock, or until the end of the program. */
static void wait_until(uint64_t nanos) {
    struct timespec time;
    time.tv_sec = (time_t)(nanos / UINT64_C(1000000000));
    time.tv_nsec = (long)(nanos % UINT64_C(1000000000));
    (void)syscall(SYS_futex, &stop_word, FUTEX_WAIT_BITSET_PRIVATE, 0, &time, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void *run_sampler(void *argument) {
    uint64_t next = nanoseconds_now(CLOCK_MONOTONIC) + options.interval;
    (void)prctl(PR_SET_NAME, SAMPLER_NAME);
    __atomic_store_n(&sampler_thread, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;) {
        uint64_t cost = 0, earliest;
        int is_over = 0;
        wait_until(next);
        if (__atomic_load_n(&stop_word, __ATOMIC_ACQUIRE) != 0 || !try_lock_sampling()) {
            break;
        }
        if (!is_stopped) {
            const uint64_t slow = slow_nanos, begin = nanoseconds_now(CLOCK_THREAD_CPUTIME_ID);
            take_samples(0);
            is_over = slow != slow_nanos && is_program_over();
            /* The first sample creates the file of the process. */
            cost = is_first_sample ? 0 : nanoseconds_now(CLOCK_THREAD_CPUTIME_ID) - begin;
        }
        unlock_sampling();
        if (is_over) {
            break;
        }
        earliest = nanoseconds_now(CLOCK_MONOTONIC) +
                   (PAUSE * cost > options.interval / 2 ? PAUSE * cost : options.interval / 2);
        next = next + options.interval > earliest ? next + options.interval : earliest;
    }
    return argument;
}

/* Starts the sampler. All signals belong to the program. Its small stack is refused if the program
 * has much thread-local data, which is part of each stack. */
static void start_sampler(void) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    int error;
    begin_nanos = nanoseconds_now(CLOCK_MONOTONIC);
    slow_nanos = begin_nanos;
    if (pthread_attr_init(&attributes) != 0) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, run_sampler, NULL);
    if (error == EINVAL && pthread_create(&thread, NULL, run_sampler, NULL) == 0) {
        (void)pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Takes the last samples. A process that ends before the first sample is not recorded: scripts
 * start many of them. This destructor runs before the one of the recorder. It does not wait for the
 * sampler for long, because a signal handler may have called `exit`. */
__attribute__((destructor)) void tumit_end_counters(void) {
    int waits;
    if (!is_attached) {
        return;
    }
    for (waits = 0; !try_lock_sampling(); waits++) {
        const struct timespec step = {0, 50000};
        if (waits == MAX_WAITS) {
            return;
        }
        nanosleep(&step, NULL);
    }
    if (!is_stopped && nanoseconds_now(CLOCK_MONOTONIC) - begin_nanos >= options.interval) {
        take_samples(1);
    }
    is_stopped = 1;
    __atomic_store_n(&stop_word, 1, __ATOMIC_RELEASE);
    unlock_sampling();
    (void)syscall(SYS_futex, &stop_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A child process has only the thread that forks, and the files of the parent. It is recorded if it
 * exists longer than the interval. Programs create many children that end or call `exec` before, so
 * the first sample does the other work. */
static void reset_child_process(void) {
    if (!is_attached || is_stopped) {
        return;
    }
    has_threads_of_parent = 1;
    sampler_thread = 0;
    begin_process();
    unlock_sampling();
    start_sampler();
}

/* A symbol that the copies of this library with the recorder of counters export. */
void tumit_record_counters(void);
EXPORTED void tumit_record_counters(void) {}
/* The function of this library, also if another one replaces it. */
__typeof__(tumit_record_counters) tumit_own_counters
    __attribute__((alias("tumit_record_counters"), visibility("hidden")));

/* Starts the recorder if this copy of the library exports its symbol. Launchers are not recorded. */
__attribute__((constructor)) static void prepare_counters(void) {
    if (dlsym(RTLD_DEFAULT, "tumit_record_counters") == (void *)tumit_own_counters && !tumit_is_launcher()) {
        TUMIT_REGISTER_COUNTERS();
        read_options();
        limit_files();
        name_owner();
        is_attached = 1;
        pthread_atfork(NULL, NULL, reset_child_process);
        begin_threads();
        sample_process(1);
        if (options.has_machine) {
            sample_machine();
        }
        start_sampler();
    }
}
