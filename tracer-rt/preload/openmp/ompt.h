/* The part of the interface OMPT that the tool uses. The numbers and types are those of OpenMP 5.0
 * to 5.2, chapter "OMPT Interface". The header of a compiler
 * may be missing, or may not compile with another compiler. */

#ifndef TUMIT_OMPT_H
#define TUMIT_OMPT_H

#include <stdint.h>

/* Data of the tool for a thread, region or task. */
union ompt_data {
    uint64_t value;
    void *pointer;
};

struct ompt_frame;

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int event, ompt_function callback);

struct ompt_tool {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
    void (*finalize)(union ompt_data *tool);
    union ompt_data tool;
};

/* Events. */
enum {
    OMPT_THREAD_BEGIN = 1,
    OMPT_THREAD_END = 2,
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_MUTEX_RELEASED = 17,
    OMPT_TASK_DEPENDENCE = 19,
    OMPT_WORK = 20,
    OMPT_MASKED = 21,
    OMPT_SYNC_REGION = 23,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
    OMPT_REDUCTION = 31
};

enum { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 };

/* Kinds of threads. */
enum { OMPT_THREAD_INITIAL = 1, OMPT_THREAD_WORKER = 2 };

/* Flags of tasks. */
enum { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4, OMPT_TASK_UNTIED = 0x10000000 };

/* Why a thread leaves a task. */
enum {
    OMPT_TASK_COMPLETE = 1,
    OMPT_TASK_YIELD = 2,
    OMPT_TASK_CANCEL = 3,
    OMPT_TASK_DETACH = 4,
    OMPT_TASK_EARLY_FULFILL = 5,
    OMPT_TASK_LATE_FULFILL = 6,
    OMPT_TASK_SWITCH = 7
};

/* Kinds of waits. The first two are those of runtimes for OpenMP 5.0. */
enum {
    OMPT_SYNC_BARRIER = 1,
    OMPT_SYNC_IMPLICIT = 2,
    OMPT_SYNC_EXPLICIT = 3,
    OMPT_SYNC_RUNTIME = 4,
    OMPT_SYNC_TASKWAIT = 5,
    OMPT_SYNC_TASKGROUP = 6,
    OMPT_SYNC_REDUCTION = 7,
    OMPT_SYNC_WORK_END = 8,
    OMPT_SYNC_REGION_END = 9,
    OMPT_SYNC_TEAMS = 10
};

/* Kinds of work. Runtimes for OpenMP 5.2 report the schedule of a loop by 10 to 13. */
enum {
    OMPT_WORK_LOOP = 1,
    OMPT_WORK_SECTIONS = 2,
    OMPT_WORK_SINGLE = 3,
    OMPT_WORK_SINGLE_OF_OTHER_THREAD = 4,
    OMPT_WORK_WORKSHARE = 5,
    OMPT_WORK_DISTRIBUTE = 6,
    OMPT_WORK_TASKLOOP = 7,
    OMPT_WORK_SCOPE = 8
};

/* Kinds of locks. */
enum {
    OMPT_LOCK = 1,
    OMPT_TEST_LOCK = 2,
    OMPT_NESTABLE_LOCK = 3,
    OMPT_TEST_NESTABLE_LOCK = 4,
    OMPT_CRITICAL = 5,
    OMPT_ATOMIC = 6,
    OMPT_ORDERED = 7
};

#endif
