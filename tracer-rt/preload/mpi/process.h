/* The state of MPI in this process. */

/* Whether MPI is initialised and not finalised. Calls at other times are mistakes of the program.
 * They are not recorded, and MPI reports them. */
static int is_active;
/* Whether several threads may call MPI at the same time. */
static int has_threads;
/* Whether `MPI_COMM_WORLD` exists. It does not in programs that use only sessions. */
static int has_world;
/* The lock of the tables. Threads get it in the order of their tickets. Otherwise a thread that
 * tests for a message in a loop could take it again before all others. */
static struct {
    unsigned next_ticket, current_ticket;
} lock;

/* Whether a call of this thread comes from the program, and not from inside of MPI. */
static inline int is_outermost(void) { return tumit_mpi_depth == 0; }
/* Whether the recorder records a call of this thread. */
static inline int is_recorded(void) { return is_outermost() && is_active; }

/* The frame of a wrapper. A call from inside of MPI, or before MPI is active, goes to MPI and is
 * not recorded. All other calls are recorded as a span of the kind `KIND`. Between both macros,
 * the wrapper sets `error_code`. It may call MPI by `pmpi`. */
#define BEGIN_CALL(KIND, NAME, ...)               \
    ENTER_CALL(is_recorded(), NAME, __VA_ARGS__); \
    tumit_mpi_begin_##KIND(PROCEDURE_##NAME)
#define END_CALL(KIND)      \
    tumit_mpi_end_##KIND(); \
    LEAVE_CALL()

/* The same frame without a span, for calls that `CONDITION` selects. */
#define ENTER_CALL(CONDITION, NAME, ...) \
    int error_code;                      \
    if (!(CONDITION)) {                  \
        return pmpi.NAME(__VA_ARGS__);   \
    }                                    \
    tumit_mpi_depth++
#define LEAVE_CALL()   \
    tumit_mpi_depth--; \
    return error_code

/* Only one thread at a time uses the tables of communicators, data types and requests. */
static inline void lock_tables(void) {
    if (has_threads) {
        const unsigned ticket = __atomic_fetch_add(&lock.next_ticket, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&lock.current_ticket, __ATOMIC_ACQUIRE) != ticket) {
            sched_yield();
        }
    }
}
static inline void unlock_tables(void) {
    if (has_threads) {
        __atomic_store_n(&lock.current_ticket, lock.current_ticket + 1, __ATOMIC_RELEASE);
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

/* The address of an object of MPI. The program may contain a copy, which comes first. */
static void *object_address(void *library, const char *name) {
    void *object = dlsym(RTLD_DEFAULT, name);
    return object == NULL && library != RTLD_NEXT ? dlsym(library, name) : object;
}

static void find_handles(void *library) {
#ifdef TUMIT_MPI_HANDLES_ARE_SYMBOLS
    handles.comm_world = object_address(library, TUMIT_MPI_COMM_WORLD_SYMBOL);
    handles.comm_self = object_address(library, TUMIT_MPI_COMM_SELF_SYMBOL);
    handles.comm_null = object_address(library, TUMIT_MPI_COMM_NULL_SYMBOL);
    handles.request_null = object_address(library, TUMIT_MPI_REQUEST_NULL_SYMBOL);
    handles.message_null = object_address(library, TUMIT_MPI_MESSAGE_NULL_SYMBOL);
    handles.message_no_proc = object_address(library, TUMIT_MPI_MESSAGE_NO_PROC_SYMBOL);
    handles.byte = object_address(library, TUMIT_MPI_BYTE_SYMBOL);
#else
    (void)object_address;
    (void)library;
#endif
}

/* Zeroed memory. Without it, the process ends: the recorder cannot number messages. */
static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes == 0 ? 1 : bytes);
    if (memory == NULL) {
        fputs("tumit record: no memory is left for the tables of messages\n", stderr);
        abort();
    }
    return memory;
}

/* A hash of two words, for tables. */
static inline uint64_t hash_words(uint64_t first, uint64_t second) {
    uint64_t word = (first ^ (second + UINT64_C(0x9E3779B97F4A7C15) + (first << 6) + (first >> 2)));
    word *= UINT64_C(0xBF58476D1CE4E5B9);
    word ^= word >> 29;
    word *= UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 32);
}

/* A handle as a number. */
#define HANDLE_BITS(handle) ((uint64_t)(uintptr_t)(handle))
