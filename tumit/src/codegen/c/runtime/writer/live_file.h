/* ---- The live file: slots and names that remain when the process ends. It is mapped shared, so
 * a published record is in the file at once, without a system call. The caller holds the lock,
 * unless stated otherwise ---- */

#if defined O_TMPFILE
#define TUMIT1_UNNAMED_FILE O_TMPFILE
#elif defined __O_TMPFILE
#define TUMIT1_UNNAMED_FILE (__O_TMPFILE | O_DIRECTORY)
#endif

/* The first slot, and the total number of bytes of the live file, or of the private memory in
 * its place. */
TUMIT1_HOT unsigned char *tumit1_slots(void) {
    return tumit1_session.pool_.map_ + tumit1_session.pool_.slots_offset_;
}
TUMIT1_SLOW(size_t tumit1_pool_bytes(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    return pool_->slots_offset_ + (size_t)pool_->max_slots_ * TUMIT1_SLOT;
}

/* Whether the files of this folder are in the memory of this machine, and fast. This is not so
 * on network file systems and on those that a program serves (NFS, Lustre, GPFS, CIFS, SMB2,
 * SMB, FUSE, Ceph, BeeGFS, AFS). */
TUMIT1_SLOW(int tumit1_is_local(const char *folder_)) {
    static const uint32_t far_[] = {0x6969,     0x0BD00BD0, 0x47504653, 0xFF534D42, 0xFE534D42,
                                    0x517B,     0x65735546, 0x00C36400, 0x19830326, 0x5346414F};
    struct statfs system_;
    size_t i_;
    if (statfs(folder_, &system_) != 0) {
        return 1;
    }
    for (i_ = 0; i_ < sizeof far_ / sizeof far_[0]; i_++) {
        if ((uint32_t)system_.f_type == far_[i_]) {
            return 0;
        }
    }
    return 1;
}

/* Chooses the absolute path of the live file: in the folder of the trace file, unless that is on
 * a network file system. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_name_live_file(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    const char *stem_ = strrchr(s_->path_, '/');
    char *folder_ = s_->scratch_.folder_;
    stem_ = stem_ == NULL ? s_->path_ : stem_ + 1;
    tumit1_put_text(folder_, PATH_MAX,
                    s_->live_folder_ != NULL       ? s_->live_folder_
                    : tumit1_is_local(s_->folder_) ? s_->folder_
                                                   : "/dev/shm");
    tumit1_make_absolute(folder_, PATH_MAX);
    if (snprintf(s_->live_path_, sizeof s_->live_path_, "%s/%.*s.live", folder_,
                 (int)strlen(stem_) - 4, stem_) >= (int)sizeof s_->live_path_ - 8) {
        return ENAMETOOLONG;
    }
    return tumit1_make_folder(folder_);
}

/* Opens a file without a name, so that nothing remains when the program is killed now. Without
 * system support for it, the file has a name that readers do not search for. Returns -1 with an
 * errno. */
TUMIT1_SLOW(int tumit1_open_live_file(void)) {
    char *path_ = tumit1_session.scratch_.path_;
    const size_t room_ = sizeof tumit1_session.scratch_.path_;
    int file_ = -1;
    tumit1_session.pool_.named_ = 0;
#ifdef TUMIT1_UNNAMED_FILE
    if (access("/proc/self/fd", F_OK) == 0) {
        snprintf(path_, room_, "%.*s",
                 (int)(strrchr(tumit1_session.live_path_, '/') - tumit1_session.live_path_) + 1,
                 tumit1_session.live_path_);
        file_ =
            tumit1_open_and_identify(path_, TUMIT1_UNNAMED_FILE, &tumit1_session.pool_.identity_);
    }
#endif
    if (file_ < 0) {
        tumit1_session.pool_.named_ = 1;
        snprintf(path_, room_, "%s.new", tumit1_session.live_path_);
        file_ = tumit1_open_and_identify(path_, O_CREAT | O_EXCL, &tumit1_session.pool_.identity_);
    }
    return file_;
}

/* Maps the live file in place of the slots. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_map_live_file(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    void *address_ = mmap(pool_->map_, tumit1_pool_bytes(), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED, pool_->file_, 0);
    return address_ == MAP_FAILED ? errno : 0;
}

/* Gives the live file its name, after its contents are complete. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_publish_live_file(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    char *path_ = tumit1_session.scratch_.path_;
    const size_t room_ = sizeof tumit1_session.scratch_.path_;
    int file_;
    if (pool_->named_) {
        snprintf(path_, room_, "%s.new", tumit1_session.live_path_);
        return rename(path_, tumit1_session.live_path_) == 0 ? 0 : errno;
    }
    snprintf(path_, room_, "/proc/self/fd/%d", pool_->file_);
    if (linkat(AT_FDCWD, path_, AT_FDCWD, tumit1_session.live_path_, AT_SYMLINK_FOLLOW) != 0) {
        return errno;
    }
    pool_->named_ = 2;
    /* Opened again by its name, because `tumit level` searches for the name in /proc/PID/maps. */
    file_ = tumit1_open_and_identify(tumit1_session.live_path_, 0, &pool_->identity_);
    if (file_ < 0) {
        return errno;
    }
    close(pool_->file_);
    pool_->file_ = file_;
    pool_->identity_.bytes_ = tumit1_pool_bytes();
    return tumit1_map_live_file();
}

