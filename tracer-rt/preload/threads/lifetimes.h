/* The begin and the end of threads. */

/* A thread that the program has created. */
struct thread {
    uint64_t number;
    pid_t id;
    tumit1_date end_time;
    /* The thread itself, and the table. */
    unsigned references;
};

/* The arguments of a new thread. */
struct thread_start {
    void *(*function)(void *);
    void *argument;
    struct thread *thread;
};

/* Entries of the table of threads; a power of two. */
#define THREADS 4096
/* The threads that may be joined. If two threads belong into one entry, the later thread replaces
 * the earlier one. The end of the earlier thread then has no link. */
static struct {
    pthread_t handle;
    struct thread *thread;
} threads[THREADS];
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_thread;

static void release_thread(struct thread *thread) {
    if (thread != NULL && __atomic_sub_fetch(&thread->references, 1, __ATOMIC_ACQ_REL) == 0) {
        free(thread);
    }
}

static size_t thread_entry(pthread_t handle) {
    return (size_t)(((uint64_t)handle * UINT64_C(0x9E3779B97F4A7C15)) >> 52);
}

static void store_thread(pthread_t handle, struct thread *thread) {
    const size_t entry = thread_entry(handle);
    __wrap_pthread_mutex_lock(&threads_lock);
    release_thread(threads[entry].thread);
    threads[entry].handle = handle;
    threads[entry].thread = thread;
    pthread_mutex_unlock(&threads_lock);
}

/* Takes a thread that has ended out of the table. NULL if it is not known, or if a new thread has
 * its handle. */
static struct thread *take_thread(pthread_t handle) {
    const size_t entry = thread_entry(handle);
    struct thread *thread = NULL;
    __wrap_pthread_mutex_lock(&threads_lock);
    if (threads[entry].thread != NULL && pthread_equal(threads[entry].handle, handle) &&
        __atomic_load_n(&threads[entry].thread->end_time, __ATOMIC_ACQUIRE) != 0) {
        thread = threads[entry].thread;
        threads[entry].thread = NULL;
    }
    pthread_mutex_unlock(&threads_lock);
    return thread;
}

static int is_first_thread_recorded;

/* Records the first thread of the process once, before its first other record. */
static void record_first_thread(void) {
    if (!__atomic_load_n(&is_first_thread_recorded, __ATOMIC_RELAXED) && own_thread() == getpid()) {
        __atomic_store_n(&is_first_thread_recorded, 1, __ATOMIC_RELAXED);
        threads_first_thread();
    }
}

static void end_thread(void *data) {
    struct thread *thread = data;
    __atomic_store_n(&thread->end_time, tumit1_now(), __ATOMIC_RELEASE);
    threads_end_thread();
    release_thread(thread);
}

/* The code that a new thread runs. The library of C++ passes a function of its own, and an object.
 * The third virtual function of the object runs the function of the program. */
static const void *thread_code(const struct thread_start *start) {
    const void *code = (const void *)(uintptr_t)start->function;
    struct tumit_module module;
    if (start->argument != NULL && tumit_find_module(code, &module) && strstr(module.path, "/libstdc++.so") != NULL) {
        return (*(void **const *)start->argument)[2];
    }
    return code;
}

/* The function of a new thread. */
static void *run_thread(void *data) {
    const struct thread_start start = *(struct thread_start *)data;
    void *result;
    free(data);
    start.thread->id = own_thread();
    store_thread(pthread_self(), start.thread);
    threads_begin_thread(start.thread->number, tumit_code_name(TUMIT_CODE_FUNCTION, thread_code(&start)));
    pthread_cleanup_push(end_thread, start.thread);
    result = start.function(start.argument);
    pthread_cleanup_pop(1);
    return result;
}

EXPORTED int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *),
                            void *argument) {
    struct thread_start *start = NULL;
    struct thread *thread = NULL;
    int result;
    ensure_next_functions();
    if (!IS_PROGRAM_CALL() || (start = malloc(sizeof *start)) == NULL || (thread = calloc(1, sizeof *thread)) == NULL) {
        free(start);
        return next.pthread_create(handle, attributes, function, argument);
    }
    record_first_thread();
    thread->number = __atomic_add_fetch(&last_thread, 1, __ATOMIC_RELAXED);
    thread->references = 2;
    start->function = function;
    start->argument = argument;
    start->thread = thread;
    threads_create_thread(thread->number);
    result = next.pthread_create(handle, attributes, run_thread, start);
    if (result != 0) {
        free(start);
        free(thread);
    }
    return result;
}

/* Records the end of a wait for the end of a thread. `result` is that of the function that
 * waited. */
static void record_join_end(pthread_t handle, int result) {
    struct thread *thread = result == 0 ? take_thread(handle) : NULL;
    if (thread == NULL) {
        threads_join_end(0, 0, tumit1_now());
    } else {
        threads_join_end(thread->number, (uint64_t)thread->id, thread->end_time);
    }
    release_thread(thread);
}

/* Joins a thread that has ended, or records the wait around an expression. */
#define RECORD_JOIN(handle, value, expression)                                                                         \
    do {                                                                                                               \
        ensure_next_functions();                                                                                       \
        if (!IS_PROGRAM_CALL()) {                                                                                      \
            return (expression);                                                                                       \
        }                                                                                                              \
        /* The functions are cancellation points, also if they do not wait. */                                         \
        pthread_testcancel();                                                                                          \
        result = next.pthread_tryjoin_np(handle, value);                                                               \
        if (result == 0) {                                                                                             \
            release_thread(take_thread(handle));                                                                       \
            return 0;                                                                                                  \
        }                                                                                                              \
        if (result != EBUSY) {                                                                                         \
            return (expression);                                                                                       \
        }                                                                                                              \
        record_first_thread();                                                                                         \
        threads_join_begin();                                                                                          \
        result = (expression);                                                                                         \
        record_join_end(handle, result);                                                                               \
    } while (0)

EXPORTED int pthread_join(pthread_t handle, void **value) {
    int result;
    RECORD_JOIN(handle, value, next.pthread_join(handle, value));
    return result;
}

EXPORTED int pthread_timedjoin_np(pthread_t handle, void **value, const struct timespec *end) {
    int result;
    RECORD_JOIN(handle, value, next.pthread_timedjoin_np(handle, value, end));
    return result;
}

EXPORTED int pthread_clockjoin_np(pthread_t handle, void **value, clockid_t clock, const struct timespec *end) {
    int result;
    RECORD_JOIN(handle, value, next.pthread_clockjoin_np(handle, value, clock, end));
    return result;
}

/* Joins a thread only if it has ended. */
EXPORTED int pthread_tryjoin_np(pthread_t handle, void **value) {
    int result;
    ensure_next_functions();
    result = next.pthread_tryjoin_np(handle, value);
    if (result == 0 && IS_PROGRAM_CALL()) {
        release_thread(take_thread(handle));
    }
    return result;
}
