/* ---- Sealing: what a thread wrote becomes a block ---- */

/* What a walk over records found. */
struct tumit1_walk {
    uint32_t records_;       /* those of the program, and accounts of losses */
    uint64_t first_, last_;
    struct tumit1_lost lost_; /* sum of the accounts */
    uint32_t accounts_;
};

/* Size of the record at `p_` after id and delta, by the shape that its spec gave. Under no lock: providers are only ever
 * added, in front, and never change. */
TUMIT1_SLOW(size_t tumit1_body_bytes(uint16_t id_, const unsigned char *p_)) {
    const struct tumit1_provider *provider_ = __atomic_load_n(&tumit1_session.providers_, __ATOMIC_ACQUIRE);
    for (; provider_ != NULL; provider_ = provider_->next_) {
        if (id_ - provider_->base_ < provider_->ids_) {
            uint32_t shape_ = provider_->shapes_[id_ - provider_->base_];
            const uint32_t *part_ = provider_->counted_ + (shape_ & ~TUMIT1_COUNTED);
            size_t bytes_;
            if ((shape_ & TUMIT1_COUNTED) == 0) {
                return shape_;
            }
            bytes_ = *part_++;
            for (; *part_ != 0; part_ += 2) {
                bytes_ += 2 + (size_t)tumit1_get_u16(p_ + bytes_) * part_[0] + part_[1];
            }
            return bytes_;
        }
    }
    return 0;
}

TUMIT1_SLOW(void tumit1_add_account(struct tumit1_walk *walk_, const unsigned char *p_)) {
    walk_->lost_.count_ += tumit1_get_u64(p_);
    walk_->lost_.bytes_ += tumit1_get_u64(p_ + 8);
    walk_->lost_.first_ = walk_->accounts_ == 0 ? tumit1_get_u64(p_ + 16) : walk_->lost_.first_;
    walk_->lost_.last_ = tumit1_get_u64(p_ + 24);
    walk_->lost_.cause_ |= tumit1_get_u32(p_ + 32);
    walk_->accounts_++;
}

/* Counts and dates the records from `p_` to `end_`; `ticks_` is the date before them. The first delta becomes zero: a block's
 * first date is that of its first record. */
TUMIT1_SLOW(struct tumit1_walk tumit1_walk_records(unsigned char *p_, const unsigned char *end_, uint64_t ticks_)) {
    struct tumit1_walk walk_;
    int first_ = 1;
    memset(&walk_, 0, sizeof walk_);
    walk_.first_ = ticks_;
    while (p_ < end_) {
        uint16_t id_ = tumit1_get_u16(p_);
        ticks_ += tumit1_get_u32(p_ + 2);
        if (id_ == TUMIT1_ID_WIDE_DATE) {
            ticks_ = tumit1_get_u64(p_ + 6);
            p_ += TUMIT1_WIDE_BYTES;
        } else {
            if (first_) {
                tumit1_put_u32(p_ + 2, 0);
            }
            p_ += TUMIT1_RECORD_HEAD_BYTES;
            walk_.records_++;
            if (id_ == TUMIT1_ID_LOST) {
                tumit1_add_account(&walk_, p_);
                p_ += TUMIT1_LOST_BYTES - TUMIT1_RECORD_HEAD_BYTES;
            } else {
                p_ += tumit1_body_bytes(id_, p_);
            }
        }
        if (first_) {
            walk_.first_ = ticks_;
            first_ = 0;
        }
    }
    walk_.last_ = ticks_;
    return walk_;
}

/* Adds to the account of what is missing; it goes to the file as a `lost` record. Under the lock. */
TUMIT1_SLOW(void tumit1_lose(struct tumit1_thread *t_, uint64_t count_, uint64_t bytes_, uint64_t first_, uint64_t last_,
                             uint32_t cause_)) {
    if (count_ == 0) {
        return;
    }
    if (t_->lost_.count_ == 0) {
        t_->lost_.first_ = first_;
    }
    t_->lost_.count_ += count_;
    t_->lost_.bytes_ += bytes_;
    t_->lost_.last_ = last_;
    t_->lost_.cause_ |= cause_;
    t_->dropped_ += count_;
}

/* Takes over the count of records that signal handlers could not write. Under the lock. */
TUMIT1_SLOW(void tumit1_take_nested(struct tumit1_thread *t_, uint64_t ticks_)) {
    uint32_t nested_ = __atomic_exchange_n(&t_->cursor_->nested_, 0u, __ATOMIC_RELAXED);
    tumit1_lose(t_, nested_, 0, ticks_, ticks_, TUMIT1_CAUSE_NESTED);
}

/* Writes the account as a record and clears it. `bytes_` of room there. */
TUMIT1_SLOW(unsigned char *tumit1_put_lost(struct tumit1_thread *t_, unsigned char *p_)) {
    p_ = tumit1_put_u16(p_, TUMIT1_ID_LOST);
    p_ = tumit1_put_u32(p_, 0);
    p_ = tumit1_put_u64(p_, t_->lost_.count_);
    p_ = tumit1_put_u64(p_, t_->lost_.bytes_);
    p_ = tumit1_put_u64(p_, t_->lost_.first_);
    p_ = tumit1_put_u64(p_, t_->lost_.last_);
    p_ = tumit1_put_u32(p_, t_->lost_.cause_);
    memset(&t_->lost_, 0, sizeof t_->lost_);
    return p_;
}

