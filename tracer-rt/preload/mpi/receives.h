/* Procedures that receive messages. */

/* Posts a receive, unless its source is MPI_PROC_NULL. The lock of the tables is held. */
static struct receive *post(MPI_Comm comm, int source, int tag) {
    struct communicator *communicator = source == MPI_PROC_NULL ? NULL : communicator_of(comm);
    return communicator == NULL ? NULL : post_receive(communicator, source, tag);
}

/* A blocking receive has ended with this status. */
static void finish_receive(struct receive *receive, int result, const MPI_Status *status) {
    if (receive == NULL) {
        return;
    }
    lock_tables();
    if (result == MPI_SUCCESS) {
        complete_receive(receive, status->MPI_SOURCE, status->MPI_TAG, received_bytes(status));
    } else {
        drop_receive(receive);
    }
    unlock_tables();
}

#define RECV(NAME, INAME, COUNT)                                                                        \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
                        MPI_Status *status) {                                                           \
        struct receive *receive;                                                                        \
        MPI_Status own;                                                                                 \
        MPI_Request request;                                                                            \
        int result;                                                                                     \
        if (!is_recorded()) {                                                                           \
            return inner.NAME(buf, count, datatype, source, tag, comm, status);                         \
        }                                                                                               \
        tumit_mpi_depth++;                                                                              \
        status = status == MPI_STATUS_IGNORE ? &own : status;                                           \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                 \
        if (has_threads) {                                                                              \
            lock_tables();                                                                              \
            receive = post(comm, source, tag);                                                          \
            result = next.INAME(buf, count, datatype, source, tag, comm, &request);                     \
            unlock_tables();                                                                            \
            if (result == MPI_SUCCESS) {                                                                \
                result = inner.MPI_Wait(&request, status);                                              \
            }                                                                                           \
        } else {                                                                                        \
            receive = post(comm, source, tag);                                                          \
            result = next.NAME(buf, count, datatype, source, tag, comm, status);                        \
        }                                                                                               \
        finish_receive(receive, result, status);                                                        \
        tumit_mpi_end_point_to_point();                                                                       \
        tumit_mpi_depth--;                                                                              \
        return result;                                                                                  \
    }
RECV(MPI_Recv, MPI_Irecv, int)
RECV(MPI_Recv_c, MPI_Irecv_c, MPI_Count)

/* A posted receive and its request. The lock of the tables is held. */
static void add_receive_request(struct receive *receive, int result, MPI_Request handle) {
    if (receive != NULL && result == MPI_SUCCESS) {
        add_request(handle, RECEIVE_REQUEST)->receive = receive;
    } else if (receive != NULL) {
        drop_receive(receive);
    }
}

#define IRECV(NAME, COUNT)                                                                              \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                         \
        struct receive *receive;                                                                        \
        int result;                                                                                     \
        if (!is_recorded()) {                                                                           \
            return inner.NAME(buf, count, datatype, source, tag, comm, request);                        \
        }                                                                                               \
        tumit_mpi_depth++;                                                                              \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                 \
        lock_tables();                                                                                  \
        receive = post(comm, source, tag);                                                              \
        result = next.NAME(buf, count, datatype, source, tag, comm, request);                           \
        add_receive_request(receive, result, *request);                                                 \
        unlock_tables();                                                                                \
        tumit_mpi_end_point_to_point();                                                                       \
        tumit_mpi_depth--;                                                                              \
        return result;                                                                                  \
    }
IRECV(MPI_Irecv, int)
IRECV(MPI_Irecv_c, MPI_Count)

