/* Non-blocking and persistent collective operations. All processes pass the same number of bytes to
 * an operation, and no two operations have equal numbers. So the number identifies the operation.
 *
 * Rank 0 prints the number of operations with bytes, and the number of barriers. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_BYTES 1000
#define PENDING 12

static int rank, ranks, last_size, barriers;
static char sent[3 * MAX_BYTES], received[3 * MAX_BYTES];
static char buffers[PENDING][3 * MAX_BYTES];

/* Starts an operation of one of six kinds. */
static void start(MPI_Comm comm, int kind, int root, char *buffer, MPI_Request *request) {
    const int bytes = ++last_size;
    switch (kind) {
    case 0:
        MPI_Ibcast(buffer, bytes, MPI_CHAR, root, comm, request);
        break;
    case 1:
        MPI_Iallreduce(sent, buffer, bytes, MPI_CHAR, MPI_MAX, comm, request);
        break;
    case 2:
        MPI_Ireduce(sent, buffer, bytes, MPI_CHAR, MPI_MAX, root, comm, request);
        break;
    case 3:
        MPI_Iallgather(sent, bytes, MPI_CHAR, buffer, bytes, MPI_CHAR, comm, request);
        break;
    case 4:
        MPI_Iscan(sent, buffer, bytes, MPI_CHAR, MPI_MAX, comm, request);
        break;
    default:
        MPI_Igather(sent, bytes, MPI_CHAR, buffer, bytes, MPI_CHAR, root, comm, request);
    }
}

/* Completes all requests by one of six ways. */
static void complete(int count, MPI_Request *requests, int way) {
    int left = count, index, flag = 0, found, indices[PENDING];
    switch (way) {
    case 0:
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (; left > 0; left--) {
            MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        }
        break;
    case 2:
        for (; left > 0; left -= found) {
            MPI_Waitsome(count, requests, &found, indices, MPI_STATUSES_IGNORE);
        }
        break;
    case 3:
        while (!flag) {
            MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
        }
        break;
    case 4:
        for (index = count - 1; index >= 0; index--) {
            for (flag = 0; !flag;) {
                MPI_Test(&requests[index], &flag, MPI_STATUS_IGNORE);
            }
        }
        break;
    default:
        for (index = 0; index < count; index++) {
            MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
        }
    }
}

/* Operations of two communicators are open at the same time, with other messages, and complete in
 * another order than that of their calls. */
static void overlap(MPI_Comm other) {
    MPI_Request requests[PENDING + 3];
    int way, i;
    for (way = 0; way < 6; way++) {
        for (i = 0; i < PENDING; i++) {
            start(i % 2 ? other : MPI_COMM_WORLD, (i + way) % 6, i % ranks, buffers[i], &requests[i]);
        }
        MPI_Isend(sent, 0, MPI_CHAR, (rank + 1) % ranks, way, MPI_COMM_WORLD, &requests[PENDING]);
        MPI_Irecv(received, 0, MPI_CHAR, (rank + ranks - 1) % ranks, way, MPI_COMM_WORLD, &requests[PENDING + 1]);
        /* MPI may give the handle of a complete request to several of them. */
        MPI_Ibarrier(MPI_COMM_SELF, &requests[PENDING + 2]);
        complete(PENDING, requests, way);
        MPI_Waitall(3, &requests[PENDING], MPI_STATUSES_IGNORE);
        MPI_Allreduce(sent, received, 1, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    }
}

/* Ranks wait for rank 1, which enters last. */
static void wait_for_rank_1(void) {
    MPI_Request request;
    int token = 0, from;
    if (rank == 1) {
        for (from = 0; from < ranks; from += 2) {
            MPI_Recv(&token, 1, MPI_INT, from, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        usleep(100000);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    barriers++;
    if (rank != 1) {
        MPI_Send(&token, 1, MPI_INT, 1, 100, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 4
/* Two persistent operations, which are started several times. */
static void repeat(void) {
    MPI_Request pair[2];
    int i;
    MPI_Bcast_init(buffers[0], ++last_size, MPI_CHAR, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &pair[0]);
    MPI_Allreduce_init(sent, received, ++last_size, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &pair[1]);
    for (i = 0; i < 3; i++) {
        MPI_Startall(2, pair);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        MPI_Start(&pair[1]);
        MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
}

/* Partitioned messages have the same tag as other messages, and overtake them. */
static void send_partitions(void) {
    static char data[2][40];
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    const int others[] = {1, 3};
    MPI_Request requests[4];
    int i, flag = 0;
    MPI_Precv_init(data[0], 4, 10, MPI_CHAR, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(sent, 4, 10, MPI_CHAR, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Precv_init(data[1], 2, 5, MPI_CHAR, left, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
    MPI_Psend_init(sent, 2, 5, MPI_CHAR, right, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
    for (i = 0; i < 2; i++) {
        MPI_Startall(4, requests);
        MPI_Sendrecv(sent, 3, MPI_CHAR, right, 7, received, 3, MPI_CHAR, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pready_range(0, 1, requests[3]);
        MPI_Pready(0, requests[1]);
        MPI_Pready_list(2, others, requests[1]);
        MPI_Pready(2, requests[1]);
        for (flag = 0; !flag;) {
            MPI_Parrived(requests[0], 2, &flag);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (i = 0; i < 4; i++) {
        MPI_Request_free(&requests[i]);
    }
}
#endif

/* No process waits for another one in an operation without data. */
static void broadcast_nothing(void) {
    MPI_Request request;
    MPI_Bcast(received, 0, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Ibcast(received, 0, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &other);
    broadcast_nothing();
    overlap(other);
    wait_for_rank_1();
#if MPI_VERSION >= 4
    repeat();
    send_partitions();
#endif
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d %d\n", last_size, barriers);
    }
    MPI_Comm_free(&other);
    if (rank == 1) {
        usleep(100000);
    }
    MPI_Finalize();
    return 0;
}
