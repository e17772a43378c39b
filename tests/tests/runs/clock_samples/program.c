/* A process of the test clock_samples, with the same arguments. */
#define TUMIT_SYNC
#include "samples_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int sockets[16];
static int64_t base, offset, ppm, step;

static int64_t truth(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static uint64_t ticks(void) {
    int64_t elapsed = truth() - base;
    return (uint64_t)(offset + elapsed + elapsed / 1000 * ppm / 1000 + __atomic_load_n(&step, __ATOMIC_RELAXED));
}

static int send_message(void *user, uint32_t peer, const void *message) {
    (void)user;
    return write(sockets[peer], message, TUMIT1_MESSAGE) == TUMIT1_MESSAGE ? 0 : EIO;
}
static int receive_message(void *user, uint32_t peer, void *message) {
    (void)user;
    return recv(sockets[peer], message, TUMIT1_MESSAGE, MSG_WAITALL) == TUMIT1_MESSAGE ? 0 : EIO;
}

static struct sockaddr_un address(const char *folder, unsigned number) {
    struct sockaddr_un name;
    memset(&name, 0, sizeof name);
    name.sun_family = AF_UNIX;
    (void)snprintf(name.sun_path, sizeof name.sun_path, "%.80s/%u.sock", folder, number);
    return name;
}

/* Connects a socket to each other process. */
static int connect_all(const char *folder, unsigned me, unsigned all) {
    struct sockaddr_un name = address(folder, me);
    unsigned i;
    unsigned char number = (unsigned char)me;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) != 0 || listen(listener, 16) != 0) { return 1; }
    for (i = 0; i < me; i++) {
        struct timespec pause = {0, 2000000};
        int tries = 0;
        name = address(folder, i);
        sockets[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        while (connect(sockets[i], (struct sockaddr *)&name, sizeof name) != 0) {
            if (++tries > 10000) { return 1; }
            (void)nanosleep(&pause, NULL);
        }
        if (write(sockets[i], &number, 1) != 1) { return 1; }
    }
    for (i = me + 1; i < all; i++) {
        int peer = accept(listener, NULL, NULL);
        if (peer < 0 || read(peer, &number, 1) != 1 || number >= 16) { return 1; }
        sockets[number] = peer;
    }
    return 0;
}

/* Records a timestamp and the true time, read closely together. */
static void record_mark(void) {
    tumit1_date at;
    int64_t before, width;
    int tries = 0;
    do {
        before = truth();
        at = tumit1_now();
        width = truth() - before;
    } while (width > 10000 && ++tries < 1000);
    samples_mark(at, (uint64_t)(before + width / 2));
}

static void pause_between(void) {
    struct timespec pause = {0, 150000000};
    (void)nanosleep(&pause, NULL);
}

/* Takes samples once, as `act` requests. Returns an error number or 0. */
static int take_samples(struct tumit1_link *link, const char *act, unsigned me, unsigned all) {
    uint32_t peers[16];
    uint32_t peer;
    if (strcmp(act, "star") != 0) { return tumit1_sync(link); }
    for (peer = 0; peer + 1 < all; peer++) {
        peers[peer] = peer;
    }
    return me == all - 1 ? tumit1_sync_ask(link, peers, all - 1) : tumit1_sync_answer(link, all - 1);
}

/* Passes 500 sync points. Returns whether none failed. */
static int pass_sync_points(struct tumit1_link *link) {
    int i;
    for (i = 0; i < 500; i++) {
        struct timespec pause = {0, 4000000};
        if (tumit1_sync_point(link) != 0) { return 0; }
        (void)nanosleep(&pause, NULL);
    }
    return 1;
}

int main(int argc, char **argv) {
    struct tumit1_link link;
    unsigned me, all, i;
    char domain[32];
    const char *act;
    if (argc != 8) { return 2; }
    me = (unsigned)atoi(argv[1]);
    all = (unsigned)atoi(argv[2]);
    offset = atoll(argv[4]);
    ppm = atoll(argv[5]);
    base = atoll(argv[6]);
    act = argv[7];
    memset(&link, 0, sizeof link);
    link.send_ = send_message;
    link.receive_ = receive_message;
    link.me_ = me;
    link.size_ = all;
    (void)snprintf(domain, sizeof domain, "clock %u", me);
    if (connect_all(argv[3], me, all) != 0) { return 3; }
    if (getenv("MACHINE_CLOCK") == NULL && tumit1_set_clock(ticks, 1000000000u, domain) != 0) {
        return 4;
    }
    record_mark();
    if (strcmp(act, "fork") == 0) {
        pid_t child = fork();
        int status = 0;
        if (child != 0) {
            return child > 0 && waitpid(child, &status, 0) == child ? status : 8;
        }
    }
    if (strcmp(act, "silent") == 0 && me == all - 1) {
        tumit1_finish();
    }
    for (i = 0; i < 2; i++) {
        int error = take_samples(&link, act, me, all);
        if (error != 0) {
            fprintf(stderr, "%u: %s\n", me, strerror(error));
            return 5;
        }
        pause_between();
        if (strcmp(act, "step") == 0 && me == 1) {
            __atomic_store_n(&step, 1000000000, __ATOMIC_RELAXED);
        }
        record_mark();
        pause_between();
    }
    if (strcmp(act, "points") == 0 && !pass_sync_points(&link)) { return 6; }
    record_mark();
    return 0;
}
