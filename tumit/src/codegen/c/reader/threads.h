/* ---- Names of threads, as in `tumit dump` ---- */

/* The number of kinds of streams. A thread has at most one stream of each kind. */
#define TUMIT1R_STREAM_KINDS 4

TUMIT1R_FN unsigned tumit1r_stream_kind(const struct tumit1r_stream *stream) {
    return (stream->signal ? 1u : 0u) + (stream->overwrites ? 2u : 0u);
}

TUMIT1R_FN int tumit1r_by_place(const void *left, const void *right) {
    const struct tumit1r_stream *a = *(struct tumit1r_stream *const *)left;
    const struct tumit1r_stream *b = *(struct tumit1r_stream *const *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

TUMIT1R_FN int tumit1r_by_tid(const void *left, const void *right) {
    const struct tumit1r_stream *a = *(struct tumit1r_stream *const *)left;
    const struct tumit1r_stream *b = *(struct tumit1r_stream *const *)right;
    if (a->has_tid != b->has_tid) {
        return a->has_tid ? -1 : 1;
    }
    return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1) : tumit1r_by_place(left, right);
}

TUMIT1R_FN int tumit1r_by_thread_name(const void *left, const void *right) {
    const struct tumit1r_stream *a = *(struct tumit1r_stream *const *)left;
    const struct tumit1r_stream *b = *(struct tumit1r_stream *const *)right;
    const int order = strcmp(a->name_text, b->name_text);
    if (order != 0) {
        return order;
    }
    return a->thread != b->thread ? (a->thread < b->thread ? -1 : 1)
                                  : tumit1r_by_place(left, right);
}

/* Assigns each stream the position of the first stream of its thread. The n-th stream of each
 * kind with one thread id belongs to the n-th thread with this id, because operating systems
 * reuse thread ids.
 *
 * `leaders` has room for one position per stream. */
TUMIT1R_FN void tumit1r_find_threads(struct tumit1r_process *p, struct tumit1r_stream **streams,
                                     size_t *leaders) {
    size_t i, first;
    qsort(streams, p->streams_count, sizeof *streams, tumit1r_by_tid);
    for (first = 0; first < p->streams_count; first = i) {
        size_t counts[TUMIT1R_STREAM_KINDS] = {0}, threads = 0;
        for (i = first; i < p->streams_count &&
                        (i == first || (streams[first]->has_tid && streams[i]->has_tid &&
                                        streams[i]->tid == streams[first]->tid));
             i++) {
            const size_t number = counts[tumit1r_stream_kind(streams[i])]++;
            if (number == threads) {
                leaders[threads++] = (size_t)(streams[i] - p->streams);
            }
            streams[i]->thread = leaders[number];
            streams[i]->reused = number > 0;
        }
    }
}

/* Gives a thread without a name the name `main` or `worker N`. */
TUMIT1R_FN void tumit1r_name_worker(struct tumit1r_process *p, struct tumit1r_stream *stream,
                                    size_t *workers) {
    const struct tumit1r_stream *leader = &p->streams[stream->thread];
    char name[40];
    if (!stream->has_tid || stream->named) {
        return; /* `thread N`, or its own name */
    }
    if (stream->tid == p->pid && !stream->reused) {
        (void)snprintf(name, sizeof name, "main");
    } else if (leader != stream && leader->worker > 0) {
        stream->worker = leader->worker;
        (void)snprintf(name, sizeof name, "worker %llu", (unsigned long long)stream->worker);
    } else {
        stream->worker = ++*workers;
        (void)snprintf(name, sizeof name, "worker %llu", (unsigned long long)stream->worker);
    }
    free(stream->name_text);
    stream->name_text = tumit1r_copy_text(name, strlen(name));
    p->failed = p->failed || stream->name_text == NULL;
}

/* Appends ordinals to the names of `count` streams with one name, if they belong to several
 * threads. The streams are sorted by thread. */
TUMIT1R_FN void tumit1r_number_threads(struct tumit1r_process *p, struct tumit1r_stream **from,
                                       size_t count) {
    unsigned long long ordinal = 1;
    size_t i;
    for (i = 0; from[0]->thread != from[count - 1]->thread && i < count; i++) {
        const size_t length = strlen(from[i]->name_text) + 32;
        ordinal += i > 0 && from[i]->thread != from[i - 1]->thread;
        from[i]->numbered_name = (char *)malloc(length);
        p->failed = p->failed || from[i]->numbered_name == NULL;
        if (from[i]->numbered_name != NULL) {
            (void)snprintf(from[i]->numbered_name, length, "%s (#%llu)", from[i]->name_text,
                           ordinal);
        }
    }
}

/* Names the threads of a process. Threads with equal names get ordinals in the order of their
 * creation. */
TUMIT1R_FN void tumit1r_name_threads(struct tumit1r_process *p) {
    struct tumit1r_stream **streams =
        (struct tumit1r_stream **)malloc((p->streams_count + 1) * sizeof *streams);
    size_t *leaders = (size_t *)malloc((p->streams_count + 1) * sizeof *leaders);
    size_t i, first, workers = 0;
    p->failed = p->failed || streams == NULL || leaders == NULL;
    if (streams != NULL && leaders != NULL) {
        for (i = 0; i < p->streams_count; i++) {
            streams[i] = &p->streams[i];
        }
        tumit1r_find_threads(p, streams, leaders);
        for (i = 0; i < p->streams_count; i++) {
            tumit1r_name_worker(p, &p->streams[i], &workers);
        }
        if (!p->failed) {
            qsort(streams, p->streams_count, sizeof *streams, tumit1r_by_thread_name);
        }
        for (first = 0; first < p->streams_count && !p->failed; first = i) {
            for (i = first; i < p->streams_count &&
                            strcmp(streams[i]->name_text, streams[first]->name_text) == 0;
                 i++) {}
            tumit1r_number_threads(p, streams + first, i - first);
        }
    }
    for (i = 0; i < p->streams_count; i++) {
        struct tumit1r_stream *stream = &p->streams[i];
        stream->name = stream->numbered_name != NULL ? stream->numbered_name
                       : stream->name_text == NULL   ? ""
                                                     : stream->name_text;
    }
    free(streams);
    free(leaders);
}
