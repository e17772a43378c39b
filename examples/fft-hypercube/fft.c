/* A Fourier transform of N points on p = 2^d MPI ranks, by binary exchange on a hypercube.
 *
 *   fft [--points N] [--rounds R] [--pace NANOSECONDS] [--slow RANK] [--repeat TIMES]
 *
 * N is a power of two and at least 2 p. Each rank has a block of N/p points. A round consists of a
 * forward transform and of an inverse transform.
 *
 * The log2 N stages of a transform combine pairs of points. The numbers of a pair differ in one
 * bit. If it is one of the d highest bits, the pair is on two ranks with numbers that differ in one
 * bit. These ranks are neighbours in a hypercube, and exchange their blocks. The other stages are
 * local. So a transform has p d messages of 16 N/p bytes.
 *
 * The forward transform decimates in frequency. Its result is in the order of reversed bits: after
 * the bits within each block are reversed, rank r has the frequencies reverse(r), reverse(r) + p,
 * reverse(r) + 2 p, and so on. The inverse transform decimates in time, and expects this order. So
 * no block moves to another rank.
 *
 * At the end, the program compares the points with its input, the energy of the spectrum with that
 * of the input (Parseval's theorem), and some frequencies with their direct sums. Its exit status
 * is not zero if an error is too large.
 *
 * With `--pace NANOSECONDS`, each point takes so long in each stage. Ranks that have computed
 * faster sleep for the rest. So the trace shows the parallelism also if there are more ranks than
 * cores. With `--slow RANK`, this rank computes all butterflies TIMES times (4): an imbalance. */

#define TUMIT_MPI
#include "fft_trace.h"

#include "arithmetic.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The largest permitted error, relative to the norm of the input. */
#define TOLERANCE 1e-9

/* The number of frequencies that are compared with their direct sums. */
#define SAMPLES 4

/* The parameters that rank 0 reads from the command line and broadcasts. */
struct parameters {
    int is_valid;
    int points, rounds, pace;
    int slow_rank, repeat;
};

/* The names of the parameters on the command line, and their smallest values. */
static const struct option {
    const char *name;
    size_t offset;
    int smallest;
} options[] = {
    {"--points", offsetof(struct parameters, points), 2},
    {"--rounds", offsetof(struct parameters, rounds), 1},
    {"--pace", offsetof(struct parameters, pace), 0},
    {"--slow", offsetof(struct parameters, slow_rank), 0},
    {"--repeat", offsetof(struct parameters, repeat), 1},
};

/* A rank and its block. */
struct node {
    int rank, ranks, dimensions;
    int points, length;
    int repeats; /* how often this rank computes its butterflies */
    int pace;    /* nanoseconds that a point takes in a stage */
    point *block, *received, *result;
    uint32_t task, round; /* number of the next task, and of the present round */
};

/* The properties of the spectrum that are checked. */
struct spectrum {
    double energy;
    point samples[SAMPLES]; /* zero if another rank has the frequency */
};

struct counts {
    unsigned long states, links, received, bytes, tasks;
};

static struct counts counted;

/* ---- Tasks and phases ---- */

static void begin_task(struct node *node, const char *name) {
    fft_task_begin(node->task, name, node->round);
    node->task++;
    counted.states++;
    counted.tasks++;
}

/* A macro, because the record has the source line of the phase. A phase with work is an activity,
   too. */
#define BEGIN_PHASE(part) \
    do { \
        fft_phase_begin(part); \
        counted.states += (part) == fft_part_exchange ? 1 : 2; \
    } while (0)

/* ---- The pace ---- */

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Sleeps until the points of some stages have taken as long as they should, from a start. */
static void keep_pace(const struct node *node, int64_t start, int stages) {
    int64_t end = start + (int64_t)stages * node->length * node->pace;
    struct timespec time = {end / 1000000000, end % 1000000000};
    if (node->pace > 0) {
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
        }
    }
}

/* ---- Operations of MPI ---- */

/* Sends the block to a neighbour, and receives the neighbour's block. The block must not change
   until the send is complete. */
