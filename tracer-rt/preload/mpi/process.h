/* The state of MPI in this process. */

/* Whether MPI is initialised and not finalised. Other calls are mistakes of the program, and MPI
 * itself reports them. */
static int is_active;
/* Whether several threads may call MPI at the same time. */
static int has_threads;
/* Whether `MPI_COMM_WORLD` exists. It does not in programs that use only sessions. */
static int has_world;
/* The lock of the tables. It serves threads in the order in which they ask, because a thread that
 * tests for a message again and again would otherwise keep all others out. */
static struct {
    unsigned next, served;
} tables;

/* Whether the recorder records a call of this thread. */
static inline int is_recorded(void) { return tumit_mpi_depth == 0 && is_active; }

/* Only one thread at a time uses the tables of communicators, data types and requests. */
static inline void lock_tables(void) {
    if (has_threads) {
        const unsigned own = __atomic_fetch_add(&tables.next, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&tables.served, __ATOMIC_ACQUIRE) != own) {
            sched_yield();
        }
    }
}
static inline void unlock_tables(void) {
    if (has_threads) {
        __atomic_store_n(&tables.served, tables.served + 1, __ATOMIC_RELEASE);
    }
}

#ifdef TUMIT_MPI_HANDLES_ARE_SYMBOLS
/* The addresses of the predefined objects. */
static struct {
    void *comm_world, *comm_self, *comm_null, *request_null, *message_null, *message_no_proc, *byte;
} handles;
#define MPI_COMM_WORLD ((MPI_Comm)handles.comm_world)
#define MPI_COMM_SELF ((MPI_Comm)handles.comm_self)
#define MPI_COMM_NULL ((MPI_Comm)handles.comm_null)
#define MPI_REQUEST_NULL ((MPI_Request)handles.request_null)
#define MPI_MESSAGE_NULL ((MPI_Message)handles.message_null)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)handles.message_no_proc)
#define MPI_BYTE ((MPI_Datatype)handles.byte)
#endif

static void *object_named(void *library, const char *name) {
    void *object = dlsym(RTLD_DEFAULT, name);
    return object == NULL && library != RTLD_NEXT ? dlsym(library, name) : object;
}

static void find_handles(void *library) {
#ifdef TUMIT_MPI_HANDLES_ARE_SYMBOLS
    handles.comm_world = object_named(library, TUMIT_MPI_COMM_WORLD_SYMBOL);
    handles.comm_self = object_named(library, TUMIT_MPI_COMM_SELF_SYMBOL);
    handles.comm_null = object_named(library, TUMIT_MPI_COMM_NULL_SYMBOL);
    handles.request_null = object_named(library, TUMIT_MPI_REQUEST_NULL_SYMBOL);
    handles.message_null = object_named(library, TUMIT_MPI_MESSAGE_NULL_SYMBOL);
    handles.message_no_proc = object_named(library, TUMIT_MPI_MESSAGE_NO_PROC_SYMBOL);
    handles.byte = object_named(library, TUMIT_MPI_BYTE_SYMBOL);
#else
    (void)object_named;
    (void)library;
#endif
}

/* Ends the process like an allocation failure in MPI: recording without memory is not possible. */
static void *allocated(size_t bytes) {
    void *memory = calloc(1, bytes == 0 ? 1 : bytes);
    if (memory == NULL) {
        fputs("tumit record: no memory is left for the tables of messages\n", stderr);
        abort();
    }
    return memory;
}

/* Mixes two words. Tables and communicator ids use it. */
static inline uint64_t mixed(uint64_t one, uint64_t two) {
    uint64_t word = (one ^ (two + UINT64_C(0x9E3779B97F4A7C15) + (one << 6) + (one >> 2)));
    word *= UINT64_C(0xBF58476D1CE4E5B9);
    word ^= word >> 29;
    word *= UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 32);
}

/* A handle as a number. */
#define HANDLE_BITS(handle) ((uint64_t)(uintptr_t)(handle))
