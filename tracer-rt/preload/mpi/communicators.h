/* Communicators: a name and an id that all members compute without messages, the ranks of the
 * members in `MPI_COMM_WORLD`, and the counts of messages.
 *
 * The name of a communicator made from another one is `PARENT/N:R`: it is the N-th communicator
 * that the members of the parent made together, and R is the lowest rank in MPI_COMM_WORLD of its
 * members. So the parts of a split have different names. */

#define COMMUNICATOR_BUCKETS 256u
/* The rank in `MPI_COMM_WORLD` of a process that is not a member of it. */
#define NO_RANK (-1)
#define NO_ROOT (-100)
/* Longer names are replaced by a number. */
#define MAX_COMMUNICATOR_NAME 120

/* The messages between this process and another one with one tag. */
struct channel {
    struct channel *next;
    int peer, tag;
    uint32_t sent, received;
};

struct receive;

struct communicator {
    struct communicator *next_in_bucket;
    MPI_Comm handle;
    char *name;
    /* a hash of the name */
    uint64_t id;
    /* Number of processes with which this one exchanges messages. For an intercommunicator these
     * are the processes of the remote group, otherwise all processes. */
    unsigned peers;
    int rank;
    int is_intercommunicator;
    /* Number of communicators made from this one. */
    uint32_t derived;
    /* Rank in MPI_COMM_WORLD of each peer. */
    int *world_ranks;
    /* Channels by peer and tag; the number of buckets is a power of two. */
    struct channel **channels;
    unsigned channel_buckets, channel_count;
    struct channel *last_channel;
    /* Receives that have no number yet, in the order in which they were posted. */
    struct receive *first_waiting, *last_waiting;
};

static struct communicator *communicators[COMMUNICATOR_BUCKETS];
static struct communicator *last_communicator;
static MPI_Group world_group;

static struct communicator **bucket_of(MPI_Comm handle) {
    return &communicators[mixed(HANDLE_BITS(handle), 1) % COMMUNICATOR_BUCKETS];
}

/* Translates the ranks of a group to those of MPI_COMM_WORLD. Returns the lowest. */
static int translate_ranks(MPI_Group group, unsigned count, int *world_ranks) {
    int *own = allocated(count * sizeof *own);
    int lowest = NO_RANK;
    unsigned i;
    for (i = 0; i < count; i++) {
        own[i] = (int)i;
    }
    if (!has_world
        || inner.MPI_Group_translate_ranks(group, (int)count, own, world_group, world_ranks) != MPI_SUCCESS) {
        memset(world_ranks, 0xFF, count * sizeof *world_ranks);
    }
    for (i = 0; i < count; i++) {
        if (world_ranks[i] == MPI_UNDEFINED || world_ranks[i] < 0) {
            world_ranks[i] = NO_RANK;
        } else if (lowest == NO_RANK || world_ranks[i] < lowest) {
            lowest = world_ranks[i];
        }
    }
    free(own);
    return lowest;
}

static void set_communicator_name(struct communicator *communicator, const char *name) {
    const unsigned char *at;
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    const size_t bytes = strlen(name) + 1;
    for (at = (const unsigned char *)name; *at != '\0'; at++) {
        hash = (hash ^ *at) * UINT64_C(0x100000001B3);
    }
    communicator->id = hash;
    communicator->name = allocated(bytes > 24 ? bytes : 24);
    if (bytes > MAX_COMMUNICATOR_NAME) {
        snprintf(communicator->name, 24, "%016llx", (unsigned long long)hash);
    } else {
        memcpy(communicator->name, name, bytes);
    }
}

/* The number of communicators without a common parent between these two groups. */
static unsigned next_separate_number(int lowest, int lowest_remote) {
    struct pair {
        struct pair *next;
        int lowest, lowest_remote;
        unsigned count;
    };
    static struct pair *pairs;
    struct pair *found;
    for (found = pairs; found != NULL; found = found->next) {
        if (found->lowest == lowest && found->lowest_remote == lowest_remote) {
            return ++found->count;
        }
    }
    found = allocated(sizeof *found);
    found->lowest = lowest;
    found->lowest_remote = lowest_remote;
    found->count = 1;
    found->next = pairs;
    pairs = found;
    return 1;
}

/* Adds a communicator. Its name consists of `prefix`, which is equal in all members, and the
 * lowest rank of its members. A communicator whose members have no common parent has no prefix.
 * The lock of the tables is held. */