/* Appends a block of records whose payload stands 64 bytes into `block_`. Under the lock. A block that cannot be written
 * is counted as lost. */
TUMIT1_SLOW(void tumit1_append_records(struct tumit1_thread *t_, unsigned char *block_, uint32_t raw_, uint32_t stored_,
                                       const struct tumit1_walk *walk_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_header h_;
    uint64_t monotonic_;
    int error_ = EBADF;
    memset(&h_, 0, sizeof h_);
    h_.kind_ = TUMIT1_KIND_RECORDS;
    h_.codec_ = (uint8_t)(stored_ == raw_ ? TUMIT1_CODEC_RAW : TUMIT1_CODEC_LZ4);
    h_.stream_ = t_->stream_;
    h_.records_ = walk_->records_ - walk_->accounts_;
    h_.sequence_ = t_->sequence_;
    h_.raw_ = raw_;
    h_.stored_ = stored_;
    h_.dropped_ = t_->dropped_;
    h_.first_ = walk_->first_;
    h_.last_ = walk_->last_;
    if (s_->state_ == TUMIT1_OPEN) {
        error_ = tumit1_append_tables(t_);
        error_ = error_ == 0 ? tumit1_append_block(&h_, block_) : error_;
    }
    if (error_ != 0) {
        struct tumit1_lost later_ = t_->lost_;
        if (s_->state_ == TUMIT1_OPEN) {
            tumit1_warn("cannot write", s_->path_, error_);
        }
        t_->lost_ = walk_->lost_; /* accounts in the block are told again; `dropped_` has them already */
        if (later_.count_ != 0) {
            t_->lost_.first_ = walk_->accounts_ != 0 ? walk_->lost_.first_ : later_.first_;
            t_->lost_.last_ = later_.last_;
            t_->lost_.count_ += later_.count_;
            t_->lost_.bytes_ += later_.bytes_;
            t_->lost_.cause_ |= later_.cause_;
        }
        tumit1_lose(t_, walk_->records_ - walk_->accounts_, raw_, walk_->first_, walk_->last_, TUMIT1_CAUSE_WRITE_FAILED);
        return;
    }
    t_->sequence_++;
    s_->written_ += walk_->records_ - walk_->accounts_;
    monotonic_ = tumit1_nanos(CLOCK_MONOTONIC);
    if (monotonic_ - s_->anchored_ >= 1000000000u) {
        tumit1_append_anchor();
    }
}

/* Seals what the thread published since the last time. Under the lock, which is given up while compressing when the
 * owner itself calls: nobody else touches its records meanwhile. */
TUMIT1_SLOW(void tumit1_seal(struct tumit1_thread *t_, int owner_)) {
    unsigned char *at_ = __atomic_load_n(&t_->cursor_->at_, __ATOMIC_ACQUIRE);
    uint32_t raw_ = (uint32_t)(at_ - t_->done_);
    struct tumit1_walk walk_;
    uint32_t stored_;
    unsigned char *block_ = t_->packed_;
    if (raw_ != 0) {
        t_->sealing_ = 1;
        if (owner_) {
            pthread_mutex_unlock(&tumit1_lock);
        }
        walk_ = tumit1_walk_records(t_->done_, at_, t_->ticks_);
        stored_ = tumit1_lz4(t_->done_, raw_, block_ + TUMIT1_HEADER_BYTES, raw_ - raw_ / 16, t_->table_);
        if (stored_ == 0) {
            stored_ = raw_;
            memcpy(block_ + TUMIT1_HEADER_BYTES, t_->done_, raw_);
        }
        if (owner_) {
            pthread_mutex_lock(&tumit1_lock);
        }
        t_->sealing_ = 0;
        t_->ticks_ = walk_.last_;
        t_->done_ = at_;
        tumit1_append_records(t_, block_, raw_, stored_, &walk_);
    }
    tumit1_take_nested(t_, t_->ticks_);
}

/* A block with nothing but the account of losses, for a thread that will write no more. Under the lock. */
TUMIT1_SLOW(void tumit1_seal_lost(struct tumit1_thread *t_)) {
    unsigned char block_[TUMIT1_HEADER_BYTES + TUMIT1_LOST_BYTES + 8];
    struct tumit1_walk walk_;
    if (t_->lost_.count_ != 0) {
        memset(&walk_, 0, sizeof walk_);
        walk_.records_ = walk_.accounts_ = 1;
        walk_.lost_ = t_->lost_;
        walk_.first_ = walk_.last_ = t_->lost_.last_;
        tumit1_put_lost(t_, block_ + TUMIT1_HEADER_BYTES);
        tumit1_append_records(t_, block_, TUMIT1_LOST_BYTES, TUMIT1_LOST_BYTES, &walk_);
    }
}

/* Seals what all threads published. Under the lock, which is given up while a thread is compressing its own. */
TUMIT1_SLOW(void tumit1_seal_all(void)) {
    struct tumit1_thread *t_ = tumit1_session.live_;
    int patience_ = 100000;
    while (t_ != NULL) {
        if (t_->sealing_ && patience_-- > 0) {
            pthread_mutex_unlock(&tumit1_lock);
            sched_yield();
            pthread_mutex_lock(&tumit1_lock);
            t_ = tumit1_session.live_; /* it may have changed; those done before have nothing left to seal */
            continue;
        }
        if (!t_->sealing_) {
            tumit1_seal(t_, 0);
        }
        t_ = t_->next_;
    }
}