/* Counts dropped records in the live file, for the case that the process is killed. Called without
 * the lock. */
TUMIT1_SLOW(void tumit1_count_live_drops(uint32_t stream_, uint64_t count_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (__atomic_load_n(&pool_->live_, __ATOMIC_ACQUIRE)) {
        uint64_t *counters_ = (uint64_t *)(void *)(pool_->map_ + TUMIT1_LIVE_DROP_COUNTERS);
        __atomic_fetch_add(&counters_[stream_ % TUMIT1_LIVE_COUNTERS], count_, __ATOMIC_RELAXED);
    }
}

/* Counts a truncated record, also in the live file. Called without the lock. */
TUMIT1_SLOW(void tumit1_count_truncated(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    __atomic_fetch_add(&tumit1_session.truncated_, 1u, __ATOMIC_RELAXED);
    if (__atomic_load_n(&pool_->live_, __ATOMIC_ACQUIRE)) {
        __atomic_fetch_add((uint64_t *)(void *)(pool_->map_ + TUMIT1_LIVE_TRUNCATED), 1u,
                           __ATOMIC_RELAXED);
    }
}

/* Marks in the live file that the process ended regularly. The live file remains if the trace
 * file cannot store all records. */
TUMIT1_SLOW(void tumit1_store_process_end(uint64_t end_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->live_) {
        __atomic_store_n((uint64_t *)(void *)(pool_->map_ + TUMIT1_LIVE_PROCESS_END), end_,
                         __ATOMIC_RELEASE);
    }
}

/* Creates the live file in place of the slots. Room on the disk is reserved before any write,
 * because a full disk would kill the program. The file has no name yet. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_create_live_file(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_pool *pool_ = &s_->pool_;
    const size_t bytes_ = tumit1_pool_bytes();
    const uint32_t first_ = pool_->slots_ < TUMIT1_CHUNK ? pool_->slots_ : TUMIT1_CHUNK;
    unsigned char *p_ = pool_->map_;
    int error_ = tumit1_name_live_file();
    if (error_ != 0 || tumit1_exceeds_file_limit(bytes_)) {
        return error_ != 0 ? error_ : EFBIG;
    }
    pool_->file_ = tumit1_open_live_file();
    if (pool_->file_ < 0) {
        return errno;
    }
    error_ = ftruncate(pool_->file_, (off_t)bytes_) == 0 ? 0 : errno;
    error_ =
        error_ == 0
            ? posix_fallocate(pool_->file_, 0,
                              (off_t)(pool_->slots_offset_ + (size_t)first_ * TUMIT1_SLOT))
            : error_;
    error_ = error_ == 0 ? tumit1_map_live_file() : error_;
    if (error_ != 0) {
        return error_;
    }
    pool_->identity_.bytes_ = bytes_;
    pool_->ready_ = first_;
    tumit1_put_bytes(p_, TUMIT1_LIVE_MAGIC, 8);
    tumit1_put_u16(p_ + 8, TUMIT1_LIVE_VERSION);
    tumit1_put_bytes(p_ + 16, s_->id_, sizeof s_->id_);
    tumit1_put_u32(p_ + 32, TUMIT1_SLOT);
    tumit1_put_u32(p_ + 36, pool_->max_slots_);
    tumit1_put_u32(p_ + 40, TUMIT1_LIVE_LOG);
    tumit1_put_u32(p_ + 44, (uint32_t)pool_->slots_offset_ - TUMIT1_LIVE_LOG);
    tumit1_put_u64(p_ + 48, pool_->slots_offset_);
    __atomic_store_n(&pool_->live_, 1, __ATOMIC_RELEASE);
    /* dropped before this point */
    tumit1_count_live_drops(0, __atomic_load_n(&tumit1_session.dropped_, __ATOMIC_RELAXED));
    return 0;
}

/* Removes the live file after its creation failed, and replaces it by private memory. Returns 0
 * or an errno. */
TUMIT1_SLOW(int tumit1_discard_live_file(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    char *path_ = tumit1_session.scratch_.path_;
    const size_t room_ = sizeof tumit1_session.scratch_.path_;
    if (pool_->file_ >= 0) {
        close(pool_->file_);
        snprintf(path_, room_, "%s%s", tumit1_session.live_path_, pool_->named_ == 1 ? ".new" : "");
        if (pool_->named_) {
            (void)unlink(path_);
        }
    }
    __atomic_store_n(&pool_->live_, 0, __ATOMIC_RELEASE);
    pool_->file_ = -1;
    pool_->ready_ = pool_->slots_ = pool_->max_slots_;
    return tumit1_map_private(pool_->map_, tumit1_pool_bytes());
}

/* Appends an entry, without its payload, to the log of the live file. Readers use the log to
 * interpret the records of a killed program. Returns the position of the payload. NULL when the
 * log is full or does not exist. tumit1_log_commit() completes the entry. */
TUMIT1_SLOW(unsigned char *tumit1_log_room(uint32_t kind_, uint32_t stream_, size_t bytes_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    unsigned char *p_ = pool_->map_;
    if (!pool_->live_ || pool_->log_full_) {
        return NULL;
    }
    if (tumit1_get_u64(p_ + 56) + ((16 + bytes_ + 7u) & ~(size_t)7u) >
        pool_->slots_offset_ - TUMIT1_LIVE_LOG) {
        pool_->log_full_ = 1;
        return NULL;
    }
    p_ += TUMIT1_LIVE_LOG + tumit1_get_u64(p_ + 56);
    p_ = tumit1_put_u32(p_, kind_);
    p_ = tumit1_put_u32(p_, stream_);
    p_ = tumit1_put_u32(p_, 1);
    return tumit1_put_u32(p_, (uint32_t)bytes_);
}
TUMIT1_SLOW(void tumit1_log_commit(size_t bytes_)) {
    uint64_t *complete_ = (uint64_t *)(void *)(tumit1_session.pool_.map_ + 56);
    __atomic_store_n(complete_, *complete_ + ((16 + bytes_ + 7u) & ~(size_t)7u), __ATOMIC_RELEASE);
}

/* Appends a complete entry. Returns 0 when there is no room for it. */
TUMIT1_SLOW(int tumit1_log(uint32_t kind_, uint32_t stream_, const unsigned char *payload_,
                           size_t bytes_)) {
    unsigned char *p_ = tumit1_log_room(kind_, stream_, bytes_);
    if (p_ != NULL) {
        tumit1_put_bytes(p_, payload_, bytes_);
        tumit1_log_commit(bytes_);
    }
    return p_ != NULL;
}

/* The number of bytes of the log. The caller passes it to tumit1_store_written_log_bytes() when all
 * entries up to there are in the file. Called without the lock. */
TUMIT1_SLOW(uint64_t tumit1_logged_bytes(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    return pool_->live_ ? __atomic_load_n((uint64_t *)(void *)(pool_->map_ + 56), __ATOMIC_ACQUIRE)
                        : 0;
}
TUMIT1_SLOW(void tumit1_store_written_log_bytes(uint64_t bytes_)) {
    if (tumit1_session.pool_.live_) {
        __atomic_store_n((uint64_t *)(void *)(tumit1_session.pool_.map_ + 64), bytes_,
                         __ATOMIC_RELEASE);
    }
}

/* Removes the live file, because the trace file has its contents. Its memory remains, for
 * threads that still run. */
TUMIT1_SLOW(void tumit1_remove_live_file(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->live_) {
        if (unlink(tumit1_session.live_path_) != 0 && errno != ENOENT) {
            tumit1_warn("cannot remove", tumit1_session.live_path_, errno);
        }
        tumit1_close_if_same(&pool_->file_, &pool_->identity_);
    }
}