static struct communicator *new_communicator(MPI_Comm handle, const char *prefix) {
    char name[MAX_COMMUNICATOR_NAME * 2];
    struct communicator *added = allocated(sizeof *added);
    struct communicator **bucket = bucket_of(handle);
    MPI_Group group;
    int size = 0, lowest, lowest_remote = NO_RANK;
    added->handle = handle;
    inner.MPI_Comm_test_inter(handle, &added->is_intercommunicator);
    inner.MPI_Comm_rank(handle, &added->rank);
    inner.MPI_Comm_size(handle, &size);
    added->peers = (unsigned)size;
    added->world_ranks = allocated((size_t)size * sizeof *added->world_ranks);
    inner.MPI_Comm_group(handle, &group);
    lowest = translate_ranks(group, (unsigned)size, added->world_ranks);
    inner.MPI_Group_free(&group);
    if (added->is_intercommunicator) {
        inner.MPI_Comm_remote_size(handle, &size);
        free(added->world_ranks);
        added->peers = (unsigned)size;
        added->world_ranks = allocated((size_t)size * sizeof *added->world_ranks);
        inner.MPI_Comm_remote_group(handle, &group);
        lowest_remote = translate_ranks(group, (unsigned)size, added->world_ranks);
        inner.MPI_Group_free(&group);
        /* Both groups compute the same id. */
        if (lowest_remote < lowest) {
            const int swapped = lowest;
            lowest = lowest_remote;
            lowest_remote = swapped;
        }
    }
    if (prefix == NULL) {
        snprintf(name, sizeof name, "separate %d-%d/%u", lowest, lowest_remote, next_separate_number(lowest, lowest_remote));
    } else if (prefix[0] == 'M' && handle == MPI_COMM_WORLD) {
        snprintf(name, sizeof name, "%s", prefix);
    } else {
        snprintf(name, sizeof name, "%s:%d", prefix, lowest);
    }
    set_communicator_name(added, name);
    added->channel_buckets = 16;
    added->channels = allocated(added->channel_buckets * sizeof *added->channels);
    added->next_in_bucket = *bucket;
    *bucket = added;
    return added;
}

/* The communicator with this handle. Null if the program has no valid handle. The lock of the
 * tables is held. */
static struct communicator *communicator_of(MPI_Comm handle) {
    struct communicator *found = last_communicator;
    if (found != NULL && found->handle == handle) {
        return found;
    }
    if (handle == MPI_COMM_NULL) {
        return NULL;
    }
    for (found = *bucket_of(handle); found != NULL && found->handle != handle; found = found->next_in_bucket) {
    }
    if (found == NULL) {
        /* MPI made this communicator in a way that the recorder does not see. */
        found = new_communicator(handle, NULL);
    }
    last_communicator = found;
    return found;
}

static void describe_communicator(const struct communicator *described, const char *given_name) {
    tumit_mpi_record_communicator(described->id, described->name, given_name, (uint32_t)described->rank,
                                  described->peers);
}

/* A communicator that all members of `parent` made together. */
static void add_communicator(MPI_Comm parent, MPI_Comm handle) {
    struct communicator *origin;
    char prefix[MAX_COMMUNICATOR_NAME + 16];
    lock_tables();
    origin = communicator_of(parent);
    if (origin != NULL) {
        origin->derived++;
        if (handle != MPI_COMM_NULL) {
            snprintf(prefix, sizeof prefix, "%s/%u", origin->name, origin->derived);
            describe_communicator(new_communicator(handle, prefix), "");
        }
    }
    unlock_tables();
}

/* A communicator whose members have no common parent. */
static void add_separate_communicator(MPI_Comm handle) {
    lock_tables();
    if (handle != MPI_COMM_NULL) {
        describe_communicator(new_communicator(handle, NULL), "");
    }
    unlock_tables();
}

static void remove_communicator(MPI_Comm handle) {
    struct communicator **link, *removed;
    lock_tables();
    last_communicator = NULL;
    for (link = bucket_of(handle); *link != NULL; link = &(*link)->next_in_bucket) {
        removed = *link;
        if (removed->handle == handle) {
            *link = removed->next_in_bucket;
            /* Receives of the communicator may still be open: its memory is kept. */
            removed->handle = MPI_COMM_NULL;
            break;
        }
    }
    unlock_tables();
}

