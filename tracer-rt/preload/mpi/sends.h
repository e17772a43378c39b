/* Procedures that send messages. */

/* Records a message. The number and the call of MPI follow each other without a message of another
 * thread in between, because the caller holds the lock of the tables. */
static void record_send(struct communicator *communicator, int dest, int tag, uint64_t bytes) {
    const int to = communicator == NULL ? NO_RANK : world_rank(communicator, dest);
    if (to != NO_RANK) {
        tumit_mpi_record_send(communicator->id, to, tag, channel_of(communicator, dest, tag)->sent++, bytes);
    }
}

static void record_send_to(MPI_Comm comm, int dest, int tag, uint64_t bytes) {
    if (dest != MPI_PROC_NULL) {
        record_send(communicator_of(comm), dest, tag, bytes);
    }
}

/* A blocking send. If other threads may send on the same channel, it is carried out as a send that
 * does not block, and a wait: then messages leave in the order of their numbers. */
#define SEND(NAME, INAME, COUNT)                                                                             \
    static int w_##NAME(const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) { \
        MPI_Request request;                                                                                 \
        uint64_t bytes;                                                                                      \
        int result;                                                                                          \
        if (!is_recorded()) {                                                                                \
            return inner.NAME(buf, count, datatype, dest, tag, comm);                                        \
        }                                                                                                    \
        tumit_mpi_depth++;                                                                                   \
        bytes = bytes_of((int64_t)count, datatype);                                                          \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                      \
        if (has_threads) {                                                                                   \
            lock_tables();                                                                                   \
            record_send_to(comm, dest, tag, bytes);                                                          \
            result = next.INAME(buf, count, datatype, dest, tag, comm, &request);                            \
            unlock_tables();                                                                                 \
            if (result == MPI_SUCCESS) {                                                                     \
                result = inner.MPI_Wait(&request, MPI_STATUS_IGNORE);                                        \
            }                                                                                                \
        } else {                                                                                             \
            record_send_to(comm, dest, tag, bytes);                                                          \
            result = next.NAME(buf, count, datatype, dest, tag, comm);                                       \
        }                                                                                                    \
        tumit_mpi_end_point_to_point();                                                                            \
        tumit_mpi_depth--;                                                                                   \
        return result;                                                                                       \
    }
SEND(MPI_Send, MPI_Isend, int)
SEND(MPI_Bsend, MPI_Ibsend, int)
SEND(MPI_Ssend, MPI_Issend, int)
SEND(MPI_Rsend, MPI_Irsend, int)
SEND(MPI_Send_c, MPI_Isend_c, MPI_Count)
SEND(MPI_Bsend_c, MPI_Ibsend_c, MPI_Count)
SEND(MPI_Ssend_c, MPI_Issend_c, MPI_Count)
SEND(MPI_Rsend_c, MPI_Irsend_c, MPI_Count)

#define ISEND(NAME, COUNT)                                                                                  \
    static int w_##NAME(const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                             \
        uint64_t bytes;                                                                                     \
        int result;                                                                                         \
        if (!is_recorded()) {                                                                               \
            return inner.NAME(buf, count, datatype, dest, tag, comm, request);                              \
        }                                                                                                   \
        tumit_mpi_depth++;                                                                                  \
        bytes = bytes_of((int64_t)count, datatype);                                                         \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                     \
        lock_tables();                                                                                      \
        record_send_to(comm, dest, tag, bytes);                                                             \
        result = next.NAME(buf, count, datatype, dest, tag, comm, request);                                 \
        unlock_tables();                                                                                    \
        tumit_mpi_end_point_to_point();                                                                           \
        tumit_mpi_depth--;                                                                                  \
        return result;                                                                                      \
    }
ISEND(MPI_Isend, int)
ISEND(MPI_Ibsend, int)
ISEND(MPI_Issend, int)
ISEND(MPI_Irsend, int)
ISEND(MPI_Isend_c, MPI_Count)
ISEND(MPI_Ibsend_c, MPI_Count)
ISEND(MPI_Issend_c, MPI_Count)
ISEND(MPI_Irsend_c, MPI_Count)

/* Adds the persistent request of a send or receive. The lock of the tables is held. */
static void add_persistent(enum request_kind kind, MPI_Request handle, MPI_Comm comm, int peer, int tag, uint64_t bytes) {
    struct request *added = add_request(handle, kind);
    added->communicator = communicator_of(comm);
    added->peer = peer;
    added->tag = tag;
    added->bytes = bytes;
}

#define SEND_INIT(NAME, COUNT)                                                                              \
    static int w_##NAME(const void *buf, COUNT count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                             \
        uint64_t bytes;                                                                                     \
        int result;                                                                                         \
        if (!is_recorded()) {                                                                               \
            return inner.NAME(buf, count, datatype, dest, tag, comm, request);                              \
        }                                                                                                   \
        tumit_mpi_depth++;                                                                                  \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                     \
        result = next.NAME(buf, count, datatype, dest, tag, comm, request);                                 \
        if (result == MPI_SUCCESS && dest != MPI_PROC_NULL) {                                               \
            bytes = bytes_of((int64_t)count, datatype);                                                     \
            lock_tables();                                                                                  \
            add_persistent(PERSISTENT_SEND, *request, comm, dest, tag, bytes);                              \
            unlock_tables();                                                                                \
        }                                                                                                   \
        tumit_mpi_end_point_to_point();                                                                           \
        tumit_mpi_depth--;                                                                                  \
        return result;                                                                                      \
    }
SEND_INIT(MPI_Send_init, int)
SEND_INIT(MPI_Bsend_init, int)
SEND_INIT(MPI_Ssend_init, int)
SEND_INIT(MPI_Rsend_init, int)
SEND_INIT(MPI_Send_init_c, MPI_Count)
SEND_INIT(MPI_Bsend_init_c, MPI_Count)
SEND_INIT(MPI_Ssend_init_c, MPI_Count)
SEND_INIT(MPI_Rsend_init_c, MPI_Count)

static int w_MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                            MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    uint64_t bytes;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Psend_init);
    result = next.MPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
    if (result == MPI_SUCCESS && dest != MPI_PROC_NULL) {
        bytes = (uint64_t)partitions * bytes_of(count, datatype);
        lock_tables();
        add_persistent(PERSISTENT_SEND, *request, comm, dest, tag, bytes);
        unlock_tables();
    }
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

/* A persistent request starts: its message leaves, or its receive is posted. The lock of the tables
 * is held. */
static void start_request(MPI_Request handle) {
    struct request *request = request_of(handle);
    if (request == NULL || request->communicator == NULL) {
        return;
    }
    if (request->kind == PERSISTENT_SEND) {
        record_send(request->communicator, request->peer, request->tag, request->bytes);
    } else if (request->kind == PERSISTENT_RECEIVE) {
        request->receive = post_receive(request->communicator, request->peer, request->tag);
    }
}

static int w_MPI_Start(MPI_Request *request) {
    int result;
    if (!is_recorded()) {
        return inner.MPI_Start(request);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Start);
    lock_tables();
    start_request(*request);
    result = next.MPI_Start(request);
    unlock_tables();
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

static int w_MPI_Startall(int count, MPI_Request array_of_requests[]) {
    int result, i;
    if (!is_recorded()) {
        return inner.MPI_Startall(count, array_of_requests);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Startall);
    lock_tables();
    for (i = 0; i < count; i++) {
        start_request(array_of_requests[i]);
    }
    result = next.MPI_Startall(count, array_of_requests);
    unlock_tables();
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}