#define RECV_INIT(NAME, COUNT)                                                                          \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, \
                        MPI_Request *request) {                                                         \
        int result;                                                                                     \
        if (!is_recorded()) {                                                                           \
            return inner.NAME(buf, count, datatype, source, tag, comm, request);                        \
        }                                                                                               \
        tumit_mpi_depth++;                                                                              \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                 \
        result = next.NAME(buf, count, datatype, source, tag, comm, request);                           \
        if (result == MPI_SUCCESS && source != MPI_PROC_NULL) {                                         \
            lock_tables();                                                                              \
            add_persistent(PERSISTENT_RECEIVE, *request, comm, source, tag, 0);                         \
            unlock_tables();                                                                            \
        }                                                                                               \
        tumit_mpi_end_point_to_point();                                                                       \
        tumit_mpi_depth--;                                                                              \
        return result;                                                                                  \
    }
RECV_INIT(MPI_Recv_init, int)
RECV_INIT(MPI_Recv_init_c, MPI_Count)

static int w_MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                            MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    int result;
    if (!is_recorded()) {
        return inner.MPI_Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Precv_init);
    result = next.MPI_Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
    if (result == MPI_SUCCESS && source != MPI_PROC_NULL) {
        lock_tables();
        add_persistent(PERSISTENT_RECEIVE, *request, comm, source, tag, 0);
        unlock_tables();
    }
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

/* ---- Messages that are matched by a probe, and received later ---- */

/* A message that a probe has matched. */
struct matched_message {
    struct matched_message *next;
    MPI_Message handle;
    struct receive *receive;
};
static struct matched_message *matched_messages;

/* The lock of the tables is held. */
static void add_matched_message(MPI_Message handle, struct receive *receive, const MPI_Status *status) {
    struct matched_message *added;
    if (receive == NULL) {
        return;
    }
    if (handle == MPI_MESSAGE_NO_PROC || handle == MPI_MESSAGE_NULL) {
        drop_receive(receive);
        return;
    }
    /* The probe determines the channel, and the receive completes later. */
    if (!receive->is_numbered) {
        receive->source = status->MPI_SOURCE;
        receive->tag = status->MPI_TAG;
        number_waiting_receives(receive->communicator, NULL);
    }
    added = allocated(sizeof *added);
    added->handle = handle;
    added->receive = receive;
    added->next = matched_messages;
    matched_messages = added;
}

/* The receive that belongs to a matched message. The lock of the tables is held. */
static struct receive *take_matched_message(MPI_Message handle) {
    struct matched_message **link, *taken;
    struct receive *receive;
    for (link = &matched_messages; *link != NULL && (*link)->handle != handle; link = &(*link)->next) {
    }
    taken = *link;
    if (taken == NULL) {
        return NULL;
    }
    receive = taken->receive;
    *link = taken->next;
    free(taken);
    return receive;
}

static int w_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
    struct receive *receive;
    MPI_Status own;
    int result, flag = 0;
    if (!is_recorded()) {
        return inner.MPI_Mprobe(source, tag, comm, message, status);
    }
    tumit_mpi_depth++;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    tumit_mpi_begin_point_to_point(PROCEDURE_MPI_Mprobe);
    if (has_threads) {
        /* No receive of another thread may be posted between the match and its number. */
        do {
            lock_tables();
            result = next.MPI_Improbe(source, tag, comm, &flag, message, status);
            if (result == MPI_SUCCESS && flag) {
                receive = post(comm, source, tag);
                add_matched_message(*message, receive, status);
            }
            unlock_tables();
        } while (result == MPI_SUCCESS && !flag && sched_yield() == 0);
    } else {
        result = next.MPI_Mprobe(source, tag, comm, message, status);
        if (result == MPI_SUCCESS) {
            receive = post(comm, source, tag);
            add_matched_message(*message, receive, status);
        }
    }
    tumit_mpi_end_point_to_point();
    tumit_mpi_depth--;
    return result;
}

