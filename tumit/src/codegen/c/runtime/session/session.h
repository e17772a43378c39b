/* ---- The run folder and the file of this process in it. The caller holds both locks ---- */

TUMIT1_SLOW(void tumit1_random_bytes(unsigned char *to_, size_t bytes_)) {
    uint64_t seed_ =
        tumit1_nanos(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)&bytes_;
    size_t i_;
    int file_ = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got_ = file_ < 0 ? -1 : read(file_, to_, bytes_);
    if (file_ >= 0) {
        close(file_);
    }
    for (i_ = got_ > 0 ? (size_t)got_ : 0; i_ < bytes_; i_++) {
        seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
        to_[i_] = (unsigned char)(seed_ >> 56);
    }
}

/* The integer in an environment variable. -1 when there is none. */
TUMIT1_SLOW(int tumit1_env_number(const char *name_)) {
    const char *text_ = getenv(name_);
    char *end_ = NULL;
    long value_;
    if (text_ == NULL || *text_ == '\0') {
        return -1;
    }
    value_ = strtol(text_, &end_, 10);
    return *end_ == '\0' && value_ >= 0 && value_ < INT_MAX ? (int)value_ : -1;
}

/* Gets rank and size from the launcher, unless MPI itself has provided them. */
TUMIT1_SLOW(void tumit1_find_rank(void)) {
    static const char *const names_[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMIX_RANK", "PMIX_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    struct tumit1_session *s_ = &tumit1_session;
    size_t i_;
    for (i_ = 0; !s_->rank_known_ && i_ < sizeof names_ / sizeof names_[0]; i_++) {
        if (names_[i_][0][0] == 'S' && tumit1_env("SLURM_STEP_ID") == NULL) {
            continue; /* a batch script is not a step: Slurm gives all its programs rank 0 */
        }
        s_->rank_ = tumit1_env_number(names_[i_][0]);
        s_->ranks_ = tumit1_env_number(names_[i_][1]);
        s_->rank_known_ = s_->rank_ >= 0;
    }
    if (!s_->rank_known_) {
        s_->rank_ = s_->ranks_ = -1;
    }
}

/* The id of the job, which is equal in all its processes. Empty when there is none. */
TUMIT1_SLOW(void tumit1_job_id(char *text_, size_t room_)) {
    const char *space_ = tumit1_env("PMIX_NAMESPACE");
    const char *job_ = tumit1_env("SLURM_JOB_ID");
    const char *step_ = job_ == NULL ? NULL : tumit1_env("SLURM_STEP_ID");
    if (job_ == NULL) {
        job_ = tumit1_env("PBS_JOBID");
    }
    text_[0] = '\0';
    if (space_ != NULL) {
        snprintf(text_, room_, "%s", space_);
    } else if (job_ != NULL) {
        snprintf(text_, room_, "%s%s%s", job_, step_ != NULL ? "." : "",
                 step_ != NULL ? step_ : "");
    }
}

/* Concatenates three texts, truncated to the room after a complete UTF-8 character. */
TUMIT1_SLOW(void tumit1_concatenate(char *text_, size_t room_, const char *first_,
                                    const char *second_, const char *third_)) {
    const size_t total_ = (size_t)snprintf(text_, room_, "%s%s%s", first_, second_, third_);
    size_t length_ = strlen(text_);
    while (total_ > length_ && length_ > 0 && ((unsigned char)text_[length_] & 0xC0u) == 0x80u) {
        length_--;
    }
    text_[length_] = '\0';
}

/* The common launch of the jobs that one `mpirun` of Open MPI starts, also by MPI_Comm_spawn. In
 * version 4 the upper half of a job's number is that of the launch. In version 5 jobs have the
 * names `prterun-HOST-PID@1`, `@2` and so on. */
TUMIT1_SLOW(void tumit1_launch_of_job(char *text_, size_t room_, const char *space_)) {
    char *end_ = NULL;
    const unsigned long number_ = strtoul(space_, &end_, 10);
    if (*space_ >= '0' && *space_ <= '9' && *end_ == '\0' && number_ <= 0xFFFFFFFFu &&
        tumit1_env("OMPI_COMM_WORLD_RANK") != NULL) {
        snprintf(text_, room_, "pmix:%lu", number_ & 0xFFFF0000u);
        return;
    }
    tumit1_concatenate(text_, room_, "pmix:", space_, "");
    end_ = strncmp(space_, "prterun-", 8) == 0 ? strrchr(text_, '@') : NULL;
    if (end_ != NULL) {
        *end_ = '\0';
    }
}

/* The launch id for launchers that provide a rank but no job id (Hydra). It names the process
 * that started the ranks of this machine. Empty when the system does not provide it. */
TUMIT1_SLOW(void tumit1_launch_of_parent(char *text_, size_t room_)) {
    char boot_[64], about_[1024], path_[32];
    const char *field_;
    int i_;
    tumit1_read_line("/proc/sys/kernel/random/boot_id", boot_, sizeof boot_);
    snprintf(path_, sizeof path_, "/proc/%ld/stat", (long)getppid());
    tumit1_read_line(path_, about_, sizeof about_);
    /* after the name: the state, and 19 fields later the start time */
    field_ = strrchr(about_, ')');
    for (i_ = 0; i_ < 20 && field_ != NULL; i_++) {
        field_ = strchr(field_ + 1, ' ');
    }
    if (field_ != NULL) {
        snprintf(text_, room_, "launcher:%s:%ld:%.*s", boot_, (long)getppid(),
                 (int)strcspn(field_ + 1, " "), field_ + 1);
    }
}

/* Whether the calling thread is the only one. /proc/self/task has a folder for each thread. */
TUMIT1_SLOW(int tumit1_has_one_thread(void)) {
    struct stat about_;
    return stat("/proc/self/task", &about_) == 0 && about_.st_nlink == 3;
}

/* Stores the launch id in the environment for child processes. It does so only with one thread,
 * because other threads could read the environment at the same time. */
TUMIT1_SLOW(void tumit1_share_launch(void)) {
    if (tumit1_has_one_thread()) {
        (void)setenv("TUMIT_LAUNCH_ID", tumit1_session.launch_, 1);
    }
}

/* Finds the launch id. Processes that were started together have equal ids, so that readers can
 * separate two runs in one folder. Runs before `main`. Forked children have the id in memory. */
TUMIT1_SLOW(void tumit1_find_launch(void)) {
    char *text_ = tumit1_session.launch_;
    const size_t room_ = sizeof tumit1_session.launch_;
    const char *space_ = tumit1_env("PMIX_NAMESPACE"), *job_ = tumit1_env("SLURM_JOB_ID"),
               *step_ = tumit1_env("SLURM_STEP_ID");
    const char *tasks_ = tumit1_env("SLURM_NTASKS"), *own_id_ = tumit1_env("TUMIT_LAUNCH_ID");
    unsigned char id_[16];
    size_t i_;
    if (text_[0] != '\0') {
        return;
    }
    if (space_ != NULL) {
        tumit1_launch_of_job(text_, room_, space_);
    } else if (job_ != NULL && step_ != NULL && (tasks_ == NULL || strcmp(tasks_, "1") != 0)) {
        snprintf(text_, room_, "slurm:%.100s.%.100s", job_, step_);
    } else if (own_id_ != NULL) {
        tumit1_concatenate(text_, room_, own_id_, "", "");
    } else if (tumit1_env("OMPI_COMM_WORLD_RANK") != NULL || tumit1_env("PMIX_RANK") != NULL ||
               tumit1_env("PMI_RANK") != NULL || tumit1_env("MV2_COMM_WORLD_RANK") != NULL) {
        tumit1_launch_of_parent(text_, room_);
    }
    if (text_[0] == '\0') {
        tumit1_random_bytes(id_, sizeof id_);
        for (i_ = 0; i_ < sizeof id_; i_++) {
            snprintf(text_ + 2 * i_, 3, "%02x", id_[i_]);
        }
    }
    tumit1_session.inherits_ = own_id_ != NULL && strcmp(own_id_, text_) == 0;
    if (!tumit1_session.inherits_) {
        tumit1_share_launch();
    }
}

/* The command line with spaces between arguments. Returns its length. */
TUMIT1_SLOW(size_t tumit1_command_line(char *text_, size_t room_)) {
    ssize_t got_, i_;
    int file_ = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    got_ = file_ < 0 ? 0 : read(file_, text_, room_ - 1);
    if (file_ >= 0) {
        close(file_);
    }
    got_ = got_ < 0 ? 0 : got_;
    while (got_ > 0 && text_[got_ - 1] == '\0') {
        got_--;
    }
    for (i_ = 0; i_ < got_; i_++) {
        text_[i_] = text_[i_] == '\0' ? ' ' : text_[i_];
    }
    text_[got_] = '\0';
    return (size_t)got_;
}

/* Replaces characters that are not safe in a file name. */
TUMIT1_SLOW(void tumit1_clean_file_name(char *name_)) {
    for (; *name_ != '\0'; name_++) {
        bool good_ = (*name_ >= 'a' && *name_ <= 'z') || (*name_ >= 'A' && *name_ <= 'Z') ||
                     (*name_ >= '0' && *name_ <= '9') || *name_ == '.' || *name_ == '_' ||
                     *name_ == '-';
        *name_ = good_ ? *name_ : '_';
    }
}

/* Chooses the run folder: TUMIT_TRACE, or PROGRAM-JOB.tmt, or PROGRAM-DATE-PID.tmt. */
TUMIT1_SLOW(void tumit1_name_folder(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    const char *folder_ = tumit1_env_folder("TUMIT_TRACE");
    char name_[256], program_[64], job_[128], date_[32];
    time_t now_ = time(NULL);
    struct tm fields_;
    if (s_->folder_[0] != '\0') {
        return; /* the folder of the parent, or of rank 0 */
    }
    if (s_->config_.folder_ != NULL && *s_->config_.folder_ != '\0') {
        snprintf(s_->folder_, sizeof s_->folder_, "%s", s_->config_.folder_);
        s_->prints_folder_ = 0;
        return;
    }
    if (folder_ != NULL) {
        tumit1_from_start_folder(s_->folder_, sizeof s_->folder_, folder_);
        return;
    }
    s_->prints_folder_ = 1;
    tumit1_read_line("/proc/self/comm", program_, sizeof program_);
    tumit1_clean_file_name(program_);
    if (program_[0] == '\0') {
        memcpy(program_, "program", 8);
    }
    tumit1_job_id(job_, sizeof job_);
    tumit1_clean_file_name(job_);
    /* The job id alone is not unique: a job can launch several programs in sequence, and so can
     * a shell that is the only launched program. */
    tumit1_find_rank();
    if (job_[0] != '\0' && s_->ranks_ != 1 &&
        (tumit1_env("PMIX_NAMESPACE") != NULL || tumit1_env("SLURM_STEP_ID") != NULL)) {
        snprintf(name_, sizeof name_, "%s-%s.tmt", program_, job_);
    } else {
        if (localtime_r(&now_, &fields_) == NULL ||
            strftime(date_, sizeof date_, "%Y%m%d-%H%M%S", &fields_) == 0) {
            date_[0] = '\0';
        }
        snprintf(name_, sizeof name_, "%s-%s-%ld.tmt", program_, date_, (long)getpid());
    }
    tumit1_from_start_folder(s_->folder_, sizeof s_->folder_, name_);
}

/* Writes the tagged fields of this process. Returns the end. */
TUMIT1_SLOW(unsigned char *tumit1_put_process(unsigned char *p_, uint32_t buffers_kind_)) {
    static const char writer_[] = "c " TUMIT1_WRITER_VERSION;
    struct tumit1_session *s_ = &tumit1_session;
    const size_t folder_ = strlen(s_->folder_);
    char *text_ = s_->scratch_.text_;
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_PROCESS_ID, s_->id_, sizeof s_->id_);
    if (s_->has_parent_) {
        p_ = tumit1_put_tag(p_, TUMIT1_TAG_PARENT_ID, s_->parent_, sizeof s_->parent_);
    }
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_HOST, s_->host_, strlen(s_->host_));
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_PID, (uint64_t)getpid());
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_PARENT_PID, (uint64_t)getppid());
    if (s_->rank_known_) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RANK, (uint64_t)s_->rank_);
    }
    if (s_->rank_known_ && s_->ranks_ > 0) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RANKS, (uint64_t)s_->ranks_);
    }
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_CLOCK_KIND, tumit1_clock_kind);
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_CLOCK_HZ, tumit1_clock.hz_);
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_CLOCK_DOMAIN, tumit1_clock.domain_,
                        strlen(tumit1_clock.domain_));
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_COMMAND, text_,
                        tumit1_command_line(text_, sizeof s_->scratch_.text_));
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_WRITER, writer_, sizeof writer_ - 1);
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_BUFFERS, buffers_kind_);
    if (buffers_kind_ == TUMIT1_BUFFERS_MAPPED &&
        (strncmp(s_->live_path_, s_->folder_, folder_) != 0 ||
         strrchr(s_->live_path_, '/') != s_->live_path_ + folder_)) {
        p_ = tumit1_put_tag(p_, TUMIT1_TAG_LIVE_PATH, s_->live_path_, strlen(s_->live_path_));
    }
    tumit1_job_id(text_, 256);
    if (text_[0] != '\0') {
        p_ = tumit1_put_tag(p_, TUMIT1_TAG_JOB, text_, strlen(text_));
    }
    tumit1_find_launch();
    return tumit1_put_tag(p_, TUMIT1_TAG_LAUNCH, s_->launch_, strlen(s_->launch_));
}

