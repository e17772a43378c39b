/* Heat diffusion on a square plate by Jacobi's method. A grid of MPI ranks shares the plate.
 * The ranks exchange the rims of their parts in each step; in some steps they agree on the
 * residual.
 *
 *   heat [CELLS [STEPS]]      cells along an edge (600), steps (24)
 *
 * Small plates (up to 600 cells) are also solved by rank 0 alone; both solutions must be equal to
 * the last bit. At the end it prints its counts, for comparison with the trace.
 *
 * HEAT_SKEW=1 gives each rank a clock of its own, up to one second and 50 ppm off: a test of clock
 * correction. */

#define TUMIT_MPI
#include "heat_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WEST, EAST, NORTH, SOUTH, SIDES };

#define REDUCE_EVERY 5

/* One rank's part: `width` x `height` cells, surrounded by a rim of one cell. */
struct part {
    int rank, column, row;
    int x0, y0;
    int width, height;
    int neighbour[SIDES];
    double *now, *next;
    double *out[SIDES], *in[SIDES];
};

struct counts {
    unsigned long states, links, samples, received;
};

static struct counts counted;

/* ---- A clock that is wrong ---- */

static uint64_t skew_start;
static int64_t skew_nanos, skew_ppm;

static uint64_t raw_nanos(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t skewed_ticks(void) {
    int64_t since = (int64_t)(raw_nanos() - skew_start);
    return (uint64_t)((int64_t)skew_start + since + since / 1000 * skew_ppm / 1000 + skew_nanos);
}

/* Runs before MPI_Init, because the file of a rank states its clock from the start. So the rank
   comes from the launcher's environment. */
static int skew_clock(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char domain[40];
    int number;
    if (rank == NULL) {
        rank = getenv("PMI_RANK");
    }
    if (rank == NULL) {
        fprintf(stderr, "heat: HEAT_SKEW needs a launcher that sets OMPI_COMM_WORLD_RANK or PMI_RANK\n");
        return -1;
    }
    number = atoi(rank);
    skew_start = raw_nanos();
    skew_nanos = (int64_t)((number * 7919 + 3) % 2001 - 1000) * 1000000;
    skew_ppm = (number * 31) % 101 - 50;
    snprintf(domain, sizeof domain, "heat skewed clock %d", number);
    return tumit1_set_clock(skewed_ticks, 1000000000u, domain);
}

/* ---- The plate ---- */

/* One edge is hot, the opposite one cold; the plate starts with a warm spot. */
static double start_value(int x, int y, int cells) {
    double dx = x - 0.3 * cells, dy = y - 0.6 * cells;
    if (x < 0) {
        return 100.0;
    }
    if (x >= cells || y < 0 || y >= cells) {
        return 0.0;
    }
    return dx * dx + dy * dy < 0.02 * cells * cells ? 60.0 : 10.0;
}

static size_t at(const struct part *p, int x, int y) {
    return (size_t)(y + 1) * (size_t)(p->width + 2) + (size_t)(x + 1);
}

static void *must_allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        fprintf(stderr, "heat: no memory for %lu bytes\n", (unsigned long)bytes);
        exit(1);
    }
    return memory;
}

static void fill(struct part *p, int cells) {
    size_t all = (size_t)(p->width + 2) * (size_t)(p->height + 2);
    int x, y, side;
    p->now = (double *)must_allocate(all * sizeof(double));
    p->next = (double *)must_allocate(all * sizeof(double));
    for (y = -1; y <= p->height; y++) {
        for (x = -1; x <= p->width; x++) {
            p->now[at(p, x, y)] = p->next[at(p, x, y)] = start_value(p->x0 + x, p->y0 + y, cells);
        }
    }
    for (side = 0; side < SIDES; side++) {
        size_t length = (size_t)(p->width > p->height ? p->width : p->height);
        p->out[side] = (double *)must_allocate(length * sizeof(double));
        p->in[side] = (double *)must_allocate(length * sizeof(double));
    }
}

static void drop(struct part *p) {
    int side;
    free(p->now);
    free(p->next);
    for (side = 0; side < SIDES; side++) {
        free(p->out[side]);
        free(p->in[side]);
    }
}

/* Steps the cells of a rectangle; returns the largest change. */
static double step(struct part *p, int x0, int x1, int y0, int y1) {
    double largest = 0.0;
    size_t line = (size_t)(p->width + 2);
    int x, y;
    for (y = y0; y < y1; y++) {
        for (x = x0; x < x1; x++) {
            size_t i = at(p, x, y);
            double sum = (p->now[i - 1] + p->now[i + 1]) + (p->now[i - line] + p->now[i + line]);
            double change;
            p->next[i] = 0.25 * sum;
            change = fabs(p->next[i] - p->now[i]);
            largest = change > largest ? change : largest;
        }
    }
    return largest;
}

/* ---- The rims ---- */

