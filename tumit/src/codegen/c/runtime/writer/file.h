/* ---- The file: blocks are appended completely or not at all. All callers hold the writer's lock
 * ---- */

/* Whether a write up to `end_` exceeds the limit of the size of a file. The system would then
 * kill the program with a signal. */
TUMIT1_SLOW(int tumit1_exceeds_file_limit(uint64_t end_)) {
    struct rlimit limit_;
    return getrlimit(RLIMIT_FSIZE, &limit_) == 0 && limit_.rlim_cur != RLIM_INFINITY &&
           end_ > limit_.rlim_cur;
}

/* The text of an environment variable. NULL when it does not exist or is empty. */
TUMIT1_SLOW(const char *tumit1_env(const char *name_)) {
    const char *text_ = getenv(name_);
    return text_ != NULL && *text_ != '\0' ? text_ : NULL;
}

/* Stores the folder in which the program began. Relative paths in its environment refer to this
 * folder, although the program, for example a daemon, can be in another one at its first record. */
TUMIT1_SLOW(void tumit1_store_start_folder(void)) {
    char *in_ = tumit1_session.start_folder_;
    if (in_[0] == '\0' && getcwd(in_, sizeof tumit1_session.start_folder_) == NULL) {
        in_[0] = '\0';
    }
}

/* A path, relative to the folder in which the program began. */
TUMIT1_SLOW(void tumit1_from_start_folder(char *to_, size_t room_, const char *path_)) {
    const int absolute_ = path_[0] == '/' || tumit1_session.start_folder_[0] == '\0';
    snprintf(to_, room_, "%s%s%s", absolute_ ? "" : tumit1_session.start_folder_,
             absolute_ ? "" : "/", path_);
}

/* The folder in an environment variable. NULL when the program has rights that its caller does
 * not have. */
TUMIT1_SLOW(const char *tumit1_env_folder(const char *name_)) {
    return getuid() != geteuid() || getgid() != getegid() ? NULL : tumit1_env(name_);
}

/* Parses a number of bytes with a unit, as 64M. 0 when it is invalid. */
TUMIT1_SLOW(uint64_t tumit1_parse_bytes(const char *text_)) {
    char *end_ = NULL;
    unsigned long long value_ = strtoull(text_, &end_, 10);
    unsigned shift_;
    while (end_ != text_ && *end_ == ' ') {
        end_++;
    }
    shift_ = *end_ == 'k' || *end_ == 'K'   ? 10u
             : *end_ == 'm' || *end_ == 'M' ? 20u
             : *end_ == 'g' || *end_ == 'G' ? 30u
                                            : 0u;
    end_ += shift_ != 0;
    return end_ == text_ || memchr(text_, '-', (size_t)(end_ - text_)) != NULL || *end_ != '\0' ||
                   value_ >> (63 - shift_) != 0
               ? 0
               : (uint64_t)value_ << shift_;
}

/* Creates a folder and its parents. The caller holds the writer's lock. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_make_folder(const char *path_)) {
    char *part_ = tumit1_session.scratch_.part_;
    size_t i_;
    snprintf(part_, PATH_MAX, "%s", path_);
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

/* Makes a path absolute, so that it is valid in any working directory. The caller holds the
 * writer's lock. */
TUMIT1_SLOW(void tumit1_make_absolute(char *path_, size_t room_)) {
    char *folder_ = tumit1_session.scratch_.part_;
    size_t length_, path_length_ = strlen(path_);
    if (*path_ == '/' || getcwd(folder_, PATH_MAX) == NULL) {
        return;
    }
    length_ = strlen(folder_);
    if (length_ + 1 + path_length_ < room_) {
        memmove(path_ + length_ + 1, path_, path_length_ + 1);
        memcpy(path_, folder_, length_);
        path_[length_] = '/';
    }
}

/* Opens a file of the recorder. Its descriptor is never one of the three standard ones. Returns
 * -1 with an errno. */
TUMIT1_SLOW(int tumit1_open_and_identify(const char *path_, int flags_,
                                         struct tumit1_identity *identity_)) {
    struct stat about_;
    int file_ = open(path_, flags_ | O_RDWR | O_CLOEXEC, 0666);
    if (file_ >= 0 && file_ < 3) {
        const int low_ = file_;
        file_ = fcntl(low_, F_DUPFD_CLOEXEC, 3);
        close(low_);
    }
    if (file_ >= 0) {
        memset(&about_, 0, sizeof about_);
        (void)fstat(file_, &about_);
        identity_->device_ = (uint64_t)about_.st_dev;
        identity_->inode_ = (uint64_t)about_.st_ino;
        identity_->bytes_ = 0;
    }
    return file_;
}

/* Whether this descriptor still refers to the opened file. The program may have closed it, and
 * opened another file with its number. */
TUMIT1_SLOW(int tumit1_is_same_file(int file_, const struct tumit1_identity *identity_)) {
    struct stat about_;
    return file_ >= 0 && fstat(file_, &about_) == 0 &&
           (uint64_t)about_.st_dev == identity_->device_ &&
           (uint64_t)about_.st_ino == identity_->inode_ &&
           (uint64_t)about_.st_size >= identity_->bytes_;
}

