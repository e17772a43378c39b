/* The tool that records OpenMP programs. The runtime calls `ompt_start_tool` at its start, and then
 * the functions that the tool registers. */

#define _GNU_SOURCE

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code_names/code_names.h"
#include "exec/recorder_ends.h"
#include "own_thread.h"
#include "ompt.h"
#include "openmp_trace.h"

#include "regions.h"
#include "tasks.h"
#include "locks.h"

/* ---- Start ---- */

static void reset_child_process(void) {
    forget_runtime_threads();
    unlock_dependences();
}

static const struct {
    int event;
    ompt_function callback;
} callbacks[] = {
    {OMPT_THREAD_BEGIN, (ompt_function)begin_thread},
    {OMPT_THREAD_END, (ompt_function)end_thread},
    {OMPT_PARALLEL_BEGIN, (ompt_function)begin_region},
    {OMPT_PARALLEL_END, (ompt_function)end_region},
    {OMPT_IMPLICIT_TASK, (ompt_function)record_region_part},
    {OMPT_SYNC_REGION, (ompt_function)record_wait},
    {OMPT_REDUCTION, (ompt_function)record_wait},
    {OMPT_WORK, (ompt_function)record_work},
    {OMPT_MASKED, (ompt_function)record_masked},
    {OMPT_TASK_CREATE, (ompt_function)create_task},
    {OMPT_TASK_SCHEDULE, (ompt_function)switch_task},
    {OMPT_TASK_DEPENDENCE, (ompt_function)add_dependence},
    {OMPT_MUTEX_ACQUIRE, (ompt_function)wait_for_lock},
    {OMPT_MUTEX_ACQUIRED, (ompt_function)acquire_lock},
    {OMPT_MUTEX_RELEASED, (ompt_function)release_lock},
};

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool) {
    ompt_set_callback set_callback = (ompt_set_callback)lookup("ompt_set_callback");
    size_t i;
    (void)device;
    (void)tool;
    if (set_callback == NULL) {
        return 0;
    }
    pthread_atfork(NULL, NULL, reset_child_process);
    /* Older runtimes lack some events, which is no error. */
    for (i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++) {
        set_callback(callbacks[i].event, callbacks[i].callback);
    }
    return 1;
}

/* The runtime calls this after the end of the recording. */
static void finalize(union ompt_data *tool) { (void)tool; }

struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);
__attribute__((visibility("default"))) struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime) {
    static struct ompt_tool tool = {initialize, finalize, {0}};
    (void)version;
    (void)runtime;
    TUMIT_REGISTER_OPENMP();
    return &tool;
}