/* Chooses the size and kind of the buffers, as the program or the environment requests. Returns
 * whether they must be in a live file. */
TUMIT1_SLOW(int tumit1_choose_buffers(uint64_t *memory_)) {
    struct tumit1_session *s_ = &tumit1_session;
    const char *text_ = tumit1_env("TUMIT_MEMORY"), *live_ = s_->config_.live_folder_;
    int private_;
    *memory_ = s_->config_.memory_bytes_ != 0 ? s_->config_.memory_bytes_
               : text_ == NULL                ? TUMIT1_MEMORY
                                              : tumit1_parse_bytes(text_);
    if (*memory_ == 0) {
        tumit1_report_invalid("TUMIT_MEMORY", text_, -1, "a number of bytes, or 64M");
        *memory_ = TUMIT1_MEMORY;
    }
    s_->live_folder_ = live_;
    text_ = tumit1_env_folder("TUMIT_LIVE");
    if (live_ == NULL && text_ != NULL) {
        tumit1_from_start_folder(s_->live_from_, sizeof s_->live_from_, text_);
        s_->live_folder_ = s_->live_from_;
    }
    text_ = s_->config_.buffers_ != NULL ? s_->config_.buffers_ : tumit1_env("TUMIT_BUFFERS");
    private_ = text_ != NULL && strcmp(text_, "private") == 0;
    if (text_ != NULL && !private_ && strcmp(text_, "mapped") != 0) {
        tumit1_report_invalid(s_->config_.buffers_ != NULL ? "buffers_ of tumit1_start"
                                                           : "TUMIT_BUFFERS",
                              text_, -1, "`mapped` or `private`");
    }
    return !private_;
}

