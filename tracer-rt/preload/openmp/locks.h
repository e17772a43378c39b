/* Waits for locks and critical sections.
 *
 * The runtime reports each acquisition. A record is written only if the lock has an owner, or if
 * the wait was long. */

/* Entries of the table of owners; a power of two. */
#define OWNERS 4096
/* A wait that is at least as long is recorded at its end, in ticks of the clock: two microseconds
 * at 2 GHz. The lock seemed to be free at its begin. */
#define LONG_WAIT 4096

/* The owner of a lock, or the last one. Of two locks in one entry, the later one replaces the
 * other. */
struct owner {
    uint64_t lock;
    pid_t thread;
    int is_held;
};

static struct owner owners[OWNERS];

/* The wait of the calling thread. */
static __thread struct {
    tumit1_date begin;
    int is_recorded;
} lock_wait;

static struct owner *owner_entry(uint64_t lock) {
    return &owners[(lock * UINT64_C(0x9E3779B97F4A7C15)) >> 52];
}

static enum openmp_lock_kind lock_kind(int kind) {
    switch (kind) {
    case OMPT_NESTABLE_LOCK:
    case OMPT_TEST_NESTABLE_LOCK: return openmp_lock_kind_nestable_lock;
    case OMPT_CRITICAL: return openmp_lock_kind_critical;
    case OMPT_ATOMIC: return openmp_lock_kind_atomic;
    case OMPT_ORDERED: return openmp_lock_kind_ordered;
    default: return openmp_lock_kind_lock;
    }
}

static void wait_for_lock(int kind, unsigned hint, unsigned variant, uint64_t lock, const void *code) {
    const struct owner *entry = owner_entry(lock);
    pid_t owner = 0;
    (void)hint;
    (void)variant;
    (void)code;
    if (kind == OMPT_TEST_LOCK || kind == OMPT_TEST_NESTABLE_LOCK) {
        return;
    }
    if (__atomic_load_n(&entry->lock, __ATOMIC_ACQUIRE) == lock && __atomic_load_n(&entry->is_held, __ATOMIC_RELAXED)) {
        owner = __atomic_load_n(&entry->thread, __ATOMIC_RELAXED);
    }
    lock_wait.begin = tumit1_now();
    lock_wait.is_recorded = owner != 0 && owner != own_thread();
    if (lock_wait.is_recorded) {
        openmp_lock_wait_begin(lock_kind(kind), lock, (uint64_t)owner);
    }
}

static void acquire_lock(int kind, uint64_t lock, const void *code) {
    struct owner *entry = owner_entry(lock);
    const pid_t last_owner = __atomic_load_n(&entry->lock, __ATOMIC_ACQUIRE) == lock
                                 ? __atomic_load_n(&entry->thread, __ATOMIC_RELAXED)
                                 : 0;
    (void)code;
    __atomic_store_n(&entry->is_held, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->thread, own_thread(), __ATOMIC_RELAXED);
    __atomic_store_n(&entry->lock, lock, __ATOMIC_RELEASE);
    if (kind == OMPT_TEST_LOCK || kind == OMPT_TEST_NESTABLE_LOCK) {
        return;
    }
    if (lock_wait.is_recorded) {
        lock_wait.is_recorded = 0;
        openmp_lock_wait_end(lock);
    } else if (tumit1_now() - lock_wait.begin >= LONG_WAIT) {
        openmp_long_lock_wait(lock_kind(kind), lock, last_owner == own_thread() ? 0 : (uint64_t)last_owner,
                              lock_wait.begin);
    }
}

static void release_lock(int kind, uint64_t lock, const void *code) {
    struct owner *entry = owner_entry(lock);
    (void)kind;
    (void)code;
    /* The runtime reports the release late, so the lock may have another owner. */
    if (__atomic_load_n(&entry->lock, __ATOMIC_RELAXED) == lock &&
        __atomic_load_n(&entry->thread, __ATOMIC_RELAXED) == own_thread()) {
        __atomic_store_n(&entry->is_held, 0, __ATOMIC_RELAXED);
    }
}
