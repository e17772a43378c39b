/* Tests the numbering of receives without MPI: this program sends, posts and matches messages as
 * MPI does, and compares the number of each receive with the number of its message. It also counts
 * the calls of the recorder's functions, with `-finstrument-functions`.
 *
 *   waiting_receives random SEED     random receives, with and without wildcards
 *   waiting_receives open COUNT      open wildcards complete in the order of posting
 *   waiting_receives blocked COUNT   receives of COUNT channels wait for wildcards
 *
 * It prints the number of calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "preload.h"

#include "process.h"

#include "channels.h"

#define NO_RANK (-1)
#define SOURCES 4
#define TAGS 4
#define NOINSTRUMENT __attribute__((no_instrument_function))

struct communicator {
    uint64_t id;
    struct channel_table channels;
};

__thread int tumit_mpi_depth;
static unsigned long calls;
static unsigned recorded;

NOINSTRUMENT static int world_rank(const struct communicator *communicator, int peer) {
    (void)communicator;
    return peer;
}

#include "receive_heaps.h"

#include "matching.h"

NOINSTRUMENT void __cyg_profile_func_enter(void *function, void *caller) {
    (void)function;
    (void)caller;
    calls++;
}
NOINSTRUMENT void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}

NOINSTRUMENT tumit_mpi_date tumit_mpi_now(void) { return 0; }

/* The size of a message is its number on its channel plus 1. */
NOINSTRUMENT void tumit_mpi_record_receive(uint64_t communicator, int from, int tag, uint32_t number, uint64_t bytes) {
    (void)communicator;
    recorded++;
    if (bytes != (uint64_t)number + 1) {
        printf("message %d of rank %d with tag %d has the number %u\n", (int)bytes - 1, from, tag, number);
        exit(1);
    }
}
NOINSTRUMENT void tumit_mpi_record_late_receive(uint64_t communicator, int from, int tag, uint32_t number,
                                                uint64_t bytes, tumit_mpi_date arrival) {
    (void)arrival;
    tumit_mpi_record_receive(communicator, from, tag, number, bytes);
}

/* A receive of the program, and the message that it got. */
struct posted_receive {
    struct receive *receive;
    int source, tag, has_message, is_complete;
    int message_source, message_tag;
    uint64_t message_bytes;
};

static struct communicator communicator;
static struct posted_receive *receives;
static int receive_count;
static uint64_t *message_counts;
static int tag_count;

NOINSTRUMENT static void start(int receive_capacity, int tags) {
    init_channels(&communicator.channels);
    receives = calloc((size_t)receive_capacity, sizeof *receives);
    message_counts = calloc((size_t)SOURCES * (size_t)tags, sizeof *message_counts);
    tag_count = tags;
    if (receives == NULL || message_counts == NULL) {
        abort();
    }
}

NOINSTRUMENT static void post(int source, int tag) {
    struct posted_receive *posted = &receives[receive_count++];
    posted->source = source;
    posted->tag = tag;
    posted->receive = post_receive(&communicator, source, tag);
}

/* A message arrives. The first receive that accepts it gets it. Returns whether there is one. */
NOINSTRUMENT static int deliver(int source, int tag, int first_candidate) {
    int i;
    for (i = first_candidate; i < receive_count; i++) {
        struct posted_receive *posted = &receives[i];
        if (!posted->has_message && (posted->source == MPI_ANY_SOURCE || posted->source == source)
            && (posted->tag == MPI_ANY_TAG || posted->tag == tag)) {
            posted->has_message = 1;
            posted->message_source = source;
            posted->message_tag = tag;
            posted->message_bytes = ++message_counts[source * tag_count + tag];
            return 1;
        }
    }
    return 0;
}

NOINSTRUMENT static void complete(int index) {
    struct posted_receive *posted = &receives[index];
    posted->is_complete = 1;
    complete_receive(posted->receive, posted->message_source, posted->message_tag, posted->message_bytes);
}

/* The program cancels a receive. */
NOINSTRUMENT static void drop(int index) {
    receives[index].has_message = receives[index].is_complete = 1;
    drop_receive(receives[index].receive);
}

NOINSTRUMENT static void expect_recorded(unsigned expected) {
    if (recorded != expected || communicator.channels.waiting_count != 0) {
        printf("%u of %u receives are recorded, %u wait\n", recorded, expected, communicator.channels.waiting_count);
        exit(1);
    }
}

/* Receives are posted, get messages, complete and are cancelled in random order. */
NOINSTRUMENT static void run_random(unsigned seed) {
    enum { RECEIVES = 400 };
    int i, is_complete = 0;
    unsigned dropped = 0;
    srand(seed);
    start(RECEIVES, TAGS);
    while (!is_complete) {
        if (receive_count < RECEIVES && rand() % 3 == 0) {
            post(rand() % 3 == 0 ? MPI_ANY_SOURCE : rand() % SOURCES, rand() % 3 == 0 ? MPI_ANY_TAG : rand() % TAGS);
        }
        deliver(rand() % SOURCES, rand() % TAGS, 0);
        for (i = rand() % 4; i > 0 && receive_count > 0; i--) {
            const int index = rand() % receive_count;
            if (receives[index].has_message && !receives[index].is_complete) {
                complete(index);
            } else if (!receives[index].has_message && !receives[index].receive->is_numbered && rand() % 20 == 0) {
                drop(index);
                dropped++;
            }
        }
        is_complete = receive_count == RECEIVES;
        for (i = 0; i < receive_count; i++) {
            is_complete = is_complete && receives[i].is_complete;
        }
    }
    expect_recorded(RECEIVES - dropped);
}

NOINSTRUMENT static void run_open(int count) {
    int i;
    start(count, 1);
    for (i = 0; i < count; i++) {
        post(MPI_ANY_SOURCE, MPI_ANY_TAG);
    }
    for (i = 0; i < count; i++) {
        deliver(i % SOURCES, 0, i);
        complete(i);
    }
    expect_recorded((unsigned)count);
}

/* Wildcards and receives of distinct channels alternate. The wildcards complete last. */
NOINSTRUMENT static void run_blocked(int count) {
    int i;
    start(2 * count, count);
    for (i = 0; i < count; i++) {
        post(MPI_ANY_SOURCE, MPI_ANY_TAG);
        post(1, i);
        receives[2 * i].has_message = receives[2 * i + 1].has_message = 1;
        receives[2 * i].message_bytes = (uint64_t)i + 1;
        receives[2 * i + 1].message_source = 1;
        receives[2 * i + 1].message_tag = i;
        receives[2 * i + 1].message_bytes = 1;
    }
    for (i = 0; i < count; i++) {
        complete(2 * i + 1);
    }
    for (i = 0; i < count; i++) {
        complete(2 * i);
    }
    expect_recorded(2 * (unsigned)count);
}

NOINSTRUMENT int main(int argc, char **argv) {
    const int argument = argc == 3 ? atoi(argv[2]) : 0;
    if (argc == 3 && strcmp(argv[1], "random") == 0) {
        run_random((unsigned)argument);
    } else if (argc == 3 && strcmp(argv[1], "open") == 0) {
        run_open(argument);
    } else if (argc == 3 && strcmp(argv[1], "blocked") == 0) {
        run_blocked(argument);
    } else {
        fputs("usage: waiting_receives random|open|blocked NUMBER\n", stderr);
        return 2;
    }
    printf("%lu\n", calls);
    return 0;
}
