/* The samples of this process. */

static struct {
    tumit1_date date;
    uint64_t nanos;
    double processor_seconds;
    uint64_t voluntary_switches, involuntary_switches;
} process_before;

static double seconds_of(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

/* Begins the rates of a new process. Its values are zero. */
static void begin_process(void) {
    memset(&process_before, 0, sizeof process_before);
    process_before.date = tumit1_now();
    process_before.nanos = nanoseconds_now(CLOCK_MONOTONIC);
}

/* The values of the threads of the recorder together. */
static struct thread_values recorder_values(void) {
    const int files = STATE_FILE | TIME_FILE | SWITCH_FILE;
    struct thread_values all, values;
    size_t i;
    memset(&all, 0, sizeof all);
    for (i = 0; i < thread_count; i++) {
        if (threads[i].is_recorder && read_thread_values(threads[i].id, files, &values)) {
            all.user_ticks += values.user_ticks;
            all.system_ticks += values.system_ticks;
            all.processor_nanos += values.processor_nanos;
            all.voluntary_switches += values.voluntary_switches;
            all.involuntary_switches += values.involuntary_switches;
        }
    }
    return all;
}

static uint64_t difference(uint64_t value, uint64_t subtrahend) { return value > subtrahend ? value - subtrahend : 0; }

static double positive(double value) { return value > 0 ? value : 0; }

/* Bytes of this process in memory. */
static uint64_t resident_bytes(void) {
    const char *text = read_file("/proc/self/statm");
    return text != NULL ? number_in_column(text, 1) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Records this process. The first call only stores the values for the rates. */
static void sample_process(int is_first) {
    const tumit1_date date = tumit1_now();
    const uint64_t nanos = nanoseconds_now(CLOCK_MONOTONIC);
    const struct thread_values own = recorder_values();
    const double ticks = (double)sysconf(_SC_CLK_TCK);
    const double own_seconds = (double)own.processor_nanos / 1e9;
    const double processor_seconds = positive((double)nanoseconds_now(CLOCK_PROCESS_CPUTIME_ID) / 1e9 - own_seconds);
    const double seconds = (double)(nanos - process_before.nanos) / 1e9;
    uint64_t voluntary, involuntary;
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) {
        return;
    }
    voluntary = difference((uint64_t)usage.ru_nvcsw, own.voluntary_switches);
    involuntary = difference((uint64_t)usage.ru_nivcsw, own.involuntary_switches);
    if (!is_first && seconds > 0) {
        counters_process_sample(
            not_before_first(process_before.date), resident_bytes(),
            positive(seconds_of(usage.ru_utime) - (double)own.user_ticks / ticks),
            positive(seconds_of(usage.ru_stime) - (double)own.system_ticks / ticks),
            100 * positive(processor_seconds - process_before.processor_seconds) / seconds, (uint64_t)usage.ru_majflt,
            voluntary, involuntary, (double)difference(voluntary, process_before.voluntary_switches) / seconds,
            (double)difference(involuntary, process_before.involuntary_switches) / seconds);
    }
    process_before.date = date;
    process_before.nanos = nanos;
    process_before.processor_seconds = processor_seconds;
    process_before.voluntary_switches = voluntary;
    process_before.involuntary_switches = involuntary;
}
