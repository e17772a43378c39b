/* Partitioned messages. They never match other messages, so they have numbers of their own. */

/* The numbers of requests, by peer and tag. The field `sent` counts those of sends, and `received`
 * those of receives. */
static struct channel *partitioned_channel(struct communicator *communicator, int peer, int tag) {
    if (communicator->partitioned_channels.buckets == NULL) {
        init_channels(&communicator->partitioned_channels);
    }
    return channel_of(&communicator->partitioned_channels, peer, tag);
}

/* MPI has returned the request of a partitioned message. */
static void add_partitioned(enum request_kind kind, int error_code, MPI_Request handle, MPI_Comm comm, int peer,
                            int tag, int partitions, uint64_t bytes) {
    struct request *request;
    struct channel *channel;
    if (error_code != MPI_SUCCESS || peer == MPI_PROC_NULL) {
        return;
    }
    lock_tables();
    request = add_persistent(kind, handle, comm, peer, tag, bytes);
    if (request->communicator != NULL) {
        channel = partitioned_channel(request->communicator, peer, tag);
        request->partitions.request = kind == PARTITIONED_SEND ? channel->sent++ : channel->received++;
        request->partitions.count = partitions;
    }
    unlock_tables();
}

static int w_MPI_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                            MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    BEGIN_CALL(point_to_point, MPI_Psend_init, buf, partitions, count, datatype, dest, tag, comm, info, request);
    error_code = mpi.MPI_Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
    add_partitioned(PARTITIONED_SEND, error_code, *request, comm, dest, tag, partitions,
                    (uint64_t)partitions * bytes_of(count, datatype));
    END_CALL(point_to_point);
}

static int w_MPI_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                            MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    BEGIN_CALL(point_to_point, MPI_Precv_init, buf, partitions, count, datatype, source, tag, comm, info, request);
    error_code = mpi.MPI_Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
    add_partitioned(PARTITIONED_RECEIVE, error_code, *request, comm, source, tag, partitions,
                    (uint64_t)partitions * bytes_of(count, datatype));
    END_CALL(point_to_point);
}

/* The sender marks partitions as ready. The message is sent when all of them are: the receiver
 * cannot have it earlier. */
static void mark_ready(MPI_Request handle, int count) {
    struct request *request;
    lock_tables();
    request = request_of(handle);
    if (request != NULL && request->kind == PARTITIONED_SEND && request->communicator != NULL
        && request->partitions.unready > 0) {
        struct partitions *partitions = &request->partitions;
        const int to = world_rank(request->communicator, request->peer);
        partitions->unready -= count;
        if (partitions->unready <= 0 && to != NO_RANK) {
            tumit_mpi_record_partitioned_send(request->communicator->id, to, request->tag, partitions->request,
                                              partitions->start, request->bytes);
        }
    }
    unlock_tables();
}

static int w_MPI_Pready(int partition, MPI_Request request) {
    BEGIN_CALL(point_to_point, MPI_Pready, partition, request);
    mark_ready(request, 1);
    error_code = mpi.MPI_Pready(partition, request);
    END_CALL(point_to_point);
}

static int w_MPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
    BEGIN_CALL(point_to_point, MPI_Pready_range, partition_low, partition_high, request);
    mark_ready(request, partition_high - partition_low + 1);
    error_code = mpi.MPI_Pready_range(partition_low, partition_high, request);
    END_CALL(point_to_point);
}

static int w_MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
    BEGIN_CALL(point_to_point, MPI_Pready_list, length, array_of_partitions, request);
    mark_ready(request, length);
    error_code = mpi.MPI_Pready_list(length, array_of_partitions, request);
    END_CALL(point_to_point);
}
