/* Signal handlers record while they interrupt code that is not reentrant. The first argument
 * selects this code. The second argument is the number of seconds until a hanging program is
 * killed. */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Is registered first, so it runs last of all handlers before `fork`, after the recorder's. */
static volatile sig_atomic_t in_fork;
static void strike_in_fork(void) {
    if (in_fork) {
        in_fork = 0;
        raise(SIGUSR1);
    }
}
static void watch(void) { pthread_atfork(strike_in_fork, NULL, NULL); }
__attribute__((__section__(".preinit_array"), __used__)) static void (*first)(void) = watch;

#include "t_trace.h"

static int times = 1;
static void record(int number) {
    int n;
    (void)number;
    for (n = 0; n < times; n++) {
        t_tick(1000000u);
    }
}

#ifdef OWN_MALLOC
/* An allocator that a signal interrupts. It fails if it is entered again at that moment. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
static volatile sig_atomic_t armed, inside;
static void enter(void) {
    if (inside) {
        _exit(7);
    }
    if (armed) {
        armed = 0;
        inside = 1;
        raise(SIGUSR1);
        inside = 0;
    }
}
void *malloc(size_t bytes) {
    enter();
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
    enter();
    return __libc_calloc(count, bytes);
}
static void *strike(void *unused) {
    void *volatile piece;
    armed = 1;
    piece = malloc(100);
    free(piece);
    return unused;
}
#else
static void *strike(void *unused) {
    raise(SIGUSR1);
    return unused;
}
#endif

int main(int argc, char **argv) {
    const char *where = argc > 2 ? argv[1] : "";
    struct sigaction action;
    pthread_t thread;
    uint64_t n;
    memset(&action, 0, sizeof action);
    action.sa_handler = record;
    sigaction(SIGUSR1, &action, NULL);
    alarm(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
    if (strcmp(where, "first") == 0 || strcmp(where, "only") == 0) {
        strike(NULL);
    }
    if (strcmp(where, "only") == 0) {
        return 0;
    }
    for (n = 0; n < 10; n++) {
        t_tick(n);
    }
    if (strcmp(where, "thread") == 0) {
        pthread_create(&thread, NULL, strike, NULL);
        pthread_join(thread, NULL);
    }
    if (strcmp(where, "fork") == 0) {
        pid_t child;
        times = 5000; /* more records than a slot holds */
        in_fork = 1;
        child = fork();
        for (n = 10; n < 20; n++) {
            t_tick(n);
        }
        if (child == 0) {
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 0;
}
