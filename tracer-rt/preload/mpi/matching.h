/* The numbers of messages. The sender and the receiver count the messages of a channel: of one
 * communicator, two processes and one tag. MPI matches messages in the order in which they are sent
 * to receives in the order in which they are posted. So a receive gets its number in the order of
 * posting, among the receives of its channel.
 *
 * The channel of a receive with a wildcard is known when it completes. Until then, later receives
 * that the message of the wildcard could match have no number either. They wait in a list of the
 * communicator, and their records are written when their number is known. */

/* A receive that was posted. */
struct receive {
    struct receive *next, *previous; /* in the list of the communicator */
    struct communicator *communicator;
    /* As the program posted it: either may be a wildcard. */
    int source, tag;
    uint32_t number;
    unsigned char is_numbered, is_complete, is_listed;
    uint64_t bytes;
    tumit_mpi_date arrival;
};

static inline int has_wildcard(const struct receive *receive) {
    return receive->source == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG;
}

/* Whether the message of an incomplete receive could come from this source with this tag. */
static inline int could_match(const struct receive *receive, int source, int tag) {
    return (receive->source == MPI_ANY_SOURCE || receive->source == source)
           && (receive->tag == MPI_ANY_TAG || receive->tag == tag);
}

static void append_receive(struct receive *receive) {
    struct communicator *communicator = receive->communicator;
    receive->is_listed = 1;
    receive->previous = communicator->last_waiting;
    receive->next = NULL;
    if (communicator->last_waiting != NULL) {
        communicator->last_waiting->next = receive;
    } else {
        communicator->first_waiting = receive;
    }
    communicator->last_waiting = receive;
}

static void unlink_receive(struct receive *receive) {
    struct communicator *communicator = receive->communicator;
    if (!receive->is_listed) {
        return;
    }
    receive->is_listed = 0;
    if (receive->previous != NULL) {
        receive->previous->next = receive->next;
    } else {
        communicator->first_waiting = receive->next;
    }
    if (receive->next != NULL) {
        receive->next->previous = receive->previous;
    } else {
        communicator->last_waiting = receive->previous;
    }
}

/* Whether a receive before this one in the list could have got its message. */
static int is_blocked(const struct receive *receive) {
    const struct receive *earlier;
    for (earlier = receive->previous; earlier != NULL; earlier = earlier->previous) {
        if (could_match(earlier, receive->source, receive->tag)) {
            return 1;
        }
    }
    return 0;
}

static void number_receive(struct receive *receive) {
    receive->number = channel_of(receive->communicator, receive->source, receive->tag)->received++;
    receive->is_numbered = 1;
    unlink_receive(receive);
}

/* Posts a receive. The lock of the tables is held. */
static struct receive *post_receive(struct communicator *communicator, int source, int tag) {
    struct receive *posted = allocated(sizeof *posted);
    posted->communicator = communicator;
    posted->source = source;
    posted->tag = tag;
    if (!has_wildcard(posted) && communicator->first_waiting == NULL) {
        number_receive(posted);
    } else {
        append_receive(posted);
        if (!has_wildcard(posted) && !is_blocked(posted)) {
            number_receive(posted);
        }
    }
    return posted;
}

static void record_receive(const struct receive *receive, int is_late) {
    const int from = world_rank(receive->communicator, receive->source);
    if (from == NO_RANK) {
        return;
    }
    if (is_late) {
        tumit_mpi_record_late_receive(receive->communicator->id, from, receive->tag, receive->number, receive->bytes, receive->arrival);
    } else {
        tumit_mpi_record_receive(receive->communicator->id, from, receive->tag, receive->number, receive->bytes);
    }
}

/* Gives numbers to the waiting receives that nothing blocks any more, and records those that are
 * complete. Frees these, except `current`. */
static void number_waiting_receives(struct communicator *communicator, struct receive *current) {
    struct receive *receive, *following;
    for (receive = communicator->first_waiting; receive != NULL; receive = following) {
        following = receive->next;
        if ((has_wildcard(receive) && !receive->is_complete) || is_blocked(receive)) {
            continue;
        }
        number_receive(receive);
        if (receive->is_complete) {
            record_receive(receive, receive != current);
            if (receive != current) {
                free(receive);
            }
        }
    }
}

/* A receive has completed with a message. Frees it when it is recorded. The lock of the tables is
 * held. */
static void complete_receive(struct receive *receive, int source, int tag, uint64_t bytes) {
    const int was_wildcard = has_wildcard(receive);
    receive->bytes = bytes;
    receive->is_complete = 1;
    if (receive->is_numbered) {
        record_receive(receive, 0);
        free(receive);
        return;
    }
    receive->source = source;
    receive->tag = tag;
    receive->arrival = tumit_mpi_now();
    if (was_wildcard || !is_blocked(receive)) {
        number_waiting_receives(receive->communicator, receive);
    }
    if (receive->is_numbered) {
        free(receive);
    }
}

/* A receive will get no message that the recorder sees: it was cancelled, or its request was freed.
 * The lock of the tables is held. */
static void drop_receive(struct receive *receive) {
    struct communicator *communicator = receive->communicator;
    const int was_listed = receive->is_listed;
    unlink_receive(receive);
    free(receive);
    if (was_listed) {
        number_waiting_receives(communicator, NULL);
    }
}
