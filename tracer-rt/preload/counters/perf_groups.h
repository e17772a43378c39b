/* Groups of counters of the system call `perf_event_open`. A group counts one thread. Its counters
 * are read together. */

enum { SOFTWARE_GROUP, HARDWARE_GROUP, GROUPS };
/* Number of counters of a group. */
#define GROUP_COUNTERS 4

/* The counters of the system, in the order of the spec. */
static const uint64_t perf_configs[COUNTERS] = {
    PERF_COUNT_SW_TASK_CLOCK,       PERF_COUNT_SW_PAGE_FAULTS,   PERF_COUNT_SW_CONTEXT_SWITCHES,
    PERF_COUNT_SW_CPU_MIGRATIONS,   PERF_COUNT_HW_CPU_CYCLES,    PERF_COUNT_HW_INSTRUCTIONS,
    PERF_COUNT_HW_CACHE_MISSES,     PERF_COUNT_HW_BRANCH_MISSES,
};

struct perf_group {
    int size;
    int files[GROUP_COUNTERS];
    int counters[GROUP_COUNTERS];
    /* The ids of the counters, by which their files are recognised. */
    uint64_t ids[GROUP_COUNTERS];
};

/* Whether the kernel is excluded from the counters of the processor. */
static int excludes_kernel;
/* Whether the system refuses the counters of the group. */
static int is_group_refused[GROUPS];
/* The error for each counter of the processor; 0 without one. */
static int counter_errors[COUNTERS];
/* Limit of file numbers. `fork` copies the table of the files up to the highest number. */
#define FILE_NUMBERS 8192
/* Number of open files of counters, and its maximum. The program needs files, too. */
static unsigned file_count, max_files;
/* Number of the first file of a counter. The numbers from 3 remain those of the program. */
static int first_file;

static void limit_files(void) {
    struct rlimit limit = {1024, 1024};
    rlim_t files;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    files = limit.rlim_cur < FILE_NUMBERS ? limit.rlim_cur : FILE_NUMBERS;
    max_files = (unsigned)(files / 4);
    first_file = (int)(files - files / 4);
}

/* Whether a file is still the counter. A program may close files that it did not open. */
static int is_counter_file(int file, uint64_t id) {
    uint64_t file_id = 0;
    return ioctl(file, PERF_EVENT_IOC_ID, &file_id) == 0 && file_id == id;
}

/* Opens a counter of a thread. Returns a file, or an error as a negative number. */
static int open_counter(pid_t thread, int counter, int leader) {
    struct perf_event_attr attributes;
    int file, copy;
    if (file_count >= max_files) {
        return -EMFILE;
    }
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = counter < GROUP_COUNTERS ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
    attributes.config = perf_configs[counter];
    attributes.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    /* The counters of a group begin together: see `open_group`. */
    attributes.disabled = leader < 0;
    attributes.exclude_kernel = counter >= GROUP_COUNTERS && excludes_kernel;
    attributes.exclude_hv = counter >= GROUP_COUNTERS;
    file = (int)syscall(SYS_perf_event_open, &attributes, thread, -1, leader, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    if (file < 0) {
        return -errno;
    }
    copy = fcntl(file, F_DUPFD_CLOEXEC, first_file);
    close(file);
    if (copy < 0) {
        return -EMFILE;
    }
    file_count++;
    return copy;
}

/* Closes a group, without the files that the program has replaced. */
static void close_group(struct perf_group *group) {
    int i;
    for (i = 0; i < group->size; i++) {
        if (is_counter_file(group->files[i], group->ids[i])) {
            close(group->files[i]);
        }
        file_count--;
    }
    group->size = 0;
}

/* Adds a counter to a group. Returns 0 if the limit of files is reached. */
static int add_counter(pid_t thread, struct perf_group *group, int counter) {
    const int leader = group->size == 0 ? -1 : group->files[0];
    int file = open_counter(thread, counter, leader);
    if (file == -EACCES && counter >= GROUP_COUNTERS && !excludes_kernel && group->size == 0) {
        excludes_kernel = 1;
        file = open_counter(thread, counter, leader);
    }
    if (file < 0) {
        if (file != -ESRCH && file != -EMFILE) {
            counter_errors[counter] = -file;
        }
        return file != -EMFILE;
    }
    if (ioctl(file, PERF_EVENT_IOC_ID, &group->ids[group->size]) != 0) {
        close(file);
        file_count--;
        return 1;
    }
    group->files[group->size] = file;
    group->counters[group->size] = counter;
    group->size++;
    return 1;
}

/* Opens the chosen counters of a thread. The group remains empty if the system refuses them, or if
 * the limit of files does not suffice for all of them. */
static void open_group(pid_t thread, int kind, struct perf_group *group) {
    const int first = kind * GROUP_COUNTERS;
    int counter, is_refused = 1;
    group->size = 0;
    for (counter = first; counter < first + GROUP_COUNTERS && !is_group_refused[kind]; counter++) {
        if (options.has_counter[counter] && counter_errors[counter] == 0 && !add_counter(thread, group, counter)) {
            close_group(group);
            return;
        }
        is_refused &= !options.has_counter[counter] || counter_errors[counter] != 0;
    }
    is_group_refused[kind] |= is_refused;
    /* Without this call, some counters of a running thread begin only when it waits. */
    if (group->size > 0) {
        (void)ioctl(group->files[0], PERF_EVENT_IOC_ENABLE, 0);
    }
}

/* Reads a group into `values`, by the number of the counter. Counters that share the processor with
 * others are extrapolated. Returns 0 without values. */
static int read_group(struct perf_group *group, uint64_t values[COUNTERS]) {
    struct {
        uint64_t count, enabled, running, values[GROUP_COUNTERS];
    } data;
    const size_t bytes = (3 + (size_t)group->size) * sizeof(uint64_t);
    int i;
    if (group->size == 0) {
        return 0;
    }
    if (!is_counter_file(group->files[0], group->ids[0]) ||
        read(group->files[0], &data, sizeof data) != (ssize_t)bytes) {
        close_group(group);
        return 0;
    }
    if (data.running == 0 && data.enabled != 0) {
        return 0;
    }
    for (i = 0; i < group->size; i++) {
        const int is_extrapolated = data.running < data.enabled;
        const double value = (double)data.values[i];
        values[group->counters[i]] =
            is_extrapolated ? (uint64_t)(value * (double)data.enabled / (double)data.running) : data.values[i];
    }
    return 1;
}
