/* The recorder of functions: the functions that a compiler calls at the begin and the end of each
 * function (`-finstrument-functions`). `sleds.h` has those for `-fxray-instrument`. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "code_names/code_names.h"
#include "code_names/code_texts.h"
#include "exec/recorder_ends.h"

#include "functions_trace.h"

int __wrap_pthread_mutex_lock(pthread_mutex_t *);

#define EXPORTED __attribute__((visibility("default")))

/* The position of a call if the table of sites is full. */
static struct tumit1_site unknown_position = {NULL, 0, 0};

#include "options.h"
#include "tables.h"

#include "call_stack.h"

static int is_ready;

/* Begins the work of the recorder in a thread. Returns 0 if the recorder already runs in it: a
 * signal handler has interrupted the recorder, or the recorder calls an instrumented function. If
 * `frame` is not below the frame of the recorder, `longjmp` has left the recorder. The stack of a
 * signal handler may be above it, too, so this does not hold for a thread with a lock. */
static inline int enter_recorder(struct thread_calls *thread, uintptr_t frame) {
    if (__builtin_expect(thread->hook != 0, 0) && (holds_lock || frame - thread->hook >= STACK_RANGE)) {
        return 0;
    }
    thread->hook = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}

static inline void leave_recorder(struct thread_calls *thread) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->hook = 0;
}

/* Called after each `options.rate` calls of a function. If they took less than a second, the
 * function is no longer recorded. */
static __attribute__((noinline, cold)) int exceeds_rate(struct function *function, struct counter *counter) {
    const uint64_t now = nanoseconds_now(CLOCK_MONOTONIC_COARSE);
    const int exceeds = now - counter->window_start < UINT64_C(1000000000);
    counter->calls = 0;
    if (exceeds && __atomic_exchange_n(&function->decision, RATE_EXCEEDED, __ATOMIC_RELAXED) == RECORDED) {
        functions_rate_exceeded(function->text->text, options.rate);
    }
    return exceeds;
}

/* Compares the name of a function with the patterns. Returns the decision. No lock is held, because
 * the demangler of C++ calls `malloc`, which could be a function of the program. */
