/* Explicit tasks and their dependences. */

/* A task on which another one depends, or that depends on it. */
struct dependence {
    uint64_t task;
    struct dependence *next;
};

/* An explicit task. */
struct task {
    /* Its data without a region, so that it can be distinguished from the part of a region. */
    struct task_data data;
    uint64_t number;
    const char *code;
    /* The thread whose states contain the task; 0 before its begin and while no thread runs it. */
    pid_t thread;
    int has_begun, is_untied;
    struct dependence *predecessors, *successors;
};

/* The number of the last task. */
static uint64_t last_task;
/* The lock of all dependences: the runtime may add one to a task that ends on another thread. */
static pthread_mutex_t dependences_lock = PTHREAD_MUTEX_INITIALIZER;

/* The explicit task of this data. NULL if it is another kind of task. */
static struct task *explicit_task(const union ompt_data *data) {
    struct task_data *task = data == NULL ? NULL : data->pointer;
    return task == NULL || task->region != NULL ? NULL : (struct task *)(void *)task;
}

static void create_task(union ompt_data *creator, const struct ompt_frame *frame, union ompt_data *data, int flags,
                        int has_dependences, const void *code) {
    struct task *task;
    (void)creator;
    (void)frame;
    (void)has_dependences;
    if ((flags & OMPT_TASK_EXPLICIT) == 0) {
        return;
    }
    task = calloc(1, sizeof *task);
    data->pointer = task;
    if (task != NULL) {
        task->number = __atomic_add_fetch(&last_task, 1, __ATOMIC_RELAXED);
        task->code = tumit_code_name(TUMIT_CODE_CALL, code);
        task->is_untied = (flags & OMPT_TASK_UNTIED) != 0;
        openmp_task_create(task->number, task->code);
    }
}

static void unlock_dependences(void) { pthread_mutex_init(&dependences_lock, NULL); }

static void append_dependence(struct dependence **list, uint64_t task) {
    struct dependence *entry = malloc(sizeof *entry);
    if (entry != NULL) {
        entry->task = task;
        entry->next = *list;
        *list = entry;
    }
}

static void add_dependence(union ompt_data *predecessor_data, union ompt_data *successor_data) {
    struct task *predecessor, *successor;
    pthread_mutex_lock(&dependences_lock);
    predecessor = explicit_task(predecessor_data);
    successor = explicit_task(successor_data);
    /* A predecessor without data has ended. */
    if (predecessor != NULL && successor != NULL) {
        append_dependence(&predecessor->successors, successor->number);
        append_dependence(&successor->predecessors, predecessor->number);
    }
    pthread_mutex_unlock(&dependences_lock);
}

static void free_dependences(struct dependence *list) {
    while (list != NULL) {
        struct dependence *next = list->next;
        free(list);
        list = next;
    }
}

/* A thread begins or continues a task. */
static void enter_task(struct task *task) {
    const struct dependence *entry;
    if (!task->has_begun) {
        for (entry = task->predecessors; entry != NULL; entry = entry->next) {
            openmp_dependence_end(entry->task, task->number);
        }
    }
    openmp_task_begin(task->number, task->code, !task->has_begun);
    task->has_begun = 1;
    task->thread = own_thread();
    if (task->data.wait != 0) {
        openmp_task_wait_begin(wait_kind(task->data.wait));
    }
}

/* The calling thread does not run the task any more. A task that waits continues to do so on the
 * next thread. */
static void leave_task(struct task *task) {
    if (task->thread == own_thread()) {
        if (task->data.wait != 0) {
            openmp_task_wait_end();
        }
        openmp_task_end(task->number);
        task->thread = 0;
    }
}

static void end_task(struct task *task, union ompt_data *data) {
    const struct dependence *entry;
    pthread_mutex_lock(&dependences_lock);
    for (entry = task->successors; entry != NULL; entry = entry->next) {
        openmp_dependence_begin(task->number, entry->task);
    }
    data->pointer = NULL;
    pthread_mutex_unlock(&dependences_lock);
    free_dependences(task->predecessors);
    free_dependences(task->successors);
    free(task);
}

/* A thread changes from one task to another. A tied task that waits for others stays on the stack
 * of its thread, below the tasks that the thread runs in the meantime. */
static void switch_task(union ompt_data *prior_data, int reason, union ompt_data *next_data) {
    struct task *prior = explicit_task(prior_data), *next = explicit_task(next_data);
    if (prior != NULL) {
        switch (reason) {
        case OMPT_TASK_COMPLETE:
        case OMPT_TASK_CANCEL:
            /* A task may be cancelled before its begin. */
            if (!prior->has_begun) {
                enter_task(prior);
            }
            leave_task(prior);
            end_task(prior, prior_data);
            break;
        case OMPT_TASK_LATE_FULFILL:
            end_task(prior, prior_data);
            break;
        case OMPT_TASK_DETACH:
            leave_task(prior);
            break;
        case OMPT_TASK_YIELD:
        case OMPT_TASK_SWITCH:
            if (prior->is_untied) {
                leave_task(prior);
            }
            break;
        default:
            break;
        }
    }
    if (next != NULL && next->thread != own_thread()) {
        enter_task(next);
    }
}
