/* ---- The run folder and this process's file in it. Under the lock ---- */

TUMIT1_SLOW(void tumit1_random(unsigned char *to_, size_t bytes_)) {
    uint64_t seed_ = tumit1_nanos(CLOCK_REALTIME) ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)&bytes_;
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

/* The text of an environment variable; NULL when it is not there, or empty. */
TUMIT1_SLOW(const char *tumit1_env(const char *name_)) {
    const char *text_ = getenv(name_);
    return text_ != NULL && *text_ != '\0' ? text_ : NULL;
}

/* The integer in an environment variable, -1 without one. */
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

/* Rank and size as the launcher tells them, when MPI itself has not. */
TUMIT1_SLOW(void tumit1_find_rank(void)) {
    static const char *const names_[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMIX_RANK", "PMIX_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    struct tumit1_session *s_ = &tumit1_session;
    size_t i_;
    for (i_ = 0; !s_->rank_known_ && i_ < sizeof names_ / sizeof names_[0]; i_++) {
        s_->rank_ = tumit1_env_number(names_[i_][0]);
        s_->ranks_ = tumit1_env_number(names_[i_][1]);
        s_->rank_known_ = s_->rank_ >= 0;
    }
    if (!s_->rank_known_) {
        s_->rank_ = s_->ranks_ = -1;
    }
}

/* The job's own id, equal in all its processes. Empty when there is none. */
TUMIT1_SLOW(void tumit1_job(char *text_, size_t room_)) {
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
        snprintf(text_, room_, "%s%s%s", job_, step_ != NULL ? "." : "", step_ != NULL ? step_ : "");
    }
}

