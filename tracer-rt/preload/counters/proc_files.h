/* Reads files of the folder `/proc`. The functions allocate no memory, because another thread may
 * hold the lock of `malloc` when the program ends. */

/* Bytes of a file that are read. */
#define PROC_FILE_BYTES 4096
/* The name of the thread that takes the samples. */
#define SAMPLER_NAME "tumit-sampler"

/* Reads the begin of a file into `text`, and ends it by a zero. Returns whether it has bytes. */
static int read_file(const char *path, char text[PROC_FILE_BYTES]) {
    size_t length = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && length + 1 < PROC_FILE_BYTES) {
        const ssize_t bytes = read(file, text + length, PROC_FILE_BYTES - 1 - length);
        if (bytes < 0 && errno == EINTR) {
            continue;
        }
        if (bytes <= 0) {
            break;
        }
        length += (size_t)bytes;
    }
    if (file >= 0) {
        close(file);
    }
    text[length] = '\0';
    return length > 0;
}

/* The number after a word; 0 without the word. */
static uint64_t number_after(const char *text, const char *word) {
    const char *position = strstr(text, word);
    return position == NULL ? 0 : strtoull(position + strlen(word), NULL, 10);
}

/* The number after this count of blanks. */
static uint64_t number_in_column(const char *text, int blanks) {
    while (blanks > 0 && (text = strchr(text, ' ')) != NULL) {
        text++;
        blanks--;
    }
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

static uint64_t nanoseconds_now(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The values of a thread since its begin. */
struct thread_values {
    uint64_t processor_nanos, page_faults, voluntary_switches, involuntary_switches, migrations;
    uint64_t user_ticks, system_ticks;
    int is_zombie;
};

/* Opens a file of a thread of this process. */
static int read_thread_file(pid_t thread, const char *name, char text[PROC_FILE_BYTES]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)thread, name);
    return read_file(path, text);
}

/* Reads the values of a thread. Returns 0 if it has ended. */
static int read_thread_values(pid_t thread, struct thread_values *values) {
    char text[PROC_FILE_BYTES];
    const char *fields;
    memset(values, 0, sizeof *values);
    /* The name of the thread is in parentheses, and may contain blanks. */
    if (!read_thread_file(thread, "stat", text) || (fields = strrchr(text, ')')) == NULL) {
        return 0;
    }
    values->is_zombie = strncmp(fields, ") Z", 3) == 0;
    values->page_faults = number_in_column(fields, 8) + number_in_column(fields, 10);
    values->user_ticks = number_in_column(fields, 12);
    values->system_ticks = number_in_column(fields, 13);
    if (read_thread_file(thread, "schedstat", text)) {
        values->processor_nanos = strtoull(text, NULL, 10);
    } else {
        values->processor_nanos =
            (values->user_ticks + values->system_ticks) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
    }
    if (read_thread_file(thread, "status", text)) {
        values->voluntary_switches = number_after(text, "\nvoluntary_ctxt_switches:");
        values->involuntary_switches = number_after(text, "\nnonvoluntary_ctxt_switches:");
    }
    if (options.has_counter[counters_thread_counter_migrations] && read_thread_file(thread, "sched", text)) {
        const char *line = strstr(text, "\nse.nr_migrations");
        values->migrations = line == NULL ? 0 : number_after(line, ":");
    }
    return 1;
}

/* Whether a thread is the sampler or the writer thread, by its name. A writer thread that the sampler
 * has just created still has the name of the sampler. */
static int has_recorder_name(pid_t thread) {
    char name[PROC_FILE_BYTES];
    return read_thread_file(thread, "comm", name) &&
           (strcmp(name, "tumit-writer\n") == 0 || strcmp(name, SAMPLER_NAME "\n") == 0);
}
