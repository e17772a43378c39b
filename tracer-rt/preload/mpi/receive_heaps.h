/* Posted receives, and heaps of them in the order of posting. */

/* A receive that was posted. */
struct receive {
    struct communicator *communicator;
    /* As the program posted it: either may be a wildcard until the receive completes. */
    int source, tag;
    uint32_t number;
    unsigned char is_numbered, is_complete;
    /* Position in the order of posting. Only of receives that have to wait for their number. */
    uint64_t order;
    /* For each kind of heaps, the channel whose heap contains the receive, or NULL. */
    struct channel *channels[HEAP_KINDS];
    /* The positions of the receive in these heaps. */
    unsigned indexes[HEAP_KINDS];
    uint64_t bytes;
    tumit_mpi_date arrival;
};

static inline void place_in_heap(struct receive_heap *heap, enum heap_kind kind, unsigned index,
                                 struct receive *receive) {
    heap->receives[index] = receive;
    receive->indexes[kind] = index;
}

static inline int is_earlier(const struct receive *receive, const struct receive *reference) {
    return receive->order < reference->order;
}

/* Moves a receive from a free element towards the first element, up to its place. */
static void move_up(struct receive_heap *heap, enum heap_kind kind, unsigned index, struct receive *receive) {
    while (index > 0 && is_earlier(receive, heap->receives[(index - 1) / 2])) {
        place_in_heap(heap, kind, index, heap->receives[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    place_in_heap(heap, kind, index, receive);
}

/* Moves a receive from a free element away from the first element, up to its place. */
static void move_down(struct receive_heap *heap, enum heap_kind kind, unsigned index, struct receive *receive) {
    unsigned child;
    for (child = 2 * index + 1; child < heap->count; child = 2 * index + 1) {
        if (child + 1 < heap->count && is_earlier(heap->receives[child + 1], heap->receives[child])) {
            child++;
        }
        if (!is_earlier(heap->receives[child], receive)) {
            break;
        }
        place_in_heap(heap, kind, index, heap->receives[child]);
        index = child;
    }
    place_in_heap(heap, kind, index, receive);
}

static void add_to_heap(struct channel *channel, enum heap_kind kind, struct receive *receive) {
    struct receive_heap *heap = &channel->heaps[kind];
    receive->channels[kind] = channel;
    if (heap->count == heap->capacity) {
        const unsigned capacity = heap->capacity == 0 ? 4 : 2 * heap->capacity;
        struct receive **receives = allocate(capacity * sizeof *receives);
        if (heap->count > 0) {
            memcpy(receives, heap->receives, heap->count * sizeof *receives);
        }
        free(heap->receives);
        heap->receives = receives;
        heap->capacity = capacity;
    }
    move_up(heap, kind, heap->count++, receive);
}

/* Removes a receive from the heap of this kind that contains it, if any. */
static void remove_from_heap(struct receive *receive, enum heap_kind kind) {
    const unsigned index = receive->indexes[kind];
    struct receive_heap *heap;
    struct receive *last;
    if (receive->channels[kind] == NULL) {
        return;
    }
    heap = &receive->channels[kind]->heaps[kind];
    receive->channels[kind] = NULL;
    last = heap->receives[--heap->count];
    if (last == receive) {
        return;
    }
    if (index > 0 && is_earlier(last, heap->receives[(index - 1) / 2])) {
        move_up(heap, kind, index, last);
    } else {
        move_down(heap, kind, index, last);
    }
}
