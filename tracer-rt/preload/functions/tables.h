/* The functions and the call sites of the process. Entries are added with a lock, and found without
 * one. They never change or move. */

/* Maximum number of functions, and of call sites. The recorder keeps as many names. */
#define MAX_ENTRIES 65536
/* Size of a hash table: a power of two. */
#define TABLE_BITS 17
#define TABLE_SIZE (1u << TABLE_BITS)

/* A function is undecided until its name has been compared with the patterns. */
enum { RECORDED, RATE_EXCEEDED, EXCLUDED, UNDECIDED };

struct function {
    const void *address;
    /* Index in the counters of threads. */
    uint32_t number;
    int decision;
    /* Calls that are not recorded, of threads that have ended, by reason. */
    uint64_t unrecorded_calls[3];
    struct tumit_text *text;
};

/* The position of a call: the address to which it returns, or one in an inlined function. */
struct call_site {
    /* With INLINED_MARK for an inlined function. */
    const void *address;
    struct tumit1_site position;
};

static struct function *functions[TABLE_SIZE];
static struct call_site *call_sites[TABLE_SIZE];
static uint32_t function_count, call_site_count;
static pthread_mutex_t tables_lock = PTHREAD_MUTEX_INITIALIZER;
/* The name for the functions that are not in the table, and the number of their calls by threads
 * that have ended. */
static struct tumit_text *other_functions;
static uint64_t other_calls;

/* Whether this thread holds a lock of the recorder, or reads symbols. A signal handler that
 * interrupts the thread must not wait for the lock. */
static __thread int holds_lock;

static inline uint32_t slot_of(const void *address) {
    return (uint32_t)(((uint64_t)(uintptr_t)address * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - TABLE_BITS));
}

/* Memory that lives until the end of the process. `malloc` could be a function that is recorded,
 * and a signal handler must not call it. */
static void *new_memory(size_t bytes) {
    static char *next, *end;
    char *memory;
    bytes = (bytes + 15) & ~(size_t)15;
    if ((size_t)(end - next) < bytes) {
        const size_t size = (size_t)1 << 20;
        void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) {
            return NULL;
        }
        next = pages;
        end = next + size;
    }
    memory = next;
    next += bytes;
    return memory;
}

static struct tumit_text *new_text(const char *text, size_t length) {
    struct tumit_text *copy = new_memory(sizeof *copy + length + 1);
    if (copy != NULL) {
        memcpy(copy->text, text, length + 1);
    }
    return copy;
}

/* The caller holds the lock of the tables, so the texts are static. The stack of a signal handler
 * may be small. */
static struct function *new_function(const void *address) {
    static char text[TUMIT_CODE_TEXT];
    struct function *function = function_count < MAX_ENTRIES ? new_memory(sizeof *function) : NULL;
    const size_t length = function == NULL ? 0 : tumit_code_text(TUMIT_CODE_FUNCTION, address, text);
    struct tumit_text *copy = function == NULL ? NULL : new_text(text, length);
    if (copy == NULL) {
        return NULL;
    }
    function->address = address;
    function->number = function_count;
    function->text = copy;
    function->decision = options.patterns == NULL ? RECORDED : UNDECIDED;
    __atomic_store_n(&function_count, function_count + 1, __ATOMIC_RELEASE);
    return function;
}

/* A bit that no code address has. */
#define INLINED_MARK (UINT64_C(1) << 63)

static struct call_site *new_call_site(const void *address) {
    static char text[TUMIT_CODE_TEXT];
    struct call_site *site = call_site_count < MAX_ENTRIES ? new_memory(sizeof *site) : NULL;
    const uint64_t number = (uint64_t)(uintptr_t)address;
    const enum tumit_code_kind kind = (number & INLINED_MARK) != 0 ? TUMIT_CODE_INLINED : TUMIT_CODE_CALL;
    const void *code = (const void *)(uintptr_t)(number & ~INLINED_MARK);
    const size_t length = site == NULL ? 0 : tumit_code_text(kind, code, text);
    char *copy = site == NULL ? NULL : new_memory(length + 1);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, length + 1);
    site->address = address;
    site->position.file_ = copy;
    __atomic_store_n(&call_site_count, call_site_count + 1, __ATOMIC_RELEASE);
    return site;
}

/* Defines `ADD`, which adds an entry to a table and returns it, and `FIND`, which finds or adds it.
 * NULL if the table is full. Then no lock is taken. */
#define DEFINE_TABLE(ENTRY, TABLE, COUNT, FIND, ADD, NEW)                                                              \
    static __attribute__((noinline, cold)) struct ENTRY *ADD(const void *address) {                                    \
        const int error = errno;                                                                                       \
        struct ENTRY *entry;                                                                                           \
        uint32_t slot;                                                                                                 \
        holds_lock = 1;                                                                                                \
        __wrap_pthread_mutex_lock(&tables_lock);                                                                       \
        for (slot = slot_of(address); (entry = TABLE[slot]) != NULL; slot = (slot + 1) & (TABLE_SIZE - 1)) {           \
            if (entry->address == address) {                                                                           \
                break;                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        if (entry == NULL) {                                                                                           \
            entry = NEW(address);                                                                                      \
            __atomic_store_n(&TABLE[slot], entry, __ATOMIC_RELEASE);                                                   \
        }                                                                                                              \
        pthread_mutex_unlock(&tables_lock);                                                                            \
        holds_lock = 0;                                                                                                \
        errno = error;                                                                                                 \
        return entry;                                                                                                  \
    }                                                                                                                  \
    static inline struct ENTRY *FIND(const void *address) {                                                            \
        struct ENTRY *entry;                                                                                           \
        uint32_t slot;                                                                                                 \
        for (slot = slot_of(address); (entry = __atomic_load_n(&TABLE[slot], __ATOMIC_ACQUIRE)) != NULL;               \
             slot = (slot + 1) & (TABLE_SIZE - 1)) {                                                                   \
            if (entry->address == address) {                                                                           \
                return entry;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return __atomic_load_n(&COUNT, __ATOMIC_ACQUIRE) < MAX_ENTRIES ? ADD(address) : NULL;                          \
    }
DEFINE_TABLE(function, functions, function_count, function_of, add_function, new_function)
DEFINE_TABLE(call_site, call_sites, call_site_count, call_site_of, add_call_site, new_call_site)
