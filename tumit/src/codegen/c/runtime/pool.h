/* ---- The slots: a fixed number, in the live file or in private memory. Under the lock ---- */

TUMIT1_HOT unsigned char *tumit1_slots(void) { return tumit1_session.pool_.map_ + TUMIT1_LIVE_FRONT; }
TUMIT1_HOT unsigned char *tumit1_payload(struct tumit1_slot *slot_) { return (unsigned char *)slot_ + TUMIT1_SLOT_HEAD; }

TUMIT1_SLOW(size_t tumit1_pool_bytes(void)) {
    return TUMIT1_LIVE_FRONT + (size_t)tumit1_session.pool_.slots_ * TUMIT1_SLOT;
}

/* The text of an environment variable; NULL when it is not there, or empty. */
TUMIT1_SLOW(const char *tumit1_env(const char *name_)) {
    const char *text_ = getenv(name_);
    return text_ != NULL && *text_ != '\0' ? text_ : NULL;
}

/* A number of bytes as people write it, 64M; 0 when it is not understood. */
TUMIT1_SLOW(uint64_t tumit1_parse_bytes(const char *text_)) {
    char *end_ = NULL;
    unsigned long long value_ = strtoull(text_, &end_, 10);
    unsigned shift_ = *end_ == 'k' || *end_ == 'K' ? 10u : *end_ == 'm' || *end_ == 'M' ? 20u : *end_ == 'g' || *end_ == 'G' ? 30u : 0u;
    end_ += shift_ != 0;
    return end_ == text_ || *text_ == '-' || *end_ != '\0' || value_ >> (63 - shift_) != 0 ? 0 : (uint64_t)value_ << shift_;
}

/* Room for the slots that TUMIT_MEMORY allows: addresses, which a forked child uses again. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_pool_reserve(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const char *asked_ = tumit1_env("TUMIT_MEMORY");
    uint64_t bytes_ = asked_ == NULL ? TUMIT1_MEMORY : tumit1_parse_bytes(asked_);
    unsigned char *lists_;
    if (pool_->map_ != NULL) {
        return 0;
    }
    if (bytes_ == 0) {
        fprintf(stderr, "tumit: TUMIT_MEMORY: `%s` is not understood: write a number of bytes, or 64M\n", asked_);
        bytes_ = TUMIT1_MEMORY;
    }
    bytes_ = bytes_ / TUMIT1_SLOT;
    pool_->slots_ = bytes_ < 2 ? 2u : bytes_ > 0xFFFFFu ? 0xFFFFFu : (uint32_t)bytes_;
    pool_->room_ = pool_->slots_;
    lists_ = (unsigned char *)tumit1_map(2 * (size_t)pool_->slots_ * sizeof *pool_->free_);
    pool_->map_ = lists_ == NULL ? NULL : (unsigned char *)tumit1_map(tumit1_pool_bytes());
    if (pool_->map_ == NULL) {
        return ENOMEM;
    }
    pool_->free_ = (struct tumit1_slot **)(void *)lists_;
    pool_->queue_ = pool_->free_ + pool_->slots_;
    return 0;
}

/* Whether the memory of files in this folder is that of this machine, and fast: not so on file systems of a network. */
TUMIT1_SLOW(int tumit1_is_local(const char *folder_)) {
    static const uint32_t far_[] = {0x6969, 0x0BD00BD0, 0x47504653, 0xFF534D42, 0xFE534D42, 0x517B, 0x65735546};
    struct statfs system_;
    size_t i_;
    if (statfs(folder_, &system_) != 0) {
        return 0;
    }
    for (i_ = 0; i_ < sizeof far_ / sizeof far_[0]; i_++) {
        if ((uint32_t)system_.f_type == far_[i_]) {
            return 0;
        }
    }
    return 1;
}

