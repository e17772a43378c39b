/* ---- A run, and the rates of its clocks ---- */

struct tumit1r_run {
    /* by rank; those without a rank by file name, and by number in a sorted file */
    struct tumit1r_process **processes;
    size_t count, room;
    uint64_t unreadable; /* number of files that are not part of a run */
    bool ranked;         /* every process has a rank */
    /* Widths of columns in characters, as in `tumit dump`. */
    size_t thread_width, event_width;
};

TUMIT1R_FN bool tumit1r_same_clock(const struct tumit1r_process *a,
                                   const struct tumit1r_process *b) {
    return a == b || (a->clock_domain[0] != '\0' && a->clock_kind == b->clock_kind &&
                      strcmp(a->clock_domain, b->clock_domain) == 0);
}

/* A clock anchor, or the difference between two anchors. */
struct tumit1r_anchor {
    uint64_t nanos; /* of the system's monotonic clock */
    uint64_t ticks;
};

struct tumit1r_anchors {
    struct tumit1r_anchor *list;
    size_t count, room;
};

/* Appends the anchors of a process. Without memory, the others are omitted. */
TUMIT1R_FN void tumit1r_add_anchors(const struct tumit1r_process *p,
                                    struct tumit1r_anchors *anchors) {
    unsigned char *stored = NULL, *buffer = NULL;
    size_t stored_room = 0, room = 0, i, k;
    for (i = 0; i < p->others_count; i++) {
        const struct tumit1r_block *block = &p->others[i];
        const unsigned char *payload;
        if (block->kind != TUMIT1R_KIND_ANCHORS ||
            !tumit1r_room(&stored, &stored_room, (size_t)block->stored + 1, 1) ||
            tumit1r_read_at(p->file, block->payload, stored, block->stored) != block->stored) {
            continue;
        }
        payload = tumit1r_unpack(block, stored, &buffer, &room);
        for (k = 0; payload != NULL && k + TUMIT1R_ANCHOR_BYTES <= block->raw;
             k += TUMIT1R_ANCHOR_BYTES) {
            if (!tumit1r_room(&anchors->list, &anchors->room, anchors->count + 1,
                              sizeof *anchors->list)) {
                break;
            }
            anchors->list[anchors->count].ticks = tumit1r_get_u64(payload + k);
            anchors->list[anchors->count++].nanos = tumit1r_get_u64(payload + k + 8);
        }
    }
    free(stored);
    free(buffer);
}

TUMIT1R_FN int tumit1r_by_nanos(const void *left, const void *right) {
    const struct tumit1r_anchor *a = (const struct tumit1r_anchor *)left;
    const struct tumit1r_anchor *b = (const struct tumit1r_anchor *)right;
    if (a->nanos != b->nanos) {
        return a->nanos < b->nanos ? -1 : 1;
    }
    return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

TUMIT1R_FN int tumit1r_by_value(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Whole ticks per second. */
TUMIT1R_FN uint64_t tumit1r_ticks_per_second(struct tumit1r_anchor difference) {
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 tumit1r_wide;
    tumit1r_wide rate = (tumit1r_wide)difference.ticks * 1000000000u / difference.nanos;
    return rate > UINT64_MAX ? 0 : (uint64_t)rate;
#else
    double rate = (double)difference.ticks * 1e9 / (double)difference.nanos;
    return rate >= 1.8e19 ? 0 : (uint64_t)rate;
#endif
}

/* The difference of all anchors, which are sorted: from the first to the last, or the sum over
 * neighbours with a usual rate. A rate that differs from the median by more than 1/200 is unusual:
 * the machine slept, or the clock was set. `steps` and `rates` have room for all neighbours. */
TUMIT1R_FN struct tumit1r_anchor tumit1r_usual_difference(const struct tumit1r_anchors *anchors,
                                                          struct tumit1r_anchor *steps,
                                                          uint64_t *rates) {
    const struct tumit1r_anchor *first = anchors->list, *last = first + (anchors->count - 1);
    struct tumit1r_anchor sum = {0, 0};
    size_t count = 0, i;
    for (i = 1; i < anchors->count; i++) {
        const struct tumit1r_anchor *before = &anchors->list[i - 1], *after = before + 1;
        if (after->nanos - before->nanos > 10000000u && after->ticks > before->ticks) {
            steps[count].nanos = after->nanos - before->nanos;
            steps[count].ticks = after->ticks - before->ticks;
            rates[count] = tumit1r_ticks_per_second(steps[count]);
            count++;
        }
    }
    if (count < 3) {
        if (last->ticks > first->ticks) {
            sum.nanos = last->nanos - first->nanos;
            sum.ticks = last->ticks - first->ticks;
        }
        return sum;
    }
    qsort(rates, count, sizeof *rates, tumit1r_by_value);
    for (i = 0; i < count; i++) {
        uint64_t rate = tumit1r_ticks_per_second(steps[i]), median = rates[count / 2];
        if ((rate > median ? rate - median : median - rate) <= median / 200) {
            sum.nanos += steps[i].nanos;
            sum.ticks += steps[i].ticks;
        }
    }
    return sum;
}

/* The rate of a process's clock in ticks per second: stated by the process or by another one with
 * the same clock, or computed from the anchors of all processes with this clock. */
TUMIT1R_FN uint64_t tumit1r_rate(const struct tumit1r_run *run, const struct tumit1r_process *p) {
    struct tumit1r_anchors anchors = {NULL, 0, 0};
    struct tumit1r_anchor difference = {0, 0}, *steps;
    uint64_t hz, *rates;
    size_t i;
    for (i = 0; i < run->count; i++) {
        if (run->processes[i]->clock_hz != 0 && tumit1r_same_clock(p, run->processes[i])) {
            return run->processes[i]->clock_hz;
        }
    }
    for (i = 0; i < run->count; i++) {
        if (tumit1r_same_clock(p, run->processes[i])) {
            tumit1r_add_anchors(run->processes[i], &anchors);
        }
    }
    steps = (struct tumit1r_anchor *)malloc((anchors.count + 1) * sizeof *steps);
    rates = (uint64_t *)malloc((anchors.count + 1) * sizeof *rates);
    if (anchors.count > 0 && steps != NULL && rates != NULL) {
        qsort(anchors.list, anchors.count, sizeof *anchors.list, tumit1r_by_nanos);
        difference = tumit1r_usual_difference(&anchors, steps, rates);
    }
    free(steps);
    free(rates);
    free(anchors.list);
    hz = difference.nanos == 0 ? 0 : tumit1r_ticks_per_second(difference);
    return hz == 0 ? 1000000000u : hz;
}
