/* ---- Sealing: records in slots become blocks. The writer thread or a flushing thread does it,
 * and holds the sink's lock ---- */

/* The contents of one block of records: a part of a slot, or only the count of dropped records. */
struct tumit1_piece {
    struct tumit1_thread *thread_;
    struct tumit1_slot *slot_;
    const unsigned char *payload_;
    uint32_t bytes_, records_;
    uint64_t sequence_, dropped_, first_, last_;
    uint64_t after_; /* contents of the slot that are then in the file, in the form of `flushed_` */
    uint8_t flags_;
};

/* Pieces below this size are not compressed, because the processor time is worth more than the
 * space. */
#define TUMIT1_SMALL 16384u

/* The slots that are written before they are full. */
enum {
    TUMIT1_QUIET, /* slots of threads that filled none since the last look; slots of other threads fill up soon */
    TUMIT1_ASKED, /* all records before the call, except those in slots that overwrite */
    TUMIT1_DUMP,  /* the slots that overwrite */
    TUMIT1_LAST   /* all slots, including those of threads inside a record */
};

/* Appends a block of records. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_records(const struct tumit1_piece *piece_, int raw_)) {
    struct tumit1_sink *s_ = &tumit1_sink;
    struct tumit1_packer *const packer_ = s_->packer_;
    unsigned char *to_ = s_->block_ + TUMIT1_HEADER_BYTES;
    struct tumit1_header h_;
    uint32_t room_;
    int error_;
    if (s_->file_ < 0) {
        return EBADF;
    }
    memset(&h_, 0, sizeof h_);
    h_.kind_ = TUMIT1_KIND_RECORDS;
    h_.flags_ = piece_->flags_;
    h_.stream_ = piece_->thread_->stream_;
    h_.records_ = piece_->records_;
    h_.sequence_ = piece_->sequence_ - piece_->thread_->failed_;
    if (piece_->thread_->overwrites_ && h_.sequence_ > piece_->thread_->appended_) {
        /* Other slots were overwritten while this one waited. Their count is reported after all
         * of them. */
        h_.flags_ |= TUMIT1_FLAG_OVERWRITTEN;
    }
    h_.raw_ = piece_->bytes_;
    h_.dropped_ = piece_->dropped_;
    h_.first_ = piece_->first_;
    h_.last_ = piece_->last_;
    h_.codec_ = TUMIT1_CODEC_COLUMNS;
    room_ = raw_ ? 0 : h_.raw_ - h_.raw_ / 16;
    h_.stored_ = raw_ || packer_ == NULL ? 0 : tumit1_columns(packer_, piece_->payload_, h_.raw_, to_, room_);
    if (!raw_ && h_.stored_ == 0) {
        h_.codec_ = TUMIT1_CODEC_LZ4;
        h_.stored_ = tumit1_lz4(piece_->payload_, h_.raw_, to_, room_, s_->table_);
    }
    if (h_.stored_ == 0) {
        h_.codec_ = TUMIT1_CODEC_RAW;
        h_.stored_ = h_.raw_;
        memcpy(to_, piece_->payload_, h_.raw_);
    }
    error_ = tumit1_append_definitions();
    /* At the end there may be no room for names. Counts of dropped records need no names. */
    error_ = error_ == 0 || s_->ending_ != 0 ? tumit1_append_block(&h_, s_->block_) : error_;
    if (error_ != 0) {
        tumit1_warn("cannot write", tumit1_session.path_, error_);
        return error_;
    }
    piece_->thread_->appended_ = h_.sequence_ + 1;
    s_->blocks_++;
    s_->written_ += h_.records_;
    s_->latest_ = h_.last_ > s_->latest_ ? h_.last_ : s_->latest_;
    return 0;
}

/* Writes a block with the count of records overwritten since the previous such block. Its number
 * is that of an overwritten block, before the number of `next_`. `next_` is NULL when nothing
 * remains to be written. Returns 0 or an errno. After an error the count is reported again. */