static void exchange(struct node *node, int neighbour, MPI_Request *send) {
    uint32_t to = (uint32_t)neighbour, tag = node->task - 1;
    uint64_t bytes = (uint64_t)node->length * sizeof(point);
    MPI_Request receive;
    BEGIN_PHASE(fft_part_exchange);
    fft_irecv_begin(to, tag, bytes);
    MPI_Irecv(node->received, node->length, MPI_C_DOUBLE_COMPLEX, neighbour, (int)tag, MPI_COMM_WORLD, &receive);
    fft_irecv_end();
    fft_isend_begin(to, tag, node->round, bytes);
    MPI_Isend(node->block, node->length, MPI_C_DOUBLE_COMPLEX, neighbour, (int)tag, MPI_COMM_WORLD, send);
    fft_isend_end();
    counted.links++;
    counted.bytes += bytes;
    fft_wait_receive_begin();
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    fft_wait_receive_end(to, tag, node->round);
    counted.received++;
    counted.states += 3;
    fft_phase_end(fft_part_exchange);
}

static void complete_send(MPI_Request *send) {
    fft_wait_send_begin();
    MPI_Wait(send, MPI_STATUS_IGNORE);
    fft_wait_send_end();
    counted.states++;
}

static void barrier(void) {
    fft_barrier_begin();
    MPI_Barrier(MPI_COMM_WORLD);
    fft_barrier_end();
    counted.states++;
}

static void broadcast(struct parameters *parameters) {
    fft_bcast_begin(0, sizeof *parameters);
    MPI_Bcast(parameters, (int)(sizeof *parameters / sizeof(int)), MPI_INT, 0, MPI_COMM_WORLD);
    fft_bcast_end();
    counted.states++;
}

/* The sums or maxima of some numbers of all ranks, on rank 0. */
static void reduce(const double *mine, double *all, int count, MPI_Op operation) {
    fft_reduce_begin(0, (uint64_t)count * sizeof *mine);
    MPI_Reduce(mine, all, count, MPI_DOUBLE, operation, 0, MPI_COMM_WORLD);
    fft_reduce_end();
    counted.states++;
}

