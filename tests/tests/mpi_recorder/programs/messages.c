/* Sends messages by all kinds of procedures. All messages of a rank have different sizes, so that
 * the size identifies a message at both ends.
 *
 *   messages ROUNDS THREADS */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_BYTES 20000
#define MESSAGES_PER_PEER 4

static int rank, ranks, rounds, threads;
static MPI_Comm communicators[3];
static char sent_bytes[MAX_BYTES];
static int last_size;
static pthread_mutex_t sizes = PTHREAD_MUTEX_INITIALIZER;

static unsigned random_number(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* A size that no other message of this rank has. */
static int new_size(void) {
    int size;
    pthread_mutex_lock(&sizes);
    size = ++last_size;
    pthread_mutex_unlock(&sizes);
    if (size > MAX_BYTES) {
        fputs("too many messages\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return size;
}

/* Receives a message from any source with any tag by one of three ways. */
static void receive_any(char *buffer, MPI_Comm comm, unsigned way) {
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int flag = 0;
    if (way % 3 == 0) {
        MPI_Recv(buffer, MAX_BYTES, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    } else if (way % 3 == 1) {
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
        MPI_Mrecv(buffer, MAX_BYTES, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    } else {
        while (!flag) {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
        }
        MPI_Imrecv(buffer, MAX_BYTES, MPI_CHAR, &message, &request);
        MPI_Wait(&request, &status);
    }
}

/* Completes all requests by one of six ways. */
static void complete_all(MPI_Request *requests, int count, unsigned way) {
    int left = count, index, flag = 0, found, indices[64];
    switch (way % 6) {
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
        while (left > 0) {
            MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
            left -= flag && index != MPI_UNDEFINED;
        }
        break;
    case 4:
        while (!flag) {
            MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
        }
        break;
    default:
        for (index = count - 1; index >= 0; index--) {
            MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
        }
    }
}

/* All threads of all ranks send and receive on the same communicators with the same tags. */
static void *exchange(void *number) {
    unsigned state = (unsigned)rank * 100u + (unsigned)(size_t)number * 7u + 1u;
    const int count = MESSAGES_PER_PEER * (ranks - 1);
    char *buffers = malloc((size_t)count * MAX_BYTES);
    MPI_Request *receives = malloc((size_t)count * sizeof *receives), *sends = malloc((size_t)count * sizeof *sends);
    int round, i, to;
    for (round = 0; round < rounds; round++) {
        MPI_Comm comm = communicators[round % 3];
        int posted = 0, sent = 0;
        for (i = 0; i < count / 2; i++) {
            MPI_Irecv(&buffers[(size_t)i * MAX_BYTES], MAX_BYTES, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receives[posted++]);
        }
        for (i = 0; i < MESSAGES_PER_PEER; i++) {
            for (to = 0; to < ranks; to++) {
                const int tag = (int)(random_number(&state) % 3);
                if (to == rank) {
                    continue;
                }
                if (random_number(&state) % 2) {
                    MPI_Isend(sent_bytes, new_size(), MPI_CHAR, to, tag, comm, &sends[sent++]);
                } else {
                    MPI_Issend(sent_bytes, new_size(), MPI_BYTE, to, tag, comm, &sends[sent++]);
                }
            }
        }
        for (i = posted; i < count; i++) {
            receive_any(&buffers[(size_t)i * MAX_BYTES], comm, random_number(&state));
        }
        complete_all(receives, posted, random_number(&state));
        MPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
    }
    free(buffers);
    free(receives);
    free(sends);
    return NULL;
}

/* Procedures that several threads could not use without wildcards: exact tags, a receive that is
 * cancelled, persistent requests, a freed request, a receive that is completed out of order. */
static void exchange_in_ring(void) {
    const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    static char one[MAX_BYTES], two[MAX_BYTES];
    int round, is_cancelled;
    for (round = 0; round < rounds; round++) {
        MPI_Request request, pair[2];
        MPI_Status status;
        MPI_Sendrecv(sent_bytes, new_size(), MPI_CHAR, right, 50, one, MAX_BYTES, MPI_CHAR, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Irecv(one, MAX_BYTES, MPI_CHAR, left, 60, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        if (!is_cancelled) {
            fputs("a receive without a message could not be cancelled\n", stderr);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Irecv(one, MAX_BYTES, MPI_CHAR, left, 60, MPI_COMM_WORLD, &request);
        MPI_Send(sent_bytes, new_size(), MPI_CHAR, right, 60, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv_init(one, MAX_BYTES, MPI_CHAR, MPI_ANY_SOURCE, 70, MPI_COMM_WORLD, &pair[0]);
        MPI_Send_init(sent_bytes, new_size(), MPI_CHAR, right, 70, MPI_COMM_WORLD, &pair[1]);
        MPI_Startall(2, pair);
        MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        MPI_Request_free(&pair[0]);
        MPI_Request_free(&pair[1]);
        MPI_Send(sent_bytes, new_size(), MPI_CHAR, right, 80, MPI_COMM_WORLD);
        MPI_Probe(left, 80, MPI_COMM_WORLD, &status);
        MPI_Recv(one, MAX_BYTES, MPI_CHAR, left, 80, MPI_COMM_WORLD, &status);
        MPI_Irecv(one, MAX_BYTES, MPI_CHAR, left, 91, MPI_COMM_WORLD, &pair[0]);
        MPI_Irecv(two, MAX_BYTES, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pair[1]);
        MPI_Send(sent_bytes, new_size(), MPI_CHAR, right, 92, MPI_COMM_WORLD);
        MPI_Wait(&pair[1], &status);
        MPI_Send(sent_bytes, new_size(), MPI_CHAR, right, 91, MPI_COMM_WORLD);
        MPI_Wait(&pair[0], &status);
        MPI_Send(sent_bytes, 8, MPI_CHAR, MPI_PROC_NULL, 91, MPI_COMM_WORLD);
        MPI_Recv(one, 8, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    pthread_t others[16];
    int provided;
    size_t i;
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    threads = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    communicators[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &communicators[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &communicators[2]);
    exchange_in_ring();
    for (i = 1; i < (size_t)threads; i++) {
        pthread_create(&others[i], NULL, exchange, (void *)i);
    }
    exchange((void *)0);
    for (i = 1; i < (size_t)threads; i++) {
        pthread_join(others[i], NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d\n", (6 * rounds + threads * rounds * MESSAGES_PER_PEER * (ranks - 1)) * ranks);
    }
    MPI_Finalize();
    return 0;
}
