/* ---- The flight recorder: streams of levels that overwrite. Their full slots are kept, at most
 * half of all slots. They are written on request (tumit1_dump(), the end of the process), or
 * reused for newer records. The caller holds the lock ---- */

/* Deliberate defects that test the tests: 1 overwrites without counting, 2 overwrites the
 * newest. */
#ifndef TUMIT1_BROKEN_FLIGHT_RECORDER
#define TUMIT1_BROKEN_FLIGHT_RECORDER 0
#endif

/* Memory barrier: other threads see the writes after it only after the writes before it. */
TUMIT1_SLOW(void tumit1_fence(void)) {
#ifdef __SANITIZE_THREAD__ /* the sanitizer does not support fences */
    static uint32_t word_;
    (void)__atomic_fetch_add(&word_, 1u, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* The position of the kept slot with this number. 0 is the oldest. */
TUMIT1_SLOW(struct tumit1_slot **tumit1_kept_slot_at(uint32_t number_)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const uint32_t place_ = pool_->kept_first_ + number_;
    return &pool_->kept_slots_[place_ < pool_->max_parts_ ? place_ : place_ - pool_->max_parts_];
}

/* The thread with this stream. The caller holds the lock. */
TUMIT1_SLOW(struct tumit1_stream *tumit1_find_stream(uint32_t stream_)) {
    struct tumit1_stream *t_ = tumit1_session.live_;
    while (t_ != NULL && t_->stream_ != stream_) {
        t_ = t_->next_;
    }
    return t_;
}

/* Keeps a full slot. */
TUMIT1_SLOW(void tumit1_keep_slot(struct tumit1_stream *t_, struct tumit1_slot *slot_)) {
    *tumit1_kept_slot_at(tumit1_session.pool_.kept_count_++) = slot_;
    tumit1_session.pool_.kept_bytes_ += tumit1_slot_bytes(slot_);
    t_->retained_++;
}

/* Removes the oldest kept slot. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_oldest_kept_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_stream *t_;
    struct tumit1_slot *slot_;
#if TUMIT1_BROKEN_FLIGHT_RECORDER == 2
    struct tumit1_slot *newest_ = *tumit1_kept_slot_at(pool_->kept_count_ - 1);
    *tumit1_kept_slot_at(pool_->kept_count_ - 1) = *tumit1_kept_slot_at(0);
    *tumit1_kept_slot_at(0) = newest_;
#endif
    slot_ = *tumit1_kept_slot_at(0);
    pool_->kept_first_ = pool_->kept_first_ + 1 == pool_->max_parts_ ? 0 : pool_->kept_first_ + 1;
    pool_->kept_count_--;
    pool_->kept_bytes_ -= tumit1_slot_bytes(slot_);
    t_ = tumit1_find_stream(slot_->stream_);
    /* NULL: a signal handler forked during this function, and this is the child */
    if (t_ != NULL) {
        t_->retained_--;
    }
    return slot_;
}

/* Counts the records of a slot as overwritten, in memory that remains when the process is
 * killed. The slot stores the previous count, so that readers can determine at any moment
 * whether its records are counted. */
TUMIT1_SLOW(void tumit1_count_overwritten(struct tumit1_slot *slot_, uint64_t count_)) {
    if (tumit1_session.pool_.live_) {
        uint64_t *counter_ =
            (uint64_t *)(void *)(tumit1_session.pool_.map_ + TUMIT1_LIVE_OVERWRITTEN);
        const uint64_t before_ = __atomic_load_n(counter_, __ATOMIC_RELAXED);
        __atomic_store_n(&slot_->flushed_last_, before_, __ATOMIC_RELAXED);
        __atomic_store_n(&slot_->taken_, TUMIT1_TAKEN_BEING_OVERWRITTEN, __ATOMIC_RELEASE);
        tumit1_fence();
        __atomic_store_n(counter_, before_ + count_, __ATOMIC_RELEASE);
    }
}

/* Takes the oldest slot, and counts its records as overwritten. NULL when there is none, or a part
 * of it is being written. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_overwrite_oldest(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = pool_->kept_count_ == 0 ? NULL : *tumit1_kept_slot_at(0);
    struct tumit1_stream *t_;
    uint64_t state_, done_, first_, last_, count_;
    uint32_t bytes_;
    if (slot_ == NULL || slot_ == pool_->being_written_) {
        return NULL;
    }
    slot_ = tumit1_take_oldest_kept_slot();
    t_ = tumit1_find_stream(slot_->stream_);
    if (t_ == NULL) {
        return NULL;
    }
    state_ = __atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE);
    done_ = slot_->flushed_;
    first_ = (uint32_t)done_ == 0 ? slot_->first_ : slot_->flushed_last_;
    last_ = __atomic_load_n(&slot_->last_, __ATOMIC_RELAXED);
    bytes_ = (uint32_t)state_ - (uint32_t)done_;
    if ((uint32_t)done_ == 0 && tumit1_has_drop_report(tumit1_payload(slot_))) {
        tumit1_undo_drop_report(&t_->drops_, tumit1_payload(slot_));
        bytes_ -= TUMIT1_DROP_REPORT_BYTES;
    }
    if (t_->planned_slot_ == slot_) {
        t_->planned_slot_ = NULL;
    }
    count_ = (state_ >> 32) - (done_ >> 32 & 0xFFFFu);
    if (count_ != 0 && TUMIT1_BROKEN_FLIGHT_RECORDER != 1) {
        t_->overwritten_end_ = slot_->sequence_ + (done_ >> 48) + 1;
        tumit1_count_overwritten(slot_, count_);
        tumit1_add_drops(t_, &t_->overwritten_, count_, bytes_, first_, last_,
                         TUMIT1_CAUSE_OVERWRITTEN);
    }
    tumit1_fence(); /* precedes all later writes to the slot */
    __atomic_store_n(&slot_->taken_, 0u, __ATOMIC_RELEASE);
    return slot_;
}

/* Takes a slot for a record of a stream that overwrites: a free one, or the oldest kept one.
 * NULL when there is neither. Kept slots can use half of the memory. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_flight_slot(const struct tumit1_stream *t_,
                                                        size_t bytes_)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const int fits_part_ = bytes_ <= TUMIT1_MAX_PART_RECORD;
    struct tumit1_slot *slot_ = pool_->kept_bytes_ < (uint64_t)(pool_->slots_ + 1) / 2 * TUMIT1_SLOT
                                    ? tumit1_take_slot_or_part(t_, bytes_)
                                    : NULL;
    while (slot_ == NULL && (slot_ = tumit1_overwrite_oldest()) != NULL) {
        const int part_ = tumit1_slot_bytes(slot_) != TUMIT1_SLOT;
        if (part_ ? fits_part_ : t_->had_slot_ || !fits_part_) {
            break;
        }
        /* too small for this record, or too large for the first one of a thread */
        tumit1_prefault_slot(slot_);
        tumit1_return_slot(slot_);
        slot_ = part_ ? NULL : tumit1_take_part();
    }
    return slot_;
}

/* Queues all kept slots for writing. */
TUMIT1_SLOW(void tumit1_release_kept_slots(void)) {
    while (tumit1_session.pool_.kept_count_ != 0) {
        struct tumit1_slot *slot_ = tumit1_take_oldest_kept_slot();
        struct tumit1_stream *t_ = tumit1_find_stream(slot_->stream_);
        if (t_ != NULL) {
            slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
            tumit1_queue_slot(t_, slot_);
        }
    }
}