TUMIT1_SLOW(int tumit1_tell_overwritten(struct tumit1_thread *t_, const struct tumit1_piece *next_)) {
    unsigned char lost_[TUMIT1_LOST_BYTES];
    struct tumit1_piece piece_;
    int error_;
    memset(&piece_, 0, sizeof piece_);
    pthread_mutex_lock(&tumit1_lock); /* adding is also under the lock */
    piece_.sequence_ = next_ != NULL         ? next_->sequence_
                       : t_->slot_ == NULL ? t_->sequence_
                                           : t_->slot_->sequence_ + (t_->slot_->flushed_ >> 48);
    if (piece_.sequence_ >= t_->over_end_) {
        piece_.bytes_ = (uint32_t)(tumit1_put_lost(&t_->over_, lost_) - lost_);
    }
    pthread_mutex_unlock(&tumit1_lock);
    if (piece_.bytes_ == 0) {
        return 0;
    }
    piece_.sequence_ -= 1;
    piece_.thread_ = t_;
    piece_.payload_ = lost_;
    piece_.flags_ = TUMIT1_FLAG_OVERWRITTEN;
    piece_.dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    piece_.last_ = tumit1_get_u64(lost_ + 30);
    piece_.last_ = piece_.first_ = next_ != NULL && next_->first_ < piece_.last_ ? next_->first_ : piece_.last_;
    error_ = tumit1_append_records(&piece_, 1);
    if (error_ != 0) {
        tumit1_tell_again(&t_->over_, lost_);
    }
    return error_;
}

/* Appends a piece of a slot, after the count of records overwritten before it. Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_append_piece(const struct tumit1_piece *piece_, int raw_)) {
    int error_ = tumit1_tell_overwritten(piece_->thread_, piece_);
    return error_ != 0 ? error_ : tumit1_append_records(piece_, raw_);
}

/* Counts a piece that could not be written as dropped. The next block gets its number, because a
 * gap in the numbers would report the same loss again. */
TUMIT1_SLOW(void tumit1_give_up(const struct tumit1_piece *piece_)) {
    struct tumit1_thread *t_ = piece_->thread_;
    t_->failed_++;
    if (tumit1_tells_loss(piece_->payload_)) {
        tumit1_tell_again(&t_->lost_, piece_->payload_);
    }
    if (piece_->records_ != 0) {
        tumit1_lose(t_, piece_->records_, piece_->bytes_, piece_->first_, piece_->last_, TUMIT1_CAUSE_WRITE_FAILED);
    }
}

/* Whether records that cannot be written remain in the live file. */
TUMIT1_SLOW(int tumit1_stays(void)) { return tumit1_session.pool_.live_ && tumit1_sink.file_ >= 0; }

/* Creates a piece of a slot, from its `flushed_` to `to_`, which is a `state_`. `last_` is the
 * timestamp of the last record there. Returns 0 when the piece is empty. A block has the
 * timestamp of its first record, and this record must have delta zero. If it has not, the piece
 * is a copy with delta zero. */
TUMIT1_SLOW(int tumit1_cut(struct tumit1_piece *piece_, struct tumit1_thread *t_, struct tumit1_slot *slot_, uint64_t to_, uint64_t last_)) {
    const uint64_t from_ = slot_->flushed_;
    const uint32_t start_ = (uint32_t)from_;
    unsigned char *p_ = tumit1_payload(slot_) + start_;
    uint64_t first_ = start_ == 0 ? slot_->first_ : slot_->flushed_last_;
    uint32_t delta_;
    piece_->bytes_ = (uint32_t)to_ - start_;
    if (piece_->bytes_ == 0) {
        return 0;
    }
    piece_->thread_ = t_;
    piece_->slot_ = slot_;
    piece_->flags_ = 0;
    piece_->records_ = ((uint32_t)(to_ >> 32) & 0xFFFFu) - ((uint32_t)(from_ >> 32) & 0xFFFFu);
    piece_->sequence_ = slot_->sequence_ + (from_ >> 48);
    piece_->dropped_ = slot_->dropped_;
    piece_->after_ = (to_ & 0xFFFFFFFFFFFFu) | ((from_ >> 48) + 1) << 48;
    delta_ = tumit1_get_u32(p_ + 2);
    if (tumit1_get_u16(p_) == TUMIT1_ID_WIDE_DATE) {
        first_ = tumit1_get_u64(p_ + TUMIT1_RECORD_HEAD_BYTES);
    } else if (delta_ != 0) {
        first_ += delta_;
        memcpy(tumit1_sink.copy_, p_, piece_->bytes_);
        p_ = tumit1_sink.copy_;
        tumit1_put_u32(p_ + 2, 0);
    }
    piece_->payload_ = p_;
    piece_->first_ = first_;
    piece_->last_ = last_;
    return 1;
}

/* Marks a piece as written, with one store after the write. If the process is killed before the
 * store, readers recognise the block by its number. */