/* Closes the file, unless the descriptor refers to another file now. */
TUMIT1_SLOW(void tumit1_close_if_same(int *file_, const struct tumit1_identity *identity_)) {
    if (tumit1_is_same_file(*file_, identity_)) {
        close(*file_);
    }
    *file_ = -1;
}

/* Ensures that a file of the recorder is open. If the program closed it, it is opened again by
 * its path. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_ensure_open(int *file_, const struct tumit1_identity *identity_,
                                   const char *path_)) {
    struct tumit1_identity new_identity_ = {0, 0, 0};
    int new_file_;
    if (tumit1_is_same_file(*file_, identity_)) {
        return 0;
    }
    new_file_ = tumit1_open_and_identify(path_, 0, &new_identity_);
    if (new_file_ >= 0 && !tumit1_is_same_file(new_file_, identity_)) {
        close(new_file_);
        return EBADF;
    }
    if (new_file_ >= 0) {
        *file_ = new_file_;
    }
    return new_file_ < 0 ? errno : 0;
}

/* Reserves room on the disk up to `end_`, after the end of the file, for writes that must
 * succeed even on a full disk. It is needed if slots are private memory. Otherwise the live file
 * reports drops. Returns 0 or an errno. A file system without reservations is tried once. */
TUMIT1_SLOW(int tumit1_reserve_disk(uint64_t end_)) {
#if defined SYS_fallocate && defined __LP64__
    struct tumit1_writer *s_ = &tumit1_writer;
    while (s_->reserves_ && end_ > s_->reserved_) {
        const uint64_t size_ = end_ - s_->reserved_;
        if (syscall(SYS_fallocate, s_->file_, TUMIT1_KEEP_SIZE, (off_t)s_->reserved_,
                    (off_t)size_) == 0) {
            s_->reserved_ = end_;
        } else if (errno == ENOSPC || errno == EDQUOT) {
            return errno;
        } else {
            s_->reserves_ = errno == EINTR;
        }
    }
#else
    (void)end_;
#endif
    return 0;
}

/* Releases reserved room that is not needed, or removes an incomplete block. Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_truncate_file(void)) {
    tumit1_writer.reserved_ = tumit1_writer.identity_.bytes_ = tumit1_writer.offset_;
    return ftruncate(tumit1_writer.file_, (off_t)tumit1_writer.offset_) == 0 ? 0 : errno;
}

/* Appends bytes. After a failure the file is truncated to its previous size. Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_append(const unsigned char *bytes_, size_t length_)) {
    struct tumit1_writer *s_ = &tumit1_writer;
    const uint64_t end_ = s_->offset_ + length_ +
                          (s_->ending_ == 0   ? TUMIT1_RESERVE
                           : s_->ending_ == 1 ? TUMIT1_LAST_RESERVE
                                              : 0u);
    size_t done_ = 0;
    int full_ = tumit1_ensure_open(&s_->file_, &s_->identity_, tumit1_session.path_);
    full_ = full_ != 0                        ? full_
            : tumit1_exceeds_file_limit(end_) ? EFBIG
                                              : tumit1_reserve_disk(end_);
    if (full_ != 0) {
        return full_;
    }
    while (done_ < length_) {
        ssize_t wrote_ =
            pwrite(s_->file_, bytes_ + done_, length_ - done_, (off_t)(s_->offset_ + done_));
        if (wrote_ <= 0) {
            int error_ = wrote_ == 0 ? ENOSPC : errno;
            if (error_ == EINTR) {
                continue;
            }
            if (done_ != 0 && tumit1_truncate_file() != 0) {
                /* readers skip to the next block */
                s_->offset_ = (s_->offset_ + done_ + 7u) & ~(uint64_t)7u;
            }
            return error_;
        }
        done_ += (size_t)wrote_;
    }
    s_->offset_ += length_;
    s_->identity_.bytes_ = s_->offset_;
    return 0;
}