#define MRECV(NAME, COUNT)                                                                                        \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status) { \
        struct receive *receive;                                                                                  \
        MPI_Status own;                                                                                           \
        int result;                                                                                               \
        if (!is_recorded()) {                                                                                     \
            return inner.NAME(buf, count, datatype, message, status);                                             \
        }                                                                                                         \
        tumit_mpi_depth++;                                                                                        \
        status = status == MPI_STATUS_IGNORE ? &own : status;                                                     \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                           \
        lock_tables();                                                                                            \
        receive = take_matched_message(*message);                                                                 \
        unlock_tables();                                                                                          \
        result = next.NAME(buf, count, datatype, message, status);                                                \
        finish_receive(receive, result, status);                                                                  \
        tumit_mpi_end_point_to_point();                                                                                 \
        tumit_mpi_depth--;                                                                                        \
        return result;                                                                                            \
    }
MRECV(MPI_Mrecv, int)
MRECV(MPI_Mrecv_c, MPI_Count)

#define IMRECV(NAME, COUNT)                                                                                         \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request) { \
        struct receive *receive;                                                                                    \
        int result;                                                                                                 \
        if (!is_recorded()) {                                                                                       \
            return inner.NAME(buf, count, datatype, message, request);                                              \
        }                                                                                                           \
        tumit_mpi_depth++;                                                                                          \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                             \
        lock_tables();                                                                                              \
        receive = take_matched_message(*message);                                                                   \
        result = next.NAME(buf, count, datatype, message, request);                                                 \
        add_receive_request(receive, result, *request);                                                             \
        unlock_tables();                                                                                            \
        tumit_mpi_end_point_to_point();                                                                                   \
        tumit_mpi_depth--;                                                                                          \
        return result;                                                                                              \
    }
IMRECV(MPI_Imrecv, int)
IMRECV(MPI_Imrecv_c, MPI_Count)

/* ---- Both at once ---- */

#define SENDRECV(NAME, ISEND_NAME, IRECV_NAME, COUNT)                                                              \
    static int w_##NAME(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,       \
                        void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,           \
                        MPI_Comm comm, MPI_Status *status) {                                                      \
        struct receive *receive;                                                                                  \
        MPI_Status own;                                                                                           \
        uint64_t bytes;                                                                                           \
        int result;                                                                                               \
        if (!is_recorded()) {                                                                                     \
            return inner.NAME(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,  \
                              recvtag, comm, status);                                                             \
        }                                                                                                         \
        tumit_mpi_depth++;                                                                                        \
        status = status == MPI_STATUS_IGNORE ? &own : status;                                                     \
        bytes = bytes_of((int64_t)sendcount, sendtype);                                                           \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                           \
        lock_tables();                                                                                            \
        receive = post(comm, source, recvtag);                                                                    \
        record_send_to(comm, dest, sendtag, bytes);                                                               \
        if (has_threads) {                                                                                        \
            MPI_Request pair[2];                                                                                  \
            result = next.IRECV_NAME(recvbuf, recvcount, recvtype, source, recvtag, comm, &pair[0]);              \
            if (result == MPI_SUCCESS) {                                                                          \
                result = next.ISEND_NAME(sendbuf, sendcount, sendtype, dest, sendtag, comm, &pair[1]);            \
            }                                                                                                     \
            unlock_tables();                                                                                      \
            if (result == MPI_SUCCESS) {                                                                          \
                result = inner.MPI_Wait(&pair[0], status);                                                        \
            }                                                                                                     \
            if (result == MPI_SUCCESS) {                                                                          \
                result = inner.MPI_Wait(&pair[1], MPI_STATUS_IGNORE);                                             \
            }                                                                                                     \
        } else {                                                                                                  \
            result = next.NAME(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, \
                               recvtag, comm, status);                                                            \
        }                                                                                                         \
        finish_receive(receive, result, status);                                                                  \
        tumit_mpi_end_point_to_point();                                                                                 \
        tumit_mpi_depth--;                                                                                        \
        return result;                                                                                            \
    }
SENDRECV(MPI_Sendrecv, MPI_Isend, MPI_Irecv, int)
SENDRECV(MPI_Sendrecv_c, MPI_Isend_c, MPI_Irecv_c, MPI_Count)

