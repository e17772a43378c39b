/* The table of requests of receives, and of persistent requests. Other requests are not in it. The
 * recorder needs no data of them, and MPI may use one handle for several of them. */

#define REQUEST_BUCKETS 1024u

enum request_kind { RECEIVE_REQUEST, PERSISTENT_SEND, PERSISTENT_RECEIVE };

struct request {
    struct request *next;
    MPI_Request handle;
    enum request_kind kind;
    unsigned char is_cancelled;
    /* The posted receive, or NULL if the request is not active. */
    struct receive *receive;
    /* Only of persistent requests. */
    struct communicator *communicator;
    int peer, tag;
    uint64_t bytes;
};

static struct request *requests[REQUEST_BUCKETS];
/* Number of requests in the table. If it is 0, calls that complete requests need not look them
 * up. */
static volatile unsigned request_count;

static struct request **request_bucket(MPI_Request handle) {
    return &requests[hash_words(HANDLE_BITS(handle), 2) % REQUEST_BUCKETS];
}

/* Adds a request. The caller holds the lock of the tables. */
static struct request *add_request(MPI_Request handle, enum request_kind kind) {
    struct request *request = allocate(sizeof *request), **bucket = request_bucket(handle);
    request->handle = handle;
    request->kind = kind;
    request->next = *bucket;
    *bucket = request;
    request_count++;
    return request;
}

/* The request with this handle, or NULL. The caller holds the lock of the tables.
 *
 * When a request completes, MPI may give its handle to a new request of another thread before the
 * waiting thread has removed the old request from the table. Therefore a thread looks up its
 * requests before it waits for them, and this function returns the newest request. */
static struct request *request_of(MPI_Request handle) {
    struct request *request;
    if (request_count == 0) {
        return NULL;
    }
    for (request = *request_bucket(handle); request != NULL && request->handle != handle; request = request->next) {
    }
    return request;
}

static void remove_request(struct request *request) {
    struct request **link;
    for (link = request_bucket(request->handle); *link != request; link = &(*link)->next) {
    }
    *link = request->next;
    request_count--;
    free(request);
}

/* The number of bytes of a received message. */
static uint64_t received_bytes(const MPI_Status *status) {
    MPI_Count count = 0;
    return pmpi.MPI_Get_elements_x(status, MPI_BYTE, &count) == MPI_SUCCESS && count > 0 ? (uint64_t)count : 0;
}

/* A receive was cancelled, so its message number is free. The receives with higher numbers on this
 * channel get the number before theirs. None of them has a message yet, because MPI serves receives
 * in the order of posting. The caller holds the lock of the tables. */
static void cancel_receive(struct receive *receive) {
    struct request *request;
    unsigned i;
    if (receive->is_numbered) {
        channel_of(&receive->communicator->channels, receive->source, receive->tag)->received--;
        for (i = 0; i < REQUEST_BUCKETS; i++) {
            for (request = requests[i]; request != NULL; request = request->next) {
                struct receive *later = request->receive;
                if (later != NULL && later->is_numbered && later->communicator == receive->communicator
                    && later->source == receive->source && later->tag == receive->tag
                    && later->number > receive->number) {
                    later->number--;
                }
            }
        }
    }
    drop_receive(receive);
}

/* A request has completed with this status. The caller holds the lock of the tables. */
static void complete_request(struct request *request, const MPI_Status *status) {
    struct receive *receive = request->receive;
    int is_cancelled = 0;
    if (receive != NULL) {
        if (request->is_cancelled) {
            pmpi.MPI_Test_cancelled(status, &is_cancelled);
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
