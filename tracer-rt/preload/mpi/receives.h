/* Procedures that receive messages. */

/* Posts a receive, unless its source is MPI_PROC_NULL. The caller holds the lock of the tables. */
static struct receive *post(MPI_Comm comm, int source, int tag) {
    struct communicator *communicator = source == MPI_PROC_NULL ? NULL : communicator_of(comm);
    return communicator == NULL ? NULL : post_receive(communicator, source, tag);
}

/* A blocking receive has ended. */
static void finish_receive(struct receive *receive, int error_code, const MPI_Status *status) {
    if (receive == NULL) {
        return;
    }
    lock_tables();
    if (error_code == MPI_SUCCESS) {
        complete_receive(receive, status->MPI_SOURCE, status->MPI_TAG, received_bytes(status));
    } else {
        drop_receive(receive);
    }
    unlock_tables();
}

#define RECV(NAME, INAME, COUNT)                                                                           \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
                        MPI_Status *status) {                                                              \
        struct receive *receive;                                                                           \
        MPI_Status local_status;                                                                           \
        MPI_Request request;                                                                               \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, source, tag, comm, status);                 \
        status = status == MPI_STATUS_IGNORE ? &local_status : status;                                     \
        if (has_threads) {                                                                                 \
            lock_tables();                                                                                 \
            receive = post(comm, source, tag);                                                             \
            error_code = mpi.INAME(buf, count, datatype, source, tag, comm, &request);                     \
            unlock_tables();                                                                               \
            if (error_code == MPI_SUCCESS) {                                                               \
                error_code = pmpi.MPI_Wait(&request, status);                                              \
            }                                                                                              \
        } else {                                                                                           \
            receive = post(comm, source, tag);                                                             \
            error_code = mpi.NAME(buf, count, datatype, source, tag, comm, status);                        \
        }                                                                                                  \
        finish_receive(receive, error_code, status);                                                       \
        END_CALL(point_to_point);                                                                          \
    }
RECV(MPI_Recv, MPI_Irecv, int)
RECV(MPI_Recv_c, MPI_Irecv_c, MPI_Count)

/* MPI has returned the request of a posted receive. The caller holds the lock of the tables. */
static void add_receive_request(struct receive *receive, int error_code, MPI_Request handle) {
    if (receive != NULL && error_code == MPI_SUCCESS) {
        add_request(handle, RECEIVE_REQUEST)->receive = receive;
    } else if (receive != NULL) {
        drop_receive(receive);
    }
}

#define IRECV(NAME, COUNT)                                                                                 \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                            \
        struct receive *receive;                                                                           \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, source, tag, comm, request);                \
        lock_tables();                                                                                     \
        receive = post(comm, source, tag);                                                                 \
        error_code = mpi.NAME(buf, count, datatype, source, tag, comm, request);                           \
        add_receive_request(receive, error_code, *request);                                                \
        unlock_tables();                                                                                   \
        END_CALL(point_to_point);                                                                          \
    }
IRECV(MPI_Irecv, int)
IRECV(MPI_Irecv_c, MPI_Count)

#define RECV_INIT(NAME, COUNT)                                                                             \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                            \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, source, tag, comm, request);                \
        error_code = mpi.NAME(buf, count, datatype, source, tag, comm, request);                           \
        if (error_code == MPI_SUCCESS && source != MPI_PROC_NULL) {                                        \
            lock_tables();                                                                                 \
            add_persistent(PERSISTENT_RECEIVE, *request, comm, source, tag, 0);                            \
            unlock_tables();                                                                               \
        }                                                                                                  \
        END_CALL(point_to_point);                                                                          \
    }
RECV_INIT(MPI_Recv_init, int)
RECV_INIT(MPI_Recv_init_c, MPI_Count)

/* ---- Matched probes: MPI selects a message, and the program receives it later ---- */

/* A message that a matched probe has selected. */
struct matched_message {
    struct matched_message *next;
    MPI_Message handle;
    struct receive *receive;
};
static struct matched_message *matched_messages;

