/* The choice of counters and the interval of samples, from variables of the environment. */

/* Number of counters of a thread. */
#define COUNTERS 8
/* Usual and minimum time between two samples, in nanoseconds. */
#define USUAL_INTERVAL UINT64_C(10000000)
#define MIN_INTERVAL UINT64_C(100000)
/* Minimum time between two samples of the process and of the machine. The system counts the time of
 * processors in units of up to 10 ms. */
#define MIN_SLOW_INTERVAL UINT64_C(100000000)

/* The names on the command line, in the order of the spec. */
static const char *const counter_names[COUNTERS] = {
    "task-clock", "page-faults", "context-switches", "migrations", "cycles", "instructions", "cache-misses",
    "branch-misses",
};

static struct {
    uint64_t interval;
    int has_counter[COUNTERS];
    int has_process;
    int has_machine;
} options;

static int is_name(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

static void choose_counter(const char *text, size_t length) {
    int counter;
    for (counter = 0; counter < COUNTERS; counter++) {
        options.has_counter[counter] |= is_name(text, length, counter_names[counter]);
    }
    options.has_process |= is_name(text, length, "process");
    options.has_machine |= is_name(text, length, "machine");
}

static void choose_all_counters(void) {
    int counter;
    for (counter = 0; counter < COUNTERS; counter++) {
        options.has_counter[counter] = 1;
    }
    options.has_process = 1;
    options.has_machine = 1;
}

/* Reads the variables. `tumit record` has checked them. */
static void read_options(void) {
    const char *list = getenv("TUMIT_COUNTERS");
    const char *interval = getenv("TUMIT_COUNTER_INTERVAL");
    if (list == NULL || *list == '\0') {
        choose_all_counters();
    }
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        choose_counter(list, length);
        list += list[length] == ',' ? length + 1 : length;
    }
    options.interval = interval == NULL ? 0 : strtoull(interval, NULL, 10);
    if (options.interval == 0) {
        options.interval = USUAL_INTERVAL;
    }
    if (options.interval < MIN_INTERVAL) {
        options.interval = MIN_INTERVAL;
    }
}