static int rim_length(const struct part *p, int side) { return side == WEST || side == EAST ? p->height : p->width; }

/* Copies the rim of a side between the plate and a message; `halo` is the line of cells outside the
   rim. */
static void copy_rim(struct part *p, int side, int halo, double *message) {
    int i, length = rim_length(p, side);
    int x = side == WEST ? (halo ? -1 : 0) : (halo ? p->width : p->width - 1);
    int y = side == NORTH ? (halo ? -1 : 0) : (halo ? p->height : p->height - 1);
    for (i = 0; i < length; i++) {
        size_t cell = side == WEST || side == EAST ? at(p, x, i) : at(p, i, y);
        if (halo) {
            p->now[cell] = message[i];
        } else {
            message[i] = p->now[cell];
        }
    }
}

/* The side from the neighbour's point of view. */
static int opposite(int side) { return side ^ 1; }

/* ---- A step of time ---- */

static double sweep_inner(struct part *p) {
    double largest;
    heat_sweep_begin((uint32_t)((p->width - 2) * (p->height - 2)));
    largest = step(p, 1, p->width - 1, 1, p->height - 1);
    heat_sweep_end();
    counted.states++;
    return largest;
}

static double sweep_rim(struct part *p) {
    double a, b, c, d;
    heat_sweep_begin((uint32_t)(2 * (p->width + p->height) - 4));
    a = step(p, 0, p->width, 0, 1);
    b = step(p, 0, p->width, p->height - 1, p->height);
    c = step(p, 0, 1, 1, p->height - 1);
    d = step(p, p->width - 1, p->width, 1, p->height - 1);
    heat_sweep_end();
    counted.states++;
    return fmax(fmax(a, b), fmax(c, d));
}

/* Posts the receipts, then sends all rims. The tag is the side from the sender's point of view. */
static void send_rims(struct part *p, uint32_t n, MPI_Request *receipts, MPI_Request *sends) {
    int side;
    for (side = 0; side < SIDES; side++) {
        receipts[side] = sends[side] = MPI_REQUEST_NULL;
        if (p->neighbour[side] != MPI_PROC_NULL) {
            MPI_Irecv(p->in[side], rim_length(p, side), MPI_DOUBLE, p->neighbour[side], opposite(side), MPI_COMM_WORLD,
                      &receipts[side]);
        }
    }
    for (side = 0; side < SIDES; side++) {
        int to = p->neighbour[side];
        if (to != MPI_PROC_NULL) {
            heat_send_begin((uint32_t)to, (uint8_t)side, n, (uint32_t)rim_length(p, side) * 8u);
            copy_rim(p, side, 0, p->out[side]);
            MPI_Isend(p->out[side], rim_length(p, side), MPI_DOUBLE, to, side, MPI_COMM_WORLD, &sends[side]);
            heat_send_end();
            counted.states++;
            counted.links++;
        }
    }
}

/* Receives the rims in the order of their arrival. A blocking receipt is one record with two
   timestamps. */
static void receive_rims(struct part *p, uint32_t n, MPI_Request *receipts) {
    for (;;) {
        tumit1_date since = tumit1_now();
        int side;
        MPI_Waitany(SIDES, receipts, &side, MPI_STATUS_IGNORE);
        if (side == MPI_UNDEFINED) {
            return;
        }
        heat_receive((uint32_t)p->neighbour[side], (uint8_t)opposite(side), n, (uint32_t)rim_length(p, side) * 8u, since);
        copy_rim(p, side, 1, p->in[side]);
        counted.states++;
        counted.received++;
    }
}

