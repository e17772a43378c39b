/* Creates and frees windows, and prints the growth of the memory in bytes per window. */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    const int windows = 2000;
    size_t before = 0;
    int i, memory = 0;
    MPI_Init(&argc, &argv);
    for (i = 0; i < 2 * windows; i++) {
        MPI_Win window;
        if (i == windows) before = mallinfo2().uordblks;
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    printf("growth=%ld\n", (long)(mallinfo2().uordblks - before) / windows);
    MPI_Finalize();
    return 0;
}
