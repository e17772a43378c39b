/* Collective operations. The build generates the wrappers, which call these functions. */

/* A flag of a kind: the processes pass different numbers of bytes, so none of them knows whether
 * the operation has data. Such an operation counts as one with data, also if no process has any. */
#define IRREGULAR 0x100

/* The kind of a call, equal in all members of the communicator. Processes do not wait for each other
 * in an operation without data. */
static int kind_of_call(int kind, const struct communicator *communicator, uint64_t bytes) {
    const int has_data = bytes > 0 || kind == COLLECTIVE_barrier || (kind & IRREGULAR) != 0;
    return communicator->is_intercommunicator || !has_data ? COLLECTIVE_none : kind & ~IRREGULAR;
}

/* Records the begin of a call. */
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
        kind = kind_of_call(kind, communicator, bytes);
    } else {
        kind = COLLECTIVE_none;
    }
    unlock_tables();
    tumit_mpi_begin_collective_record(procedure, kind, name, size, root_rank, bytes);
}

/* ---- Non-blocking operations: they begin at a call, and end when their request completes ---- */

/* A non-blocking or persistent operation of this process. */
struct operation {
    struct operation *next_free;
    struct communicator *communicator;
    int procedure, kind, root_rank;
    uint64_t bytes;
    /* Number of the row that shows it. Operations that are open at the same time have different
     * ones. */
    uint32_t row;
    /* Position of the call in the order of these calls on the communicator. All members make them
     * in the same order. */
    uint32_t number;
    /* Number of the start of a persistent operation, from 1. Members may start different operations
     * in different orders. 0 in operations that are not persistent. */
    uint32_t start;
    unsigned char is_active;
};

/* Operations that have ended. Their rows are free. */
static struct operation *free_operations;
static uint32_t operation_count;

/* Adds an operation. Returns NULL if the recorder does not know the communicator. The caller holds
 * the lock of the tables. */
static struct operation *add_operation(int procedure, int kind, MPI_Comm comm, int root, uint64_t bytes) {
    struct communicator *communicator = communicator_of(comm);
    struct operation *operation = free_operations;
    if (communicator == NULL) {
        return NULL;
    }
    if (operation != NULL) {
        free_operations = operation->next_free;
    } else {
        operation = allocate(sizeof *operation);
        operation->row = operation_count++;
    }
    operation->communicator = communicator;
    operation->procedure = procedure;
    operation->kind = kind_of_call(kind, communicator, bytes);
    operation->root_rank = root == NO_ROOT ? NO_RANK : world_rank(communicator, root);
    operation->bytes = bytes;
    operation->number = communicator->operation_count++;
    operation->start = 0;
    operation->is_active = 0;
    return operation;
}

/* The caller holds the lock of the tables. */
static void start_operation(struct operation *operation) {
    const struct communicator *communicator = operation->communicator;
    operation->is_active = 1;
    tumit_mpi_begin_operation(operation->procedure, operation->kind, communicator->name, communicator->peers,
                              operation->root_rank, operation->bytes, operation->row, operation->number,
                              operation->start);
}

/* The caller holds the lock of the tables. */
static void end_operation(struct operation *operation) {
    if (operation->is_active) {
        operation->is_active = 0;
        tumit_mpi_end_operation(operation->row);
    }
}

/* The caller holds the lock of the tables. */
static void free_operation(struct operation *operation) {
    end_operation(operation);
    operation->next_free = free_operations;
    free_operations = operation;
}
