/* Unusual actions of programs, one per run: `unusual ACTION [NUMBER]`. The program exits with 0 if
 * all results that it can observe are correct. The actions with signals, and `ticks`, are in
 * `unusual_signals.c`, which precedes this file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE_STACK (64u << 20) /* the C library does not unmap smaller stacks at a thread's end */

static int has(const char *path, const char *text) {
    char read_[64];
    const int file = open(path, O_RDONLY);
    const ssize_t bytes = read(file, read_, sizeof read_);
    close(file);
    return bytes == (ssize_t)strlen(text) && memcmp(read_, text, strlen(text)) == 0;
}

/* Like a daemon, closes all descriptors. The next files get their numbers. */
static int descriptors(void) {
    int i, first, second;
    ticks(10);
    tumit1_flush();
    for (i = 3; i < 256; i++) {
        close(i);
    }
    first = open("first", O_RDWR | O_CREAT, 0666);
    second = open("second", O_RDWR | O_CREAT, 0666);
    if (first != 3 || second != 4 || write(first, "mine\n", 5) != 5) {
        return 1;
    }
    ticks(1000000);
    tumit1_flush();
    ticks(10);
    tumit1_finish();
    if (write(first, "still\n", 6) != 6 || write(second, "too\n", 4) != 4) {
        return 2;
    }
    return has("first", "mine\nstill\n") && has("second", "too\n") ? 0 : 3;
}

/* Closes the standard descriptors. A file of the recorder must not get their numbers, because the
 * program writes to them. */
static int low(void) {
    close(0);
    close(1);
    close(2);
    ticks(10);
    if (open("input", O_RDWR | O_CREAT, 0666) != 0 || open("output", O_RDWR | O_CREAT, 0666) != 1) {
        return 1;
    }
    ticks(10);
    return write(1, "said\n", 5) == 5 ? 0 : 2;
}

static pthread_key_t key;
static void again(void *value) {
    t_tick(1);
    pthread_setspecific(key, value);
}
static void *with_key(void *value) {
    t_tick(0);
    pthread_setspecific(key, value);
    return NULL;
}

static int flushing;
static void *endless(void *started) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    t_tick(0);
    __atomic_store_n((int *)started, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;) {
        t_tick(1);
        if (flushing) {
            tumit1_flush();
        }
    }
    return NULL;
}

/* Sends the signal by which glibc cancels a thread at once. It arrives like one that was already
 * pending when the thread disabled cancellation. */
static void cancel_late(int thread) {
    syscall(SYS_tgkill, getpid(), thread, 32);
}

/* Threads exit without notifying the recorder. Their memory is unmapped when the recorder checks
 * them. */
static int threads(int cancelled, int late) {
    pthread_attr_t attributes;
    int i;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, LARGE_STACK);
    pthread_key_create(&key, again);
    flushing = late; /* the threads are inside the recorder most of the time */
    t_tick(0);
    for (i = 0; i < 20; i++) {
        pthread_t thread;
        int started = 0;
        if (pthread_create(&thread, &attributes, cancelled ? endless : with_key, &started) != 0) {
            return 1;
        }
        if (cancelled) {
            while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) {
                sched_yield();
            }
            if (late && i > 0) {
                cancel_late(started);
            } else {
                pthread_cancel(thread); /* the first call installs the handler */
            }
        }
        pthread_join(thread, NULL);
        tumit1_flush();
    }
    return 0;
}

static pthread_barrier_t all;
static void *together(void *number) {
    t_tick((uint64_t)(uintptr_t)number);
    pthread_barrier_wait(&all);
    t_tick((uint64_t)(uintptr_t)number);
    return NULL;
}
static void *alone(void *number) {
    t_tick((uint64_t)(uintptr_t)number);
    return NULL;
}

/* Many threads record, at once or one after the other. */
static int many(unsigned count, int at_once) {
    pthread_t *threads_ = (pthread_t *)calloc(count, sizeof *threads_);
    pthread_attr_t attributes;
    unsigned i;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    pthread_barrier_init(&all, NULL, count);
    for (i = 0; i < count; i++) {
        if (pthread_create(&threads_[i], &attributes, at_once ? together : alone, (void *)(uintptr_t)i) != 0) {
            return 1;
        }
        if (!at_once) {
            pthread_join(threads_[i], NULL);
        }
    }
    for (i = 0; at_once && i < count; i++) {
        pthread_join(threads_[i], NULL);
    }
    free(threads_);
    return 0;
}

/* A child is created without fork handlers. It exits by `exit`. */
static int bare_child(void) {
    int status = 1;
    pid_t child;
    ticks(10);
#ifdef SYS_fork
    child = (pid_t)syscall(SYS_fork);
#else
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (child == 0) {
        exit(0);
    }
    waitpid(child, &status, 0);
    ticks(100000);
    return status;
}

/* The recorder must not change `errno`. */
static int errors(void) {
    uint64_t n;
    char name[32];
    for (n = 0; n < 100000; n++) {
        errno = 1234;
        t_tick(n);
        if (errno != 1234) {
            return 1;
        }
    }
    for (n = 0; n < 3000; n++) {
        snprintf(name, sizeof name, "a name that is new %u", (unsigned)n);
        errno = 1234;
        t_name(name);
        if (errno != 1234) {
            return 2;
        }
    }
    return 0;
}

/* The writer thread is not bound to the processor of the thread that made the first record. It is
 * found by its name, because thread ids are reused. */
