/* The samples of the threads of this process. */

/* Maximum number of threads at one time. Further threads are not recorded. */
#define THREADS 4096
/* Number of samples in which the name of a new thread is read. Another thread than the sampler may
 * have created the writer thread, which has its name only after it has begun. */
#define NAME_CHECKS 3

struct sampled_thread {
    pid_t id;
    /* Whether the last list of threads contains it. */
    int is_alive;
    /* Whether it is a thread of the recorder. */
    int is_recorder;
    /* Number of samples. */
    unsigned samples;
    struct perf_group groups[GROUPS];
    /* The values of software counters when the group was opened. */
    uint64_t start[COUNTERS];
    uint64_t sums[COUNTERS];
    /* Whether `sums` has a value. */
    int has_sum[COUNTERS];
    /* Whether the last recorded rate is zero. */
    int is_idle[COUNTERS];
    /* The time of `sums`. */
    tumit1_date date;
    uint64_t nanos;
};

/* The threads in the order in which the system lists them. */
static struct sampled_thread threads[THREADS];
static size_t thread_count;
/* The thread that takes the samples. */
static pid_t sampler_thread;
/* The time of the samples before. */
static tumit1_date previous_date;
static uint64_t previous_nanos;
/* The time of the first record of the process. No time in a record is before it. */
static tumit1_date first_date;
/* Whether the sample follows the first record. The time before it is not part of the trace. */
static int is_first_sample;

static tumit1_date not_before_first(tumit1_date date) { return date > first_date ? date : first_date; }

/* The files that contain the chosen software counters. */
static int chosen_files(void) {
    return (options.has_counter[counters_thread_counter_task_clock] ? TIME_FILE : 0) |
           (options.has_counter[counters_thread_counter_page_faults] ? STATE_FILE : 0) |
           (options.has_counter[counters_thread_counter_context_switches] ? SWITCH_FILE : 0) |
           (options.has_counter[counters_thread_counter_migrations] ? MIGRATION_FILE : 0);
}

/* The values of the system for the software counters. */
static void software_values(const struct thread_values *all, uint64_t values[COUNTERS]) {
    values[counters_thread_counter_task_clock] = all->processor_nanos;
    values[counters_thread_counter_page_faults] = all->page_faults;
    values[counters_thread_counter_context_switches] = all->voluntary_switches + all->involuntary_switches;
    values[counters_thread_counter_migrations] = all->migrations;
}

/* Begins to count a thread. The first rate of a new thread begins at the previous sample. Without a
 * previous sample, it begins now. */
static void add_thread(pid_t id) {
    struct sampled_thread *thread = &threads[thread_count];
    struct thread_values values;
    int i;
    memset(thread, 0, sizeof *thread);
    thread->id = id;
    thread->is_recorder = id == sampler_thread || has_recorder_name(id);
    thread->is_alive = 1;
    thread->date = previous_date;
    thread->nanos = previous_nanos;
    if (!thread->is_recorder) {
        open_group(id, SOFTWARE_GROUP, &thread->groups[SOFTWARE_GROUP]);
        open_group(id, HARDWARE_GROUP, &thread->groups[HARDWARE_GROUP]);
        if (read_thread_values(id, chosen_files(), &values)) {
            software_values(&values, thread->start);
            for (i = 0; i < GROUP_COUNTERS; i++) {
                thread->has_sum[i] = options.has_counter[i];
            }
        }
        if (previous_nanos == 0 || is_first_sample) {
            thread->date = tumit1_now();
            thread->nanos = nanoseconds_now(CLOCK_MONOTONIC);
            memcpy(thread->sums, thread->start, sizeof thread->sums);
        }
    }
    thread_count++;
}

static void close_groups(struct sampled_thread *thread) {
    close_group(&thread->groups[SOFTWARE_GROUP]);
    close_group(&thread->groups[HARDWARE_GROUP]);
}

/* Marks a thread of the list. `position` is that of the next expected thread. */
static void mark_thread(pid_t id, size_t *position) {
    size_t i;
    for (i = 0; i < thread_count; i++) {
        const size_t place = (*position + i) % thread_count;
        if (threads[place].id == id) {
            threads[place].is_alive = 1;
            *position = place + 1;
            return;
        }
    }
    if (thread_count < THREADS) {
        add_thread(id);
    }
}

/* An entry of a folder, as the system call `getdents64` writes it. */
struct folder_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
};