/* The caller holds the lock of the tables. */
static void add_matched_message(MPI_Message handle, struct receive *receive, const MPI_Status *status) {
    struct matched_message *matched;
    if (receive == NULL) {
        return;
    }
    if (handle == MPI_MESSAGE_NO_PROC || handle == MPI_MESSAGE_NULL) {
        drop_receive(receive);
        return;
    }
    /* The channel is known now, although the program receives the message later. */
    if (!receive->is_numbered && !match_receive(receive, status->MPI_SOURCE, status->MPI_TAG, NULL)) {
        drop_receive(receive);
        return;
    }
    matched = allocate(sizeof *matched);
    matched->handle = handle;
    matched->receive = receive;
    matched->next = matched_messages;
    matched_messages = matched;
}

/* Removes a matched message. Returns its receive. The caller holds the lock of the tables. */
static struct receive *take_matched_message(MPI_Message handle) {
    struct matched_message **link, *matched;
    struct receive *receive;
    for (link = &matched_messages; *link != NULL && (*link)->handle != handle; link = &(*link)->next) {
    }
    matched = *link;
    if (matched == NULL) {
        return NULL;
    }
    receive = matched->receive;
    *link = matched->next;
    free(matched);
    return receive;
}

static int w_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct receive *receive;
    MPI_Status local_status;
    int flag = 0;
    BEGIN_CALL(point_to_point, MPI_Mprobe, source, tag, comm, message, status);
    status = status == MPI_STATUS_IGNORE ? &local_status : status;
    if (has_threads) {
        /* No other thread may post a receive after MPI has selected the message and before
         * `post`. Therefore the wrapper holds the lock, and polls instead of waiting. */
        do {
            lock_tables();
            error_code = mpi.MPI_Improbe(source, tag, comm, &flag, message, status);
            if (error_code == MPI_SUCCESS && flag) {
                receive = post(comm, source, tag);
                add_matched_message(*message, receive, status);
            }
            unlock_tables();
        } while (error_code == MPI_SUCCESS && !flag && sched_yield() == 0);
    } else {
        error_code = mpi.MPI_Mprobe(source, tag, comm, message, status);
        if (error_code == MPI_SUCCESS) {
            receive = post(comm, source, tag);
            add_matched_message(*message, receive, status);
        }
    }
    END_CALL(point_to_point);
}

#define MRECV(NAME, COUNT)                                                                                         \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status) { \
        struct receive *receive;                                                                                   \
        MPI_Status local_status;                                                                                   \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, message, status);                                   \
        status = status == MPI_STATUS_IGNORE ? &local_status : status;                                             \
        lock_tables();                                                                                             \
        receive = take_matched_message(*message);                                                                  \
        unlock_tables();                                                                                           \
        error_code = mpi.NAME(buf, count, datatype, message, status);                                              \
        finish_receive(receive, error_code, status);                                                               \
        END_CALL(point_to_point);                                                                                  \
    }
MRECV(MPI_Mrecv, int)
MRECV(MPI_Mrecv_c, MPI_Count)

#define IMRECV(NAME, COUNT)                                                                                          \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) { \
        struct receive *receive;                                                                                     \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, message, request);                                    \
        lock_tables();                                                                                               \
        receive = take_matched_message(*message);                                                                    \
        error_code = mpi.NAME(buf, count, datatype, message, request);                                               \
        add_receive_request(receive, error_code, *request);                                                          \
        unlock_tables();                                                                                             \
        END_CALL(point_to_point);                                                                                    \
    }
IMRECV(MPI_Imrecv, int)
IMRECV(MPI_Imrecv_c, MPI_Count)

/* ---- Procedures that send and receive ---- */