TUMIT1_SLOW(void tumit1_report_private_buffers(int error_)) {
    fprintf(stderr,
            "tumit: cannot create a live file in `%s`: %s; "
            "the program continues with private buffers\n",
            tumit1_session.live_folder_, strerror(error_));
}

/* Prepares the slots and, if possible, a live file with all current definitions. Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_open_pool(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    unsigned char *tags_ = tumit1_session.scratch_.tags_;
    uint64_t memory_;
    const int mapped_ = tumit1_choose_buffers(&memory_);
    const uint64_t requested_ = memory_;
    int error_ = tumit1_pool_reserve(memory_);
    while (error_ != 0 && memory_ / 2 >= TUMIT1_MIN_MEMORY) { /* memory limits, or locked memory */
        memory_ = memory_ > TUMIT1_MEMORY ? TUMIT1_MEMORY : memory_ / 2;
        error_ = tumit1_pool_reserve(memory_);
    }
    if (error_ == 0 && memory_ < requested_ && memory_ / 2 >= TUMIT1_MIN_MEMORY) {
        memory_ /= 2; /* the other half is left for the program */
        error_ = tumit1_pool_resize(memory_);
    }
    if (error_ != 0) {
        return error_;
    }
    if (memory_ != requested_) {
        fprintf(stderr,
                "tumit: no memory for buffers of %llu bytes; the program continues with %llu\n",
                (unsigned long long)requested_, (unsigned long long)memory_);
    }
    tumit1_pool_clear();
    pool_->buffers_kind_ = TUMIT1_BUFFERS_PRIVATE;
    if (mapped_) {
        pool_->buffers_kind_ = TUMIT1_BUFFERS_MAPPED;
        pool_->file_ = -1;
        error_ = tumit1_create_live_file();
        if (error_ == 0) {
            size_t bytes_ = (size_t)(tumit1_put_process(tags_, pool_->buffers_kind_) - tags_);
            (void)tumit1_log(TUMIT1_KIND_PROCESS, TUMIT1_PROCESS_STREAM, tags_, bytes_);
            tumit1_log_definitions();
            error_ = tumit1_publish_live_file();
        }
        if (error_ != 0) {
            pool_->buffers_kind_ = TUMIT1_BUFFERS_FAILED;
            if (tumit1_session.live_folder_ != NULL) {
                tumit1_report_private_buffers(error_); /* because the folder was configured */
            }
            return tumit1_discard_live_file();
        }
    }
    return 0;
}

