/* ---- Sealing: records in slots become blocks. The writer thread or a flushing thread does it,
 * and holds the writer's lock ---- */

/* A block before it is written: the records of a slot that are not in the file yet, or only the
 * count of dropped records. */
struct tumit1_pending_block {
    struct tumit1_stream *thread_;
    struct tumit1_slot *slot_;
    const unsigned char *payload_;
    uint32_t bytes_, records_;
    uint64_t sequence_, dropped_, first_, last_;
    uint64_t after_; /* the value of `flushed_` of the slot after the block is written */
    uint8_t flags_;
};

/* Pieces below this size are not compressed, because the processor time is worth more than the
 * space. */
#define TUMIT1_MIN_PACKED_BYTES 16384u

/* The slots that are written before they are full. */
enum {
    /* slots of threads that filled none since the last check; other slots fill up soon */
    TUMIT1_QUIET,
    TUMIT1_FLUSH, /* all records before the call, except those in slots that overwrite */
    TUMIT1_DUMP,  /* the slots that overwrite */
    TUMIT1_FINISH   /* all slots, including those of threads inside a record */
};

/* Appends a block of records. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_records(const struct tumit1_pending_block *pending_, int raw_)) {
    struct tumit1_writer *s_ = &tumit1_writer;
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
    h_.flags_ = pending_->flags_;
    h_.stream_ = pending_->thread_->stream_;
    h_.records_ = pending_->records_;
    h_.sequence_ = pending_->sequence_ - pending_->thread_->failed_;
    if (pending_->thread_->overwrites_ && h_.sequence_ > pending_->thread_->appended_) {
        /* Other slots were overwritten while this one waited. Their count is reported after all
         * of them. */
        h_.flags_ |= TUMIT1_FLAG_OVERWRITTEN;
    }
    h_.raw_ = pending_->bytes_;
    h_.dropped_ = pending_->dropped_;
    h_.first_ = pending_->first_;
    h_.last_ = pending_->last_;
    h_.codec_ = TUMIT1_CODEC_COLUMNS;
    room_ = raw_ ? 0 : h_.raw_ - h_.raw_ / 16;
    h_.stored_ = raw_ || packer_ == NULL
                     ? 0
                     : tumit1_pack_columns(packer_, pending_->payload_, h_.raw_, to_, room_);
    if (!raw_ && h_.stored_ == 0) {
        h_.codec_ = TUMIT1_CODEC_LZ4;
        h_.stored_ = tumit1_lz4_compress(pending_->payload_, h_.raw_, to_, room_, s_->table_);
    }
    if (h_.stored_ == 0) {
        h_.codec_ = TUMIT1_CODEC_RAW;
        h_.stored_ = h_.raw_;
        memcpy(to_, pending_->payload_, h_.raw_);
    }
    error_ = tumit1_append_definitions();
    /* At the end there may be no room for names. Counts of dropped records need no names. */
    error_ = error_ == 0 || s_->ending_ != 0 ? tumit1_append_block(&h_, s_->block_) : error_;
    if (error_ != 0) {
        tumit1_warn("cannot write", tumit1_session.path_, error_);
        return error_;
    }
    pending_->thread_->appended_ = h_.sequence_ + 1;
    s_->blocks_++;
    s_->written_ += h_.records_;
    s_->latest_ = h_.last_ > s_->latest_ ? h_.last_ : s_->latest_;
    return 0;
}

/* Writes a block with the count of records overwritten since the previous such block. Its number
 * is one less than that of `next_`: the number of the last overwritten block. `next_` is NULL when
 * nothing remains to be written. Returns 0 or an errno. After an error the count is reported
 * again. */
