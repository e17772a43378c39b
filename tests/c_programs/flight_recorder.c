/* Records more than an overwriting level may keep, from one thread or three. A page shared with the
 * test counts the completed calls of each thread. The first argument selects the end of the
 * program. */
#include "t_trace.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CALLS 60000u

static uint64_t *witness;

static uint64_t calls = CALLS;
static uint64_t numbers[3] = {0, 1, 2};

static void work(uint64_t thread, uint64_t from, uint64_t to) {
    uint64_t n;
    for (n = from; n < to; n++) {
        t_tick(n, thread);
        __atomic_store_n(&witness[thread], n + 1, __ATOMIC_RELEASE);
        if (n % 1000 == 0 && calls != UINT64_MAX) {
            t_step(n); /* in a level that drops */
        }
    }
}

static void *work_once(void *number) {
    work(*(uint64_t *)number, 0, calls);
    return NULL;
}

static int start(pthread_t *threads) {
    return pthread_create(&threads[0], NULL, work_once, &numbers[1]) == 0 && pthread_create(&threads[1], NULL, work_once, &numbers[2]) == 0;
}

/* Runs this program again on a separate disk. The second argument is the size of the disk. */
static int on_a_small_disk(const char *self, const char *size) {
    char command[9000], place[4096];
    pid_t child;
    int status;
    snprintf(place, sizeof place, "%s.disk", getenv("TUMIT_TRACE"));
    if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) || mkdir(place, 0777) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 || mount(NULL, place, "tmpfs", 0, size) != 0) {
        perror("no separate disk");
        return 4;
    }
    child = fork();
    if (child == 0) {
        char run[4200];
        snprintf(run, sizeof run, "%s/run.tmt", place);
        setenv("TUMIT_TRACE", run, 1);
        execl(self, self, "noise", (char *)NULL);
        _exit(5);
    }
    snprintf(command, sizeof command, "cp -r '%s/run.tmt' '%s'", place, getenv("TUMIT_TRACE"));
    return waitpid(child, &status, 0) == child && status == 0 ? system(command) : 6;
}

/* Records incompressible numbers, so that the file grows. The requested dumps find a full disk or,
 * if `gone` is set, a removed folder. */
static int noise(int gone) {
    uint64_t n, random = 1;
    for (n = 0; n < 2 * CALLS; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        t_noise(n, random);
        __atomic_store_n(&witness[0], n + 1, __ATOMIC_RELEASE);
        if (n % 30000 == 29999) { /* more records than the kept slots hold */
            tumit1_dump();
        }
        if (gone && n == CALLS) {
            char command[4200];
            snprintf(command, sizeof command, "rm -r '%s'", getenv("TUMIT_TRACE"));
            if (system(command) != 0) {
                return 7;
            }
        }
    }
    return 0;
}

static int run(const char *self, const char *way, const char *size) {
    pthread_t threads[2];
    if (strcmp(way, "disk") == 0) {
        return on_a_small_disk(self, size);
    } else if (strcmp(way, "noise") == 0) {
        return noise(0);
    } else if (strcmp(way, "gone") == 0) {
        return noise(1);
    } else if (strcmp(way, "limit") == 0) {
        const struct rlimit small = {strtoull(size, NULL, 10), RLIM_INFINITY};
        return setrlimit(RLIMIT_FSIZE, &small) != 0 ? 2 : noise(0);
    } else if (strncmp(way, "dump", 4) == 0 && strcmp(way, "dump forever") != 0) {
        work(0, 0, CALLS);
        tumit1_dump();
        work(0, CALLS, CALLS + 100);
        tumit1_dump(); /* dumps a slot that is not full */
        work(0, CALLS + 100, 2 * CALLS);
        if (way[4] == '\0') {
            return 0;
        }
        tumit1_dump();
        work(0, 2 * CALLS, 2 * CALLS + 50);
        if (strcmp(way, "dump-kill") == 0) {
            raise(SIGKILL);
        }
        _exit(0);
    } else if (strcmp(way, "forever") == 0 || strcmp(way, "dump forever") == 0) {
        calls = UINT64_MAX;
    }
    if (!start(threads)) {
        return 1;
    }
    if (strcmp(way, "dump forever") == 0) {
        for (;;) {
            tumit1_dump();
        }
    }
    work(0, 0, calls);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (strcmp(way, "segv") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(way, "abort") == 0) {
        abort();
    } else if (strcmp(way, "kill") == 0) {
        raise(SIGKILL);
    }
    return 0;
}

int main(int argc, char **argv) {
    int file = open(getenv("WITNESS"), O_RDWR);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) {
        return 3;
    }
    witness = (uint64_t *)page;
    return run(argv[0], argc > 1 ? argv[1] : "return", argc > 2 ? argv[2] : "");
}
