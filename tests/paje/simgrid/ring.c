#include <mpi.h>
#include <smpi/smpi.h>
int main(int argc, char** argv) {
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        smpi_execute_flops(1e7 * (rank + 1));
        if (rank == 0) {
            MPI_Send(&token, 1, MPI_INT, 1 % size, round, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_INT, size - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_INT, rank - 1, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token++;
            MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, round, MPI_COMM_WORLD);
        }
        MPI_Request request[2];
        int in;
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 77, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
