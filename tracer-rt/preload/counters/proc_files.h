/* Reads files of the folder `/proc`. The functions allocate no memory, because another thread may
 * hold the lock of `malloc` when the program ends. */

/* Bytes of a file that are read. */
#define PROC_FILE_BYTES 4096
/* The name of the thread that takes the samples. */
#define SAMPLER_NAME "tumit-sampler"

/* The text of the last file that was read. One thread reads files at a time: that which holds the
 * lock of the samples, or the only thread of the process. Stacks of threads may be small. */
static char file_text[PROC_FILE_BYTES];

/* Reads the begin of a file into `file_text`. Returns the text, or NULL without bytes. */
static const char *read_file(const char *path) {
    size_t length = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && length + 1 < PROC_FILE_BYTES) {
        const ssize_t bytes = read(file, file_text + length, PROC_FILE_BYTES - 1 - length);
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
    file_text[length] = '\0';
    return length > 0 ? file_text : NULL;
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

/* The files that are read for some of the values. The kernel writes the text of a file for each
 * read, which takes up to 20 microseconds. */
enum { STATE_FILE = 1, TIME_FILE = 2, SWITCH_FILE = 4, MIGRATION_FILE = 8 };

static const char *read_thread_file(pid_t thread, const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)thread, name);
    return read_file(path);
}

static int read_state_file(pid_t thread, struct thread_values *values) {
    const char *text = read_thread_file(thread, "stat");
    /* The name of the thread is in parentheses, and may contain blanks. */
    const char *fields = text == NULL ? NULL : strrchr(text, ')');
    if (fields == NULL) {
        return 0;
    }
    values->is_zombie = strncmp(fields, ") Z", 3) == 0;
    values->page_faults = number_in_column(fields, 8) + number_in_column(fields, 10);
    values->user_ticks = number_in_column(fields, 12);
    values->system_ticks = number_in_column(fields, 13);
    return 1;
}

/* Reads the values of a thread in these files. Returns 0 if the thread has ended. */
static int read_thread_values(pid_t thread, int files, struct thread_values *values) {
    const char *text;
    memset(values, 0, sizeof *values);
    if ((files & STATE_FILE) != 0 && !read_state_file(thread, values)) {
        return 0;
    }
    if ((files & TIME_FILE) != 0 && (text = read_thread_file(thread, "schedstat")) != NULL) {
        values->processor_nanos = strtoull(text, NULL, 10);
    } else if ((files & TIME_FILE) != 0) {
        if ((files & STATE_FILE) == 0 && !read_state_file(thread, values)) {
            return 0;
        }
        values->processor_nanos =
            (values->user_ticks + values->system_ticks) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
    }
    if ((files & SWITCH_FILE) != 0) {
        if ((text = read_thread_file(thread, "status")) == NULL) {
            return 0;
        }
        values->voluntary_switches = number_after(text, "\nvoluntary_ctxt_switches:");
        values->involuntary_switches = number_after(text, "\nnonvoluntary_ctxt_switches:");
    }
    if ((files & MIGRATION_FILE) != 0 && (text = read_thread_file(thread, "sched")) != NULL) {
        const char *line = strstr(text, "\nse.nr_migrations");
        values->migrations = line == NULL ? 0 : number_after(line, ":");
    }
    return 1;
}

/* Whether a thread is the sampler or the writer thread, by its name. A writer thread that the
 * sampler has just created still has the name of the sampler. */
static int has_recorder_name(pid_t thread) {
    const char *name = read_thread_file(thread, "comm");
    return name != NULL && (strcmp(name, "tumit-writer\n") == 0 || strcmp(name, SAMPLER_NAME "\n") == 0);
}
