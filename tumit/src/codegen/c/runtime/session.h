/* ---- The run folder and this process's file in it. Under the lock ---- */

TUMIT1_SLOW void tumit1_random(unsigned char *to, size_t bytes) {
    uint64_t seed = tumit1_nanos(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)&bytes;
    size_t i;
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? -1 : read(file, to, bytes);
    if (file >= 0) {
        close(file);
    }
    for (i = got > 0 ? (size_t)got : 0; i < bytes; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        to[i] = (unsigned char)(seed >> 56);
    }
}

/* The integer in an environment variable, -1 without one. */
TUMIT1_SLOW int tumit1_env_number(const char *name) {
    const char *text = getenv(name);
    char *end = NULL;
    long value;
    if (text == NULL || *text == '\0') {
        return -1;
    }
    value = strtol(text, &end, 10);
    return *end == '\0' && value >= 0 && value < INT_MAX ? (int)value : -1;
}

/* Rank and size as the launcher tells them, when MPI itself has not. */
TUMIT1_SLOW void tumit1_find_rank(void) {
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    struct tumit1_session *s = &tumit1_session;
    size_t i;
    for (i = 0; !s->rank_known && i < sizeof names / sizeof names[0]; i++) {
        s->rank = tumit1_env_number(names[i][0]);
        s->ranks = tumit1_env_number(names[i][1]);
        s->rank_known = s->rank >= 0;
    }
    if (!s->rank_known) {
        s->rank = s->ranks = -1;
    }
}

/* The job's own id, equal in all its processes. Empty when there is none. */
TUMIT1_SLOW void tumit1_job(char *text, size_t room) {
    const char *space = getenv("PMIX_NAMESPACE");
    const char *job = getenv("SLURM_JOB_ID");
    const char *step = getenv("SLURM_STEP_ID");
    text[0] = '\0';
    if (space != NULL) {
        snprintf(text, room, "%s", space);
    } else if (job != NULL) {
        snprintf(text, room, "%s.%s", job, step != NULL ? step : "0");
    }
}

/* The command line, arguments apart by spaces; returns its length. */
TUMIT1_SLOW size_t tumit1_command(char *text, size_t room) {
    ssize_t got, i;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    got = file < 0 ? 0 : read(file, text, room - 1);
    if (file >= 0) {
        close(file);
    }
    got = got < 0 ? 0 : got;
    while (got > 0 && text[got - 1] == '\0') {
        got--;
    }
    for (i = 0; i < got; i++) {
        text[i] = text[i] == '\0' ? ' ' : text[i];
    }
    text[got] = '\0';
    return (size_t)got;
}

/* Only what is safe in a file's name stays. */
TUMIT1_SLOW void tumit1_clean(char *name) {
    for (; *name != '\0'; name++) {
        bool good = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') ||
                    *name == '.' || *name == '_' || *name == '-';
        *name = good ? *name : '_';
    }
}

/* Names the run folder: TUMIT_TRACE, or PROGRAM-JOB.tmt, or PROGRAM-DATE-PID.tmt. */
TUMIT1_SLOW void tumit1_name_folder(void) {
    struct tumit1_session *s = &tumit1_session;
    const char *given = getenv("TUMIT_TRACE");
    char program[64], job[128], date[32];
    time_t now = time(NULL);
    struct tm fields;
    if (s->folder[0] != '\0') {
        return;
    }
    if (given != NULL && *given != '\0') {
        snprintf(s->folder, sizeof s->folder, "%s", given);
        return;
    }
    tumit1_read_line("/proc/self/comm", program, sizeof program);
    tumit1_clean(program);
    tumit1_job(job, sizeof job);
    tumit1_clean(job);
    if (job[0] != '\0') {
        snprintf(s->folder, sizeof s->folder, "%s-%s.tmt", program, job);
        return;
    }
    if (localtime_r(&now, &fields) == NULL || strftime(date, sizeof date, "%Y%m%dT%H%M%S", &fields) == 0) {
        date[0] = '\0';
    }
    snprintf(s->folder, sizeof s->folder, "%s-%s-%ld.tmt", program, date, (long)getpid());
}

/* Makes a folder and those above it. Returns 0 or an errno. */
TUMIT1_SLOW int tumit1_make_folder(const char *path) {
    char part[PATH_MAX];
    size_t i;
    snprintf(part, sizeof part, "%s", path);
    for (i = 1; part[i] != '\0'; i++) {
        if (part[i] == '/') {
            part[i] = '\0';
            if (mkdir(part, 0777) != 0 && errno != EEXIST) {
                return errno;
            }
            part[i] = '/';
        }
    }
    return mkdir(part, 0777) != 0 && errno != EEXIST ? errno : 0;
}

