/* ---- The counts of dropped records. Lock-free, and safe in signal handlers. The counts of
 * overwritten records need the lock ---- */

/* Adds to one of the counts of a stream. The count is written to the file as a `dropped` record. */
TUMIT1_SLOW(void tumit1_add_drops(struct tumit1_stream *t_, struct tumit1_drops *to_,
                                  uint64_t count_, uint64_t bytes_, uint64_t first_, uint64_t last_,
                                  uint32_t cause_)) {
    uint64_t none_ = 0;
    __atomic_fetch_add(&to_->bytes_, bytes_, __ATOMIC_RELAXED);
    (void)__atomic_compare_exchange_n(&to_->first_, &none_, first_, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    __atomic_store_n(&to_->last_, last_, __ATOMIC_RELAXED);
    __atomic_fetch_or(&to_->cause_, cause_, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t_->dropped_, count_, __ATOMIC_RELAXED);
    __atomic_fetch_add(&to_->count_, count_, __ATOMIC_RELEASE);
}

/* Counts dropped records of a stream. */
TUMIT1_SLOW(void tumit1_count_drops(struct tumit1_stream *t_, uint64_t count_, uint64_t bytes_,
                                    uint64_t first_, uint64_t last_, uint32_t cause_)) {
    tumit1_count_live_drops(t_->stream_, count_);
    tumit1_add_drops(t_, &t_->drops_, count_, bytes_, first_, last_, cause_);
}

/* Counts a dropped record without a stream. */
TUMIT1_SLOW(void tumit1_count_stray_drop(void)) {
    __atomic_fetch_add(&tumit1_session.dropped_, 1u, __ATOMIC_RELAXED);
    tumit1_count_live_drops(0, 1);
}

/* Counts a dropped record of a signal handler for which no stream could be created. The next
 * stream reports it. */
TUMIT1_SLOW(void tumit1_count_early_drop(size_t bytes_)) {
    struct tumit1_drops *early_drops_ = &tumit1_session.early_drops_;
    tumit1_count_stray_drop();
    __atomic_fetch_add(&early_drops_->bytes_, bytes_, __ATOMIC_RELAXED);
    __atomic_fetch_add(&early_drops_->count_, 1u, __ATOMIC_RELEASE);
}

/* Moves these counts from the process to a new stream. Their timestamp is the first one of the
 * stream. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_move_early_drops(struct tumit1_stream *t_)) {
    const uint64_t count_ =
        __atomic_exchange_n(&tumit1_session.early_drops_.count_, 0u, __ATOMIC_ACQUIRE);
    if (count_ != 0) {
        const uint64_t bytes_ =
            __atomic_exchange_n(&tumit1_session.early_drops_.bytes_, 0u, __ATOMIC_RELAXED);
        const uint64_t now_ = tumit1_now_slow();
        __atomic_fetch_sub(&tumit1_session.dropped_, count_, __ATOMIC_RELAXED);
        /* already counted in the live file */
        tumit1_add_drops(t_, &t_->drops_, count_, bytes_, now_, now_, TUMIT1_CAUSE_NESTED);
    }
}

/* Writes a count as a record, and resets it. Returns the end of the record, or `p_` when the
 * count is 0. */
TUMIT1_SLOW(unsigned char *tumit1_put_drop_report(struct tumit1_drops *from_, unsigned char *p_)) {
    uint64_t count_ = __atomic_exchange_n(&from_->count_, 0u, __ATOMIC_ACQUIRE);
    if (count_ == 0) {
        return p_;
    }
    p_ = tumit1_put_u16(p_, TUMIT1_ID_DROPPED);
    p_ = tumit1_put_u32(p_, 0);
    p_ = tumit1_put_u64(p_, count_);
    p_ = tumit1_put_u64(p_, __atomic_exchange_n(&from_->bytes_, 0u, __ATOMIC_RELAXED));
    p_ = tumit1_put_u64(p_, __atomic_exchange_n(&from_->first_, 0u, __ATOMIC_RELAXED));
    p_ = tumit1_put_u64(p_, __atomic_load_n(&from_->last_, __ATOMIC_RELAXED));
    return tumit1_put_u32(p_, __atomic_exchange_n(&from_->cause_, 0u, __ATOMIC_RELAXED));
}

/* Whether a payload begins with a count of dropped records, and not with the mark of a truncated
 * record. */
TUMIT1_SLOW(int tumit1_has_drop_report(const unsigned char *p_)) {
    return tumit1_get_u16(p_) == TUMIT1_ID_DROPPED &&
           tumit1_get_u64(p_ + TUMIT1_RECORD_HEAD_BYTES) != 0;
}

/* Restores a count that was in a block with a write error, or in a slot that no longer exists.
 * `dropped_` already includes it. */
TUMIT1_SLOW(void tumit1_undo_drop_report(struct tumit1_drops *to_, const unsigned char *p_)) {
    uint64_t none_ = 0;
    __atomic_fetch_add(&to_->bytes_, tumit1_get_u64(p_ + 14), __ATOMIC_RELAXED);
    /* earlier than all unreported drops */
    __atomic_store_n(&to_->first_, tumit1_get_u64(p_ + 22), __ATOMIC_RELAXED);
    (void)__atomic_compare_exchange_n(&to_->last_, &none_, tumit1_get_u64(p_ + 30), 0,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_fetch_or(&to_->cause_, tumit1_get_u32(p_ + 38), __ATOMIC_RELAXED);
    __atomic_fetch_add(&to_->count_, tumit1_get_u64(p_ + 6), __ATOMIC_RELEASE);
}
