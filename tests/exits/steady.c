/* Records a while at a steady rate, under the eyes of its parent, which counts the calls to the system that the recording thread makes
 * between two marks; the thread itself counts its page faults. Prints records, calls and faults. */
#include "t_trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MARK SYS_getpgrp /* a call that nobody else makes */

struct result {
    uint64_t records;
    uint64_t faults;
};

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits without calls to the system, as the clock is read without one. */
static uint64_t record_at(uint64_t rate, uint64_t nanos) {
    const uint64_t start = now();
    uint64_t made = 0, passed;
    while ((passed = now() - start) < nanos) {
        for (; made < passed * rate / 1000000000u; made++) {
            t_tick(made);
        }
    }
    return made;
}

static uint64_t faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

static void child(uint64_t rate, volatile struct result *result) {
    uint64_t before, made;
    (void)record_at(rate, 500000000u); /* several slots: the helper knows then how many to keep warm */
    tumit1_flush();
    raise(SIGSTOP);
    before = faults();
    (void)syscall(MARK);
    made = record_at(rate, 1000000000u);
    (void)syscall(MARK);
    result->faults = faults() - before;
    result->records = made;
}

/* The parent of a child that has stopped itself: the number of its calls between the marks. */
static uint64_t watch(pid_t child_id) {
    uint64_t calls = 0;
    int marks = 0, status;
    if (ptrace(PTRACE_SEIZE, child_id, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0 || kill(child_id, SIGCONT) != 0) {
        exit(3);
    }
    (void)ptrace(PTRACE_INTERRUPT, child_id, NULL, NULL);
    while (marks < 2 && waitpid(child_id, &status, __WALL) == child_id && WIFSTOPPED(status)) {
        struct __ptrace_syscall_info about;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
            ptrace(PTRACE_GET_SYSCALL_INFO, child_id, (void *)sizeof about, &about) > 0 && about.op == PTRACE_SYSCALL_INFO_ENTRY) {
            marks += about.entry.nr == MARK;
            calls += marks == 1 && about.entry.nr != MARK;
        }
        if (marks < 2) {
            (void)ptrace(PTRACE_SYSCALL, child_id, NULL, NULL);
        }
    }
    (void)ptrace(PTRACE_DETACH, child_id, NULL, NULL);
    return calls;
}

int main(int argc, char **argv) {
    const uint64_t rate = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct result *result = (struct result *)page;
    uint64_t calls;
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
    calls = watch(child_id);
    if (waitpid(child_id, &status, 0) != child_id || status != 0) {
        return 4;
    }
    printf("%llu %llu %llu\n", (unsigned long long)result->records, (unsigned long long)calls, (unsigned long long)result->faults);
    return 0;
}
