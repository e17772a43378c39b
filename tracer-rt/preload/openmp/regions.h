/* Threads, parallel regions, barriers and work sharing. */

/* A parallel region. Its threads use it until the last one has left. */
struct region {
    uint64_t number;
    const char *code;
    /* The time at which the initial thread of the region has left a barrier; 0 before. */
    tumit1_date leave_time;
    /* Number of barriers that this thread has left. */
    unsigned barriers;
    unsigned references;
};

/* The data of a task for the runtime. */
struct task_data {
    /* Set for the part of a thread in a region: an implicit task. */
    struct region *region;
    /* The part of the thread in the enclosing region. */
    struct task_data *outer_part;
    /* The kind of wait for other tasks in which the task is; 0 without one. */
    int wait;
    /* Number of the thread in the region. */
    unsigned thread;
    /* Number of barriers that the thread has entered, and whether it is in the last one. */
    unsigned barriers;
    int is_in_barrier;
    /* Whether the thread left the region before the runtime reported it. */
    int has_left_early;
};

/* A thread of the runtime. */
struct runtime_thread {
    pid_t thread;
    /* Its part in the innermost region. */
    struct task_data *part;
    struct runtime_thread *next;
};

/* All threads that have begun. The list only grows, because few programs end threads. */
static struct runtime_thread *runtime_threads;
static __thread struct runtime_thread *own_runtime_thread;

/* The number of the last region. */
static uint64_t last_region;

static void release_region(struct region *region) {
    if (__atomic_sub_fetch(&region->references, 1, __ATOMIC_ACQ_REL) == 0) {
        free(region);
    }
}

static void begin_thread(int kind, union ompt_data *thread) {
    struct runtime_thread *entry = calloc(1, sizeof *entry);
    (void)thread;
    if (entry != NULL) {
        entry->thread = own_thread();
        own_runtime_thread = entry;
        entry->next = __atomic_load_n(&runtime_threads, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&runtime_threads, &entry->next, entry, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
        }
    }
    openmp_runtime_thread_begin(kind == OMPT_THREAD_INITIAL  ? openmp_thread_kind_initial
                                : kind == OMPT_THREAD_WORKER ? openmp_thread_kind_worker
                                                             : openmp_thread_kind_other);
}

static void end_thread(union ompt_data *thread) {
    (void)thread;
    own_runtime_thread = NULL;
    openmp_runtime_thread_end();
}

static void begin_region(union ompt_data *task, const struct ompt_frame *frame, union ompt_data *data,
                         unsigned requested_threads, int flags, const void *code) {
    struct region *region = calloc(1, sizeof *region);
    (void)task;
    (void)frame;
    (void)flags;
    data->pointer = region;
    if (region != NULL) {
        region->number = __atomic_add_fetch(&last_region, 1, __ATOMIC_RELAXED);
        region->code = tumit_code_name(TUMIT_CODE_CALL, code);
        region->references = 1;
        openmp_parallel_begin(region->number, requested_threads);
    }
}

static void end_region(union ompt_data *data, union ompt_data *task, int flags, const void *code) {
    (void)task;
    (void)flags;
    (void)code;
    if (data->pointer != NULL) {
        openmp_parallel_end();
        release_region(data->pointer);
        data->pointer = NULL;
    }
}

static void begin_region_part(struct region *region, union ompt_data *task, unsigned threads, unsigned number) {
    struct task_data *part = calloc(1, sizeof *part);
    task->pointer = part;
    if (part != NULL) {
        part->region = region;
        part->thread = number;
        if (own_runtime_thread != NULL) {
            part->outer_part = own_runtime_thread->part;
            __atomic_store_n(&own_runtime_thread->part, part, __ATOMIC_RELEASE);
        }
        __atomic_add_fetch(&region->references, 1, __ATOMIC_RELAXED);
        openmp_region_part_begin(region->number, region->code, threads, number);
    }
}

static void end_region_part(union ompt_data *task) {
    struct task_data *part = task->pointer;
    if (own_runtime_thread != NULL && own_runtime_thread->part == part) {
        __atomic_store_n(&own_runtime_thread->part, part->outer_part, __ATOMIC_RELEASE);
    }
    if (part->has_left_early) {
        openmp_late_leave((uint64_t)own_thread(), part->region->leave_time);
    } else {
        openmp_region_part_end();
    }
    release_region(part->region);
    free(part);
    task->pointer = NULL;
}

static void record_region_part(int endpoint, union ompt_data *data, union ompt_data *task, unsigned threads,
                               unsigned number, int flags) {
    if ((flags & OMPT_TASK_INITIAL) != 0) {
        return;
    }
    if (endpoint == OMPT_SCOPE_BEGIN) {
        if (data != NULL && data->pointer != NULL) {
            begin_region_part(data->pointer, task, threads, number);
        }
    } else if (task != NULL && task->pointer != NULL) {
        end_region_part(task);
    }
}

/* The runtime reports that workers have left their last region after the end of the recording. This
 * destructor runs before the one of the recorder. */