static int pinned(void) {
    cpu_set_t before, one, helper;
    char path[300], name[32];
    size_t cpu = 0;
    int tries;
    sched_getaffinity(0, sizeof before, &before);
    while (!CPU_ISSET(cpu, &before)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    ticks(10);
    tumit1_flush();
    for (tries = 0; tries < 60000; tries++) { /* it sets its name before its affinity */
        DIR *const tasks = opendir("/proc/self/task");
        const struct dirent *task;
        while (tasks != NULL && (task = readdir(tasks)) != NULL) {
            FILE *file;
            snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
            file = fopen(path, "r");
            if (file != NULL) {
                const int found = fgets(name, sizeof name, file) != NULL && strcmp(name, "tumit-writer\n") == 0;
                fclose(file);
                if (found && sched_getaffinity((pid_t)atol(task->d_name), sizeof helper, &helper) == 0 && CPU_EQUAL(&helper, &before)) {
                    closedir(tasks);
                    return 0;
                }
            }
        }
        if (tasks != NULL) {
            closedir(tasks);
        }
        usleep(1000);
    }
    fprintf(stderr, "the writer thread stays on the processor of the first record\n");
    return 1;
}

/* Nothing is recorded until another process requests it. */
static int standby(void) {
    char line[8];
    ticks(10);
    puts("ready");
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) {
        return 1;
    }
    ticks(7);
    return 0;
}

/* Exits before the writer thread has run. */
static int early(void) {
    ticks(3);
    _exit(0);
}

/* The main thread reads the clock while it writes the end. Another thread records meanwhile. The
 * writer thread may read the clock at the same time. It does not wait, because the end could then
 * be complete before the other thread records. */
static int ending, end_seen, end_done;
static pthread_t main_thread;
static uint64_t clock_of_ours(void) {
    static uint64_t now;
    if (__atomic_load_n(&ending, __ATOMIC_ACQUIRE) && pthread_equal(pthread_self(), main_thread) && !__atomic_exchange_n(&end_seen, 1, __ATOMIC_ACQ_REL)) {
        while (!__atomic_load_n(&end_done, __ATOMIC_ACQUIRE)) {
            sched_yield();
        }
    }
    return __atomic_add_fetch(&now, 1u, __ATOMIC_RELAXED);
}
static void *in_the_end(void *ready) {
    t_tick(0);
    __atomic_store_n((int *)ready, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&end_seen, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    ticks(1000);
    __atomic_store_n(&end_done, 1, __ATOMIC_RELEASE);
    return NULL;
}
static int at_the_end(void) {
    pthread_t other;
    int ready = 0;
    main_thread = pthread_self();
    if (tumit1_set_clock(clock_of_ours, 1000000000u, "ending") != 0 || pthread_create(&other, NULL, in_the_end, &ready) != 0) {
        return 1;
    }
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    ticks(10);
    __atomic_store_n(&ending, 1, __ATOMIC_RELEASE);
    tumit1_finish();
    return pthread_join(other, NULL);
}

/* One forked child requests a separate folder. A second child does not. */
static int elsewhere(void) {
    struct tumit1_config config;
    pid_t child;
    int status = 1;
    memset(&config, 0, sizeof config);
    config.folder_ = "other.tmt";
    ticks(2);
    child = fork();
    if (child == 0) {
        const int failed = tumit1_start(&config);
        ticks(3);
        exit(failed);
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        return 1;
    }
    child = fork();
    if (child == 0) {
        ticks(4);
        exit(0);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

/* Limits the memory to that of the program and less than the recorder's default. */
static int little(void) {
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) {
        return 1;
    }
    fclose(file);
    limit.rlim_cur = limit.rlim_max = pages * 4096u + (14u << 20);
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        return 1;
    }
    ticks(10);
    return 0;
}

/* Locks all memory of the program under a low limit, if the system permits this limit. */
static int locked(void) {
    struct rlimit limit;
    limit.rlim_cur = limit.rlim_max = 8u << 20;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
        (void)mlockall(MCL_CURRENT | MCL_FUTURE);
    }
    ticks(10);
    return 0;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    const unsigned number = count > 2 ? (unsigned)atoi(arguments[2]) : 0;
    if (strcmp(what, "descriptors") == 0) return descriptors();
    if (strcmp(what, "low") == 0) return low();
    if (strcmp(what, "keys") == 0) return threads(0, 0);
    if (strcmp(what, "cancelled") == 0) return threads(1, 0);
    if (strcmp(what, "cancelled late") == 0) return threads(1, 1);
    if (strcmp(what, "jumps") == 0) return jumps();
    if (strcmp(what, "together") == 0) return many(number, 1);
    if (strcmp(what, "alone") == 0) return many(number, 0);
    if (strcmp(what, "child") == 0) return bare_child();
    if (strcmp(what, "errors") == 0) return errors();
    if (strcmp(what, "pinned") == 0) return pinned();
    if (strcmp(what, "standby") == 0) return standby();
    if (strcmp(what, "early") == 0) return early();
    if (strcmp(what, "beginning") == 0) return beginning();
    if (strcmp(what, "calls") == 0) return calls();
    if (strcmp(what, "later") == 0) return later();
    if (strcmp(what, "storm") == 0) return in_a_storm();
    if (strcmp(what, "ending") == 0) return at_the_end();
    if (strcmp(what, "elsewhere") == 0) return elsewhere();
    if (strcmp(what, "little") == 0) return little();
    if (strcmp(what, "locked") == 0) return locked();
    return 100;
}
