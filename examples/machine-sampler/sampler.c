/* Samples this machine at regular intervals, and shows the users that have reserved the processors
 * of a cluster.
 *
 * This file contains the command line and the timer. machine.c reads /proc, jobs.c simulates the
 * cluster; each records its own samples. */

#include "machine_trace.h"
#include "sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct counts counts;

static const char help[] =
    "Samples the load, processors, memory, disks and busiest processes of this machine into a trace.\n"
    "\n"
    "  machine-sampler [OPTION]...\n"
    "\n"
    "  --period MS     milliseconds from one sample to the next, 1 to 3600000   [default: 1000]\n"
    "  --samples N     ends after so many                                       [default: at Ctrl-C]\n"
    "  --top N         the N busiest processes of each sample are watched from then on, 0 to 64  [default: 5]\n"
    "  --jobs FILE     shows a cluster of 100 processors that runs these jobs, a line each:\n"
    "                  when it is submitted and how long it runs (in samples), processors, user, name\n"
    "  --play SEED     the same with jobs that are made up; equal seeds make equal jobs\n"
    "\n"
    "TUMIT_TRACE=run.tmt says where the trace goes; `tumit view run.tmt` shows it.\n";

void fail(const char *what) {
    fprintf(stderr, "machine-sampler: %s: %s\n", what, strerror(errno));
    exit(1);
}

void *grow(void *memory, size_t wanted, size_t size) {
    memory = realloc(memory, wanted * size);
    if (memory == NULL) {
        fail("no memory");
    }
    return memory;
}

static void usage(const char *option, const char *expected) {
    fprintf(stderr, "machine-sampler: %s: expected %s; `--help` says what there is\n", option, expected);
    exit(2);
}

static unsigned long number(const char *option, const char *text, unsigned long least, unsigned long most) {
    char *end, expected[64];
    unsigned long value;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value < least || value > most) {
        snprintf(expected, sizeof expected, "a number from %lu to %lu", least, most);
        usage(option, expected);
    }
    return value;
}

static int64_t nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits until a timestamp; returns true if the user interrupts it. The signals are blocked, so that
   none is missed. */
static bool interrupted(const sigset_t *signals, int64_t date) {
    for (;;) {
        int64_t left = date - nanos();
        struct timespec time;
        time.tv_sec = left > 0 ? left / 1000000000 : 0;
        time.tv_nsec = left > 0 ? left % 1000000000 : 0;
        if (sigtimedwait(signals, NULL, &time) >= 0) {
            return true;
        }
        if (errno == EAGAIN) {
            return false;
        }
        if (errno != EINTR) {
            fail("cannot wait");
        }
    }
}

/* The options of the command. */
struct options {
    int64_t period; /* nanoseconds between samples */
    uint32_t samples; /* 0: until a signal */
    unsigned top; /* number of recorded processes */
    bool cluster; /* whether jobs are recorded */
};

/* Reads the options. With --help, prints the help and ends the program. */
static struct options read_options(int argc, char **argv) {
    struct options options = {1000000000, 0, 5, false};
    int i;
    for (i = 1; i < argc; i += 2) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            fputs(help, stdout);
            exit(0);
        }
        if (value == NULL) {
            usage(option, "an option and its value");
        }
        if (strcmp(option, "--period") == 0) {
            options.period = (int64_t)number(option, value, 1, 3600000) * 1000000;
        } else if (strcmp(option, "--samples") == 0) {
            options.samples = (uint32_t)number(option, value, 1, UINT32_MAX);
        } else if (strcmp(option, "--top") == 0) {
            options.top = (unsigned)number(option, value, 0, 64);
        } else if ((strcmp(option, "--jobs") == 0 || strcmp(option, "--play") == 0) && options.cluster) {
            usage(option, "one of --jobs and --play, once");
        } else if (strcmp(option, "--jobs") == 0) {
            jobs_from_file(value);
            options.cluster = true;
        } else if (strcmp(option, "--play") == 0) {
            jobs_from_seed(number(option, value, 0, UINT32_MAX));
            options.cluster = true;
        } else {
            usage(option, "--period, --samples, --top, --jobs or --play");
        }
    }
    return options;
}

/* Takes samples until there are enough or a signal arrives. Returns their number. */
static uint32_t take_samples(const struct options *options, const sigset_t *signals) {
    uint32_t count = 0;
    int64_t last = nanos(), next = last;
    while (options->samples == 0 || count < options->samples) {
        int64_t now;
        double seconds;
        /* A late sample does not cause several at once. */
        next += options->period;
        if (next < nanos()) {
            next = nanos();
        }
        if (interrupted(signals, next)) {
            break;
        }
        now = nanos();
        seconds = (double)(now > last ? now - last : 1) / 1e9;
        last = now;
        sample_machine(seconds);
        sample_processes(seconds, options->top);
        if (options->cluster) {
            sample_jobs(count);
        }
        count++;
    }
    return count;
}

int main(int argc, char **argv) {
    const struct options options = read_options(argc, argv);
    uint32_t samples;
    sigset_t signals;
    /* Before the first record, so that the writer thread inherits the blocked signals. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) {
        fail("cannot block signals");
    }
    fprintf(stderr, "machine-sampler: a sample every %g s; Ctrl-C ends\n", (double)options.period / 1e9);
    tumit1_set_thread_name("sampler");
    sample_machine(0);
    sample_processes(0, 0);
    samples = take_samples(&options, &signals);
    tumit1_finish();
    printf("counts: samples=%u containers=%lu states=%lu variables=%lu events=%lu\n", samples, counts.containers, counts.states,
           counts.variables, counts.events);
    return 0;
}