#define SENDRECV_REPLACE(NAME, COUNT)                                                                              \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source,          \
                        int recvtag, MPI_Comm comm, MPI_Status *status) {                                          \
        struct receive *receive;                                                                                   \
        MPI_Status own;                                                                                            \
        uint64_t bytes;                                                                                            \
        int result;                                                                                                \
        if (!is_recorded()) {                                                                                      \
            return inner.NAME(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);                 \
        }                                                                                                          \
        tumit_mpi_depth++;                                                                                         \
        status = status == MPI_STATUS_IGNORE ? &own : status;                                                      \
        bytes = bytes_of((int64_t)count, datatype);                                                                \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                            \
        lock_tables();                                                                                             \
        receive = post(comm, source, recvtag);                                                                     \
        record_send_to(comm, dest, sendtag, bytes);                                                                \
        unlock_tables();                                                                                           \
        result = next.NAME(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);                    \
        finish_receive(receive, result, status);                                                                   \
        tumit_mpi_end_point_to_point();                                                                                  \
        tumit_mpi_depth--;                                                                                         \
        return result;                                                                                             \
    }
SENDRECV_REPLACE(MPI_Sendrecv_replace, int)
SENDRECV_REPLACE(MPI_Sendrecv_replace_c, MPI_Count)

#define ISENDRECV(NAME, COUNT)                                                                                    \
    static int w_##NAME(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, int sendtag,      \
                        void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int source, int recvtag,          \
                        MPI_Comm comm, MPI_Request *request) {                                                   \
        struct receive *receive;                                                                                 \
        uint64_t bytes;                                                                                          \
        int result;                                                                                              \
        if (!is_recorded()) {                                                                                    \
            return inner.NAME(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, \
                              recvtag, comm, request);                                                           \
        }                                                                                                        \
        tumit_mpi_depth++;                                                                                       \
        bytes = bytes_of((int64_t)sendcount, sendtype);                                                          \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                          \
        lock_tables();                                                                                           \
        receive = post(comm, source, recvtag);                                                                   \
        record_send_to(comm, dest, sendtag, bytes);                                                              \
        result = next.NAME(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,    \
                           recvtag, comm, request);                                                              \
        add_receive_request(receive, result, *request);                                                          \
        unlock_tables();                                                                                         \
        tumit_mpi_end_point_to_point();                                                                                \
        tumit_mpi_depth--;                                                                                       \
        return result;                                                                                           \
    }
ISENDRECV(MPI_Isendrecv, int)
ISENDRECV(MPI_Isendrecv_c, MPI_Count)

#define ISENDRECV_REPLACE(NAME, COUNT)                                                                   \
    static int w_##NAME(void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, int source, \
                        int recvtag, MPI_Comm comm, MPI_Request *request) {                              \
        struct receive *receive;                                                                         \
        uint64_t bytes;                                                                                  \
        int result;                                                                                      \
        if (!is_recorded()) {                                                                            \
            return inner.NAME(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);      \
        }                                                                                                \
        tumit_mpi_depth++;                                                                               \
        bytes = bytes_of((int64_t)count, datatype);                                                      \
        tumit_mpi_begin_point_to_point(PROCEDURE_##NAME);                                                  \
        lock_tables();                                                                                   \
        receive = post(comm, source, recvtag);                                                           \
        record_send_to(comm, dest, sendtag, bytes);                                                      \
        result = next.NAME(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);         \
        add_receive_request(receive, result, *request);                                                  \
        unlock_tables();                                                                                 \
        tumit_mpi_end_point_to_point();                                                                        \
        tumit_mpi_depth--;                                                                               \
        return result;                                                                                   \
    }
ISENDRECV_REPLACE(MPI_Isendrecv_replace, int)
ISENDRECV_REPLACE(MPI_Isendrecv_replace_c, MPI_Count)
