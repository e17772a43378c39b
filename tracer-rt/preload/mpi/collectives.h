/* Records the begin of a collective operation. The build generates the wrappers, which call
 * this. */

static void begin_collective(int procedure, int kind, MPI_Comm comm, int root,
                             uint64_t bytes) {
    const struct communicator *communicator;
    int root_rank = NO_RANK;
    const char *name = "";
    uint32_t size = 0;
    lock_tables();
    communicator = communicator_of(comm);
    if (communicator != NULL) {
        name = communicator->name;
        size = communicator->peers;
        root_rank = root == NO_ROOT ? NO_RANK : world_rank(communicator, root);
        if (communicator->is_intercommunicator) {
            kind = COLLECTIVE_none;
        }
    }
    unlock_tables();
    tumit_mpi_begin_collective_record(procedure, kind, name, size, root_rank, bytes);
}
