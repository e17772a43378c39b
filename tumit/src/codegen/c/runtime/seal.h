/* ---- Sealing: what threads wrote becomes blocks. By the helper, or by who flushes; the sink's lock is held ---- */

/* Adds to the account of what is missing; it goes to the file as a `lost` record. Safe in signal handlers, without a lock. */
TUMIT1_SLOW(void tumit1_lose(struct tumit1_thread *t_, uint64_t count_, uint64_t bytes_, uint64_t first_, uint64_t last_,
                             uint32_t cause_)) {
    uint64_t none_ = 0;
    __atomic_fetch_add(&t_->lost_.bytes_, bytes_, __ATOMIC_RELAXED);
    (void)__atomic_compare_exchange_n(&t_->lost_.first_, &none_, first_, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_store_n(&t_->lost_.last_, last_, __ATOMIC_RELAXED);
    __atomic_fetch_or(&t_->lost_.cause_, cause_, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t_->dropped_, count_, __ATOMIC_RELAXED);
    tumit1_count_loss(t_->stream_, count_);
    __atomic_fetch_add(&t_->lost_.count_, count_, __ATOMIC_RELEASE);
}

/* A record that no stream can be charged with is lost. */
TUMIT1_SLOW(void tumit1_lose_stray(void)) {
    __atomic_fetch_add(&tumit1_session.dropped_, 1u, __ATOMIC_RELAXED);
    tumit1_count_loss(0, 1);
}

/* Writes the account as a record and clears it: returns behind it, or `p_` when nothing is missing. */
TUMIT1_SLOW(unsigned char *tumit1_put_lost(struct tumit1_thread *t_, unsigned char *p_)) {
    uint64_t count_ = __atomic_exchange_n(&t_->lost_.count_, 0u, __ATOMIC_ACQUIRE);
    if (count_ == 0) {
        return p_;
    }
    p_ = tumit1_put_u16(p_, TUMIT1_ID_LOST);
    p_ = tumit1_put_u32(p_, 0);
    p_ = tumit1_put_u64(p_, count_);
    p_ = tumit1_put_u64(p_, __atomic_exchange_n(&t_->lost_.bytes_, 0u, __ATOMIC_RELAXED));
    p_ = tumit1_put_u64(p_, __atomic_exchange_n(&t_->lost_.first_, 0u, __ATOMIC_RELAXED));
    p_ = tumit1_put_u64(p_, __atomic_load_n(&t_->lost_.last_, __ATOMIC_RELAXED));
    return tumit1_put_u32(p_, __atomic_exchange_n(&t_->lost_.cause_, 0u, __ATOMIC_RELAXED));
}

/* An account that was in a block which could not be written is told again. `dropped_` has it already. */
TUMIT1_SLOW(void tumit1_tell_again(struct tumit1_thread *t_, const unsigned char *p_)) {
    __atomic_fetch_add(&t_->lost_.bytes_, tumit1_get_u64(p_ + 14), __ATOMIC_RELAXED);
    __atomic_store_n(&t_->lost_.first_, tumit1_get_u64(p_ + 22), __ATOMIC_RELAXED);
    __atomic_store_n(&t_->lost_.last_, tumit1_get_u64(p_ + 30), __ATOMIC_RELAXED);
    __atomic_fetch_or(&t_->lost_.cause_, tumit1_get_u32(p_ + 38), __ATOMIC_RELAXED);
    __atomic_fetch_add(&t_->lost_.count_, tumit1_get_u64(p_ + 6), __ATOMIC_RELEASE);
}

/* What becomes one block of records. */
struct tumit1_piece {
    struct tumit1_thread *thread_;
    const unsigned char *payload_;
    uint32_t bytes_, records_;
    uint64_t dropped_, first_, last_;
};

/* Appends a block of records. One that cannot be written is counted as lost. */
TUMIT1_SLOW(void tumit1_append_records(const struct tumit1_piece *piece_, int hurry_)) {
    struct tumit1_sink *s_ = &tumit1_sink;
    struct tumit1_header h_;
    int error_ = EBADF;
    memset(&h_, 0, sizeof h_);
    h_.kind_ = TUMIT1_KIND_RECORDS;
    h_.stream_ = piece_->thread_->stream_;
    h_.records_ = piece_->records_;
    h_.sequence_ = piece_->thread_->file_sequence_;
    h_.raw_ = piece_->bytes_;
    h_.dropped_ = piece_->dropped_;
    h_.first_ = piece_->first_;
    h_.last_ = piece_->last_;
    h_.codec_ = TUMIT1_CODEC_LZ4;
    h_.stored_ = hurry_ ? 0 : tumit1_lz4(piece_->payload_, h_.raw_, s_->block_ + TUMIT1_HEADER_BYTES, h_.raw_ - h_.raw_ / 16, s_->table_);
    if (h_.stored_ == 0) {
        h_.codec_ = TUMIT1_CODEC_RAW;
        h_.stored_ = h_.raw_;
        memcpy(s_->block_ + TUMIT1_HEADER_BYTES, piece_->payload_, h_.raw_);
    }
    if (s_->file_ >= 0) {
        error_ = tumit1_append_tables(piece_->thread_);
        error_ = error_ == 0 ? tumit1_append_block(&h_, s_->block_) : error_;
        if (error_ != 0) {
            tumit1_warn("cannot write", tumit1_session.path_, error_);
        }
    }
    if (error_ == 0) {
        piece_->thread_->file_sequence_++;
        s_->blocks_++;
        __atomic_store_n(&s_->written_, s_->written_ + h_.records_, __ATOMIC_RELAXED);
        return;
    }
    if (tumit1_get_u16(piece_->payload_) == TUMIT1_ID_LOST) {
        tumit1_tell_again(piece_->thread_, piece_->payload_);
    }
    if (h_.records_ != 0) {
        tumit1_lose(piece_->thread_, h_.records_, h_.raw_, h_.first_, h_.last_, TUMIT1_CAUSE_WRITE_FAILED);
    }
}

/* Makes a piece of what a slot has between `from_`, which is its `flushed_`, and the state `to_`; `last_` is the date of its last record. Returns 0 when there is
 * nothing. A block's first date is that of its first record, whose delta is zero: where it is not, in a copy. */
TUMIT1_SLOW(int tumit1_cut(struct tumit1_piece *piece_, struct tumit1_slot *slot_, uint64_t from_, uint64_t to_, uint64_t last_)) {
    const uint32_t start_ = (uint32_t)from_;
    unsigned char *p_ = tumit1_payload(slot_) + start_;
    uint64_t first_ = from_ >> 48 == 0 ? slot_->first_ : slot_->flushed_last_;
    uint32_t delta_;
    piece_->bytes_ = (uint32_t)to_ - start_;
    piece_->records_ = (uint32_t)(to_ >> 32) - ((uint32_t)(from_ >> 32) & 0xFFFFu);
    if (piece_->bytes_ == 0) {
        return 0;
    }
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

/* The thread whose stream this is. Under the lock, too. */
TUMIT1_SLOW(struct tumit1_thread *tumit1_find_stream(uint32_t stream_)) {
    struct tumit1_thread *t_ = tumit1_session.live_;
    while (t_ != NULL && t_->stream_ != stream_) {
        t_ = t_->next_;
    }
    return t_;
}

/* A block with nothing but the account of losses. */
TUMIT1_SLOW(void tumit1_write_lost(struct tumit1_thread *t_)) {
    unsigned char lost_[TUMIT1_LOST_BYTES];
    struct tumit1_piece piece_;
    memset(&piece_, 0, sizeof piece_);
    if (tumit1_put_lost(t_, lost_) != lost_) {
        piece_.thread_ = t_;
        piece_.payload_ = lost_;
        piece_.bytes_ = TUMIT1_LOST_BYTES;
        piece_.first_ = piece_.last_ = tumit1_get_u64(lost_ + 30);
        piece_.dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
        tumit1_append_records(&piece_, 1);
    }
}

/* Lets go of streams whose threads have ended and of which everything is told. */
TUMIT1_SLOW(void tumit1_forget_gone(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_thread **link_, *t_;
    pthread_mutex_lock(&tumit1_lock);
    link_ = &s_->live_;
    while ((t_ = *link_) != NULL) {
        if (t_->cursor_ != NULL || t_->queued_ != 0) {
            link_ = &t_->next_;
            continue;
        }
        if (__atomic_load_n(&t_->lost_.count_, __ATOMIC_RELAXED) != 0) {
            pthread_mutex_unlock(&tumit1_lock);
            tumit1_write_lost(t_);
            pthread_mutex_lock(&tumit1_lock);
            for (link_ = &s_->live_; *link_ != t_; link_ = &(*link_)->next_) {
            }
        }
        *link_ = t_->next_; /* what could not be told stays in the sum */
        s_->dropped_ += t_->dropped_;
        t_->next_ = s_->spare_;
        s_->spare_ = t_;
    }
    pthread_mutex_unlock(&tumit1_lock);
}

/* Writes the oldest full slot; 0 when there is none. */
TUMIT1_SLOW(int tumit1_write_next(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = NULL;
    struct tumit1_piece piece_;
    int hurry_;
    memset(&piece_, 0, sizeof piece_);
    pthread_mutex_lock(&tumit1_lock);
    if (pool_->queue_count_ != 0) {
        slot_ = pool_->queue_[pool_->queue_first_];
        pool_->queue_first_ = pool_->queue_first_ + 1 == pool_->room_ ? 0 : pool_->queue_first_ + 1;
        pool_->queue_count_--;
        piece_.thread_ = tumit1_find_stream(slot_->stream_);
    }
    hurry_ = pool_->queue_count_ > pool_->slots_ / 2; /* speed counts for more than size */
    pthread_mutex_unlock(&tumit1_lock);
    if (slot_ == NULL) {
        tumit1_forget_gone();
        return 0;
    }
    if (slot_->flushed_ >> 48 == 0) {
        slot_->sequence_ = piece_.thread_->file_sequence_; /* blocks before it may have failed */
    }
    piece_.dropped_ = slot_->dropped_;
    if (tumit1_cut(&piece_, slot_, slot_->flushed_, __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE),
                   __atomic_load_n(&slot_->last_, __ATOMIC_RELAXED))) {
        tumit1_append_records(&piece_, hurry_);
    }
    pthread_mutex_lock(&tumit1_lock);
    piece_.thread_->queued_--;
    tumit1_give_slot(slot_);
    pthread_mutex_unlock(&tumit1_lock);
    return 1;
}

/* What a thread has published in its slot so far. While it stands in the midst of a record the date of the last one is not
 * certain: then nothing, unless this is the last chance. Under the lock, too. */
TUMIT1_SLOW(int tumit1_cut_live(struct tumit1_piece *piece_, struct tumit1_thread *t_, int at_end_, struct tumit1_slot **slot_,
                                uint64_t *state_)) {
    struct tumit1_slot *head_ = t_->slot_;
    uint64_t last_ = 0;
    int settled_ = 0, tries_;
    *slot_ = head_;
    if (head_ == NULL || t_->queued_ != 0) {
        return 0;
    }
    for (tries_ = 0; tries_ < 100 && !settled_; tries_++) {
        *state_ = __atomic_load_n(&head_->state_, __ATOMIC_ACQUIRE);
        last_ = __atomic_load_n(&head_->last_, __ATOMIC_ACQUIRE);
        settled_ = __atomic_load_n(&t_->cursor_->busy_, __ATOMIC_ACQUIRE) == 0 &&
                   __atomic_load_n(&head_->state_, __ATOMIC_ACQUIRE) == *state_;
    }
    if ((!settled_ && !at_end_ && t_->cursor_ != &tumit1_cursor) || !tumit1_cut(piece_, head_, head_->flushed_, *state_, last_)) {
        return 0;
    }
    piece_->thread_ = t_;
    t_->cut_ = *state_;
    t_->sequence_++;
    piece_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    return 1;
}

/* Writes what the threads' slots hold and the file does not. */
TUMIT1_SLOW(void tumit1_write_live(int at_end_)) {
    struct tumit1_piece piece_;
    struct tumit1_slot *slot_;
    struct tumit1_thread *t_, *each_;
    uint64_t state_;
    uint32_t next_ = 0;
    for (;;) {
        int some_;
        pthread_mutex_lock(&tumit1_lock);
        t_ = NULL;
        for (each_ = tumit1_session.live_; each_ != NULL; each_ = each_->next_) {
            if (each_->stream_ >= next_ && (t_ == NULL || each_->stream_ < t_->stream_)) {
                t_ = each_;
            }
        }
        if (t_ == NULL) {
            pthread_mutex_unlock(&tumit1_lock);
            return;
        }
        next_ = t_->stream_ + 1;
        some_ = tumit1_cut_live(&piece_, t_, at_end_, &slot_, &state_);
        pthread_mutex_unlock(&tumit1_lock);
        if (some_) {
            uint64_t blocks_ = slot_->flushed_ >> 48, sequence_ = t_->file_sequence_;
            if (blocks_ == 0) {
                slot_->sequence_ = sequence_;
            }
            tumit1_append_records(&piece_, 0);
            /* One word, and only now: a reader of the live file takes a block that is in the file from there. */
            pthread_mutex_lock(&tumit1_lock);
            blocks_ += t_->file_sequence_ - sequence_;
            slot_->flushed_last_ = piece_.last_;
            slot_->first_ = blocks_ == 0 ? piece_.last_ : slot_->first_;
            __atomic_store_n(&slot_->flushed_, (state_ & 0xFFFFFFFFFFFFu) | blocks_ << 48, __ATOMIC_RELEASE);
            pthread_mutex_unlock(&tumit1_lock);
        }
    }
}
