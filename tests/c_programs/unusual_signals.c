/* The unusual actions with signals. `unusual_programs.c` follows in the same translation unit: each
 * test program is compiled by several compilers, so that two programs would take twice the time. */
#include "t_trace.h"
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

static void ticks(uint64_t count) {
    uint64_t n;
    for (n = 0; n < count; n++) {
        t_tick(n);
    }
}

static sigjmp_buf back;
static void jump(int number) {
    (void)number;
    siglongjmp(back, 1);
}

/* A signal handler jumps out of a record. */
static int jumps(void) {
    struct sigaction action;
    uint8_t *nothing = (uint8_t *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int i;
    memset(&action, 0, sizeof action);
    action.sa_handler = jump;
    sigaction(SIGSEGV, &action, NULL);
    ticks(10);
    for (i = 0; i < 100; i++) {
        if (sigsetjmp(back, 1) == 0) {
            t_bytes(nothing, 100);
        }
        t_tick(1);
    }
    ticks(10000);
    return 0;
}

static volatile sig_atomic_t handled;

/* Each call succeeds or is refused, also if the handler interrupted the recorder. */
static void call(int number) {
    struct tumit1_stats stats;
    (void)number;
    handled++;
    (void)tumit1_set_level("L", 1);
    tumit1_pause();
    tumit1_resume();
    tumit1_flush();
    tumit1_get_stats(&stats);
    t_tick(1);
}

/* A second thread sends signals all the time. */
static void *send(void *to) {
    while (handled < 3000) {
        if (pthread_kill(*(pthread_t *)to, SIGUSR1) != 0) {
            break;
        }
        sched_yield();
    }
    return NULL;
}

static int calls(void) {
    pthread_t own = pthread_self(), other;
    struct tumit1_stats stats;
    t_tick(0);
    signal(SIGUSR1, call);
    if (pthread_create(&other, NULL, send, &own) != 0) {
        return 1;
    }
    while (handled < 3000) {
        (void)tumit1_set_level("L", 1);
        tumit1_pause();
        tumit1_resume();
        tumit1_get_stats(&stats);
        tumit1_flush();
    }
    return pthread_join(other, NULL);
}

static volatile sig_atomic_t refused;

/* Switches the level off. The level stays off if the call defers this to the writer thread. */
static void leave(int number) {
    (void)number;
    handled++;
    if (!refused) {
        refused = tumit1_set_level("L", 0) == -1;
        if (!refused) {
            (void)tumit1_set_level("L", 1);
        }
    }
}

static uint64_t records(void) {
    struct tumit1_stats stats;
    tumit1_flush();
    tumit1_get_stats(&stats);
    return stats.written_;
}

/* The writer thread carries out the request that the handler deferred. */
static int later(void) {
    pthread_t own = pthread_self(), other;
    int i, done = 0;
    t_tick(0);
    signal(SIGUSR1, leave);
    handled = -1000000;
    if (pthread_create(&other, NULL, send, &own) != 0) {
        return 1;
    }
    while (!refused) {
        tumit1_flush(); /* is inside the recorder most of the time */
    }
    signal(SIGUSR1, SIG_IGN);
    handled = 3000;
    for (i = 0; i < 60000 && !done; i++) {
        const uint64_t before = records();
        t_tick(1);
        done = records() == before;
        usleep(1000);
    }
    return pthread_join(other, NULL) != 0 || !done;
}

/* Two signals are sent, so that handlers interrupt handlers that interrupted records. */
static uint64_t by_handlers;
static void record_one(int number) {
    (void)number;
    t_tick(1);
    __atomic_fetch_add(&by_handlers, 1u, __ATOMIC_RELAXED);
}
static int stopped;
static void *send_both(void *to) {
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
        (void)pthread_kill(*(pthread_t *)to, SIGUSR1);
        (void)pthread_kill(*(pthread_t *)to, SIGUSR2);
    }
    return NULL;
}
static int in_a_storm(void) {
    pthread_t own = pthread_self(), other;
    uint64_t n;
    t_tick(0);
    signal(SIGUSR1, record_one);
    signal(SIGUSR2, record_one);
    if (pthread_create(&other, NULL, send_both, &own) != 0) {
        return 1;
    }
    for (n = 1; n < 300000; n++) {
        t_tick(n);
    }
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    pthread_join(other, NULL);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    printf("emitted %llu\n", (unsigned long long)(by_handlers + n));
    return 0;
}

static volatile sig_atomic_t storm;

static void at_storm(int number) {
    (void)number;
    storm++;
    t_tick(100);
}

/* Handlers record while the first record makes the files; then the process is killed. */
static int beginning(void) {
    const struct itimerval often = {{0, 30}, {0, 30}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, at_storm);
    if (setitimer(ITIMER_REAL, &often, NULL) != 0) {
        return 1;
    }
    ticks(1);
    if (setitimer(ITIMER_REAL, &never, NULL) != 0) {
        return 1;
    }
    ticks(10);
    printf("emitted %d\n", (int)storm + 11);
    fflush(stdout);
    return raise(SIGKILL);
}
