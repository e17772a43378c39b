/* The samples of the machine. One process of each job and machine takes them: the one that has
 * bound a socket with a name that all processes of the job know. The system removes the name when
 * this process ends, and another process can bind it. */

static int owner_socket = -1;
static struct sockaddr_un owner_name;
static socklen_t owner_name_bytes;

/* Columns of the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, and
 * steal. */
#define TIMES 8

static struct machine_values {
    tumit1_date date;
    uint64_t nanos;
    uint64_t times[TIMES];
    uint64_t received, sent;
} machine_before;

/* The name contains no path, so that it needs no file. Of a long path, the end is used. */
static void name_owner(void) {
    const char *launch = getenv("TUMIT_LAUNCH_ID");
    const char *trace = getenv("TUMIT_TRACE");
    const char *text = launch != NULL && *launch != '\0' ? launch : trace != NULL ? trace : "";
    const size_t length = strlen(text);
    int bytes;
    memset(&owner_name, 0, sizeof owner_name);
    owner_name.sun_family = AF_UNIX;
    bytes = snprintf(owner_name.sun_path + 1, sizeof owner_name.sun_path - 1, "tumit-machine-%s",
                     length > 80 ? text + length - 80 : text);
    owner_name_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
}

/* Whether this process still owns the socket. A program may close files that it did not open. */
static int owns_socket(void) {
    struct sockaddr_un name;
    socklen_t bytes = sizeof name;
    memset(&name, 0, sizeof name);
    return owner_socket >= 0 && getsockname(owner_socket, (struct sockaddr *)&name, &bytes) == 0 &&
           bytes == owner_name_bytes && memcmp(&name, &owner_name, bytes) == 0;
}

/* Tries to become the process that samples the machine. */
static int own_machine(void) {
    int file;
    if (owns_socket()) {
        return 1;
    }
    owner_socket = -1;
    file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
        return 0;
    }
    if (bind(file, (struct sockaddr *)&owner_name, owner_name_bytes) == 0) {
        owner_socket = fcntl(file, F_DUPFD_CLOEXEC, first_file);
    }
    close(file);
    machine_before.nanos = 0;
    return owner_socket >= 0;
}

/* Closes the copy of the socket in a child process. The parent remains the owner. */
static void forget_machine(void) {
    if (owns_socket()) {
        close(owner_socket);
    }
    owner_socket = -1;
    machine_before.nanos = 0;
}

/* Adds the bytes of all networks except the loopback network. */
static void read_networks(struct machine_values *values) {
    const char *line = read_file("/proc/net/dev");
    while (line != NULL && (line = strchr(line, '\n')) != NULL) {
        const char *name = line + 1 + strspn(line + 1, " ");
        const char *colon = strchr(name, ':');
        const char *end = strchr(name, '\n');
        line = name;
        if (colon != NULL && end != NULL && colon < end && strncmp(name, "lo:", 3) != 0) {
            char *number = (char *)colon + 1;
            int column;
            values->received += strtoull(number, &number, 10);
            for (column = 1; column < 8; column++) {
                (void)strtoull(number, &number, 10);
            }
            values->sent += strtoull(number, &number, 10);
        }
    }
}

/* The increase of a share of the times of all processors, in percent. */
static double share(const struct machine_values *values, unsigned first, unsigned last, uint64_t whole) {
    uint64_t sum = 0;
    unsigned i;
    for (i = first; i <= last; i++) {
        sum += difference(values->times[i], machine_before.times[i]);
    }
    return 100 * (double)sum / (double)whole;
}

static uint64_t used_memory(void) {
    const char *text = read_file("/proc/meminfo");
    return text == NULL ? 0 : 1024 * difference(number_after(text, "MemTotal:"), number_after(text, "MemAvailable:"));
}

static double load_average(void) {
    const char *text = read_file("/proc/loadavg");
    return text == NULL ? 0 : strtod(text, NULL);
}

/* Records the machine. The first call of the owner only stores the values for the rates. */
static void sample_machine(void) {
    const char *text;
    struct machine_values values;
    uint64_t whole = 0;
    double seconds;
    int i;
    if (!own_machine() || (text = read_file("/proc/stat")) == NULL) {
        return;
    }
    memset(&values, 0, sizeof values);
    values.date = tumit1_now();
    values.nanos = nanoseconds_now(CLOCK_MONOTONIC);
    for (i = 0; i < TIMES; i++) {
        /* Two blanks follow the word `cpu`. */
        values.times[i] = number_in_column(text, i + 2);
        whole += difference(values.times[i], machine_before.times[i]);
    }
    read_networks(&values);
    seconds = (double)(values.nanos - machine_before.nanos) / 1e9;
    if (machine_before.nanos != 0) {
        if (whole == 0 || seconds <= 0) {
            return;
        }
        counters_machine_sample(not_before_first(machine_before.date), load_average(), used_memory(),
                                share(&values, 0, 1, whole),
                                share(&values, 2, 2, whole) + share(&values, 5, 7, whole),
                                share(&values, 4, 4, whole), share(&values, 3, 3, whole),
                                (double)difference(values.received, machine_before.received) / seconds,
                                (double)difference(values.sent, machine_before.sent) / seconds);
    }
    machine_before = values;
}
