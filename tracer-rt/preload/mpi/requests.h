/* Requests of receives, and persistent requests. Requests of other kinds are not in the table: MPI
 * may give several of them the same handle. */

#define REQUEST_BUCKETS 1024u

enum request_kind { RECEIVE_REQUEST, PERSISTENT_SEND, PERSISTENT_RECEIVE };

struct request {
    struct request *next;
    MPI_Request handle;
    enum request_kind kind;
    unsigned char is_cancelled;
    /* the posted receive; NULL if the request is not active */
    struct receive *receive;
    /* of persistent requests */
    struct communicator *communicator;
    int peer, tag;
    uint64_t bytes;
};

static struct request *requests[REQUEST_BUCKETS];
/* Number of requests in the table. Without one, completions cost nothing. */
static volatile unsigned request_count;

static struct request **request_bucket(MPI_Request handle) {
    return &requests[mixed(HANDLE_BITS(handle), 2) % REQUEST_BUCKETS];
}

/* Adds a request. The lock of the tables is held. */
static struct request *add_request(MPI_Request handle, enum request_kind kind) {
    struct request *added = allocated(sizeof *added), **bucket = request_bucket(handle);
    added->handle = handle;
    added->kind = kind;
    added->next = *bucket;
    *bucket = added;
    request_count++;
    return added;
}

/* The request with this handle. MPI may use the handle of a completed request again before the
 * thread that waited for it has removed it from the table. Therefore the latest one is returned,
 * and a thread looks requests up before it waits for them. The lock of the tables is held. */
static struct request *request_of(MPI_Request handle) {
    struct request *found;
    if (request_count == 0) {
        return NULL;
    }
    for (found = *request_bucket(handle); found != NULL && found->handle != handle; found = found->next) {
    }
    return found;
}

static void remove_request(struct request *removed) {
    struct request **link;
    for (link = request_bucket(removed->handle); *link != removed; link = &(*link)->next) {
    }
    *link = removed->next;
    request_count--;
    free(removed);
}

/* The number of bytes of a received message. */
static uint64_t received_bytes(const MPI_Status *status) {
    MPI_Count count = 0;
    return inner.MPI_Get_elements_x(status, MPI_BYTE, &count) == MPI_SUCCESS && count > 0 ? (uint64_t)count : 0;
}

/* A receive was cancelled, so no message has its number. Only receives that were posted later on
 * the same channel have higher numbers, and none of them has a message yet. The lock of the tables
 * is held. */
static void cancel_receive(struct receive *cancelled) {
    struct request *other;
    unsigned i;
    if (cancelled->is_numbered) {
        channel_of(cancelled->communicator, cancelled->source, cancelled->tag)->received--;
        for (i = 0; i < REQUEST_BUCKETS; i++) {
            for (other = requests[i]; other != NULL; other = other->next) {
                struct receive *later = other->receive;
                if (later != NULL && later->is_numbered && later->communicator == cancelled->communicator
                    && later->source == cancelled->source && later->tag == cancelled->tag
                    && later->number > cancelled->number) {
                    later->number--;
                }
            }
        }
    }
    drop_receive(cancelled);
}

/* A request has completed with this status. The lock of the tables is held. */
static void complete_request(struct request *request, const MPI_Status *status) {
    struct receive *receive = request->receive;
    int is_cancelled = 0;
    if (receive != NULL) {
        if (request->is_cancelled) {
            inner.MPI_Test_cancelled(status, &is_cancelled);
        }
        if (is_cancelled) {
            cancel_receive(receive);
        } else if (status->MPI_SOURCE == MPI_PROC_NULL) {
            drop_receive(receive);
        } else {
            complete_receive(receive, status->MPI_SOURCE, status->MPI_TAG, received_bytes(status));
        }
        request->receive = NULL;
    }
    request->is_cancelled = 0;
    if (request->kind == RECEIVE_REQUEST) {
        remove_request(request);
    }
}