TUMIT1_SLOW(void tumit1_commit(const struct tumit1_piece *piece_)) {
    struct tumit1_thread *t_ = piece_->thread_;
    pthread_mutex_lock(&tumit1_lock);
    piece_->slot_->flushed_last_ = piece_->last_;
    __atomic_store_n(&piece_->slot_->flushed_, piece_->after_, __ATOMIC_RELEASE);
    if (t_->planned_slot_ == piece_->slot_) {
        t_->planned_slot_ = NULL;
    }
    tumit1_session.pool_.on_its_way_ = NULL;
    pthread_mutex_unlock(&tumit1_lock);
}

/* The next piece of a slot that its thread handed over. */
TUMIT1_SLOW(int tumit1_cut_full(struct tumit1_piece *piece_, struct tumit1_thread *t_, struct tumit1_slot *slot_)) {
    if (t_->planned_slot_ == slot_) {
        return tumit1_cut(piece_, t_, slot_, t_->planned_, t_->planned_last_);
    }
    return tumit1_cut(piece_, t_, slot_, __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE), __atomic_load_n(&slot_->last_, __ATOMIC_RELAXED));
}

/* Whether the thread is not inside a record. A thread may have ended without notice, and its
 * memory may be unmapped. So the kernel reads the word, and reports a different value or a
 * missing page. */
TUMIT1_SLOW(int tumit1_is_idle(const struct tumit1_thread *t_)) {
    const struct timespec none_ = {0, 0};
    if (t_->cursor_ == &tumit1_cursor) {
        return tumit1_cursor.busy_ == 0;
    }
    return syscall(SYS_futex, &t_->cursor_->busy_, TUMIT1_SLEEP_CALL, TUMIT1_BUSY, &none_, NULL, 0) != 0 && errno == EAGAIN;
}

/* The records that a thread has published in its slot so far. While the thread is inside a
 * record, the timestamp of the last record is uncertain. The result is then empty, unless
 * `at_end_`. A piece with a write error is returned again unchanged, because the numbers of
 * later blocks depend on it. The caller also holds the lock. */
TUMIT1_SLOW(int tumit1_cut_live(struct tumit1_piece *piece_, struct tumit1_thread *t_, int at_end_)) {
    struct tumit1_slot *slot_ = t_->slot_;
    uint64_t state_ = 0, last_ = 0;
    int settled_ = 0, tries_;
    if (slot_ == NULL) {
        return 0;
    }
    slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    if (t_->planned_slot_ == slot_) {
        tumit1_session.pool_.on_its_way_ = tumit1_cut(piece_, t_, slot_, t_->planned_, t_->planned_last_) ? slot_ : NULL;
        return tumit1_session.pool_.on_its_way_ != NULL;
    }
    for (tries_ = 0; tries_ < 100 && !settled_; tries_++) {
        state_ = __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE);
        last_ = __atomic_load_n(&slot_->last_, __ATOMIC_ACQUIRE);
        settled_ = tumit1_is_idle(t_) &&
                   __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE) == state_;
    }
    if ((!settled_ && !at_end_ && t_->cursor_ != &tumit1_cursor) || !tumit1_cut(piece_, t_, slot_, state_, last_)) {
        return 0;
    }
    t_->planned_slot_ = tumit1_session.pool_.on_its_way_ = slot_;
    t_->planned_ = piece_->after_;
    t_->planned_last_ = last_;
    return 1;
}

/* At the end: writes a count of dropped records that the file cannot store to the log of the
 * live file, which then remains. */
TUMIT1_SLOW(void tumit1_tell_live(struct tumit1_thread *t_)) {
    unsigned char lost_[TUMIT1_LOST_BYTES];
    if (!tumit1_session.pool_.live_ || tumit1_put_lost(&t_->lost_, lost_) == lost_) {
        return;
    }
    pthread_mutex_lock(&tumit1_lock);
    if (tumit1_log(TUMIT1_KIND_RECORDS, t_->stream_, lost_, sizeof lost_)) {
        tumit1_sink.left_behind_ = 1;
    } else {
        tumit1_tell_again(&t_->lost_, lost_);
    }
    pthread_mutex_unlock(&tumit1_lock);
}

/* Writes a block that has only the count of dropped records. It is no block of the slot. Those
 * get higher numbers. */
