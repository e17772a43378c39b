/* The calls that each thread is in. */

/* Maximum number of calls on a stack. Deeper ones are counted only. */
#define MAX_CALLS 4096
/* Decides whether two frames are on the same stack. If a new frame is above an earlier one by less
 * than this, both are on one stack, and the earlier one no longer exists. Otherwise the new frame
 * is below it, or on another stack, such as that of a signal handler or a coroutine. */
#define STACK_RANGE ((uintptr_t)1 << 20)

enum call_state {
    /* The call has no record. */
    UNRECORDED,
    /* The begin is recorded. */
    OPEN,
    /* The begin is recorded if the call becomes long enough. */
    PENDING,
};

/* A call that has not ended. */
struct call {
    const void *function;
    /* The result of `frame_position`. */
    uintptr_t frame;
    /* The address in the function from which it calls the recorder at its begin. */
    const void *code;
    /* The address to which the function returns. An inlined function has that of its caller. */
    const void *return_address;
    enum call_state state;
    /* For a pending call. */
    struct function *entry;
    const void *call_site;
    tumit1_date begin;
};

/* The calls of a function by a thread. */
struct counter {
    /* Number of calls since `window_start`, in nanoseconds. */
    uint32_t calls;
    uint64_t window_start;
    uint64_t unrecorded_calls[3];
};

struct thread_calls {
    /* The frame address of the recorder while it runs in this thread; 0 otherwise. */
    uintptr_t hook;
    /* Number of calls, and of those with a record or a pending one. */
    uint32_t depth, recorded_depth;
    /* Calls of functions that are not in the table. */
    uint64_t other_calls;
    struct call calls[MAX_CALLS];
    struct thread_calls *next;
    /* The name of a new function. */
    char name[TUMIT_FUNCTION_NAME];
    struct counter counters[MAX_ENTRIES];
};

/* Words that are searched for the return address of a function. */
#define FRAME_WORDS 16

static __thread struct thread_calls *own_calls;
/* The threads that run. */
static struct thread_calls *threads;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t thread_end_key;

/* Adds the counts of a thread to those of the process. The caller holds the lock of the threads. */
static void add_counts(struct thread_calls *thread) {
    const uint32_t count = __atomic_load_n(&function_count, __ATOMIC_ACQUIRE);
    uint32_t slot, reason;
    if (count == 0) {
        return;
    }
    other_calls += thread->other_calls;
    thread->other_calls = 0;
    for (slot = 0; slot < TABLE_SIZE; slot++) {
        struct function *function = __atomic_load_n(&functions[slot], __ATOMIC_ACQUIRE);
        for (reason = 0; function != NULL && reason < 3; reason++) {
            uint64_t *calls = &thread->counters[function->number].unrecorded_calls[reason];
            if (*calls != 0) {
                __atomic_add_fetch(&function->unrecorded_calls[reason], *calls, __ATOMIC_RELAXED);
                *calls = 0;
            }
        }
    }
}

/* The pages of unused entries need no memory. */
static __attribute__((noinline, cold)) struct thread_calls *new_thread_calls(void) {
    const int error = errno;
    struct thread_calls *thread =
        mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (thread == MAP_FAILED) {
        errno = error;
        return NULL;
    }
    /* A signal handler could enter the recorder below. */
    thread->hook = (uintptr_t)__builtin_frame_address(0);
    own_calls = thread;
    holds_lock = 1;
    __wrap_pthread_mutex_lock(&threads_lock);
    thread->next = threads;
    threads = thread;
    pthread_mutex_unlock(&threads_lock);
    holds_lock = 0;
    pthread_setspecific(thread_end_key, thread);
    thread->hook = 0;
    errno = error;
    return thread;
}

/* Records the begins of all pending calls up to number `last`. */
static void open_calls(struct thread_calls *thread, uint32_t last) {
    uint32_t first = last + 1;
    while (first > 0 && thread->calls[first - 1].state != OPEN) {
        first--;
    }
    for (; first <= last; first++) {
        struct call *call = &thread->calls[first];
        if (call->state == PENDING) {
            struct call_site *site = call_site_of(call->call_site);
            functions_late_enter_at(site == NULL ? &unknown_position : &site->position, call->entry->text->text,
                                    call->begin);
            call->state = OPEN;
        }
    }
}

/* Records the begins of all pending calls. */
static void open_all_calls(struct thread_calls *thread) {
    const uint32_t depth = thread->depth < MAX_CALLS ? thread->depth : MAX_CALLS;
    if (depth > 0) {
        open_calls(thread, depth - 1);
    }
}

static void end_thread(void *data) {
    struct thread_calls *thread = data, **entry;
    /* A signal handler must not enter the recorder below. */
    thread->hook = (uintptr_t)__builtin_frame_address(0);
    open_all_calls(thread); /* `pthread_exit` ends them */
    holds_lock = 1;
    __wrap_pthread_mutex_lock(&threads_lock);
    for (entry = &threads; *entry != NULL; entry = &(*entry)->next) {
        if (*entry == thread) {
            *entry = thread->next;
            break;
        }
    }
    add_counts(thread);
    pthread_mutex_unlock(&threads_lock);
    holds_lock = 0;
    own_calls = NULL;
    munmap(thread, sizeof *thread);
}

/* Ends the innermost call. */
static inline void end_call(struct thread_calls *thread) {
    struct call *call = &thread->calls[--thread->depth];
    if (call->state == UNRECORDED) {
        return;
    }
    thread->recorded_depth--;
    if (call->state == PENDING) {
        if (tumit1_now() - call->begin < options.minimum) {
            thread->counters[call->entry->number].unrecorded_calls[functions_call_limit_duration]++;
            return;
        }
        open_calls(thread, thread->depth);
    }
    functions_leave();
}

/* The address that stands for the frame of a function: that of the word with its return address.
 * `words` is the top of the stack when the function calls the recorder. If a frame is so large that
 * the word is not among the first FRAME_WORDS, `words` stands for it. Callees have lower ones. */
static inline uintptr_t frame_position(const uintptr_t *words, const void *return_address) {
    unsigned i;
    for (i = 0; i < FRAME_WORDS; i++) {
        if (words[i] == (uintptr_t)return_address) {
            return (uintptr_t)&words[i];
        }
    }
    return (uintptr_t)words;
}

/* Ends the calls that `longjmp` has left. A new call with the frame `frame` begins, so the frames
 * below it no longer exist. A call with the same frame has not ended if the new one is inlined into
 * it. Then both have one return address, but they call the recorder from different code. */
static __attribute__((noinline)) void end_skipped_calls(struct thread_calls *thread, uintptr_t frame, const void *code,
                                                        const void *return_address) {
    if (thread->depth > MAX_CALLS) {
        thread->depth = MAX_CALLS;
    }
    while (thread->depth > 0) {
        const struct call *call = &thread->calls[thread->depth - 1];
        const uintptr_t distance = frame - call->frame;
        if (distance >= STACK_RANGE ||
            (distance == 0 && call->code != code && call->return_address == return_address)) {
            return;
        }
        end_call(thread);
    }
}

/* Ends the innermost call of a function, and those inside of it. */
static __attribute__((noinline)) void end_calls_to(struct thread_calls *thread, const void *function) {
    uint32_t depth = thread->depth;
    while (depth > 0 && thread->calls[depth - 1].function != function) {
        depth--;
    }
    while (depth > 0 && thread->depth >= depth) {
        end_call(thread);
    }
}
