/* Records from three threads. A page shared with the test counts the completed calls. The first
 * argument selects the end of the program. */
#include "t_trace.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

static uint64_t *witness;

static void count(void) { __atomic_fetch_add(witness, 1u, __ATOMIC_RELAXED); }

static void *work(void *argument) {
    uint64_t n, calls = *(const uint64_t *)argument;
    char text[32];
    for (n = 0; n < calls; n++) {
        if (n % 1000 == 999) {
            snprintf(text, sizeof text, "step %u", (unsigned)(n / 1000 % 50));
            t_say(text);
        } else {
            t_tick(n);
        }
        count();
    }
    return NULL;
}

/* Starts two threads next to the caller. If `wait` is set, returns after the calls of all three,
 * while the two threads still exist. */
static uint64_t calls;
static void *work_and_wait(void *argument) {
    (void)work(&calls);
    __atomic_fetch_add((uint64_t *)argument, 1u, __ATOMIC_RELEASE);
    for (;;) {
        pause();
    }
    return NULL;
}
static int threads(uint64_t each, int wait) {
    static uint64_t done;
    pthread_t thread;
    int i;
    calls = each;
    for (i = 0; i < 2; i++) {
        if (pthread_create(&thread, NULL, work_and_wait, &done) != 0) {
            return 0;
        }
        pthread_detach(thread);
    }
    if (wait) {
        (void)work(&calls);
        while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != 2) {
            sched_yield();
        }
    }
    return 1;
}

static void *leave(void *unused) {
    (void)unused;
    exit(0);
    return NULL;
}
static void *work_after_main(void *unused) {
    struct timespec pause = {0, 50000000};
    nanosleep(&pause, NULL);
    t_tick(1);
    count();
    return unused;
}

/* A signal handler forks in the middle of a record. The child completes the record. It must not
 * reach the parent's file. */
static volatile sig_atomic_t forked;
static void fork_now(int number) {
    (void)number;
    if (!forked) {
        pid_t child;
        forked = 1;
        child = fork();
        if (child != 0) {
            waitpid(child, NULL, 0);
        } else {
            forked = 2;
        }
    }
}

static int in_children(const char *self, const char *way) {
    pid_t child;
    if (strcmp(way, "fork-in-handler") == 0) {
        uint64_t n, mine = 0;
        struct sigaction action;
        struct itimerval soon;
        memset(&action, 0, sizeof action);
        action.sa_handler = fork_now;
        sigaction(SIGALRM, &action, NULL);
        memset(&soon, 0, sizeof soon);
        soon.it_value.tv_usec = 300;
        setitimer(ITIMER_REAL, &soon, NULL);
        /* The parent's calls are counted at the end. The handler may also run between a record and
         * its count, and then both processes would count the record. */
        for (n = 0; !forked || n < 1000; n++) {
            int before = forked;
            t_tick(n);
            if (forked != 2) {
                mine = n + 1;
            } else if (before == 2) {
                count(); /* otherwise the record may also be the parent's */
            }
        }
        if (forked != 2) {
            __atomic_fetch_add(witness, mine, __ATOMIC_RELAXED);
        }
        for (n = 0; n < 1000; n++) {
            t_tick(n);
            count();
        }
        return 0;
    }
    child = fork();
    if (child == 0) {
        uint64_t more = 2000;
        (void)work(&more);
        if (strcmp(way, "fork-exec") == 0) {
            execl(self, self, "return", (char *)NULL);
            _exit(1);
        }
        exit(0);
    }
    t_tick(0);
    count();
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}

static int under_limit(int later) {
    const struct rlimit small = {later ? 2000000 : 200000, RLIM_INFINITY};
    uint64_t n, noise = 1;
    if (later) {
        t_tick(0);
        count();
    }
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) {
        return 2;
    }
    for (n = 0; n < 400000; n++) {
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        t_tick(noise);
        count();
        if (n % 4000 == 0) {
            tumit1_flush();
        }
    }
    return 0;
}

static int other_ways(const char *self, const char *way) {
    pthread_t thread;
    uint64_t n;
    if (strcmp(way, "gently") == 0) {
        const struct timespec pause = {0, 1000000};
        for (;;) {
            n = 10;
            (void)work(&n);
            nanosleep(&pause, NULL);
        }
    } else if (strncmp(way, "forever", 7) == 0) {
        (void)threads(UINT64_MAX, 0);
        n = way[7] == '\0' ? UINT64_MAX : 300;
        for (;;) {
            (void)work(&n);
            tumit1_flush();
        }
    } else if (strcmp(way, "detached") == 0) {
        struct timespec pause = {0, 20000000};
        (void)threads(UINT64_MAX, 0);
        nanosleep(&pause, NULL);
        witness[1] = __atomic_load_n(witness, __ATOMIC_RELAXED);
        exit(0);
    } else if (strncmp(way, "flood", 5) == 0) {
        n = 500000;
        (void)work(&n);
        if (way[5] != '\0') {
            raise(SIGKILL);
        }
        return 0;
    } else if (strncmp(way, "limit", 5) == 0) {
        return under_limit(strcmp(way, "limit-later") == 0);
    } else if (!threads(4000, 1)) {
        return 1;
    } else if (strncmp(way, "fork", 4) == 0) {
        return in_children(self, way);
    } else if (strcmp(way, "exit-in-thread") == 0) {
        (void)pthread_create(&thread, NULL, leave, NULL);
        for (;;) {
            pause();
        }
    } else if (strcmp(way, "unlink") == 0) {
        char command[4200];
        snprintf(command, sizeof command, "rm -r '%s'", getenv("TUMIT_TRACE"));
        if (system(command) != 0) {
            return 1;
        }
        n = 20000;
        (void)work(&n);
    }
    return 0;
}

static void end(const char *self, const char *way) {
    if (strcmp(way, "exit") == 0) {
        exit(0);
    } else if (strcmp(way, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(way, "quick_exit") == 0) {
        quick_exit(0);
    } else if (strcmp(way, "finish") == 0) {
        tumit1_finish();
    } else if (strcmp(way, "exec") == 0) {
        execl(self, self, "return", (char *)NULL);
    } else if (strcmp(way, "abort") == 0) {
        abort();
    } else if (strcmp(way, "segv") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(way, "term") == 0) {
        raise(SIGTERM);
    } else if (strcmp(way, "kill") == 0) {
        raise(SIGKILL);
    }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "return";
    int file = open(getenv("WITNESS"), O_RDWR), result;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        return 3;
    }
    witness = (uint64_t *)page;
    if (strcmp(way, "main-leaves") == 0) {
        pthread_t thread;
        uint64_t n = 12000;
        (void)work(&n);
        if (pthread_create(&thread, NULL, work_after_main, NULL) != 0) {
            return 1;
        }
        /* The process ends with its last thread. The recorder's thread must not keep it alive. */
        pthread_exit(NULL);
    }
    result = other_ways(argv[0], way);
    end(argv[0], way);
    return result;
}
