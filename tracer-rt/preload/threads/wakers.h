/* The thread that has ended a wait for a condition or semaphore. */

/* Entries of the table; a power of two. */
#define WAKERS 1024

/* The last thread that signalled a condition, or increased a semaphore. */
struct waker {
    const void *object;
    /* Number of waiting threads of all objects in this entry. */
    unsigned waiters;
    pid_t thread;
    tumit1_date time;
    int is_locked;
};

static struct waker wakers[WAKERS];
static uint64_t last_wait;

static struct waker *waker_entry(const void *object) {
    return &wakers[((uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15)) >> 54];
}

/* Attempts to lock an entry. A signal handler may increase a semaphore, and must not wait. */
#define ATTEMPTS 1000

static int try_lock_waker(struct waker *entry) { return !__atomic_exchange_n(&entry->is_locked, 1, __ATOMIC_ACQUIRE); }

static void unlock_waker(struct waker *entry) { __atomic_store_n(&entry->is_locked, 0, __ATOMIC_RELEASE); }

/* The calling thread is going to wake a thread that waits for the object, if there is one. */
static inline void note_waker(const void *object) {
    struct waker *entry = waker_entry(object);
    if (__atomic_load_n(&entry->waiters, __ATOMIC_ACQUIRE) != 0 && try_lock_waker(entry)) {
        entry->object = object;
        entry->thread = own_thread();
        entry->time = tumit1_now();
        unlock_waker(entry);
    }
}

/* A wait of the calling thread. */
struct wait {
    const void *object;
    tumit1_date begin;
};

static struct wait note_wait_begin(const void *object) {
    const struct wait wait = {object, tumit1_now()};
    __atomic_add_fetch(&waker_entry(object)->waiters, 1, __ATOMIC_ACQ_REL);
    return wait;
}

/* The end of a wait: the thread that signalled last, or the thread 0. */
struct wait_end {
    uint64_t thread;
    tumit1_date time;
    uint64_t number;
};

/* A wait that has ended by a timeout or a signal handler has no waker. */
static struct wait_end note_wait_end(const struct wait *wait, int is_woken) {
    struct waker *entry = waker_entry(wait->object);
    struct wait_end end = {0, wait->begin, 0};
    int attempts = is_woken ? ATTEMPTS : 0;
    __atomic_sub_fetch(&entry->waiters, 1, __ATOMIC_ACQ_REL);
    for (; attempts > 0; attempts--) {
        if (try_lock_waker(entry)) {
            if (entry->object == wait->object && entry->time >= wait->begin && entry->thread != own_thread()) {
                end.thread = (uint64_t)entry->thread;
                end.time = entry->time;
            }
            unlock_waker(entry);
            break;
        }
    }
    end.number = __atomic_add_fetch(&last_wait, 1, __ATOMIC_RELAXED);
    return end;
}
