/* The functions of POSIX threads that record the waits of a program. */

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "code_names/code_names.h"
#include "code_names/modules.h"
#include "code_names/runtime_code.h"
#include "mpi/preload.h"
#include "own_thread.h"
#include "threads_trace.h"

#define EXPORTED __attribute__((visibility("default")))
#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))
/* Whether the program itself calls the function that contains this expression. Calls of MPI and
 * OpenMP libraries, and calls inside MPI procedures, are not recorded. */
#define IS_PROGRAM_CALL() (tumit_mpi_depth == 0 && !tumit_is_runtime_code(__builtin_return_address(0)))

#include "next_calls.h"

#include "lifetimes.h"
#include "wakers.h"

#include "waits.h"

/* ---- Start, and child processes ---- */

static void reset_child_process(void) {
    pthread_mutex_init(&threads_lock, NULL);
    memset(wakers, 0, sizeof wakers);
    is_first_thread_recorded = 0;
}

/* The function of this library, also if another one replaces it. */
__typeof__(pthread_join) tumit_own_join __attribute__((alias("pthread_join"), visibility("hidden")));

/* Prepares the recorder if this copy of the library exports its functions. Other threads of the
 * parent may hold locks when it forks, and do not exist in the child. */
__attribute__((constructor)) static void prepare_threads(void) {
    if (dlsym(RTLD_DEFAULT, "pthread_join") == (void *)tumit_own_join) {
        TUMIT_REGISTER_THREADS();
        pthread_atfork(NULL, NULL, reset_child_process);
    }
}