/* The command line, arguments apart by spaces; returns its length. */
TUMIT1_SLOW(size_t tumit1_command(char *text_, size_t room_)) {
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

/* Only what is safe in a file's name stays. */
TUMIT1_SLOW(void tumit1_clean(char *name_)) {
    for (; *name_ != '\0'; name_++) {
        bool good_ = (*name_ >= 'a' && *name_ <= 'z') || (*name_ >= 'A' && *name_ <= 'Z') || (*name_ >= '0' && *name_ <= '9') ||
                    *name_ == '.' || *name_ == '_' || *name_ == '-';
        *name_ = good_ ? *name_ : '_';
    }
}

/* Names the run folder: TUMIT_TRACE, or PROGRAM-JOB.tmt, or PROGRAM-DATE-PID.tmt. */
TUMIT1_SLOW(void tumit1_name_folder(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    const char *given_ = getenv("TUMIT_TRACE");
    char program_[64], job_[128], date_[32];
    time_t now_ = time(NULL);
    struct tm fields_;
    if (s_->folder_[0] != '\0') {
        return;
    }
    if (given_ != NULL && *given_ != '\0') {
        snprintf(s_->folder_, sizeof s_->folder_, "%s", given_);
        return;
    }
    tumit1_read_line("/proc/self/comm", program_, sizeof program_);
    tumit1_clean(program_);
    tumit1_job(job_, sizeof job_);
    tumit1_clean(job_);
    if (job_[0] != '\0') {
        snprintf(s_->folder_, sizeof s_->folder_, "%s-%s.tmt", program_, job_);
        return;
    }
    if (localtime_r(&now_, &fields_) == NULL || strftime(date_, sizeof date_, "%Y%m%dT%H%M%S", &fields_) == 0) {
        date_[0] = '\0';
    }
    snprintf(s_->folder_, sizeof s_->folder_, "%s-%s-%ld.tmt", program_, date_, (long)getpid());
}

/* Makes a folder and those above it. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_make_folder(const char *path_)) {
    char part_[PATH_MAX];
    size_t i_;
    snprintf(part_, sizeof part_, "%s", path_);
    for (i_ = 1; part_[i_] != '\0'; i_++) {
        if (part_[i_] == '/') {
            part_[i_] = '\0';
            if (mkdir(part_, 0777) != 0 && errno != EEXIST) {
                return errno;
            }
            part_[i_] = '/';
        }
    }
    return mkdir(part_, 0777) != 0 && errno != EEXIST ? errno : 0;
}

/* Writes the preamble and the block that says whose file this is. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_process(const char *host_)) {
    static const char writer_[] = "c " TUMIT1_WRITER_VERSION;
    struct tumit1_session *s_ = &tumit1_session;
    unsigned char preamble_[TUMIT1_PREAMBLE_BYTES];
    unsigned char block_[TUMIT1_HEADER_BYTES + 6144];
    unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
    char text_[4096];
    size_t length_;
    int error_;
    memset(preamble_, 0, sizeof preamble_);
    tumit1_put_u16(tumit1_put_bytes(preamble_, TUMIT1_FILE_MAGIC, 8), TUMIT1_FORMAT_VERSION);
    error_ = tumit1_append(preamble_, sizeof preamble_);
    if (error_ != 0) {
        return error_;
    }
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_PROCESS_ID, s_->id_, sizeof s_->id_);
    if (s_->has_parent_) {
        p_ = tumit1_put_tag(p_, TUMIT1_TAG_PARENT_ID, s_->parent_, sizeof s_->parent_);
    }
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_HOST, host_, strlen(host_));
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_PID, (uint64_t)getpid());
    if (s_->rank_known_) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RANK, (uint64_t)s_->rank_);
    }
    if (s_->rank_known_ && s_->ranks_ > 0) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RANKS, (uint64_t)s_->ranks_);
    }
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_CLOCK_KIND, tumit1_clock_kind);
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_CLOCK_HZ, tumit1_clock.hz_);
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_CLOCK_DOMAIN, tumit1_clock.domain_, strlen(tumit1_clock.domain_));
    length_ = tumit1_command(text_, sizeof text_);
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_COMMAND, text_, length_);
    p_ = tumit1_put_tag(p_, TUMIT1_TAG_WRITER, writer_, sizeof writer_ - 1);
    tumit1_job(text_, 256);
    if (text_[0] != '\0') {
        p_ = tumit1_put_tag(p_, TUMIT1_TAG_JOB, text_, strlen(text_));
    }
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_BUFFERS, 0); /* private: there is no live file */
    length_ = (size_t)(p_ - (block_ + TUMIT1_HEADER_BYTES));
    return tumit1_append_plain(TUMIT1_KIND_PROCESS, TUMIT1_PROCESS_STREAM, 1, block_, length_, 0, 0);
}

/* Opens the file of this process. What is recorded without one is dropped and counted. */
TUMIT1_SLOW(void tumit1_open(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    char host_[64], rank_[16];
    int error_;
    tumit1_crc_init();
    tumit1_clock_choose();
    tumit1_random(s_->id_, sizeof s_->id_);
    tumit1_find_rank();
    tumit1_name_folder();
    s_->state_ = TUMIT1_FAILED;
    s_->file_ = -1;
    error_ = tumit1_make_folder(s_->folder_);
    if (error_ != 0) {
        tumit1_warn("cannot make the run folder", s_->folder_, error_);
        return;
    }
    if (gethostname(host_, sizeof host_) != 0) {
        host_[0] = '\0';
    }
    host_[sizeof host_ - 1] = '\0';
    rank_[0] = '\0';
    if (s_->rank_known_) {
        snprintf(rank_, sizeof rank_, "r%05d-", s_->rank_);
    }
    tumit1_clean(host_);
    if (snprintf(s_->path_, sizeof s_->path_, "%s/%s%s-%ld-%02x%02x.tmt", s_->folder_, rank_, host_, (long)getpid(), s_->id_[0],
                 s_->id_[1]) >= (int)sizeof s_->path_) {
        tumit1_warn("cannot use the run folder", s_->folder_, ENAMETOOLONG);
        return;
    }
    s_->file_ = open(s_->path_, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (s_->file_ < 0) {
        tumit1_warn("cannot create", s_->path_, errno);
        return;
    }
    s_->offset_ = s_->sequence_ = 0;
    error_ = tumit1_append_process(host_);
    if (error_ != 0) {
        tumit1_warn("cannot write", s_->path_, error_);
        close(s_->file_);
        return;
    }
    s_->state_ = TUMIT1_OPEN;
    tumit1_append_anchor();
}