TUMIT1_SLOW(int tumit1_report_overwritten(struct tumit1_stream *t_,
                                          const struct tumit1_pending_block *next_)) {
    unsigned char drops_[TUMIT1_DROP_REPORT_BYTES];
    struct tumit1_pending_block pending_;
    int error_;
    memset(&pending_, 0, sizeof pending_);
    pthread_mutex_lock(&tumit1_state_lock); /* adding is also under the lock */
    pending_.sequence_ = next_ != NULL         ? next_->sequence_
                       : t_->slot_ == NULL ? t_->sequence_
                                           : t_->slot_->sequence_ + (t_->slot_->flushed_ >> 48);
    if (pending_.sequence_ >= t_->overwritten_end_) {
        pending_.bytes_ = (uint32_t)(tumit1_put_drop_report(&t_->overwritten_, drops_) - drops_);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    if (pending_.bytes_ == 0) {
        return 0;
    }
    pending_.sequence_ -= 1;
    pending_.thread_ = t_;
    pending_.payload_ = drops_;
    pending_.flags_ = TUMIT1_FLAG_OVERWRITTEN;
    pending_.dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    pending_.last_ = tumit1_get_u64(drops_ + 30);
    pending_.last_ = pending_.first_ =
        next_ != NULL && next_->first_ < pending_.last_ ? next_->first_ : pending_.last_;
    error_ = tumit1_append_records(&pending_, 1);
    if (error_ != 0) {
        tumit1_undo_drop_report(&t_->overwritten_, drops_);
    }
    return error_;
}

/* Appends a piece of a slot, after the count of records overwritten before it. Returns 0 or an
 * errno. */
TUMIT1_SLOW(int tumit1_append_pending(const struct tumit1_pending_block *pending_, int raw_)) {
    int error_ = tumit1_report_overwritten(pending_->thread_, pending_);
    return error_ != 0 ? error_ : tumit1_append_records(pending_, raw_);
}

/* Counts a piece that could not be written as dropped. The next block gets its number, because a
 * gap in the numbers would report the same drops again. */
TUMIT1_SLOW(void tumit1_drop_pending(const struct tumit1_pending_block *pending_)) {
    struct tumit1_stream *t_ = pending_->thread_;
    t_->failed_++;
    if (tumit1_has_drop_report(pending_->payload_)) {
        tumit1_undo_drop_report(&t_->drops_, pending_->payload_);
    }
    if (pending_->records_ != 0) {
        tumit1_count_drops(t_, pending_->records_, pending_->bytes_, pending_->first_,
                           pending_->last_, TUMIT1_CAUSE_WRITE_FAILED);
    }
}

/* Whether records that cannot be written remain in the live file. */
TUMIT1_SLOW(int tumit1_stays_in_live_file(void)) {
    return tumit1_session.pool_.live_ && tumit1_writer.file_ >= 0;
}

/* Fills `pending_` with the records between `flushed_` and `to_`, a value of `state_`. `last_` is
 * the timestamp of the last of them. Returns 0 when there are none. A block has the timestamp of
 * its first record, and this record must have delta zero. If it has not, the block is a copy with
 * delta zero. */
TUMIT1_SLOW(int tumit1_set_pending(struct tumit1_pending_block *pending_, struct tumit1_stream *t_,
                                   struct tumit1_slot *slot_, uint64_t to_, uint64_t last_)) {
    const uint64_t from_ = slot_->flushed_;
    const uint32_t start_ = (uint32_t)from_;
    unsigned char *p_ = tumit1_payload(slot_) + start_;
    uint64_t first_ = start_ == 0 ? slot_->first_ : slot_->flushed_last_;
    uint32_t delta_;
    pending_->bytes_ = (uint32_t)to_ - start_;
    if (pending_->bytes_ == 0) {
        return 0;
    }
    pending_->thread_ = t_;
    pending_->slot_ = slot_;
    pending_->flags_ = 0;
    pending_->records_ = ((uint32_t)(to_ >> 32) & 0xFFFFu) - ((uint32_t)(from_ >> 32) & 0xFFFFu);
    pending_->sequence_ = slot_->sequence_ + (from_ >> 48);
    pending_->dropped_ = slot_->dropped_;
    pending_->after_ = (to_ & 0xFFFFFFFFFFFFu) | ((from_ >> 48) + 1) << 48;
    delta_ = tumit1_get_u32(p_ + 2);
    if (tumit1_get_u16(p_) == TUMIT1_ID_WIDE_TIMESTAMP) {
        first_ = tumit1_get_u64(p_ + TUMIT1_RECORD_HEAD_BYTES);
    } else if (delta_ != 0) {
        first_ += delta_;
        memcpy(tumit1_writer.copy_, p_, pending_->bytes_);
        p_ = tumit1_writer.copy_;
        tumit1_put_u32(p_ + 2, 0);
    }
    pending_->payload_ = p_;
    pending_->first_ = first_;
    pending_->last_ = last_;
    return 1;
}

/* Marks a piece as written, with one store after the write. If the process is killed before the
 * store, readers recognise the block by its number. */
TUMIT1_SLOW(void tumit1_commit(const struct tumit1_pending_block *pending_)) {
    struct tumit1_stream *t_ = pending_->thread_;
    pthread_mutex_lock(&tumit1_state_lock);
    pending_->slot_->flushed_last_ = pending_->last_;
    __atomic_store_n(&pending_->slot_->flushed_, pending_->after_, __ATOMIC_RELEASE);
    if (t_->planned_slot_ == pending_->slot_) {
        t_->planned_slot_ = NULL;
    }
    tumit1_session.pool_.being_written_ = NULL;
    pthread_mutex_unlock(&tumit1_state_lock);
}

/* The next piece of a slot that its thread handed over. */
TUMIT1_SLOW(int tumit1_set_pending_of_full(struct tumit1_pending_block *pending_,
                                           struct tumit1_stream *t_, struct tumit1_slot *slot_)) {
    if (t_->planned_slot_ == slot_) {
        return tumit1_set_pending(pending_, t_, slot_, t_->planned_, t_->planned_last_);
    }
    return tumit1_set_pending(pending_, t_, slot_,
                              __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE),
                              __atomic_load_n(&slot_->last_, __ATOMIC_RELAXED));
}