/* Names the live file, by an absolute path: beside the file unless that is far away. Returns 0 when there is no name. */
TUMIT1_SLOW(int tumit1_name_live(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    const char *folder_ = tumit1_env("TUMIT_LIVE"), *stem_ = strrchr(s_->path_, '/');
    char here_[PATH_MAX];
    int length_;
    stem_ = stem_ == NULL ? s_->path_ : stem_ + 1;
    if (folder_ == NULL) {
        folder_ = tumit1_is_local(s_->folder_) ? s_->folder_ : "/dev/shm";
    }
    if (*folder_ == '/') {
        length_ = snprintf(s_->live_path_, sizeof s_->live_path_, "%s/%.*s.live", folder_, (int)strlen(stem_) - 4, stem_);
    } else {
        if (getcwd(here_, sizeof here_) == NULL) {
            return 0;
        }
        length_ = snprintf(s_->live_path_, sizeof s_->live_path_, "%s/%s/%.*s.live", here_, folder_, (int)strlen(stem_) - 4, stem_);
    }
    return length_ < (int)sizeof s_->live_path_;
}

/* Makes the live file, at the place of the slots. Room on the disk is asked for before anything is written there: a full
 * disk would kill the program. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_make_live(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_pool *pool_ = &s_->pool_;
    const size_t bytes_ = tumit1_pool_bytes();
    const uint32_t first_ = pool_->slots_ < TUMIT1_CHUNK ? pool_->slots_ : TUMIT1_CHUNK;
    unsigned char *p_ = pool_->map_;
    int file_, error_;
    if (!tumit1_name_live()) {
        return ENAMETOOLONG;
    }
    if (tumit1_over_limit(bytes_)) {
        return EFBIG;
    }
    file_ = open(s_->live_path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) {
        return errno;
    }
    error_ = ftruncate(file_, (off_t)bytes_) == 0 ? 0 : errno;
    error_ = error_ == 0 ? posix_fallocate(file_, 0, (off_t)(TUMIT1_LIVE_FRONT + (size_t)first_ * TUMIT1_SLOT)) : error_;
    if (error_ == 0 && mmap(p_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_, 0) == MAP_FAILED) {
        error_ = errno;
    }
    if (error_ != 0) {
        close(file_);
        (void)unlink(s_->live_path_);
        return error_;
    }
    pool_->file_ = file_;
    pool_->ready_ = first_;
    tumit1_put_u16(p_ + 8, TUMIT1_LIVE_VERSION);
    tumit1_put_bytes(p_ + 16, s_->id_, sizeof s_->id_);
    tumit1_put_u32(p_ + 32, TUMIT1_SLOT);
    tumit1_put_u32(p_ + 36, pool_->slots_);
    tumit1_put_u32(p_ + 40, TUMIT1_LIVE_LOG);
    tumit1_put_u32(p_ + 44, TUMIT1_LIVE_FRONT - TUMIT1_LIVE_LOG);
    tumit1_put_u64(p_ + 48, TUMIT1_LIVE_FRONT);
    tumit1_put_bytes(p_, TUMIT1_LIVE_MAGIC, 8);
    return 0;
}

/* All slots are free, in the live file unless TUMIT_BUFFERS=private or it cannot be made. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_pool_open(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const char *buffers_ = tumit1_env("TUMIT_BUFFERS");
    int error_ = tumit1_pool_reserve();
    if (error_ != 0) {
        return error_;
    }
    pool_->slots_ = pool_->room_;
    pool_->fresh_ = pool_->free_count_ = pool_->queue_first_ = pool_->queue_count_ = 0;
    pool_->log_full_ = 0;
    pool_->ready_ = pool_->slots_;
    pool_->live_ = 0;
    pool_->kept_ = TUMIT1_BUFFERS_PRIVATE;
    if (buffers_ != NULL && strcmp(buffers_, "private") != 0 && strcmp(buffers_, "mapped") != 0) {
        fprintf(stderr, "tumit: TUMIT_BUFFERS: `%s` is not understood: write mapped or private\n", buffers_);
    }
    if (buffers_ == NULL || strcmp(buffers_, "private") != 0) {
        __atomic_store_n(&pool_->live_, tumit1_make_live() == 0, __ATOMIC_RELEASE);
        pool_->kept_ = pool_->live_ ? TUMIT1_BUFFERS_MAPPED : TUMIT1_BUFFERS_FAILED;
        pool_->ready_ = pool_->live_ ? pool_->ready_ : pool_->slots_;
    }
    __atomic_store_n(&pool_->available_, pool_->slots_, __ATOMIC_RELAXED);
    return 0;
}

/* Gets room on the disk for more slots; a disk without any ends the growth. */
TUMIT1_SLOW(void tumit1_pool_grow(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t more_ = pool_->slots_ - pool_->ready_;
    more_ = more_ < TUMIT1_CHUNK ? more_ : TUMIT1_CHUNK;
    if (more_ != 0 && posix_fallocate(pool_->file_, (off_t)(TUMIT1_LIVE_FRONT + (size_t)pool_->ready_ * TUMIT1_SLOT),
                                      (off_t)((size_t)more_ * TUMIT1_SLOT)) != 0) {
        pool_->slots_ = pool_->ready_;
        more_ = 0;
        __atomic_store_n(&pool_->available_, pool_->free_count_ + pool_->ready_ - pool_->fresh_, __ATOMIC_RELAXED);
    }
    pool_->ready_ += more_;
}

/* A slot that was never touched; NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_fresh(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->fresh_ == pool_->ready_) {
        tumit1_pool_grow();
    }
    if (pool_->fresh_ == pool_->ready_) {
        return NULL;
    }
    return (struct tumit1_slot *)(void *)(tumit1_slots() + (size_t)pool_->fresh_++ * TUMIT1_SLOT);
}

/* Takes a free slot; NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = pool_->free_count_ != 0 ? pool_->free_[--pool_->free_count_] : tumit1_take_fresh();
    if (slot_ != NULL) {
        __atomic_store_n(&pool_->available_, pool_->available_ - 1, __ATOMIC_RELAXED);
    }
    return slot_;
}

/* Gives a slot back: what it holds is in the file, or counted as lost. */
TUMIT1_SLOW(void tumit1_give_slot(struct tumit1_slot *slot_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    __atomic_store_n(&slot_->taken_, 0u, __ATOMIC_RELEASE);
    pool_->free_[pool_->free_count_++] = slot_;
    __atomic_store_n(&pool_->available_, pool_->available_ + 1, __ATOMIC_RELAXED);
}

/* Touches the pages of one more slot when few warm ones are left. The helper's work. Returns whether it did. */
TUMIT1_SLOW(int tumit1_warm_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    size_t at_;
    pthread_mutex_lock(&tumit1_lock);
    slot_ = pool_->free_count_ < TUMIT1_WARM ? tumit1_take_fresh() : NULL;
    if (slot_ != NULL) {
        __atomic_store_n(&pool_->available_, pool_->available_ - 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&tumit1_lock);
    if (slot_ == NULL) {
        return 0;
    }
    for (at_ = 0; at_ < TUMIT1_SLOT; at_ += 4096) {
        *((volatile unsigned char *)slot_ + at_) = 0;
    }
    pthread_mutex_lock(&tumit1_lock);
    tumit1_give_slot(slot_);
    pthread_mutex_unlock(&tumit1_lock);
    return 1;
}

/* Appends an entry to the live file's log, in which a reader finds what records of a killed program mean. Returns 0 when
 * it is full. */
TUMIT1_SLOW(int tumit1_log(uint32_t kind_, uint32_t stream_, const unsigned char *payload_, size_t bytes_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint64_t *complete_ = (uint64_t *)(void *)(pool_->map_ + 56);
    const size_t need_ = (16 + bytes_ + 7u) & ~(size_t)7u;
    unsigned char *p_ = pool_->map_ + TUMIT1_LIVE_LOG + *complete_;
    if (!pool_->live_ || pool_->log_full_ || *complete_ + need_ > TUMIT1_LIVE_FRONT - TUMIT1_LIVE_LOG) {
        pool_->log_full_ = 1;
        return 0;
    }
    p_ = tumit1_put_u32(p_, kind_);
    p_ = tumit1_put_u32(p_, stream_);
    p_ = tumit1_put_u32(p_, 1);
    p_ = tumit1_put_u32(p_, (uint32_t)bytes_);
    tumit1_put_bytes(p_, payload_, bytes_);
    __atomic_store_n(complete_, *complete_ + need_, __ATOMIC_RELEASE);
    return 1;
}

/* Counts in the live file what a killed process had lost. */
TUMIT1_SLOW(void tumit1_count_loss(uint32_t stream_, uint64_t count_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (__atomic_load_n(&pool_->live_, __ATOMIC_ACQUIRE)) {
        uint64_t *counters_ = (uint64_t *)(void *)(pool_->map_ + TUMIT1_LIVE_LOSSES);
        __atomic_fetch_add(&counters_[stream_ % TUMIT1_LIVE_COUNTERS], count_, __ATOMIC_RELAXED);
    }
}

/* The live file goes: all of it is in the file. Its memory stays, for threads that still run. */
TUMIT1_SLOW(void tumit1_remove_live(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->live_) {
        (void)unlink(tumit1_session.live_path_);
        close(pool_->file_);
        pool_->file_ = -1;
    }
}