#define SENDRECV(NAME, ISEND_NAME, IRECV_NAME, COUNT)                                                        \
    static int w_##NAME(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,  \
                        void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,      \
                        MPI_Comm comm, MPI_Status *status) {                                                 \
        struct receive *receive;                                                                             \
        MPI_Status local_status;                                                                             \
        BEGIN_CALL(point_to_point, NAME, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,    \
                   recvtype, source, recvtag, comm, status);                                                 \
        status = status == MPI_STATUS_IGNORE ? &local_status : status;                                       \
        const uint64_t bytes = bytes_of((int64_t)sendcount, sendtype);                                       \
        lock_tables();                                                                                       \
        receive = post(comm, source, recvtag);                                                               \
        record_send_to(comm, dest, sendtag, bytes);                                                          \
        if (has_threads) {                                                                                   \
            MPI_Request pair[2];                                                                             \
            error_code = mpi.IRECV_NAME(recvbuf, recvcount, recvtype, source, recvtag, comm, &pair[0]);      \
            if (error_code == MPI_SUCCESS) {                                                                 \
                error_code = mpi.ISEND_NAME(sendbuf, sendcount, sendtype, dest, sendtag, comm, &pair[1]);    \
            }                                                                                                \
            unlock_tables();                                                                                 \
            if (error_code == MPI_SUCCESS) {                                                                 \
                error_code = pmpi.MPI_Wait(&pair[0], status);                                                \
            }                                                                                                \
            if (error_code == MPI_SUCCESS) {                                                                 \
                error_code = pmpi.MPI_Wait(&pair[1], MPI_STATUS_IGNORE);                                     \
            }                                                                                                \
        } else {                                                                                             \
            error_code = mpi.NAME(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, \
                               source, recvtag, comm, status);                                               \
        }                                                                                                    \
        finish_receive(receive, error_code, status);                                                         \
        END_CALL(point_to_point);                                                                            \
    }
SENDRECV(MPI_Sendrecv, MPI_Isend, MPI_Irecv, int)
SENDRECV(MPI_Sendrecv_c, MPI_Isend_c, MPI_Irecv_c, MPI_Count)

#define SENDRECV_REPLACE(NAME, COUNT)                                                                         \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source,     \
                        int recvtag, MPI_Comm comm, MPI_Status *status) {                                     \
        struct receive *receive;                                                                              \
        MPI_Status local_status;                                                                              \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, dest, sendtag, source, recvtag, comm, status); \
        status = status == MPI_STATUS_IGNORE ? &local_status : status;                                        \
        const uint64_t bytes = bytes_of((int64_t)count, datatype);                                            \
        lock_tables();                                                                                        \
        receive = post(comm, source, recvtag);                                                                \
        record_send_to(comm, dest, sendtag, bytes);                                                           \
        unlock_tables();                                                                                      \
        error_code = mpi.NAME(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);            \
        finish_receive(receive, error_code, status);                                                          \
        END_CALL(point_to_point);                                                                             \
    }
SENDRECV_REPLACE(MPI_Sendrecv_replace, int)
SENDRECV_REPLACE(MPI_Sendrecv_replace_c, MPI_Count)

#define ISENDRECV(NAME, COUNT)                                                                              \
    static int w_##NAME(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag, \
                        void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,     \
                        MPI_Comm comm, MPI_Request *request) {                                              \
        struct receive *receive;                                                                            \
        BEGIN_CALL(point_to_point, NAME, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,   \
                   recvtype, source, recvtag, comm, request);                                               \
        const uint64_t bytes = bytes_of((int64_t)sendcount, sendtype);                                      \
        lock_tables();                                                                                      \
        receive = post(comm, source, recvtag);                                                              \
        record_send_to(comm, dest, sendtag, bytes);                                                         \
        error_code = mpi.NAME(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,    \
                               source, recvtag, comm, request);                                             \
        add_receive_request(receive, error_code, *request);                                                 \
        unlock_tables();                                                                                    \
        END_CALL(point_to_point);                                                                           \
    }
ISENDRECV(MPI_Isendrecv, int)
ISENDRECV(MPI_Isendrecv_c, MPI_Count)

#define ISENDRECV_REPLACE(NAME, COUNT)                                                                         \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source,      \
                        int recvtag, MPI_Comm comm, MPI_Request *request) {                                    \
        struct receive *receive;                                                                               \
        BEGIN_CALL(point_to_point, NAME, buf, count, datatype, dest, sendtag, source, recvtag, comm, request); \
        const uint64_t bytes = bytes_of((int64_t)count, datatype);                                             \
        lock_tables();                                                                                         \
        receive = post(comm, source, recvtag);                                                                 \
        record_send_to(comm, dest, sendtag, bytes);                                                            \
        error_code = mpi.NAME(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);            \
        add_receive_request(receive, error_code, *request);                                                    \
        unlock_tables();                                                                                       \
        END_CALL(point_to_point);                                                                              \
    }
ISENDRECV_REPLACE(MPI_Isendrecv_replace, int)
ISENDRECV_REPLACE(MPI_Isendrecv_replace_c, MPI_Count)