static __attribute__((noinline, cold)) int decide(struct thread_calls *thread, struct function *function) {
    const int error = errno;
    int decision, expected = UNDECIDED;
    holds_lock = 1;
    decision = is_selected(tumit_function_name(function->address, thread->name)) ? RECORDED : EXCLUDED;
    holds_lock = 0;
    errno = error;
    __atomic_compare_exchange_n(&function->decision, &expected, decision, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return decision;
}

/* Whether a call of the function is recorded. Counts it otherwise. */
static inline int is_recorded(struct thread_calls *thread, struct function *function) {
    struct counter *counter = &thread->counters[function->number];
    int decision = __atomic_load_n(&function->decision, __ATOMIC_RELAXED);
    if (decision >= EXCLUDED && (decision == EXCLUDED || (decision = decide(thread, function)) == EXCLUDED)) {
        return 0;
    }
    if (__builtin_expect(counter->calls == 0, 0) && decision == RECORDED) {
        counter->window_start = nanoseconds_now(CLOCK_MONOTONIC_COARSE);
    }
    if (decision == RATE_EXCEEDED || (++counter->calls > options.rate && exceeds_rate(function, counter))) {
        counter->unrecorded_calls[functions_call_limit_rate]++;
        return 0;
    }
    if (thread->recorded_depth >= options.depth) {
        counter->unrecorded_calls[functions_call_limit_depth]++;
        return 0;
    }
    return 1;
}

/* Records that the first call of the process begins. If calls must have a minimum duration, they
 * are recorded after their begin, with its time in `since`. Because of this first record, no
 * `since` is before the first record of the process. */
static int first_call_is_recorded;
static inline void record_first_call(void) {
    if (__builtin_expect(!__atomic_load_n(&first_call_is_recorded, __ATOMIC_RELAXED), 0) &&
        !__atomic_exchange_n(&first_call_is_recorded, 1, __ATOMIC_RELAXED)) {
        functions_first_call();
    }
}

static inline void begin_call(struct thread_calls *thread, struct call *call, const void *address,
                              const void *call_site) {
    struct function *function = function_of(address);
    if (function == NULL || !is_recorded(thread, function)) {
        thread->other_calls += function == NULL;
        call->state = UNRECORDED;
        return;
    }
    thread->recorded_depth++;
    if (options.minimum != 0) {
        record_first_call();
        call->state = PENDING;
        call->entry = function;
        call->call_site = call_site;
        call->begin = tumit1_now();
    } else {
        struct call_site *site = call_site_of(call_site);
        call->state = OPEN;
        functions_enter_at(site == NULL ? &unknown_position : &site->position, function->text->text);
    }
}

/* A function begins. `frame` stands for its frame, and `code` is the address from which it calls the
 * recorder. */
static inline void enter_function(struct thread_calls *thread, const void *function, uintptr_t frame, const void *code,
                                  const void *call_site) {
    uint32_t depth = thread->depth;
    int is_inlined = 0;
    if (depth > 0) {
        const uint32_t top = depth < MAX_CALLS ? depth : MAX_CALLS;
        if (__builtin_expect(frame - thread->calls[top - 1].frame < STACK_RANGE, 0)) {
            end_skipped_calls(thread, frame, code, call_site);
            depth = thread->depth;
            is_inlined = depth > 0 && depth <= MAX_CALLS && thread->calls[depth - 1].frame == frame;
        }
    }
    thread->depth = depth + 1;
    if (__builtin_expect(depth < MAX_CALLS, 1)) {
        struct call *call = &thread->calls[depth];
        call->function = function;
        call->frame = frame;
        call->code = code;
        call->return_address = call_site;
        begin_call(thread, call, function,
                   is_inlined ? (const void *)(uintptr_t)((uint64_t)(uintptr_t)code | INLINED_MARK) : call_site);
    }
}

static inline void leave_function(struct thread_calls *thread, const void *function) {
    if (__builtin_expect(thread->depth > MAX_CALLS, 0)) {
        thread->depth--;
    } else if (__builtin_expect(thread->depth > 0 && thread->calls[thread->depth - 1].function == function, 1)) {
        end_call(thread);
    } else {
        end_calls_to(thread, function);
    }
}

void __cyg_profile_func_enter(void *function, void *call_site);
EXPORTED void __cyg_profile_func_enter(void *function, void *call_site) {
    /* The first two words of the frame are the saved frame pointer and the return address. */
    const uintptr_t *words = (const uintptr_t *)__builtin_frame_address(0) + 2;
    const void *code = __builtin_return_address(0);
    struct thread_calls *thread = own_calls;
    if (__builtin_expect(thread == NULL, 0) && (!is_ready || (thread = new_thread_calls()) == NULL)) {
        return;
    }
    if (enter_recorder(thread, (uintptr_t)words)) {
        enter_function(thread, function, frame_position(words, call_site), code, call_site);
        leave_recorder(thread);
    }
}

void __cyg_profile_func_exit(void *function, void *call_site);
EXPORTED void __cyg_profile_func_exit(void *function, void *call_site) {
    struct thread_calls *thread = own_calls;
    (void)call_site;
    if (thread != NULL && enter_recorder(thread, (uintptr_t)((const uintptr_t *)__builtin_frame_address(0) + 2))) {
        leave_function(thread, function);
        leave_recorder(thread);
    }
}

#include "sleds.h"

/* ---- Start, end, and child processes ---- */

/* Records the pending calls of this thread, and the numbers of calls that are not recorded. This
 * destructor runs before the one of the recorder. */
__attribute__((destructor)) void tumit_end_functions(void) {
    struct thread_calls *thread;
    uint32_t slot;
    int reason;
    if (!is_ready) {
        return;
    }
    thread = own_calls;
    /* A signal handler that interrupted the recorder may end the process. The thread may hold locks
     * then. */
    if (thread != NULL && !enter_recorder(thread, (uintptr_t)__builtin_frame_address(0))) {
        return;
    }
    is_ready = 0;
    if (thread != NULL) {
        open_all_calls(thread);
    }
    holds_lock = 1;
    __wrap_pthread_mutex_lock(&threads_lock);
    for (thread = threads; thread != NULL; thread = thread->next) {
        add_counts(thread);
    }
    pthread_mutex_unlock(&threads_lock);
    holds_lock = 0;
    for (slot = 0; slot < TABLE_SIZE; slot++) {
        struct function *function = functions[slot];
        for (reason = 0; function != NULL && reason < 3; reason++) {
            if (function->unrecorded_calls[reason] != 0) {
                functions_unrecorded_calls(function->text->text, (enum functions_call_limit)reason,
                                           function->unrecorded_calls[reason]);
            }
        }
    }
    if (other_calls != 0 && other_functions != NULL) {
        functions_unrecorded_calls(other_functions->text, functions_call_limit_functions, other_calls);
    }
    if (own_calls != NULL) {
        own_calls->hook = 0;
    }
}

/* Runs in the child after `fork`. The child has only this thread. The begins of its open calls are
 * in the file of the parent, so the child must not record their ends. */
static void reset_child_process(void) {
    struct thread_calls *thread = own_calls;
    uint32_t i;
    pthread_mutex_init(&tables_lock, NULL);
    pthread_mutex_init(&threads_lock, NULL);
    for (i = 0; i < TABLE_SIZE && function_count > 0; i++) {
        if (functions[i] != NULL) {
            memset(functions[i]->unrecorded_calls, 0, sizeof functions[i]->unrecorded_calls);
            if (functions[i]->decision == RATE_EXCEEDED) {
                functions[i]->decision = RECORDED; /* the record is in the file of the parent */
            }
        }
    }
    first_call_is_recorded = 0;
    other_calls = 0;
    threads = thread;
    if (thread == NULL) {
        return;
    }
    thread->next = NULL;
    thread->other_calls = 0;
    thread->recorded_depth = 0;
    for (i = 0; i < thread->depth && i < MAX_CALLS; i++) {
        thread->calls[i].state = UNRECORDED;
    }
    memset(thread->counters, 0, function_count * sizeof thread->counters[0]);
}

/* The definition in this library, even if the program uses that of another library. */
__typeof__(__cyg_profile_func_enter) tumit_own_enter
    __attribute__((alias("__cyg_profile_func_enter"), visibility("hidden")));

/* Prepares the recorder if this copy of the library exports its functions. A child process gets new
 * locks, because another thread of the parent may hold them during `fork`. */
__attribute__((constructor)) static void prepare_functions(void) {
    if (dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter") == (void *)tumit_own_enter) {
        TUMIT_REGISTER_FUNCTIONS();
        read_options();
        other_functions = new_text("other functions", sizeof "other functions" - 1);
        pthread_key_create(&thread_end_key, end_thread);
        pthread_atfork(NULL, NULL, reset_child_process);
        is_ready = 1;
        patch_all_sleds();
    }
}
