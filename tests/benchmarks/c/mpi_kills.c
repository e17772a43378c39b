/* Two ranks that exchange messages until they are killed: the program of `mpi_kills.py`.
 *
 * Each rank writes its process id and the numbers of its finished calls into the file
 * `FOLDER/RANK`, which is mapped and thus survives the process. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct progress {
    volatile uint64_t pid, sends, receives, reductions;
};

static struct progress *map_progress(const char *folder, int rank) {
    char path[4096];
    struct progress *progress;
    int file;
    snprintf(path, sizeof path, "%s/%d", folder, rank);
    file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *progress) != 0) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (progress == MAP_FAILED) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return progress;
}

int main(int argc, char **argv) {
    struct progress *progress;
    unsigned step;
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    progress = map_progress(argv[1], rank);
    progress->pid = (uint64_t)getpid();
    for (step = 0;; step++) {
        int sent = (int)step, received;
        MPI_Send(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
        progress->sends++;
        MPI_Recv(&received, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        progress->receives++;
        if (step % 8 == 0) {
            MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            progress->reductions++;
        }
        /* Bursts without a pause, and a rate with which `mpi_kills.py` can keep up. */
        if (step % 64 == 0) {
            usleep(2000);
        }
    }
}