__attribute__((destructor)) void tumit_end_openmp(void) {
    struct runtime_thread *thread = __atomic_load_n(&runtime_threads, __ATOMIC_ACQUIRE);
    for (; thread != NULL; thread = thread->next) {
        const struct task_data *part = __atomic_load_n(&thread->part, __ATOMIC_ACQUIRE);
        if (part != NULL && part->thread != 0 && __atomic_load_n(&part->is_in_barrier, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&part->region->barriers, __ATOMIC_ACQUIRE) >= part->barriers) {
            openmp_late_leave((uint64_t)thread->thread, part->region->leave_time);
        }
    }
}

/* A child process has no thread of the runtime. */
static void forget_runtime_threads(void) {
    runtime_threads = NULL;
    own_runtime_thread = NULL;
}

/* ---- Waits ---- */

static enum openmp_wait_kind wait_kind(int kind) {
    switch (kind) {
    case OMPT_SYNC_EXPLICIT: return openmp_wait_kind_explicit_barrier;
    case OMPT_SYNC_RUNTIME: return openmp_wait_kind_runtime_barrier;
    case OMPT_SYNC_TASKWAIT: return openmp_wait_kind_taskwait;
    case OMPT_SYNC_TASKGROUP: return openmp_wait_kind_taskgroup;
    case OMPT_SYNC_REDUCTION: return openmp_wait_kind_reduction;
    case OMPT_SYNC_WORK_END: return openmp_wait_kind_work_end;
    case OMPT_SYNC_REGION_END: return openmp_wait_kind_region_end;
    default: return openmp_wait_kind_implicit_barrier;
    }
}

static void begin_barrier(struct task_data *part, int kind) {
    part->barriers++;
    __atomic_store_n(&part->is_in_barrier, 1, __ATOMIC_RELEASE);
    openmp_barrier_begin(part->region->number, wait_kind(kind));
}

/* The end of a barrier. The runtime reports that a worker leaves the last barrier of a region when
 * it needs the worker again, and then without the region. The wait really ends when the initial
 * thread of the region leaves the barrier. */
static void end_barrier(struct task_data *part, int is_late) {
    struct region *region = part->region;
    if (part->thread == 0) {
        region->leave_time = tumit1_now();
        __atomic_store_n(&region->barriers, part->barriers, __ATOMIC_RELEASE);
    } else if (is_late && __atomic_load_n(&region->barriers, __ATOMIC_ACQUIRE) >= part->barriers) {
        part->has_left_early = 1;
        return;
    }
    __atomic_store_n(&part->is_in_barrier, 0, __ATOMIC_RELEASE);
    openmp_barrier_end();
}

static int is_barrier(int kind) {
    return kind != OMPT_SYNC_TASKWAIT && kind != OMPT_SYNC_TASKGROUP && kind != OMPT_SYNC_REDUCTION;
}

static void record_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *data, const void *code) {
    struct task_data *task = data == NULL ? NULL : data->pointer;
    const int is_begin = endpoint == OMPT_SCOPE_BEGIN;
    (void)code;
    if (!is_barrier(kind)) {
        if (task != NULL) {
            task->wait = is_begin ? kind : 0;
        }
        if (is_begin) {
            openmp_task_wait_begin(wait_kind(kind));
        } else {
            openmp_task_wait_end();
        }
    } else if (task != NULL && task->region != NULL) {
        if (is_begin) {
            begin_barrier(task, kind);
        } else {
            end_barrier(task, region == NULL);
        }
    }
}

/* ---- Work sharing ---- */

static enum openmp_work_kind work_kind(int kind) {
    switch (kind) {
    case OMPT_WORK_SECTIONS: return openmp_work_kind_sections;
    case OMPT_WORK_SINGLE: return openmp_work_kind_single;
    case OMPT_WORK_WORKSHARE: return openmp_work_kind_workshare;
    case OMPT_WORK_DISTRIBUTE: return openmp_work_kind_distribute;
    case OMPT_WORK_TASKLOOP: return openmp_work_kind_taskloop;
    case OMPT_WORK_SCOPE: return openmp_work_kind_scope;
    default: return openmp_work_kind_loop;
    }
}

static void record_work(int kind, int endpoint, union ompt_data *region, union ompt_data *task, uint64_t count,
                        const void *code) {
    (void)region;
    (void)task;
    (void)code;
    /* The threads that do not run a single block are in it for no time. */
    if (kind == OMPT_WORK_SINGLE_OF_OTHER_THREAD) {
        return;
    }
    if (endpoint == OMPT_SCOPE_BEGIN) {
        openmp_work_begin(work_kind(kind), count);
    } else {
        openmp_work_end();
    }
}

static void record_masked(int endpoint, union ompt_data *region, union ompt_data *task, const void *code) {
    (void)region;
    (void)task;
    (void)code;
    if (endpoint == OMPT_SCOPE_BEGIN) {
        openmp_work_begin(openmp_work_kind_masked, 1);
    } else {
        openmp_work_end();
    }
}