/* Restores the contents of a file that was removed, perhaps with its folder. */
TUMIT1_SLOW(void tumit1_restore_file(void)) {
    struct tumit1_writer *s_ = &tumit1_writer;
    const char *path_ = tumit1_session.path_;
    uint64_t done_ = 0;
    struct tumit1_identity identity_;
    struct stat about_;
    int copy_ = -1, error_;
    if (s_->file_ < 0 || tumit1_ensure_open(&s_->file_, &s_->identity_, path_) != 0 ||
        fstat(s_->file_, &about_) != 0 || about_.st_nlink != 0) {
        return;
    }
    error_ = tumit1_make_folder(tumit1_session.folder_);
    if (error_ == 0) {
        copy_ = tumit1_open_and_identify(path_, O_CREAT | O_EXCL, &identity_);
        error_ = copy_ < 0 ? errno : 0;
    }
    while (error_ == 0 && done_ < s_->offset_) {
        size_t max_ =
            s_->offset_ - done_ < TUMIT1_BLOCK ? (size_t)(s_->offset_ - done_) : TUMIT1_BLOCK;
        ssize_t got_ = pread(s_->file_, s_->copy_, max_, (off_t)done_);
        error_ =
            got_ <= 0 || pwrite(copy_, s_->copy_, (size_t)got_, (off_t)done_) != got_ ? EIO : 0;
        done_ += got_ > 0 ? (uint64_t)got_ : 0;
    }
    if (error_ != 0) {
        tumit1_warn("was removed and cannot be created again:", path_, error_);
        if (copy_ >= 0) {
            close(copy_);
            (void)unlink(path_);
        }
        return;
    }
    close(s_->file_);
    s_->file_ = copy_;
    s_->identity_ = identity_;
    s_->identity_.bytes_ = s_->offset_;
    s_->reserved_ = s_->offset_;
    fprintf(stderr, "tumit: `%s` was removed while the program runs: it is created again\n", path_);
}

/* The fields of a block's header without sizes and checksum. */
struct tumit1_header {
    uint8_t kind_, codec_, flags_;
    uint32_t stream_, records_;
    uint64_t sequence_;
    uint32_t raw_, stored_;
    uint64_t dropped_, first_, last_;
};

/* Appends a block. Before the payload are 64 bytes for the header, and after it 7 bytes for
 * padding. */
TUMIT1_SLOW(int tumit1_append_block(const struct tumit1_header *h_, unsigned char *block_)) {
    unsigned char *p_ = block_;
    size_t length_ = TUMIT1_HEADER_BYTES + (size_t)h_->stored_;
    size_t padded_ = (length_ + 7u) & ~(size_t)7u;
    p_ = tumit1_put_bytes(p_, TUMIT1_BLOCK_MAGIC, 8);
    p_ = tumit1_put_u32(p_, 0);
    p_ = tumit1_put_u8(p_, h_->kind_);
    p_ = tumit1_put_u8(p_, h_->codec_);
    p_ = tumit1_put_u16(p_, h_->flags_);
    p_ = tumit1_put_u32(p_, h_->stream_);
    p_ = tumit1_put_u32(p_, h_->records_);
    p_ = tumit1_put_u64(p_, h_->sequence_);
    p_ = tumit1_put_u32(p_, h_->raw_);
    p_ = tumit1_put_u32(p_, h_->stored_);
    p_ = tumit1_put_u64(p_, h_->dropped_);
    p_ = tumit1_put_u64(p_, h_->first_);
    p_ = tumit1_put_u64(p_, h_->last_);
    tumit1_put_u32(block_ + 8, tumit1_crc(0, block_, length_));
    memset(block_ + length_, 0, padded_ - length_);
    return tumit1_append(block_, padded_);
}

/* Appends an uncompressed block of the process (or of `stream`, kind `stream`). Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_append_plain(uint8_t kind_, uint32_t stream_, uint32_t entries_,
                                    unsigned char *block_, size_t payload_, uint64_t first_,
                                    uint64_t last_)) {
    struct tumit1_header h_;
    int error_;
    memset(&h_, 0, sizeof h_);
    h_.kind_ = kind_;
    h_.stream_ = stream_;
    h_.records_ = entries_;
    h_.sequence_ = tumit1_writer.sequence_;
    h_.raw_ = h_.stored_ = (uint32_t)payload_;
    h_.first_ = first_;
    h_.last_ = last_;
    error_ = tumit1_append_block(&h_, block_);
    if (error_ == 0) {
        tumit1_writer.sequence_++;
    }
    return error_;
}

/* Appends a block of the process with compressed entries. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_packed(uint8_t kind_, uint32_t entries_, unsigned char *block_,
                                     uint32_t raw_, uint32_t stored_)) {
    struct tumit1_header h_;
    int error_;
    memset(&h_, 0, sizeof h_);
    h_.kind_ = kind_;
    h_.codec_ = TUMIT1_CODEC_LZ4;
    h_.stream_ = TUMIT1_PROCESS_STREAM;
    h_.records_ = entries_;
    h_.sequence_ = tumit1_writer.sequence_;
    h_.raw_ = raw_;
    h_.stored_ = stored_;
    error_ = tumit1_append_block(&h_, block_);
    if (error_ == 0) {
        tumit1_writer.sequence_++;
    }
    return error_;
}

TUMIT1_SLOW(unsigned char *tumit1_put_tag(unsigned char *p_, uint16_t tag_, const void *bytes_,
                                          size_t length_)) {
    p_ = tumit1_put_u16(p_, tag_);
    p_ = tumit1_put_u32(p_, (uint32_t)length_);
    return tumit1_put_bytes(p_, bytes_, length_);
}
TUMIT1_SLOW(unsigned char *tumit1_put_integer_tag(unsigned char *p_, uint16_t tag_,
                                                  uint64_t value_)) {
    return tumit1_put_tag(p_, tag_, &value_, sizeof value_);
}
