/* Procedures that send messages. */

/* Records a message. The caller holds the lock of the tables until MPI has sent the message. So
 * threads send their messages in the order of the numbers. */
static void record_send(struct communicator *communicator, int dest, int tag, uint64_t bytes) {
    const int to = communicator == NULL ? NO_RANK : world_rank(communicator, dest);
    if (to != NO_RANK) {
        tumit_mpi_record_send(communicator->id, to, tag, channel_of(&communicator->channels, dest, tag)->sent++, bytes);
    }
}

static void record_send_to(MPI_Comm comm, int dest, int tag, uint64_t bytes) {
    if (dest != MPI_PROC_NULL) {
        record_send(communicator_of(comm), dest, tag, bytes);
    }
}

/* A blocking send. If the program has several threads, the wrapper calls the non-blocking procedure
 * `INAME` and then waits. So it holds the lock only until MPI has the message, and not while it
 * waits for the receiver. */
#define SEND(NAME, INAME, COUNT)                                                                                 \
    static int w_##NAME(const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) { \
        MPI_Request request;                                                                                     \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, dest, tag, comm);                                 \
        const uint64_t bytes = bytes_of((int64_t)count, datatype);                                               \
        if (has_threads) {                                                                                       \
            lock_tables();                                                                                       \
            record_send_to(comm, dest, tag, bytes);                                                              \
            error_code = mpi.INAME(buf, count, datatype, dest, tag, comm, &request);                             \
            unlock_tables();                                                                                     \
            if (error_code == MPI_SUCCESS) {                                                                     \
                error_code = pmpi.MPI_Wait(&request, MPI_STATUS_IGNORE);                                         \
            }                                                                                                    \
        } else {                                                                                                 \
            record_send_to(comm, dest, tag, bytes);                                                              \
            error_code = mpi.NAME(buf, count, datatype, dest, tag, comm);                                        \
        }                                                                                                        \
        END_CALL(point_to_point);                                                                                \
    }
SEND(MPI_Send, MPI_Isend, int)
SEND(MPI_Bsend, MPI_Ibsend, int)
SEND(MPI_Ssend, MPI_Issend, int)
SEND(MPI_Rsend, MPI_Irsend, int)
SEND(MPI_Send_c, MPI_Isend_c, MPI_Count)
SEND(MPI_Bsend_c, MPI_Ibsend_c, MPI_Count)
SEND(MPI_Ssend_c, MPI_Issend_c, MPI_Count)
SEND(MPI_Rsend_c, MPI_Irsend_c, MPI_Count)

#define ISEND(NAME, COUNT)                                                                                     \
    static int w_##NAME(const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                                \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, dest, tag, comm, request);                      \
        const uint64_t bytes = bytes_of((int64_t)count, datatype);                                             \
        lock_tables();                                                                                         \
        record_send_to(comm, dest, tag, bytes);                                                                \
        error_code = mpi.NAME(buf, count, datatype, dest, tag, comm, request);                                 \
        unlock_tables();                                                                                       \
        END_CALL(point_to_point);                                                                              \
    }
ISEND(MPI_Isend, int)
ISEND(MPI_Ibsend, int)
ISEND(MPI_Issend, int)
ISEND(MPI_Irsend, int)
ISEND(MPI_Isend_c, MPI_Count)
ISEND(MPI_Ibsend_c, MPI_Count)
ISEND(MPI_Issend_c, MPI_Count)
ISEND(MPI_Irsend_c, MPI_Count)

/* Adds the persistent request of a send or receive. The caller holds the lock of the tables. */
static struct request *add_persistent(enum request_kind kind, MPI_Request handle, MPI_Comm comm, int peer, int tag,
                                      uint64_t bytes) {
    struct request *request = add_request(handle, kind);
    request->communicator = communicator_of(comm);
    request->peer = peer;
    request->tag = tag;
    request->bytes = bytes;
    return request;
}

#define SEND_INIT(NAME, COUNT)                                                                                 \
    static int w_##NAME(const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                                \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, dest, tag, comm, request);                      \
        error_code = mpi.NAME(buf, count, datatype, dest, tag, comm, request);                                 \
        if (error_code == MPI_SUCCESS && dest != MPI_PROC_NULL) {                                              \
            const uint64_t bytes = bytes_of((int64_t)count, datatype);                                         \
            lock_tables();                                                                                     \
            add_persistent(PERSISTENT_SEND, *request, comm, dest, tag, bytes);                                 \
            unlock_tables();                                                                                   \
        }                                                                                                      \
        END_CALL(point_to_point);                                                                              \
    }
SEND_INIT(MPI_Send_init, int)
SEND_INIT(MPI_Bsend_init, int)
SEND_INIT(MPI_Ssend_init, int)
SEND_INIT(MPI_Rsend_init, int)
SEND_INIT(MPI_Send_init_c, MPI_Count)
SEND_INIT(MPI_Bsend_init_c, MPI_Count)
SEND_INIT(MPI_Ssend_init_c, MPI_Count)
SEND_INIT(MPI_Rsend_init_c, MPI_Count)

/* The program starts a persistent request: it sends its message, posts its receive or begins its
 * operation. The caller holds the lock of the tables. */
static void start_request(MPI_Request handle) {
    struct request *request = request_of(handle);
    if (request != NULL && request->kind == PERSISTENT_OPERATION) {
        request->operation->start++;
        start_operation(request->operation);
    }
    if (request == NULL || request->communicator == NULL) {
        return;
    }
    request->partitions.start++;
    request->partitions.unready = request->partitions.count;
    request->partitions.is_active = 1;
    if (request->kind == PERSISTENT_SEND) {
        record_send(request->communicator, request->peer, request->tag, request->bytes);
    } else if (request->kind == PERSISTENT_RECEIVE) {
        request->receive = post_receive(request->communicator, request->peer, request->tag);
    }
}

static int w_MPI_Start(MPI_Request *request) {
    BEGIN_CALL(point_to_point, MPI_Start, request);
    lock_tables();
    start_request(*request);
    error_code = mpi.MPI_Start(request);
    unlock_tables();
    END_CALL(point_to_point);
}

static int w_MPI_Startall(int count, MPI_Request array_of_requests[]) {
    int i;
    BEGIN_CALL(point_to_point, MPI_Startall, count, array_of_requests);
    lock_tables();
    for (i = 0; i < count; i++) {
        start_request(array_of_requests[i]);
    }
    error_code = mpi.MPI_Startall(count, array_of_requests);
    unlock_tables();
    END_CALL(point_to_point);
}
