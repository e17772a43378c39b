/* The launch of a parallel program in the way of Taktuk: along a binomial tree. Each node starts
 * others as soon as it runs. A node is a process here, and the network is a socket between a child
 * and its parent.
 *
 *   taktuk [NODES]            default: 16 nodes
 *
 * Each node has two threads: the launcher receives the order and passes it on; the worker works,
 * gathers the results of the nodes below and sends the sum up. At the end the root prints its
 * counts, for comparison with the trace. */

#include "taktuk_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MAX_NODES 4096
#define MAX_CHILDREN 12

enum { LAUNCHER = 0, WORKER = 1 };

/* A message, in either direction. */
struct message {
    uint64_t stamp;
    uint32_t node, nodes;
    uint64_t sum;
    uint32_t states, links, threads; /* what the senders have recorded */
};

struct node {
    uint16_t id, nodes;
    int to_parent;
    int children;
    int to_child[MAX_CHILDREN];
    pid_t child[MAX_CHILDREN];
    struct message result;
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void pause_micros(long micros) {
    struct timespec time;
    time.tv_sec = 0;
    time.tv_nsec = micros * 1000;
    nanosleep(&time, NULL);
}

/* ---- Messages: the packing, posting and receipt of each one is recorded ---- */

static void post(struct node *node, uint16_t thread, int socket, struct message *message) {
    taktuk_pack(node->id, thread);
    pause_micros(400);
    node->result.states++;
    node->result.links++;
    taktuk_post(node->id, thread, message->stamp, (uint32_t)sizeof *message);
    if (write(socket, message, sizeof *message) != (ssize_t)sizeof *message) {
        fail("taktuk: cannot send");
    }
}

static struct message receive(struct node *node, uint16_t thread, int socket) {
    struct message message;
    tumit1_date since = tumit1_now();
    if (read(socket, &message, sizeof message) != (ssize_t)sizeof message) {
        fail("taktuk: a node is gone");
    }
    taktuk_recv(node->id, thread, message.stamp, since);
    node->result.states++;
    return message;
}

/* ---- The worker ---- */

static void *work(void *argument) {
    struct node *node = (struct node *)argument;
    struct message sum;
    int i;
    tumit1_set_thread_name("worker");
    taktuk_start(node->id, WORKER, "worker");
    node->result.states++;
    node->result.threads++;
    pause_micros(1500 + 700 * (node->id * 7 % 5));
    node->result.sum = node->id;
    for (i = 0; i < node->children; i++) {
        sum = receive(node, WORKER, node->to_child[i]);
        node->result.sum += sum.sum;
        node->result.states += sum.states;
        node->result.links += sum.links;
        node->result.threads += sum.threads;
    }
    if (node->to_parent >= 0) {
        struct message up = node->result;
        up.stamp = 2u * node->id + 1u;
        up.node = node->id;
        up.states++; /* the packing of this very message */
        up.links++;
        post(node, WORKER, node->to_parent, &up);
    }
    return NULL;
}

/* ---- The launcher ---- */

static void launch(struct node *node);

/* Starts a child with a socket to it, and sends it its order. */
static void spawn(struct node *node, uint16_t id) {
    int ends[2];
    pid_t child;
    struct message order;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        fail("taktuk: no socket");
    }
    child = fork();
    if (child < 0) {
        fail("taktuk: cannot fork");
    }
    if (child == 0) {
        struct node self;
        int i;
        close(ends[0]);
        for (i = 0; i < node->children; i++) {
            close(node->to_child[i]);
        }
        if (node->to_parent >= 0) {
            close(node->to_parent);
        }
        memset(&self, 0, sizeof self);
        self.id = id;
        self.nodes = node->nodes;
        self.to_parent = ends[1];
        launch(&self);
        exit(0);
    }
    close(ends[1]);
    node->to_child[node->children] = ends[0];
    node->child[node->children] = child;
    node->children++;
    memset(&order, 0, sizeof order);
    order.stamp = 2u * id;
    order.node = id;
    order.nodes = node->nodes;
    post(node, LAUNCHER, ends[0], &order);
}

/* The run of a node. It starts children first, then the worker, because a process forks more safely
   while it has one thread. */
static void launch(struct node *node) {
    pthread_t worker;
    uint32_t step = 1;
    int i;
    tumit1_set_thread_name("launcher");
    taktuk_start(node->id, LAUNCHER, "launcher");
    node->result.states++;
    node->result.threads++;
    if (node->to_parent >= 0) {
        struct message order = receive(node, LAUNCHER, node->to_parent);
        if (order.node != node->id) {
            fprintf(stderr, "taktuk: node %u got the order of node %u\n", node->id, order.node);
            exit(1);
        }
    }
    while (step <= node->id) {
        step *= 2;
    }
    for (; node->id + step < node->nodes; step *= 2) {
        spawn(node, (uint16_t)(node->id + step));
        pause_micros(300);
    }
    if (pthread_create(&worker, NULL, work, node) != 0) {
        fail("taktuk: no thread");
    }
    pthread_join(worker, NULL);
    for (i = 0; i < node->children; i++) {
        int status;
        if (waitpid(node->child[i], &status, 0) != node->child[i] || status != 0) {
            fprintf(stderr, "taktuk: a child of node %u failed\n", node->id);
            exit(1);
        }
        close(node->to_child[i]);
    }
}

int main(int argc, char **argv) {
    struct node root;
    int nodes = argc > 1 ? atoi(argv[1]) : 16;
    uint64_t expected;
    if (nodes < 1 || nodes > MAX_NODES) {
        fprintf(stderr, "taktuk: 1 to %d nodes\n", MAX_NODES);
        return 2;
    }
    memset(&root, 0, sizeof root);
    root.nodes = (uint16_t)nodes;
    root.to_parent = -1;
    launch(&root);
    expected = (uint64_t)nodes * (uint64_t)(nodes - 1) / 2;
    /* Containers: the threads, the nodes and the program. */
    printf("taktuk: %d nodes launched, sum of their numbers %lu\n", nodes, (unsigned long)root.result.sum);
    printf("counts: nodes=%d threads=%u containers=%u states=%u links=%u\n", nodes, root.result.threads,
           root.result.threads + (unsigned)nodes + 1u, root.result.states, root.result.links);
    return root.result.sum == expected ? 0 : 1;
}
