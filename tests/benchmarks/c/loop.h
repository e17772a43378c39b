/* The loops of all C programs. Each program defines its events: PAIR(a, b), SPAN() and FLUSH(). The
 * tasks are described in task.rs. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void hide(uint64_t n) {
    __asm__ volatile("" : : "r"(n) : "memory");
}

static void rest(void) {
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
}

static double best_empty = 1e9, best = 1e9;

static void better(double *least, uint64_t from, uint64_t burst) {
    double each = (double)(nanos() - from) / (double)burst;
    *least = each < *least ? each : *least;
}

static void measure(int spans, uint64_t rounds, uint64_t burst) {
    uint64_t round, n, from;
    for (round = 0; round < rounds; round++) {
        from = nanos();
        for (n = 0; n < burst; n++) {
            hide(n);
        }
        better(&best_empty, from, burst);
        from = nanos();
        if (spans) {
            for (n = 0; n < burst; n++) {
                hide(n);
                SPAN();
            }
        } else {
            for (n = 0; n < burst; n++) {
                hide(n);
                PAIR(n, n & 15);
            }
        }
        better(&best, from, burst);
        FLUSH();
        rest();
    }
    printf("ns %f\n", best - best_empty);
}

static void count(uint64_t events, int irregular) {
    uint64_t n, random = 88172645463325252u;
    for (n = 0; n < events; n++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        if (irregular) {
            PAIR(random, random >> 32);
        } else {
            PAIR(n, n & 15);
        }
        if (n % 20000 == 19999) {
            rest();
        }
    }
}

static uint64_t thread_cpu_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void paced(uint64_t rate, uint64_t millis) {
    uint64_t begin = nanos(), start = thread_cpu_nanos(), calls = 0, used = 0, n, due;
    while (used < millis * 1000000u) {
        for (n = calls; n < calls + 1000; n++) {
            hide(n);
            PAIR(n, n & 15);
        }
        calls += 1000;
        due = rate == 0 ? 0 : calls * 1000000000u / rate;
        do {
            used = thread_cpu_nanos() - start;
        } while (used < due);
    }
    printf("calls %llu\nseconds %f\n", (unsigned long long)calls, (double)(nanos() - begin) / 1e9);
}

static void until_killed(const char *path) {
    int file = open(path, O_RDWR);
    volatile uint64_t *witness = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    uint64_t n, due = nanos();
    for (n = 0;; n++) {
        while (nanos() < due) {
        }
        due += 10000;
        PAIR(n, n & 15);
        witness[0] = n + 1;
    }
}

int main(int argc, char **argv) {
    const char *task = argc > 1 ? argv[1] : "";
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, second = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    uint64_t n;
    if (strcmp(task, "pair") == 0 || strcmp(task, "span") == 0) {
        measure(task[0] == 's', first, second);
    } else if (strcmp(task, "regular") == 0 || strcmp(task, "irregular") == 0) {
        count(first, task[0] == 'i');
    } else if (strcmp(task, "instructions") == 0) {
        for (n = 0; n < first; n++) {
            hide(n);
            PAIR(n, n & 15);
        }
        _exit(0);
    } else if (strcmp(task, "kill") == 0) {
        until_killed(argv[2]);
    } else if (strcmp(task, "paced") == 0) {
        paced(first, second);
    } else {
        return 2;
    }
    return 0;
}