/* Gives the process its random id, derives the name of its file from it, and creates the folder.
 * Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_name_file(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    char rank_[16], host_[sizeof s_->host_];
    int tries_;
    if (gethostname(s_->host_, sizeof s_->host_) != 0) {
        s_->host_[0] = '\0';
    }
    s_->host_[sizeof s_->host_ - 1] = '\0';
    memcpy(host_, s_->host_, sizeof host_);
    tumit1_clean_file_name(host_);
    rank_[0] = '\0';
    if (s_->rank_known_) {
        snprintf(rank_, sizeof rank_, "r%05d-", s_->rank_);
    }
    tumit1_make_absolute(s_->folder_, sizeof s_->folder_);
    for (tries_ = 0; tries_ == 0 || (tries_ < 64 && access(s_->path_, F_OK) == 0); tries_++) {
        tumit1_random_bytes(s_->id_, sizeof s_->id_);
        if (snprintf(s_->path_, sizeof s_->path_, "%s/%s%s-%ld-%02x%02x%02x%02x.tmt", s_->folder_,
                     rank_, host_, (long)getpid(), s_->id_[0], s_->id_[1], s_->id_[2],
                     s_->id_[3]) >= (int)sizeof s_->path_) {
            return ENAMETOOLONG;
        }
    }
    return tumit1_make_folder(s_->folder_);
}

/* Creates the file, and writes the description of the process to it first. Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_open_file(void)) {
    struct tumit1_writer *f_ = &tumit1_writer;
    unsigned char *p_ = f_->block_;
    size_t payload_;
    int error_;
    f_->file_ = tumit1_open_and_identify(tumit1_session.path_, O_CREAT | O_EXCL, &f_->identity_);
    if (f_->file_ < 0) {
        return errno;
    }
    f_->offset_ = f_->sequence_ = f_->reserved_ = 0;
    f_->reserves_ = !tumit1_session.pool_.live_;
    memset(p_, 0, TUMIT1_PREAMBLE_BYTES);
    tumit1_put_u16(tumit1_put_bytes(p_, TUMIT1_FILE_MAGIC, 8), TUMIT1_FORMAT_VERSION);
    error_ = tumit1_append(p_, TUMIT1_PREAMBLE_BYTES);
    payload_ =
        (size_t)(tumit1_put_process(p_ + TUMIT1_HEADER_BYTES, tumit1_session.pool_.buffers_kind_) -
                 (p_ + TUMIT1_HEADER_BYTES));
    error_ = error_ == 0 ? tumit1_append_plain(TUMIT1_KIND_PROCESS, TUMIT1_PROCESS_STREAM, 1, p_,
                                               payload_, 0, 0)
                         : error_;
    if (error_ != 0) {
        tumit1_close_if_same(&f_->file_, &f_->identity_);
        (void)unlink(tumit1_session.path_); /* it has no contents */
    }
    return error_;
}