TUMIT1_SLOW(void tumit1_write_lost(struct tumit1_thread *t_)) {
    unsigned char lost_[TUMIT1_LOST_BYTES];
    struct tumit1_piece piece_;
    memset(&piece_, 0, sizeof piece_);
    if (tumit1_put_lost(&t_->lost_, lost_) == lost_) {
        return;
    }
    pthread_mutex_lock(&tumit1_lock);
    piece_.sequence_ = t_->slot_ == NULL ? t_->sequence_++ : t_->slot_->sequence_++ + (t_->slot_->flushed_ >> 48);
    pthread_mutex_unlock(&tumit1_lock);
    piece_.thread_ = t_;
    piece_.payload_ = lost_;
    piece_.bytes_ = TUMIT1_LOST_BYTES;
    piece_.first_ = piece_.last_ = tumit1_get_u64(lost_ + 30);
    piece_.dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    if (tumit1_append_records(&piece_, 1) != 0) {
        tumit1_give_up(&piece_);
        if (tumit1_sink.ending_ != 0) {
            tumit1_tell_live(t_);
        }
    }
}

/* Removes the streams of ended threads that are completely written. */
TUMIT1_SLOW(void tumit1_forget_gone(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_thread **link_, *t_;
    pthread_mutex_lock(&tumit1_lock);
    link_ = &s_->live_;
    while ((t_ = *link_) != NULL) {
        if (t_->cursor_ != NULL || t_->queued_ != 0 || t_->kept_ != 0) {
            link_ = &t_->next_;
            continue;
        }
        if (!t_->described_ || (__atomic_load_n(&t_->lost_.count_, __ATOMIC_RELAXED) | t_->over_.count_) != 0) {
            pthread_mutex_unlock(&tumit1_lock);
            (void)tumit1_append_streams(); /* includes its end */
            (void)tumit1_tell_overwritten(t_, NULL);
            tumit1_write_lost(t_);
            pthread_mutex_lock(&tumit1_lock);
            for (link_ = &s_->live_; *link_ != t_; link_ = &(*link_)->next_) {
            }
        }
        *link_ = t_->next_; /* losses that could not be reported stay in the sum */
        s_->dropped_ += t_->dropped_;
        t_->next_ = s_->spare_;
        s_->spare_ = t_;
    }
    pthread_mutex_unlock(&tumit1_lock);
}

/* The oldest full slot, and its thread. `hurry_` is set when speed is more important than
 * size, because many slots wait. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_full(struct tumit1_thread **t_, int *hurry_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = NULL;
    pthread_mutex_lock(&tumit1_lock);
    if (pool_->queue_count_ != 0) {
        slot_ = pool_->queue_[pool_->queue_first_];
        pool_->queue_first_ = pool_->queue_first_ + 1 == pool_->places_ ? 0 : pool_->queue_first_ + 1;
        pool_->queue_count_--;
        *t_ = tumit1_find_stream(slot_->stream_);
    }
    *hurry_ = pool_->queue_count_ > pool_->slots_ / 2;
    pthread_mutex_unlock(&tumit1_lock);
    return slot_;
}

/* Queues a slot with a write error again, before all others. */
TUMIT1_SLOW(void tumit1_put_back(struct tumit1_slot *slot_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    pthread_mutex_lock(&tumit1_lock);
    pool_->queue_first_ = (pool_->queue_first_ == 0 ? pool_->places_ : pool_->queue_first_) - 1;
    pool_->queue_[pool_->queue_first_] = slot_;
    pool_->queue_count_++;
    pthread_mutex_unlock(&tumit1_lock);
    tumit1_sink.left_behind_ = 1;
}

/* Writes the oldest full slot. Returns 0 when there is none, or when it cannot be written and
 * remains. */
TUMIT1_SLOW(int tumit1_write_next(void)) {
    struct tumit1_thread *t_ = NULL;
    struct tumit1_piece piece_;
    int hurry_, error_;
    struct tumit1_slot *slot_ = tumit1_take_full(&t_, &hurry_);
    if (slot_ == NULL) {
        tumit1_forget_gone();
        return 0;
    }
    while (tumit1_cut_full(&piece_, t_, slot_)) {
        error_ = tumit1_append_piece(&piece_, hurry_);
        if (error_ != 0 && tumit1_stays()) {
            tumit1_put_back(slot_);
            return 0;
        }
        tumit1_commit(&piece_);
        if (error_ != 0) {
            tumit1_give_up(&piece_);
        }
    }
    tumit1_make_ready(slot_);
    pthread_mutex_lock(&tumit1_lock);
    t_->queued_--;
    tumit1_give_slot(slot_);
    pthread_mutex_unlock(&tumit1_lock);
    return 1;
}

/* The number of queued slots up to the first of this stream. 0 when it has none. The caller also
 * holds the lock. */
TUMIT1_SLOW(uint32_t tumit1_queued_up_to(const struct tumit1_thread *t_)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t i_;
    for (i_ = 0; t_->queued_ != 0 && i_ < pool_->queue_count_; i_++) {
        uint32_t at_ = pool_->queue_first_ + i_;
        if (pool_->queue_[at_ < pool_->places_ ? at_ : at_ - pool_->places_]->stream_ == t_->stream_) {
            return i_ + 1;
        }
    }
    return 0;
}

/* Records the result of writing a part of a slot. */
TUMIT1_SLOW(void tumit1_settle(const struct tumit1_piece *piece_, int error_, int which_)) {
    const int lost_ = error_ != 0 && which_ == TUMIT1_LAST && !tumit1_stays();
    if (error_ == 0 || lost_) {
        tumit1_commit(piece_);
    }
    if (lost_) {
        tumit1_give_up(piece_);
    } else if (error_ != 0) {
        struct tumit1_thread *t_ = piece_->thread_;
        tumit1_sink.left_behind_ = 1;
        pthread_mutex_lock(&tumit1_lock);
        tumit1_session.pool_.on_its_way_ = NULL;
        if (t_->slot_ == piece_->slot_) {
            t_->planned_slot_ = NULL; /* no number is used yet: readers of the live file make one block of the rest */
        }
        pthread_mutex_unlock(&tumit1_lock);
    }
}

/* Whether a thread ended without notice: it was cancelled inside a record, or it recorded after
 * the last of its destructors. */
TUMIT1_SLOW(int tumit1_is_gone(const struct tumit1_thread *t_)) {
    return t_->cursor_ != NULL && t_->cursor_ != &tumit1_cursor && syscall(SYS_tgkill, getpid(), (pid_t)t_->tid_, 0) != 0 && errno == ESRCH;
}

/* The next stream below `*below_` that has unwritten records. Returns either the number of
 * queued slots to write before, or a piece of its slot. NULL when there is none. The list has
 * the newest stream first. The lock is released after every 256 streams, so that no thread waits
 * long for it. */
TUMIT1_SLOW(struct tumit1_thread *tumit1_next_live(int which_, uint32_t *below_, struct tumit1_piece *piece_, uint32_t *waiting_)) {
    for (;;) {
        struct tumit1_thread *t_;
        int looked_ = 0;
        pthread_mutex_lock(&tumit1_lock);
        for (t_ = tumit1_session.live_; t_ != NULL && looked_ < 256; t_ = t_->next_) {
            if (t_->stream_ >= *below_) {
                continue;
            }
            looked_++;
            *below_ = t_->stream_;
            if (which_ != TUMIT1_LAST && t_->overwrites_ != (which_ == TUMIT1_DUMP)) {
                continue;
            }
            if (t_->overwrites_ && t_->kept_ != 0) {
                tumit1_release_ring(); /* filled since the call */
            }
            if (which_ != TUMIT1_LAST && tumit1_is_gone(t_)) {
                tumit1_detach(t_, 0);
            }
            *waiting_ = which_ == TUMIT1_QUIET ? t_->queued_ : tumit1_queued_up_to(t_);
            if (*waiting_ == 0 ? tumit1_cut_live(piece_, t_, which_ == TUMIT1_LAST) : which_ != TUMIT1_QUIET) {
                pthread_mutex_unlock(&tumit1_lock);
                return t_;
            }
        }
        pthread_mutex_unlock(&tumit1_lock);
        if (t_ == NULL) {
            return NULL;
        }
    }
}

/* Writes the records in the slots of the current streams that are not in the file yet. A slot
 * that is filled meanwhile is queued after others. The blocks of a stream stay in order. */
TUMIT1_SLOW(void tumit1_write_live(int which_)) {
    struct tumit1_piece piece_;
    uint32_t below_, waiting_;
    pthread_mutex_lock(&tumit1_lock);
    below_ = tumit1_session.streams_; /* further streams can be created at any time */
    pthread_mutex_unlock(&tumit1_lock);
    while (tumit1_next_live(which_, &below_, &piece_, &waiting_) != NULL) {
        if (waiting_ == 0) {
            tumit1_settle(&piece_, tumit1_append_piece(&piece_, piece_.bytes_ < TUMIT1_SMALL), which_);
        }
        while (waiting_ > 0 && tumit1_write_next()) {
            waiting_--;
        }
    }
}