static unsigned communicator_size(MPI_Comm handle) {
    struct communicator *found;
    lock_tables();
    found = communicator_of(handle);
    unlock_tables();
    return found == NULL ? 0 : found->peers;
}

static int rank_in_communicator(MPI_Comm handle) {
    struct communicator *found;
    lock_tables();
    found = communicator_of(handle);
    unlock_tables();
    return found == NULL ? 0 : found->rank;
}

static int is_intercommunicator(MPI_Comm handle) {
    struct communicator *found;
    lock_tables();
    found = communicator_of(handle);
    unlock_tables();
    return found == NULL || found->is_intercommunicator;
}

static int is_root(MPI_Comm handle, int root) { return rank_in_communicator(handle) == root; }

/* The rank of a peer in MPI_COMM_WORLD. */
static int world_rank(const struct communicator *communicator, int peer) {
    return peer >= 0 && (unsigned)peer < communicator->peers ? communicator->world_ranks[peer] : NO_RANK;
}

static void grow_channels(struct communicator *communicator) {
    const unsigned count = communicator->channel_buckets * 4;
    struct channel **grown = allocated(count * sizeof *grown);
    unsigned i;
    for (i = 0; i < communicator->channel_buckets; i++) {
        struct channel *moved = communicator->channels[i];
        while (moved != NULL) {
            struct channel *following = moved->next;
            struct channel **bucket = &grown[mixed((uint64_t)(uint32_t)moved->peer, (uint64_t)(uint32_t)moved->tag) % count];
            moved->next = *bucket;
            *bucket = moved;
            moved = following;
        }
    }
    free(communicator->channels);
    communicator->channels = grown;
    communicator->channel_buckets = count;
}

/* The messages with a peer and a tag. */
static struct channel *channel_of(struct communicator *communicator, int peer, int tag) {
    struct channel *found = communicator->last_channel, **bucket;
    if (found != NULL && found->peer == peer && found->tag == tag) {
        return found;
    }
    bucket = &communicator->channels[mixed((uint64_t)(uint32_t)peer, (uint64_t)(uint32_t)tag) % communicator->channel_buckets];
    for (found = *bucket; found != NULL; found = found->next) {
        if (found->peer == peer && found->tag == tag) {
            communicator->last_channel = found;
            return found;
        }
    }
    if (communicator->channel_count++ >= communicator->channel_buckets * 2) {
        grow_channels(communicator);
        bucket = &communicator->channels[mixed((uint64_t)(uint32_t)peer, (uint64_t)(uint32_t)tag) % communicator->channel_buckets];
    }
    found = allocated(sizeof *found);
    found->peer = peer;
    found->tag = tag;
    found->next = *bucket;
    *bucket = found;
    communicator->last_channel = found;
    return found;
}

#define FREE_COMMUNICATOR(NAME)                                       \
    static int w_##NAME(MPI_Comm *comm) {                             \
        int result;                                                   \
        if (!is_recorded()) {                                         \
            return inner.NAME(comm);                                  \
        }                                                             \
        tumit_mpi_depth++;                                            \
        tumit_mpi_begin_topology(PROCEDURE_##NAME);                     \
        if (*comm != MPI_COMM_NULL && *comm != MPI_COMM_WORLD) {      \
            remove_communicator(*comm);                               \
        }                                                             \
        result = next.NAME(comm);                                     \
        tumit_mpi_end_topology();                                           \
        tumit_mpi_depth--;                                            \
        return result;                                                \
    }
FREE_COMMUNICATOR(MPI_Comm_free)
FREE_COMMUNICATOR(MPI_Comm_disconnect)

static int w_MPI_Comm_set_name(MPI_Comm comm, const char *comm_name) {
    struct communicator *named;
    int result;
    if (!is_recorded()) {
        return inner.MPI_Comm_set_name(comm, comm_name);
    }
    tumit_mpi_depth++;
    tumit_mpi_begin_topology(PROCEDURE_MPI_Comm_set_name);
    result = next.MPI_Comm_set_name(comm, comm_name);
    lock_tables();
    named = result == MPI_SUCCESS ? communicator_of(comm) : NULL;
    if (named != NULL) {
        describe_communicator(named, comm_name);
    }
    unlock_tables();
    tumit_mpi_end_topology();
    tumit_mpi_depth--;
    return result;
}