/* Whether the thread is not inside a record. A thread may have ended without notice, and its
 * memory may be unmapped. So the kernel reads `busy_`: futex returns EAGAIN if it is not
 * TUMIT1_BUSY, and EFAULT if its page is missing. */
TUMIT1_SLOW(int tumit1_is_between_records(const struct tumit1_stream *t_)) {
    const struct timespec none_ = {0, 0};
    if (t_->cursor_ == &tumit1_cursor) {
        return tumit1_cursor.busy_ == 0;
    }
    return syscall(SYS_futex, &t_->cursor_->busy_, TUMIT1_SLEEP_CALL, TUMIT1_BUSY, &none_, NULL,
                   0) != 0 &&
           errno == EAGAIN;
}

/* The records that a thread has published in its slot so far. While the thread is inside a
 * record, the timestamp of the last record is uncertain. The result is then empty, unless
 * `at_end_`. A block with a write error is returned again unchanged, because the numbers of
 * later blocks depend on it. The caller holds `tumit1_state_lock`, besides the writer's lock. */
TUMIT1_SLOW(int tumit1_set_pending_of_current(struct tumit1_pending_block *pending_,
                                              struct tumit1_stream *t_, int at_end_)) {
    struct tumit1_slot *slot_ = t_->slot_;
    uint64_t state_ = 0, last_ = 0;
    int settled_ = 0, tries_;
    if (slot_ == NULL) {
        return 0;
    }
    slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    if (t_->planned_slot_ == slot_) {
        tumit1_session.pool_.being_written_ =
            tumit1_set_pending(pending_, t_, slot_, t_->planned_, t_->planned_last_) ? slot_ : NULL;
        return tumit1_session.pool_.being_written_ != NULL;
    }
    for (tries_ = 0; tries_ < 100 && !settled_; tries_++) {
        state_ = __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE);
        last_ = __atomic_load_n(&slot_->last_, __ATOMIC_ACQUIRE);
        settled_ = tumit1_is_between_records(t_) &&
                   __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE) == state_;
    }
    if ((!settled_ && !at_end_ && t_->cursor_ != &tumit1_cursor) ||
        !tumit1_set_pending(pending_, t_, slot_, state_, last_)) {
        return 0;
    }
    t_->planned_slot_ = tumit1_session.pool_.being_written_ = slot_;
    t_->planned_ = pending_->after_;
    t_->planned_last_ = last_;
    return 1;
}

/* At the end: writes a count of dropped records that the file cannot store to the log of the
 * live file, which then remains. */
