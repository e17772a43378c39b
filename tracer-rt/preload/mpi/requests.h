/* The table of requests of receives and collective operations, and of persistent requests. Other
 * requests are not in it. The recorder needs no data of them, and MPI may use one handle for
 * several of them. */

#define REQUEST_BUCKETS 1024u

/* The state of a partitioned request. */
struct partitions {
    /* Position among the partitioned requests of its communicator, peer and tag. MPI connects the
     * n-th request of the sender to the n-th request of the receiver. */
    uint32_t request;
    /* Number of times that the program has started it. */
    uint32_t start;
    /* Number of partitions, and of those that the sender has not marked as ready. */
    int count, unready;
    unsigned char is_active;
};

enum request_kind {
    RECEIVE_REQUEST,
    PERSISTENT_SEND,
    PERSISTENT_RECEIVE,
    OPERATION_REQUEST,
    PERSISTENT_OPERATION,
    PARTITIONED_SEND,
    PARTITIONED_RECEIVE
};

struct request {
    struct request *next;
    MPI_Request handle;
    enum request_kind kind;
    unsigned char is_cancelled;
    /* Whether a call waits for the request or tests it. MPI forbids two such calls at the same
     * time. */
    unsigned char is_reserved;
    /* The posted receive, or NULL if the request is not active. */
    struct receive *receive;
    /* The collective operation, or NULL. */
    struct operation *operation;
    /* Only of persistent requests. */
    struct communicator *communicator;
    int peer, tag;
    uint64_t bytes;
    /* Only of partitioned requests. */
    struct partitions partitions;
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

/* The newest request with this handle, or NULL. The caller holds the lock of the tables. */
static struct request *request_of(MPI_Request handle) {
    struct request *request;
    if (request_count == 0) {
        return NULL;
    }
    for (request = *request_bucket(handle); request != NULL && request->handle != handle; request = request->next) {
    }
    return request;
}

/* The request with this handle for a call that may complete it, or NULL. The caller holds the lock
 * of the tables, and later removes or releases the request.
 *
 * When a request completes, MPI may give its handle to a new request of another thread before the
 * waiting thread has removed the old request from the table. The new request may be a send, which
 * is not in the table. Therefore a thread reserves its requests before it waits for them, and other
 * threads do not find them. */
static struct request *reserve_request(MPI_Request handle) {
    struct request *request = request_of(handle);
    while (request != NULL && (request->handle != handle || request->is_reserved)) {
        request = request->next;
    }
    if (request != NULL) {
        request->is_reserved = 1;
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

/* A partitioned receive is complete. The caller holds the lock of the tables. */
static void complete_partitions(struct request *request) {
    struct partitions *partitions = &request->partitions;
    const int from = request->communicator == NULL ? NO_RANK : world_rank(request->communicator, request->peer);
    if (partitions->is_active && from != NO_RANK) {
        tumit_mpi_record_partitioned_receive(request->communicator->id, from, request->tag, partitions->request,
                                             partitions->start, request->bytes);
    }
    partitions->is_active = 0;
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
    if (request->kind == PARTITIONED_RECEIVE) {
        complete_partitions(request);
    }
    if (request->operation != NULL) {
        end_operation(request->operation);
    }
    if (request->kind == OPERATION_REQUEST) {
        free_operation(request->operation);
    }
    request->is_reserved = 0;
    if (request->kind == RECEIVE_REQUEST || request->kind == OPERATION_REQUEST) {
        remove_request(request);
    }
}

/* MPI has returned the request of a non-blocking operation. If the operation is complete, its
 * handle may also be that of other requests, so it does not enter the table. The caller holds the
 * lock of the tables. */
static void add_operation_request(struct operation *operation, int error_code, MPI_Request *handle) {
    int is_complete = error_code != MPI_SUCCESS;
    if (operation == NULL) {
        return;
    }
    if (!is_complete) {
        pmpi.MPI_Request_get_status(*handle, &is_complete, MPI_STATUS_IGNORE);
    }
    if (is_complete) {
        free_operation(operation);
    } else {
        add_request(*handle, OPERATION_REQUEST)->operation = operation;
    }
}

/* MPI has returned the request of a persistent operation. The caller holds the lock of the
 * tables. */
static void add_persistent_operation(struct operation *operation, int error_code, MPI_Request *handle) {
    if (operation != NULL && error_code == MPI_SUCCESS) {
        add_request(*handle, PERSISTENT_OPERATION)->operation = operation;
    } else if (operation != NULL) {
        free_operation(operation);
    }
}