/* The sums of some numbers of all ranks, on all ranks. */
static void sum_up(const point *mine, point *all, int count) {
    fft_allreduce_begin((uint64_t)count * sizeof *mine);
    MPI_Allreduce(mine, all, count, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    fft_allreduce_end();
    counted.states++;
}

/* ---- The stages of a transform ---- */

/* The butterflies of a stage with points on two ranks (arithmetic.h explains a butterfly). This
   rank has all u or all v. */
static void distant_butterflies(struct node *node, enum direction direction, int dimension) {
    long half = (long)node->length << dimension;
    long first = (long)(node->rank & ((1 << dimension) - 1)) * node->length;
    bool has_u = (node->rank >> dimension & 1) == 0;
    const point *u = has_u ? node->block : node->received, *v = has_u ? node->received : node->block;
    for (int i = 0; i < node->length; i++) {
        if (direction == FORWARD) {
            node->result[i] = has_u ? u[i] + v[i] : (u[i] - v[i]) * root(direction, first + i, 2 * half);
        } else {
            point product = v[i] * root(direction, first + i, 2 * half);
            node->result[i] = has_u ? u[i] + product : u[i] - product;
        }
    }
}

static void exchange_task(struct node *node, enum direction direction, int dimension) {
    char name[32];
    int64_t start;
    MPI_Request send;
    point *swap;
    snprintf(name, sizeof name, "Dimension %d", dimension);
    begin_task(node, name);
    exchange(node, node->rank ^ (1 << dimension), &send);
    BEGIN_PHASE(fft_part_butterflies);
    start = now();
    for (int repeat = 0; repeat < node->repeats; repeat++) {
        distant_butterflies(node, direction, dimension);
    }
    keep_pace(node, start, node->repeats);
    fft_phase_end(fft_part_butterflies);
    complete_send(&send);
    swap = node->block;
    node->block = node->result;
    node->result = swap;
    fft_task_end();
}

static void local_task(struct node *node, enum direction direction) {
    int64_t start;
    begin_task(node, "Local stages");
    BEGIN_PHASE(fft_part_butterflies);
    start = now();
    for (int repeat = 1; repeat < node->repeats; repeat++) {
        memcpy(node->result, node->block, (size_t)node->length * sizeof(point));
        local_stages(node->result, node->length, direction);
    }
    local_stages(node->block, node->length, direction);
    keep_pace(node, start, node->repeats * log2_of(node->length));
    fft_phase_end(fft_part_butterflies);
    fft_task_end();
}

/* Reverses the bits of the numbers of the points within the block, and scales the points. */
static void reordering_task(struct node *node, double scale) {
    int bits = log2_of(node->length);
    int64_t start;
    begin_task(node, "Bit reversal");
    BEGIN_PHASE(fft_part_reordering);
    start = now();
    for (int i = 0; i < node->length; i++) {
        int other = reverse_bits(i, bits);
        if (i <= other) {
            point swap = node->block[i] * scale;
            node->block[i] = node->block[other] * scale;
            node->block[other] = swap;
        }
    }
    keep_pace(node, start, 1);
    fft_phase_end(fft_part_reordering);
    fft_task_end();
}

static void forward_transform(struct node *node) {
    begin_task(node, "Forward transform");
    for (int dimension = node->dimensions - 1; dimension >= 0; dimension--) {
        exchange_task(node, FORWARD, dimension);
    }
    local_task(node, FORWARD);
    reordering_task(node, 1.0);
    fft_task_end();
}

static void inverse_transform(struct node *node) {
    begin_task(node, "Inverse transform");
    reordering_task(node, 1.0 / node->points);
    local_task(node, INVERSE);
    for (int dimension = 0; dimension < node->dimensions; dimension++) {
        exchange_task(node, INVERSE, dimension);
    }
    fft_task_end();
}

/* ---- Checks ---- */

/* The frequency of a sample. */
static int frequency(const struct node *node, int sample) {
    return (int)((uint64_t)(sample + 1) * UINT64_C(0x9E3779B1) % (uint64_t)node->points);
}

static bool has_frequency(const struct node *node, int number) {
    return reverse_bits(number % node->ranks, node->dimensions) == node->rank;
}

/* Keeps the properties of the spectrum that are checked. */
static void examine_spectrum(const struct node *node, struct spectrum *spectrum) {
    spectrum->energy = energy(node->block, node->length);
    for (int sample = 0; sample < SAMPLES; sample++) {
        int number = frequency(node, sample);
        spectrum->samples[sample] = has_frequency(node, number) ? node->block[number / node->ranks] : 0.0;
    }
}

/* The direct sums of the sampled frequencies, on all ranks. */
static void direct_sums(const struct node *node, point *sums) {
    point mine[SAMPLES];
    for (int sample = 0; sample < SAMPLES; sample++) {
        long number = frequency(node, sample);
        mine[sample] = 0.0;
        for (int i = 0; i < node->length; i++) {
            long at = (long)node->rank * node->length + i;
            mine[sample] += input((int)at, node->points) * root(FORWARD, number * at % node->points, node->points);
        }
    }
    sum_up(mine, sums, SAMPLES);
}

/* Compares the points with the input, and the spectrum with the theory. Returns whether all errors
   are small, on rank 0. */
static bool check(struct node *node, const struct spectrum *spectrum) {
    double energies[2] = {0.0, spectrum->energy}, all_energies[2] = {0.0}, largest = 0.0, all_largest = 0.0;
    double norm, parseval;
    point sums[SAMPLES];
    begin_task(node, "Check");
    BEGIN_PHASE(fft_part_check);
    direct_sums(node, sums);
    for (int i = 0; i < node->length; i++) {
        point expected = input(node->rank * node->length + i, node->points);
        energies[0] += square(expected);
        largest = fmax(largest, cabs(node->block[i] - expected));
    }
    for (int sample = 0; sample < SAMPLES; sample++) {
        if (has_frequency(node, frequency(node, sample))) {
            largest = fmax(largest, cabs(spectrum->samples[sample] - sums[sample]));
        }
    }
    reduce(energies, all_energies, 2, MPI_SUM);
    reduce(&largest, &all_largest, 1, MPI_MAX);
    fft_phase_end(fft_part_check);
    fft_task_end();
    if (node->rank != 0) {
        return true;
    }
    norm = sqrt(all_energies[0]);
    parseval = fabs(all_energies[1] / node->points / all_energies[0] - 1.0);
    printf("fft: %d points, relative errors: %.1e of the points and the sampled frequencies, %.1e of the energy\n",
           node->points, all_largest / norm, parseval);
    /* A comparison with a value that is no number is false. */
    return all_largest < TOLERANCE * norm && parseval < TOLERANCE;
}

/* ---- All together ---- */

/* Reads the command line. Reports mistakes. */
static void read_parameters(int argc, char **argv, int ranks, struct parameters *parameters) {
    *parameters = (struct parameters){0, 1 << 18, 2, 0, -1, 4};
    for (int i = 1; i < argc; i += 2) {
        const struct option *option = options, *end = options + sizeof options / sizeof *options;
        char *rest = NULL;
        long value = i + 1 < argc ? strtol(argv[i + 1], &rest, 10) : 0;
        while (option != end && strcmp(argv[i], option->name) != 0) {
            option++;
        }
        if (option == end) {
            fprintf(stderr, "fft: unknown option `%s`; ", argv[i]);
            fprintf(stderr, "the options are --points, --rounds, --pace, --slow and --repeat\n");
            return;
        }
        if (rest == NULL || rest == argv[i + 1] || *rest != '\0' || value < option->smallest || value > 1 << 30) {
            fprintf(stderr, "fft: %s needs a number from %d to %d\n", option->name, option->smallest, 1 << 30);
            return;
        }
        memcpy((char *)parameters + option->offset, &(int){(int)value}, sizeof(int));
    }
    if (log2_of(ranks) < 0) {
        fprintf(stderr, "fft: the number of ranks is %d, and must be a power of two\n", ranks);
    } else if (log2_of(parameters->points) < 0 || parameters->points / ranks < 2) {
        fprintf(stderr, "fft: --points is %d, and must be a power of two of at least %d\n", parameters->points,
                2 * ranks);
    } else if (parameters->slow_rank >= ranks) {
        fprintf(stderr, "fft: --slow is %d, and must be one of the ranks 0 to %d\n", parameters->slow_rank, ranks - 1);
    } else {
        parameters->is_valid = 1;
    }
}

static point *allocate(int length) {
    point *memory = calloc((size_t)length, sizeof(point));
    if (memory == NULL) {
        fprintf(stderr, "fft: no memory for %d points\n", length);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* Distributes the parameters, and makes the input. Returns whether the parameters are valid. */
static bool set_up(struct node *node, int argc, char **argv, struct parameters *parameters) {
    int64_t start;
    begin_task(node, "Input");
    BEGIN_PHASE(fft_part_input);
    if (node->rank == 0) {
        read_parameters(argc, argv, node->ranks, parameters);
    }
    broadcast(parameters);
    if (parameters->is_valid) {
        node->dimensions = log2_of(node->ranks);
        node->points = parameters->points;
        node->length = node->points / node->ranks;
        node->pace = parameters->pace;
        node->repeats = node->rank == parameters->slow_rank ? parameters->repeat : 1;
        node->block = allocate(node->length);
        node->received = allocate(node->length);
        node->result = allocate(node->length);
        start = now();
        for (int i = 0; i < node->length; i++) {
            node->block[i] = input(node->rank * node->length + i, node->points);
        }
        keep_pace(node, start, 1);
    }
    fft_phase_end(fft_part_input);
    fft_task_end();
    return parameters->is_valid != 0;
}

/* Prints the counts of all ranks. Returns whether every message was received, on rank 0. */
static bool print_counts(const struct node *node, int rounds) {
    unsigned long mine[5] = {counted.states, counted.links, counted.received, counted.bytes, counted.tasks};
    unsigned long all[5] = {0};
    MPI_Reduce(mine, all, 5, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (node->rank == 0) {
        printf("counts: ranks=%d transforms=%d states=%lu links=%lu bytes=%lu tasks=%lu task-states=%lu\n", node->ranks,
               2 * rounds, all[0], all[1], all[3], (unsigned long)node->task, all[4]);
    }
    return all[1] == all[2];
}

int main(int argc, char **argv) {
    struct node node = {0};
    struct parameters parameters = {0};
    struct spectrum spectrum = {0};
    bool is_correct;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &node.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &node.ranks);
    fft_join((uint32_t)node.ranks);
    counted.states++;
    if (!set_up(&node, argc, argv, &parameters)) {
        MPI_Finalize();
        return 2;
    }
    barrier();
    for (int round = 0; round < parameters.rounds; round++) {
        node.round = (uint32_t)round;
        node.task = 1;
        forward_transform(&node);
        examine_spectrum(&node, &spectrum);
        inverse_transform(&node);
    }
    is_correct = check(&node, &spectrum);
    fft_leave();
    is_correct = print_counts(&node, parameters.rounds) && is_correct;
    free(node.block);
    free(node.received);
    free(node.result);
    MPI_Finalize();
    if (!is_correct) {
        fprintf(stderr, "fft: the transform is wrong, or a message is missing\n");
        return 1;
    }
    return 0;
}