TUMIT1_SLOW(void tumit1_report_to_live_file(struct tumit1_stream *t_)) {
    unsigned char drops_[TUMIT1_DROP_REPORT_BYTES];
    if (!tumit1_session.pool_.live_ || tumit1_put_drop_report(&t_->drops_, drops_) == drops_) {
        return;
    }
    pthread_mutex_lock(&tumit1_state_lock);
    if (tumit1_log(TUMIT1_KIND_RECORDS, t_->stream_, drops_, sizeof drops_)) {
        tumit1_writer.has_unwritten_ = 1;
    } else {
        tumit1_undo_drop_report(&t_->drops_, drops_);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
}

/* Writes a block that has only the count of dropped records. It takes the next number of the
 * stream, so later blocks of the slot follow it. */
TUMIT1_SLOW(void tumit1_report_drops(struct tumit1_stream *t_)) {
    unsigned char drops_[TUMIT1_DROP_REPORT_BYTES];
    struct tumit1_pending_block pending_;
    memset(&pending_, 0, sizeof pending_);
    if (tumit1_put_drop_report(&t_->drops_, drops_) == drops_) {
        return;
    }
    pthread_mutex_lock(&tumit1_state_lock);
    pending_.sequence_ =
        t_->slot_ == NULL ? t_->sequence_++ : t_->slot_->sequence_++ + (t_->slot_->flushed_ >> 48);
    pthread_mutex_unlock(&tumit1_state_lock);
    pending_.thread_ = t_;
    pending_.payload_ = drops_;
    pending_.bytes_ = TUMIT1_DROP_REPORT_BYTES;
    pending_.first_ = pending_.last_ = tumit1_get_u64(drops_ + 30);
    pending_.dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    if (tumit1_append_records(&pending_, 1) != 0) {
        tumit1_drop_pending(&pending_);
        if (tumit1_writer.ending_ != 0) {
            tumit1_report_to_live_file(t_);
        }
    }
}

/* Removes the streams of ended threads that are completely written. */
TUMIT1_SLOW(void tumit1_remove_exited_streams(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_stream **link_, *t_;
    pthread_mutex_lock(&tumit1_state_lock);
    link_ = &s_->live_;
    while ((t_ = *link_) != NULL) {
        if (t_->cursor_ != NULL || t_->queued_ != 0 || t_->retained_ != 0) {
            link_ = &t_->next_;
            continue;
        }
        if (!t_->described_ || (__atomic_load_n(&t_->drops_.count_, __ATOMIC_RELAXED) |
                                t_->overwritten_.count_) != 0) {
            pthread_mutex_unlock(&tumit1_state_lock);
            (void)tumit1_append_streams(); /* includes its end */
            (void)tumit1_report_overwritten(t_, NULL);
            tumit1_report_drops(t_);
            pthread_mutex_lock(&tumit1_state_lock);
            for (link_ = &s_->live_; *link_ != t_; link_ = &(*link_)->next_) {
            }
        }
        *link_ = t_->next_; /* drops that could not be reported stay in the sum */
        s_->dropped_ += t_->dropped_;
        t_->next_ = s_->spare_;
        s_->spare_ = t_;
    }
    pthread_mutex_unlock(&tumit1_state_lock);
}

/* The oldest full slot, and its thread. `prefers_speed_` is set when speed is more important than
 * size, because many slots wait. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_full_slot(struct tumit1_stream **t_,
                                                      int *prefers_speed_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = NULL;
    pthread_mutex_lock(&tumit1_state_lock);
    if (pool_->queue_count_ != 0) {
        slot_ = pool_->queue_[pool_->queue_first_];
        pool_->queue_first_ =
            pool_->queue_first_ + 1 == pool_->max_parts_ ? 0 : pool_->queue_first_ + 1;
        pool_->queue_count_--;
        *t_ = tumit1_find_stream(slot_->stream_);
    }
    *prefers_speed_ = pool_->queue_count_ > pool_->slots_ / 2;
    pthread_mutex_unlock(&tumit1_state_lock);
    return slot_;
}

/* Queues a slot with a write error again, before all others. */
TUMIT1_SLOW(void tumit1_requeue_slot(struct tumit1_slot *slot_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    pthread_mutex_lock(&tumit1_state_lock);
    pool_->queue_first_ = (pool_->queue_first_ == 0 ? pool_->max_parts_ : pool_->queue_first_) - 1;
    pool_->queue_[pool_->queue_first_] = slot_;
    pool_->queue_count_++;
    pthread_mutex_unlock(&tumit1_state_lock);
    tumit1_writer.has_unwritten_ = 1;
}

/* Writes the oldest full slot. Returns 0 when there is none, or when it cannot be written and
 * remains. */
TUMIT1_SLOW(int tumit1_write_full_slot(void)) {
    struct tumit1_stream *t_ = NULL;
    struct tumit1_pending_block pending_;
    int prefers_speed_, error_;
    struct tumit1_slot *slot_ = tumit1_take_full_slot(&t_, &prefers_speed_);
    if (slot_ == NULL) {
        tumit1_remove_exited_streams();
        return 0;
    }
    while (tumit1_set_pending_of_full(&pending_, t_, slot_)) {
        error_ = tumit1_append_pending(&pending_, prefers_speed_);
        if (error_ != 0 && tumit1_stays_in_live_file()) {
            tumit1_requeue_slot(slot_);
            return 0;
        }
        tumit1_commit(&pending_);
        if (error_ != 0) {
            tumit1_drop_pending(&pending_);
        }
    }
    tumit1_prefault_slot(slot_);
    pthread_mutex_lock(&tumit1_state_lock);
    t_->queued_--;
    tumit1_return_slot(slot_);
    pthread_mutex_unlock(&tumit1_state_lock);
    return 1;
}

/* The number of queued slots up to the first of this stream. 0 when it has none. The caller holds
 * `tumit1_state_lock`, besides the writer's lock. */
TUMIT1_SLOW(uint32_t tumit1_queued_up_to(const struct tumit1_stream *t_)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t i_;
    for (i_ = 0; t_->queued_ != 0 && i_ < pool_->queue_count_; i_++) {
        uint32_t place_ = pool_->queue_first_ + i_;
        place_ -= place_ < pool_->max_parts_ ? 0 : pool_->max_parts_;
        if (pool_->queue_[place_]->stream_ == t_->stream_) {
            return i_ + 1;
        }
    }
    return 0;
}

/* Records the result of writing a part of a slot. */
TUMIT1_SLOW(void tumit1_store_write_result(const struct tumit1_pending_block *pending_, int error_,
                                           int which_)) {
    const int gives_up_ = error_ != 0 && which_ == TUMIT1_FINISH && !tumit1_stays_in_live_file();
    if (error_ == 0 || gives_up_) {
        tumit1_commit(pending_);
    }
    if (gives_up_) {
        tumit1_drop_pending(pending_);
    } else if (error_ != 0) {
        struct tumit1_stream *t_ = pending_->thread_;
        tumit1_writer.has_unwritten_ = 1;
        pthread_mutex_lock(&tumit1_state_lock);
        tumit1_session.pool_.being_written_ = NULL;
        if (t_->slot_ == pending_->slot_) {
            /* the block has no number in the file yet, so the thread may add records to it */
            t_->planned_slot_ = NULL;
        }
        pthread_mutex_unlock(&tumit1_state_lock);
    }
}

/* Whether a thread ended without notice: it was cancelled inside a record, or it recorded after
 * the last of its destructors. */
TUMIT1_SLOW(int tumit1_has_exited(const struct tumit1_stream *t_)) {
    return t_->cursor_ != NULL && t_->cursor_ != &tumit1_cursor &&
           syscall(SYS_tgkill, getpid(), (pid_t)t_->tid_, 0) != 0 && errno == ESRCH;
}

/* The next stream below `*below_` that has unwritten records; NULL at the end. Sets `*waiting_` to
 * the number of queued slots to write first. If that is 0, sets `*pending_` to the records of its
 * current slot. The list has the newest stream first. The lock is released after every 256
 * streams, so that no thread waits long for it. */
TUMIT1_SLOW(struct tumit1_stream *tumit1_next_unwritten_stream(
    int which_, uint32_t *below_, struct tumit1_pending_block *pending_, uint32_t *waiting_)) {
    for (;;) {
        struct tumit1_stream *t_;
        int visited_ = 0;
        pthread_mutex_lock(&tumit1_state_lock);
        for (t_ = tumit1_session.live_; t_ != NULL && visited_ < 256; t_ = t_->next_) {
            if (t_->stream_ >= *below_) {
                continue;
            }
            visited_++;
            *below_ = t_->stream_;
            if (which_ != TUMIT1_FINISH && t_->overwrites_ != (which_ == TUMIT1_DUMP)) {
                continue;
            }
            if (t_->overwrites_ && t_->retained_ != 0) {
                tumit1_release_kept_slots(); /* filled after the flush was requested */
            }
            if (which_ != TUMIT1_FINISH && tumit1_has_exited(t_)) {
                tumit1_detach(t_, 0);
            }
            *waiting_ = which_ == TUMIT1_QUIET ? t_->queued_ : tumit1_queued_up_to(t_);
            if (*waiting_ == 0
                    ? tumit1_set_pending_of_current(pending_, t_, which_ == TUMIT1_FINISH)
                    : which_ != TUMIT1_QUIET) {
                pthread_mutex_unlock(&tumit1_state_lock);
                return t_;
            }
        }
        pthread_mutex_unlock(&tumit1_state_lock);
        if (t_ == NULL) {
            return NULL;
        }
    }
}

/* Writes the records in the slots of the current streams that are not in the file yet. Queued slots
 * of a stream are written before its current slot, so that its blocks stay in order. */
TUMIT1_SLOW(void tumit1_write_current_slots(int which_)) {
    struct tumit1_pending_block pending_;
    uint32_t below_, waiting_;
    pthread_mutex_lock(&tumit1_state_lock);
    below_ = tumit1_session.streams_; /* further streams can be created at any time */
    pthread_mutex_unlock(&tumit1_state_lock);
    while (tumit1_next_unwritten_stream(which_, &below_, &pending_, &waiting_) != NULL) {
        if (waiting_ == 0) {
            tumit1_store_write_result(
                &pending_,
                tumit1_append_pending(&pending_, pending_.bytes_ < TUMIT1_MIN_PACKED_BYTES),
                which_);
        }
        while (waiting_ > 0 && tumit1_write_full_slot()) {
            waiting_--;
        }
    }
}