static void iterate(struct part *p, uint32_t n) {
    MPI_Request receipts[SIDES], sends[SIDES];
    double residual, rim, *swap;
    heat_iteration_begin(n);
    send_rims(p, n, receipts, sends);
    residual = sweep_inner(p);
    receive_rims(p, n, receipts);
    rim = sweep_rim(p);
    residual = rim > residual ? rim : residual;
    heat_residual(residual);
    counted.samples++;
    heat_drain_begin();
    MPI_Waitall(SIDES, sends, MPI_STATUSES_IGNORE);
    heat_drain_end();
    if (n % REDUCE_EVERY == 0) {
        double all;
        heat_reduce_begin(n);
        MPI_Allreduce(&residual, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        heat_reduce_end();
        counted.states++;
        if (all < residual) {
            fprintf(stderr, "heat: rank %d: the largest residual %g is below its own %g\n", p->rank, all, residual);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    swap = p->now;
    p->now = p->next;
    p->next = swap;
    heat_iteration_end();
    counted.states += 2;
}

/* ---- Checking ---- */

/* Rank 0 collects the plate and solves it again alone. Returns the largest difference (0 on other
   ranks). */
static double check(struct part *p, int cells, int steps) {
    MPI_Comm world = MPI_COMM_WORLD;
    struct part alone;
    double largest = 0.0;
    int ranks, from, x, y, n;
    int where[4] = {p->x0, p->y0, p->width, p->height};
    double *mine = (double *)must_allocate((size_t)p->width * (size_t)p->height * sizeof(double));
    for (y = 0; y < p->height; y++) {
        memcpy(mine + (size_t)y * (size_t)p->width, p->now + at(p, 0, y), (size_t)p->width * sizeof(double));
    }
    MPI_Comm_size(world, &ranks);
    if (p->rank != 0) {
        MPI_Send(where, 4, MPI_INT, 0, SIDES, world);
        MPI_Send(mine, p->width * p->height, MPI_DOUBLE, 0, SIDES + 1, world);
        free(mine);
        return 0.0;
    }
    memset(&alone, 0, sizeof alone);
    alone.width = alone.height = cells;
    fill(&alone, cells);
    for (n = 0; n < steps; n++) {
        double *swap = alone.now;
        (void)step(&alone, 0, cells, 0, cells);
        alone.now = alone.next;
        alone.next = swap;
    }
    for (from = 0; from < ranks; from++) {
        if (from != 0) {
            MPI_Recv(where, 4, MPI_INT, from, SIDES, world, MPI_STATUS_IGNORE);
            free(mine);
            mine = (double *)must_allocate((size_t)where[2] * (size_t)where[3] * sizeof(double));
            MPI_Recv(mine, where[2] * where[3], MPI_DOUBLE, from, SIDES + 1, world, MPI_STATUS_IGNORE);
        }
        for (y = 0; y < where[3]; y++) {
            for (x = 0; x < where[2]; x++) {
                double there = alone.now[at(&alone, where[0] + x, where[1] + y)];
                largest = fmax(largest, fabs(mine[(size_t)y * (size_t)where[2] + (size_t)x] - there));
            }
        }
    }
    free(mine);
    drop(&alone);
    return largest;
}

/* ---- All together ---- */

/* The share of `cells` of part `index` of `parts`, and its first cell. */
static int share(int cells, int parts, int index, int *first) {
    *first = (int)((long)cells * index / parts);
    return (int)((long)cells * (index + 1) / parts) - *first;
}

static void place(struct part *p, int cells) {
    int shape[2] = {0, 0}, open[2] = {0, 0}, where[2], ranks;
    MPI_Comm grid;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Dims_create(ranks, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, open, 0, &grid);
    MPI_Cart_coords(grid, p->rank, 2, where);
    MPI_Cart_shift(grid, 1, 1, &p->neighbour[WEST], &p->neighbour[EAST]);
    MPI_Cart_shift(grid, 0, 1, &p->neighbour[NORTH], &p->neighbour[SOUTH]);
    MPI_Comm_free(&grid);
    p->column = where[1];
    p->row = where[0];
    p->width = share(cells, shape[1], p->column, &p->x0);
    p->height = share(cells, shape[0], p->row, &p->y0);
    if (p->width < 3 || p->height < 3) {
        fprintf(stderr, "heat: %d cells along an edge are too few for %d ranks\n", cells, ranks);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fill(p, cells);
    heat_place((uint16_t)p->column, (uint16_t)p->row, (uint32_t)(p->width * p->height));
    counted.states++;
}

static int number(int argc, char **argv, int index, int otherwise) {
    int value = argc > index ? atoi(argv[index]) : otherwise;
    return value > 0 ? value : otherwise;
}

int main(int argc, char **argv) {
    struct part part;
    unsigned long mine[4], all[4];
    double difference = 0.0;
    int cells, steps, ranks;
    uint32_t n;
    if (getenv("HEAT_SKEW") != NULL && skew_clock() != 0) {
        return 1;
    }
    MPI_Init(&argc, &argv);
    cells = number(argc, argv, 1, 600);
    steps = number(argc, argv, 2, 24);
    place(&part, cells);
    MPI_Barrier(MPI_COMM_WORLD);
    for (n = 0; n < (uint32_t)steps; n++) {
        iterate(&part, n);
    }
    heat_leave();
    if (cells <= 600) {
        difference = check(&part, cells, steps);
    }
    mine[0] = counted.states;
    mine[1] = counted.links;
    mine[2] = counted.samples;
    mine[3] = counted.received;
    MPI_Reduce(mine, all, 4, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (part.rank == 0) {
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        printf("heat: %d x %d cells, %d steps; largest difference from one rank alone: %g\n", cells, cells, steps,
               difference);
        printf("counts: ranks=%d iterations=%d states=%lu links=%lu samples=%lu\n", ranks, steps, all[0], all[1],
               all[2]);
        if (difference > 0.0 || all[1] != all[3]) {
            fprintf(stderr, "heat: the solution is wrong, or messages are missing (%lu sent, %lu received)\n", all[1],
                    all[3]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    drop(&part);
    MPI_Finalize();
    return 0;
}