/* Writes the preamble and the block that says whose file this is. Returns 0 or an errno. */
TUMIT1_SLOW int tumit1_append_process(const char *host) {
    static const char writer[] = "c " TUMIT1_WRITER_VERSION;
    struct tumit1_session *s = &tumit1_session;
    unsigned char preamble[TUMIT1_PREAMBLE_BYTES];
    unsigned char block[TUMIT1_HEADER_BYTES + 6144];
    unsigned char *p = block + TUMIT1_HEADER_BYTES;
    char text[4096];
    size_t length;
    int error;
    memset(preamble, 0, sizeof preamble);
    tumit1_put_u16(tumit1_put_bytes(preamble, TUMIT1_FILE_MAGIC, 8), TUMIT1_FORMAT_VERSION);
    error = tumit1_append(preamble, sizeof preamble);
    if (error != 0) {
        return error;
    }
    p = tumit1_put_tag(p, TUMIT1_TAG_PROCESS_ID, s->id, sizeof s->id);
    if (s->has_parent) {
        p = tumit1_put_tag(p, TUMIT1_TAG_PARENT_ID, s->parent, sizeof s->parent);
    }
    p = tumit1_put_tag(p, TUMIT1_TAG_HOST, host, strlen(host));
    p = tumit1_put_integer_tag(p, TUMIT1_TAG_PID, (uint64_t)getpid());
    if (s->rank_known) {
        p = tumit1_put_integer_tag(p, TUMIT1_TAG_RANK, (uint64_t)s->rank);
    }
    if (s->rank_known && s->ranks > 0) {
        p = tumit1_put_integer_tag(p, TUMIT1_TAG_RANKS, (uint64_t)s->ranks);
    }
    p = tumit1_put_integer_tag(p, TUMIT1_TAG_CLOCK_KIND, tumit1_clock_kind);
    p = tumit1_put_integer_tag(p, TUMIT1_TAG_CLOCK_HZ, tumit1_clock.hz);
    p = tumit1_put_tag(p, TUMIT1_TAG_CLOCK_DOMAIN, tumit1_clock.domain, strlen(tumit1_clock.domain));
    length = tumit1_command(text, sizeof text);
    p = tumit1_put_tag(p, TUMIT1_TAG_COMMAND, text, length);
    p = tumit1_put_tag(p, TUMIT1_TAG_WRITER, writer, sizeof writer - 1);
    tumit1_job(text, 256);
    if (text[0] != '\0') {
        p = tumit1_put_tag(p, TUMIT1_TAG_JOB, text, strlen(text));
    }
    length = (size_t)(p - (block + TUMIT1_HEADER_BYTES));
    return tumit1_append_plain(TUMIT1_KIND_PROCESS, TUMIT1_PROCESS_STREAM, 1, block, length, 0, 0);
}

/* Opens the file of this process. What is recorded without one is dropped and counted. */
TUMIT1_SLOW void tumit1_open(void) {
    struct tumit1_session *s = &tumit1_session;
    char host[64], rank[16];
    int error;
    tumit1_crc_init();
    tumit1_clock_choose();
    tumit1_random(s->id, sizeof s->id);
    tumit1_find_rank();
    tumit1_name_folder();
    s->state = TUMIT1_FAILED;
    s->file = -1;
    error = tumit1_make_folder(s->folder);
    if (error != 0) {
        tumit1_warn("cannot make the run folder", s->folder, error);
        return;
    }
    if (gethostname(host, sizeof host) != 0) {
        host[0] = '\0';
    }
    host[sizeof host - 1] = '\0';
    rank[0] = '\0';
    if (s->rank_known) {
        snprintf(rank, sizeof rank, "r%05d-", s->rank);
    }
    tumit1_clean(host);
    if (snprintf(s->path, sizeof s->path, "%s/%s%s-%ld-%02x%02x.tmt", s->folder, rank, host, (long)getpid(), s->id[0],
                 s->id[1]) >= (int)sizeof s->path) {
        tumit1_warn("cannot use the run folder", s->folder, ENAMETOOLONG);
        return;
    }
    s->file = open(s->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (s->file < 0) {
        tumit1_warn("cannot create", s->path, errno);
        return;
    }
    s->offset = s->sequence = 0;
    error = tumit1_append_process(host);
    if (error != 0) {
        tumit1_warn("cannot write", s->path, error);
        close(s->file);
        return;
    }
    s->state = TUMIT1_OPEN;
    tumit1_append_anchor();
}