/* Creates the files of this process. Records without these files are dropped and counted.
 * Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_open_session(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_writer *f_ = &tumit1_writer;
    uint64_t began_;
    int error_;
    tumit1_crc_init();
    tumit1_choose_system_clock();
    tumit1_find_rank();
    tumit1_name_folder();
    if (f_->block_ == NULL) {
        f_->block_ =
            (unsigned char *)tumit1_map_memory(TUMIT1_HEADER_BYTES + 2 * TUMIT1_BLOCK + 64u);
        if (f_->block_ == NULL) {
            tumit1_warn("no memory for", "the recorder", ENOMEM);
            return ENOMEM;
        }
        f_->copy_ = f_->block_ + TUMIT1_HEADER_BYTES + TUMIT1_BLOCK + 64u;
    }
    error_ = tumit1_name_file();
    if (error_ != 0) {
        tumit1_warn("cannot create the run folder", s_->folder_, error_);
        return error_;
    }
    error_ = tumit1_open_pool();
    if (error_ != 0) {
        tumit1_warn("no memory for", "the recorder", error_);
        return error_;
    }
    error_ = tumit1_open_file();
    if (error_ != 0) {
        tumit1_warn("cannot write", s_->path_, error_);
        tumit1_remove_live_file();
        return error_;
    }
    tumit1_append_anchor();
    began_ = tumit1_nanos(CLOCK_MONOTONIC);
    tumit1_set_policies();
    tumit1_apply_levels(); /* the program may have chosen levels that overwrite */
    if (tumit1_clock.hz_ == 0 &&
        __atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED) != TUMIT1_CLOCK_USER) {
        while (tumit1_nanos(CLOCK_MONOTONIC) - began_ < 100000u) {
        }
        /* two readings give the rate of the clock, even in a short process */
        tumit1_append_anchor();
    }
    return 0;
}
