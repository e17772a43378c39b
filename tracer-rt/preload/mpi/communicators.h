/* The communicators of the program.
 *
 * All members of a communicator must record it under the same name, and the recorder sends no
 * messages for this. Therefore each member computes the name `PARENT/N:R`. PARENT is the name of
 * the communicator from which it was created. N counts the communicators that all members of the
 * parent have created from it. One call of `MPI_Comm_split` creates several communicators with
 * equal N. R, the lowest rank of the members in MPI_COMM_WORLD, distinguishes these. */

#define COMMUNICATOR_BUCKETS 256u
/* The rank in `MPI_COMM_WORLD` of a process that is not a member of it. */
#define NO_RANK (-1)
#define NO_ROOT (-100)
/* A longer name is replaced by its hash. */
#define MAX_COMMUNICATOR_NAME 120

struct communicator {
    struct communicator *next_in_bucket;
    MPI_Comm handle;
    char *name;
    /* a hash of the name */
    uint64_t id;
    /* Number of processes with which this process can exchange messages. These are all members. In
     * an intercommunicator, which connects two groups, they are the members of the other group. */
    unsigned peers;
    int rank;
    int is_intercommunicator;
    /* Number of communicators that were created from this one. */
    uint32_t child_count;
    /* Numbers of calls of non-blocking and persistent collective operations, and of windows. */
    uint32_t operation_count, window_count;
    /* Rank in MPI_COMM_WORLD of each peer. */
    int *world_ranks;
    /* Partitioned messages have channels of their own. */
    struct channel_table channels, partitioned_channels;
};

static struct communicator *communicators[COMMUNICATOR_BUCKETS];
static struct communicator *last_communicator;
static MPI_Group world_group;

static struct communicator **bucket_of(MPI_Comm handle) {
    return &communicators[hash_words(HANDLE_BITS(handle), 1) % COMMUNICATOR_BUCKETS];
}

/* Translates the ranks of a group to those of MPI_COMM_WORLD. Returns the lowest. */
static int translate_ranks(MPI_Group group, unsigned count, int *world_ranks) {
    int *group_ranks = allocate(count * sizeof *group_ranks);
    int lowest = NO_RANK;
    unsigned i;
    for (i = 0; i < count; i++) {
        group_ranks[i] = (int)i;
    }
    if (!has_world
        || pmpi.MPI_Group_translate_ranks(group, (int)count, group_ranks, world_group, world_ranks) != MPI_SUCCESS) {
        memset(world_ranks, 0xFF, count * sizeof *world_ranks);
    }
    for (i = 0; i < count; i++) {
        if (world_ranks[i] == MPI_UNDEFINED || world_ranks[i] < 0) {
            world_ranks[i] = NO_RANK;
        } else if (lowest == NO_RANK || world_ranks[i] < lowest) {
            lowest = world_ranks[i];
        }
    }
    free(group_ranks);
    return lowest;
}

static void set_communicator_name(struct communicator *communicator, const char *name) {
    const unsigned char *character;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    const size_t bytes = strlen(name) + 1;
    for (character = (const unsigned char *)name; *character != '\0'; character++) {
        hash = (hash ^ *character) * UINT64_C(0x100000001B3);
    }
    communicator->id = hash;
    communicator->name = allocate(bytes > 24 ? bytes : 24);
    if (bytes > MAX_COMMUNICATOR_NAME) {
        snprintf(communicator->name, 24, "%016llx", (unsigned long long)hash);
    } else {
        memcpy(communicator->name, name, bytes);
    }
}

/* Returns 1 for the first communicator without a common parent between two groups, 2 for the
 * second, and so on. The lowest rank identifies a group. */
static unsigned next_separate_number(int lowest, int lowest_remote) {
    struct pair {
        struct pair *next;
        int lowest, lowest_remote;
        unsigned count;
    };
    static struct pair *pairs;
    struct pair *pair;
    for (pair = pairs; pair != NULL; pair = pair->next) {
        if (pair->lowest == lowest && pair->lowest_remote == lowest_remote) {
            return ++pair->count;
        }
    }
    pair = allocate(sizeof *pair);
    pair->lowest = lowest;
    pair->lowest_remote = lowest_remote;
    pair->count = 1;
    pair->next = pairs;
    pairs = pair;
    return 1;
}

/* Adds a communicator. Its name consists of `prefix`, which is equal in all members, and the lowest
 * rank of its members. `prefix` is NULL if the members have no common parent. The caller holds the
 * lock of the tables. */
static struct communicator *new_communicator(MPI_Comm handle, const char *prefix) {
    char name[MAX_COMMUNICATOR_NAME * 2];
    struct communicator *communicator = allocate(sizeof *communicator);
    struct communicator **bucket = bucket_of(handle);
    MPI_Group group;
    int size = 0, lowest, lowest_remote = NO_RANK;
    communicator->handle = handle;
    pmpi.MPI_Comm_test_inter(handle, &communicator->is_intercommunicator);
    pmpi.MPI_Comm_rank(handle, &communicator->rank);
    pmpi.MPI_Comm_size(handle, &size);
    communicator->peers = (unsigned)size;
    communicator->world_ranks = allocate((size_t)size * sizeof *communicator->world_ranks);
    pmpi.MPI_Comm_group(handle, &group);
    lowest = translate_ranks(group, (unsigned)size, communicator->world_ranks);
    pmpi.MPI_Group_free(&group);
    if (communicator->is_intercommunicator) {
        pmpi.MPI_Comm_remote_size(handle, &size);
        free(communicator->world_ranks);
        communicator->peers = (unsigned)size;
        communicator->world_ranks = allocate((size_t)size * sizeof *communicator->world_ranks);
        pmpi.MPI_Comm_remote_group(handle, &group);
        lowest_remote = translate_ranks(group, (unsigned)size, communicator->world_ranks);
        pmpi.MPI_Group_free(&group);
        /* Both groups compute the same id. */
        if (lowest_remote < lowest) {
            const int first_lowest = lowest;
            lowest = lowest_remote;
            lowest_remote = first_lowest;
        }
    }
    if (prefix == NULL) {
        snprintf(name, sizeof name, "separate %d-%d/%u", lowest, lowest_remote,
                 next_separate_number(lowest, lowest_remote));
    } else if (prefix[0] == 'M' && handle == MPI_COMM_WORLD) {
        snprintf(name, sizeof name, "%s", prefix);
    } else {
        snprintf(name, sizeof name, "%s:%d", prefix, lowest);
    }
    set_communicator_name(communicator, name);
    init_channels(&communicator->channels);
    communicator->next_in_bucket = *bucket;
    *bucket = communicator;
    return communicator;
}

