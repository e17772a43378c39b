/* A thread waits for a receive. MPI completes the receive. Before the wait returns, another thread
 * sends a message, and MPI gives its request the handle of the receive.
 *
 * With LIBRARY defined, this file is a library between the recorder and MPI. Its `MPI_Wait` lets
 * the other thread run when MPI has completed the receive, and before the recorder knows it. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#ifdef LIBRARY

void (*after_next_wait)(void);

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    int error_code = PMPI_Wait(request, status);
    void (*function)(void) = after_next_wait;
    after_next_wait = NULL;
    if (function != NULL) {
        function();
    }
    return error_code;
}

#else

extern void (*after_next_wait)(void);
static int rank;
static MPI_Request receive;

static void *exchange(void *unused) {
    MPI_Request send, other_receive;
    char byte = 0;
    MPI_Issend(&byte, 1, MPI_CHAR, rank, 2, MPI_COMM_WORLD, &send);
#ifdef MPICH
    if (send != receive) {
        fputs("the send has another handle than the receive, so this program tests nothing\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
#endif
    MPI_Irecv(&byte, 1, MPI_CHAR, rank, 2, MPI_COMM_WORLD, &other_receive);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&other_receive, MPI_STATUS_IGNORE);
    return unused;
}

static void run_other_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, exchange, NULL);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
    MPI_Request request;
    char bytes[2] = {0, 0};
    int provided, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Irecv(bytes, 2, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &request);
    receive = request;
    MPI_Send(bytes, 2, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
    after_next_wait = run_other_thread;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) {
        printf("%d\n", 2 * ranks);
    }
    MPI_Finalize();
    return 0;
}

#endif