/* Finds the threads of this process. Returns 0 if the list cannot be read. */
static int list_threads(void) {
    static char entries[8192] __attribute__((aligned(8)));
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t i, position = 0;
    long bytes = folder < 0 ? -1 : 0;
    for (i = 0; i < thread_count && folder >= 0; i++) {
        threads[i].is_alive = 0;
    }
    while (folder >= 0 && (bytes = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
        long offset;
        for (offset = 0; offset < bytes;) {
            const struct folder_entry *entry = (const void *)(entries + offset);
            const long id = strtol(entry->name, NULL, 10);
            if (id > 0) {
                mark_thread((pid_t)id, &position);
            }
            offset += entry->bytes;
        }
    }
    if (folder >= 0) {
        close(folder);
    }
    return bytes == 0;
}

/* Reads the sums of all counters of a thread. */
static void read_sums(struct sampled_thread *thread, uint64_t sums[COUNTERS]) {
    uint64_t values[COUNTERS] = {0};
    int i;
    if (read_group(&thread->groups[SOFTWARE_GROUP], values)) {
        for (i = 0; i < GROUP_COUNTERS; i++) {
            sums[i] = thread->start[i] + values[i];
            thread->has_sum[i] = options.has_counter[i];
        }
    } else {
        struct thread_values all;
        if (read_thread_values(thread->id, chosen_files(), &all)) {
            software_values(&all, sums);
            for (i = 0; i < GROUP_COUNTERS; i++) {
                thread->has_sum[i] = options.has_counter[i];
            }
        }
    }
    if (read_group(&thread->groups[HARDWARE_GROUP], sums)) {
        for (i = 0; i < thread->groups[HARDWARE_GROUP].size; i++) {
            thread->has_sum[thread->groups[HARDWARE_GROUP].counters[i]] = 1;
        }
    }
}

/* Records the counters of a thread. At the end of a thread, the rates become zero. A counter that
 * does not increase is recorded once: programs may have many threads that wait. */
static void record_thread(struct sampled_thread *thread, tumit1_date date, uint64_t nanos, int is_end) {
    uint64_t sums[COUNTERS];
    uint64_t increases[COUNTERS];
    const double seconds = (double)(nanos - thread->nanos) / 1e9;
    const tumit1_date since = not_before_first(thread->date);
    int i;
    memcpy(sums, thread->sums, sizeof sums);
    if (thread->samples == 0) {
        memcpy(sums, thread->start, sizeof sums);
    }
    read_sums(thread, sums);
    for (i = 0; i < COUNTERS; i++) {
        /* Estimates may decrease. */
        sums[i] = sums[i] > thread->sums[i] ? sums[i] : thread->sums[i];
        increases[i] = sums[i] - thread->sums[i];
        if (thread->has_sum[i] && (increases[i] != 0 || !thread->is_idle[i] || is_end)) {
            const double rate = seconds > 0 ? (double)increases[i] / seconds : 0;
            if (is_first_sample) {
                counters_thread_sum((uint64_t)thread->id, (enum counters_thread_counter)i, sums[i]);
            } else {
                counters_thread_sample((uint64_t)thread->id, (enum counters_thread_counter)i, since, sums[i], rate);
            }
            if (is_end) {
                counters_thread_sample((uint64_t)thread->id, (enum counters_thread_counter)i, date, sums[i], 0);
            }
            thread->is_idle[i] = increases[i] == 0 && !is_first_sample;
        }
    }
    if (thread->has_sum[counters_thread_counter_instructions] && increases[counters_thread_counter_cycles] > 0 &&
        !is_first_sample) {
        counters_cycle_sample((uint64_t)thread->id, since,
                              (double)increases[counters_thread_counter_instructions] /
                                  (double)increases[counters_thread_counter_cycles]);
    }
    memcpy(thread->sums, sums, sizeof sums);
    thread->date = date;
    thread->nanos = nanos;
    thread->samples++;
}

/* Records the last values of the threads that have ended, and removes them. The groups keep the
 * values of threads that have ended. */
static void remove_ended_threads(tumit1_date date, uint64_t nanos) {
    size_t i, count = 0;
    for (i = 0; i < thread_count; i++) {
        if (threads[i].is_alive) {
            threads[count++] = threads[i];
            continue;
        }
        if (!threads[i].is_recorder) {
            record_thread(&threads[i], date, nanos, 1);
        }
        close_groups(&threads[i]);
    }
    thread_count = count;
}

/* Records all threads of the program. A new thread is recorded from the next sample on: a thread of
 * the recorder has its name by then. */
static void sample_threads(int is_end) {
    const tumit1_date date = tumit1_now();
    const uint64_t nanos = nanoseconds_now(CLOCK_MONOTONIC);
    const size_t known = thread_count;
    size_t i;
    if (!list_threads()) {
        return;
    }
    for (i = 0; i < thread_count; i++) {
        struct sampled_thread *thread = &threads[i];
        if (thread->samples < NAME_CHECKS && !thread->is_recorder && has_recorder_name(thread->id)) {
            thread->is_recorder = 1;
            close_groups(thread);
        }
        if (thread->is_alive && !thread->is_recorder && i < known) {
            record_thread(thread, date, nanos, is_end);
        }
    }
    remove_ended_threads(date, nanos);
    previous_date = date;
    previous_nanos = nanos;
}

/* Whether all threads of the program have ended. The sampler must then not keep the process alive.
 * A first thread that has ended remains in the list until the end of the process. */
static int is_program_over(void) {
    size_t i;
    for (i = 0; i < thread_count; i++) {
        struct thread_values values;
        if (!threads[i].is_recorder && !has_recorder_name(threads[i].id) &&
            (threads[i].id != getpid() || !read_thread_values(threads[i].id, STATE_FILE, &values) ||
             !values.is_zombie)) {
            return 0;
        }
    }
    return thread_count > 0;
}