/* The communicator with this handle, or NULL for MPI_COMM_NULL. The caller holds the lock of the
 * tables. */
static struct communicator *communicator_of(MPI_Comm handle) {
    struct communicator *communicator = last_communicator;
    if (communicator != NULL && communicator->handle == handle) {
        return communicator;
    }
    if (handle == MPI_COMM_NULL) {
        return NULL;
    }
    communicator = *bucket_of(handle);
    while (communicator != NULL && communicator->handle != handle) {
        communicator = communicator->next_in_bucket;
    }
    if (communicator == NULL) {
        /* A call that the recorder does not wrap has created this communicator. */
        communicator = new_communicator(handle, NULL);
    }
    last_communicator = communicator;
    return communicator;
}

static void describe_communicator(const struct communicator *communicator, const char *mpi_name) {
    tumit_mpi_record_communicator(communicator->id, communicator->name, mpi_name, (uint32_t)communicator->rank,
                                  communicator->peers);
}

/* All members of `parent` have created a communicator together. `handle` is MPI_COMM_NULL if this
 * process is not a member. */
static void add_communicator(MPI_Comm parent, MPI_Comm handle) {
    struct communicator *parent_communicator;
    char prefix[MAX_COMMUNICATOR_NAME + 16];
    lock_tables();
    parent_communicator = communicator_of(parent);
    if (parent_communicator != NULL) {
        parent_communicator->child_count++;
        if (handle != MPI_COMM_NULL) {
            snprintf(prefix, sizeof prefix, "%s/%u", parent_communicator->name, parent_communicator->child_count);
            describe_communicator(new_communicator(handle, prefix), "");
        }
    }
    unlock_tables();
}

/* Processes without a common parent have created a communicator. */
static void add_separate_communicator(MPI_Comm handle) {
    lock_tables();
    if (handle != MPI_COMM_NULL) {
        describe_communicator(new_communicator(handle, NULL), "");
    }
    unlock_tables();
}

static void remove_communicator(MPI_Comm handle) {
    struct communicator **link, *communicator;
    lock_tables();
    last_communicator = NULL;
    for (link = bucket_of(handle); *link != NULL; link = &(*link)->next_in_bucket) {
        communicator = *link;
        if (communicator->handle == handle) {
            *link = communicator->next_in_bucket;
            /* Receives on this communicator may still be open, so its memory is not freed. */
            communicator->handle = MPI_COMM_NULL;
            break;
        }
    }
    unlock_tables();
}

static unsigned communicator_size(MPI_Comm handle) {
    struct communicator *communicator;
    lock_tables();
    communicator = communicator_of(handle);
    unlock_tables();
    return communicator == NULL ? 0 : communicator->peers;
}

static int rank_in_communicator(MPI_Comm handle) {
    struct communicator *communicator;
    lock_tables();
    communicator = communicator_of(handle);
    unlock_tables();
    return communicator == NULL ? 0 : communicator->rank;
}

static int is_intercommunicator(MPI_Comm handle) {
    struct communicator *communicator;
    lock_tables();
    communicator = communicator_of(handle);
    unlock_tables();
    return communicator == NULL || communicator->is_intercommunicator;
}

static int is_root(MPI_Comm handle, int root) { return rank_in_communicator(handle) == root; }

/* The rank of a peer in MPI_COMM_WORLD. */
static int world_rank(const struct communicator *communicator, int peer) {
    return peer >= 0 && (unsigned)peer < communicator->peers ? communicator->world_ranks[peer] : NO_RANK;
}

#define FREE_COMMUNICATOR(NAME)                                  \
    static int w_##NAME(MPI_Comm *comm) {                        \
        BEGIN_CALL(topology, NAME, comm);                        \
        if (*comm != MPI_COMM_NULL && *comm != MPI_COMM_WORLD) { \
            remove_communicator(*comm);                          \
        }                                                        \
        error_code = mpi.NAME(comm);                             \
        END_CALL(topology);                                      \
    }
FREE_COMMUNICATOR(MPI_Comm_free)
FREE_COMMUNICATOR(MPI_Comm_disconnect)

static int w_MPI_Comm_set_name(MPI_Comm comm, const char *comm_name) {
    struct communicator *communicator;
    BEGIN_CALL(topology, MPI_Comm_set_name, comm, comm_name);
    error_code = mpi.MPI_Comm_set_name(comm, comm_name);
    lock_tables();
    communicator = error_code == MPI_SUCCESS ? communicator_of(comm) : NULL;
    if (communicator != NULL) {
        describe_communicator(communicator, comm_name);
    }
    unlock_tables();
    END_CALL(topology);
}
