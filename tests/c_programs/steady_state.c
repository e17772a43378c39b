/* Records at a steady rate. The parent counts the system calls of the recording thread between
 * marks, and the thread counts its page faults. Other programs can delay the writer thread, or
 * preempt it in its short critical section. The recording thread then makes system calls, too. So
 * it records windows of several slots until one window is undisturbed.
 * Prints records, calls and faults of the last window, and the number of windows. */
#include "t_trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MARK SYS_getpgrp /* a call that nobody else makes */

#define WINDOW 40000u       /* records: eight slots */
#define WINDOWS 3000u       /* at most, */
#define PATIENCE 180u       /* and seconds */

struct result {
    uint64_t records;
    uint64_t faults;
    uint64_t calls;   /* the parent counts them, */
    uint64_t windows; /* and says how many it has seen the end of */
};

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Makes so many records. Waits without calls to the system, as the clock is read without one. */
static void record_at(uint64_t rate, uint64_t records) {
    const uint64_t start = now();
    uint64_t made = 0;
    while (made < records) {
        const uint64_t due = (now() - start) * rate / 1000000000u;
        for (; made < due && made < records; made++) {
            t_tick(made);
        }
    }
}

static uint64_t faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static void child(uint64_t rate, volatile struct result *result) {
    const uint64_t give_up = now() + PATIENCE * 1000000000u;
    uint64_t window;
    record_at(rate, rate / 2); /* several slots: the writer thread then keeps enough slots warm */
    tumit1_flush();
    raise(SIGSTOP);
    for (window = 1; window <= WINDOWS && now() < give_up; window++) {
        const uint64_t before = faults();
        (void)syscall(MARK);
        record_at(rate, WINDOW);
        (void)syscall(MARK); /* behind it, the parent has told its number of calls */
        result->faults = faults() - before;
        result->records += WINDOW;
        if (result->calls == 0 && result->faults == 0) {
            break;
        }
    }
}

/* The parent of a child that has stopped itself: counts its calls between marks, until it ends. */
static int watch(pid_t child_id, volatile struct result *result) {
    uint64_t calls = 0, marks = 0;
    int status;
    if (ptrace(PTRACE_SEIZE, child_id, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0 || kill(child_id, SIGCONT) != 0) {
        exit(3);
    }
    (void)ptrace(PTRACE_INTERRUPT, child_id, NULL, NULL);
    while (waitpid(child_id, &status, __WALL) == child_id && WIFSTOPPED(status)) {
        struct __ptrace_syscall_info about;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
            ptrace(PTRACE_GET_SYSCALL_INFO, child_id, (void *)sizeof about, &about) > 0 && about.op == PTRACE_SYSCALL_INFO_ENTRY) {
            if (about.entry.nr != MARK) {
                calls++;
            } else if (++marks % 2 == 1) {
                calls = 0;
            } else {
                result->calls = calls;
                result->windows++;
            }
        }
        (void)ptrace(PTRACE_SYSCALL, child_id, NULL, NULL);
    }
    return status;
}

int main(int argc, char **argv) {
    const uint64_t rate = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct result *result = (struct result *)page;
    pid_t child_id;
    int status;
    if (page == MAP_FAILED) {
        return 1;
    }
    child_id = fork();
    if (child_id == 0) {
        child(rate, result);
        return 0;
    }
    if (waitpid(child_id, &status, WUNTRACED) != child_id || !WIFSTOPPED(status)) {
        return 2;
    }
    status = watch(child_id, result);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return 4;
    }
    printf("%llu %llu %llu %llu\n", (unsigned long long)result->records, (unsigned long long)result->calls,
           (unsigned long long)result->faults, (unsigned long long)result->windows);
    return 0;
}
