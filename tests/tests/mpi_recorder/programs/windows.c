/* One-sided communication in a window. Its ranks are the ranks of MPI_COMM_WORLD in reverse order. */
#include <mpi.h>
#include <stdio.h>

#define MEMORY 1000

static char memory[MEMORY], data[MEMORY];
static int rank, ranks, right, left;
static MPI_Comm comm;
static MPI_Win window;

/* Puts 10 bytes more than its rank to the right, and gets 20 bytes more than its rank from the
 * left. The first fence ends no epoch. */
static void use_fences(void) {
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(data, 10 + rank, MPI_CHAR, right, 100, 10 + rank, MPI_CHAR, window);
    MPI_Win_fence(0, window);
    MPI_Get(data, 20 + rank, MPI_CHAR, left, 200, 20 + rank, MPI_CHAR, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

/* Each process increases a number of the process 0 of the window. */
static void use_lock(void) {
    int step = 1, before = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Fetch_and_op(&step, &before, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_unlock(0, window);
}

/* Each process puts a byte into the memory of its right neighbour, twice. */
static void use_epochs(void) {
    MPI_Group all, right_group, left_group;
    int i, flag = 0;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &right, &right_group);
    MPI_Group_incl(all, 1, &left, &left_group);
    for (i = 0; i < 2; i++) {
        MPI_Win_post(left_group, 0, window);
        MPI_Win_start(right_group, 0, window);
        MPI_Put(data, 1, MPI_CHAR, right, 300, 1, MPI_CHAR, window);
        MPI_Win_complete(window);
        if (i == 0) {
            MPI_Win_wait(window);
        }
    }
    while (!flag) {
        MPI_Win_test(window, &flag);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&right_group);
    MPI_Group_free(&left_group);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, &comm);
    right = (ranks - 1 - rank + 1) % ranks;
    left = (ranks - 1 - rank + ranks - 1) % ranks;
    MPI_Win_create(memory, MEMORY, 1, MPI_INFO_NULL, comm, &window);
    use_fences();
    MPI_Barrier(comm);
    use_lock();
    MPI_Barrier(comm);
    use_epochs();
    MPI_Win_free(&window);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
