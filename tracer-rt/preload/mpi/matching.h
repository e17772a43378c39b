/* The numbers of messages. The sender and the receiver count the messages of a channel separately.
 * MPI matches the messages of a channel in the order of sending to its receives in the order of
 * posting. So both count to the same number.
 *
 * The channel of a receive with a wildcard is unknown until the receive completes. Until then, each
 * later receive that could get the same message has no number either. These receives are called
 * waiting. They are recorded when they are complete and have a number.
 *
 * A waiting receive is in a heap of its channel, or of the channel with its wildcards. The first
 * receive of a channel that has to wait for a wildcard is also in the heap `blocked` of the channel
 * with this wildcard. So each step takes a time that grows with the logarithm of the number of
 * waiting receives. */

static inline int has_wildcard(const struct receive *receive) {
    return receive->source == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG;
}

static void number_receive(struct receive *receive) {
    receive->number = channel_of(&receive->communicator->channels, receive->source, receive->tag)->received++;
    receive->is_numbered = 1;
}

static void add_waiting(struct receive *receive) {
    struct channel_table *table = &receive->communicator->channels;
    struct channel *channel = has_wildcard(receive) ? wildcard_channel_of(table, receive->source, receive->tag)
                                                    : channel_of(table, receive->source, receive->tag);
    add_to_heap(channel, WAITING, receive);
    table->waiting_count++;
}

static void remove_waiting(struct receive *receive) {
    remove_from_heap(receive, WAITING);
    remove_from_heap(receive, BLOCKED);
    receive->communicator->channels.waiting_count--;
}

/* Whether a receive of this channel was posted before and could get the message of this receive. */
static inline int is_blocked_by(const struct receive *receive, const struct channel *channel) {
    return channel != NULL && channel->heaps[WAITING].count > 0
           && is_earlier(channel->heaps[WAITING].receives[0], receive);
}

/* The channel of wildcards, or the channel of the receive itself, that blocks a receive; or
 * NULL. */
static struct channel *blocking_channel(const struct receive *receive) {
    const struct channel_table *table = &receive->communicator->channels;
    const int sources[] = {receive->source, MPI_ANY_SOURCE}, tags[] = {receive->tag, MPI_ANY_TAG};
    unsigned i;
    for (i = 0; i < 4; i++) {
        struct channel *channel = find_channel(table, sources[i / 2], tags[i % 2]);
        if (is_blocked_by(receive, channel)) {
            return channel;
        }
    }
    return NULL;
}

static void record_receive(const struct receive *receive, int is_late) {
    const struct communicator *communicator = receive->communicator;
    const int from = world_rank(communicator, receive->source);
    if (from == NO_RANK) {
        return;
    }
    if (is_late) {
        tumit_mpi_record_late_receive(communicator->id, from, receive->tag, receive->number, receive->bytes,
                                      receive->arrival);
    } else {
        tumit_mpi_record_receive(communicator->id, from, receive->tag, receive->number, receive->bytes);
    }
}

/* Gives a number to a receive that does not wait any more. Records it if it is complete, and then
 * frees it, unless it is `current`. */
static void release_receive(struct receive *receive, const struct receive *current) {
    number_receive(receive);
    if (receive->is_complete) {
        record_receive(receive, receive != current);
        if (receive != current) {
            free(receive);
        }
    }
}

/* Releases the waiting receives of a channel without wildcards, up to the first one that has to
 * wait for a wildcard. */
static void release_channel(struct channel *channel, const struct receive *current) {
    const struct receive_heap *waiting = &channel->heaps[WAITING];
    while (waiting->count > 0 && waiting->receives[0]->channels[BLOCKED] == NULL) {
        struct receive *first = waiting->receives[0];
        struct channel *blocking = blocking_channel(first);
        if (blocking != NULL) {
            add_to_heap(blocking, BLOCKED, first);
            return;
        }
        remove_waiting(first);
        release_receive(first, current);
    }
}

/* A receive does not wait in this channel any more. Releases those that it blocked. */
static void release_blocked(struct channel *channel, const struct receive *current) {
    const struct receive_heap *blocked = &channel->heaps[BLOCKED];
    if (channel->peer != MPI_ANY_SOURCE && channel->tag != MPI_ANY_TAG) {
        release_channel(channel, current);
        return;
    }
    while (blocked->count > 0 && !is_blocked_by(blocked->receives[0], channel)) {
        struct receive *first = blocked->receives[0];
        remove_from_heap(first, BLOCKED);
        release_channel(first->channels[WAITING], current);
    }
}

/* Posts a receive. The caller holds the lock of the tables. */
static struct receive *post_receive(struct communicator *communicator, int source, int tag) {
    struct receive *posted = allocate(sizeof *posted);
    posted->communicator = communicator;
    posted->source = source;
    posted->tag = tag;
    if (communicator->channels.waiting_count == 0 && !has_wildcard(posted)) {
        number_receive(posted);
        return posted;
    }
    posted->order = communicator->channels.posted++;
    add_waiting(posted);
    if (!has_wildcard(posted)) {
        release_channel(posted->channels[WAITING], NULL);
    }
    return posted;
}

/* A receive will get no message that the recorder sees: it was cancelled, or its request was freed.
 * The caller holds the lock of the tables. */
static void drop_receive(struct receive *receive) {
    if (receive->is_numbered) {
        free(receive);
    } else {
        struct channel *channel = receive->channels[WAITING];
        remove_waiting(receive);
        free(receive);
        release_blocked(channel, NULL);
    }
}

/* MPI has found the message of a receive without a number. Returns whether MPI names its sender and
 * tag; a receive that failed may have none. The caller holds the lock of the tables. */
static int match_receive(struct receive *receive, int source, int tag, const struct receive *current) {
    struct channel *wildcard_channel = receive->channels[WAITING];
    if (!has_wildcard(receive)) {
        return 1;
    }
    if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
        return 0;
    }
    remove_waiting(receive);
    receive->source = source;
    receive->tag = tag;
    if (receive->communicator->channels.waiting_count == 0) {
        release_receive(receive, current);
        return 1;
    }
    add_waiting(receive);
    release_blocked(wildcard_channel, current);
    if (!receive->is_numbered) {
        release_channel(receive->channels[WAITING], current);
    }
    return 1;
}

/* A receive has completed with a message. Frees it when it is recorded. The caller holds the
 * lock of the tables. */
static void complete_receive(struct receive *receive, int source, int tag, uint64_t bytes) {
    receive->bytes = bytes;
    receive->is_complete = 1;
    if (receive->is_numbered) {
        record_receive(receive, 0);
        free(receive);
        return;
    }
    receive->arrival = tumit_mpi_now();
    if (!match_receive(receive, source, tag, receive)) {
        drop_receive(receive);
    } else if (receive->is_numbered) {
        free(receive);
    }
}
