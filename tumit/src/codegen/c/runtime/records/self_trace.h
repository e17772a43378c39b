/* ---- Self-tracing, the level TUMIT: the work of the writer thread, and the waits of threads,
 * as in the spec `std:tracer`. It is off, and not in the file, unless requested by its name. It
 * never waits: records without room are dropped and counted ---- */

#define TUMIT1_SELF_TRACE_WRITE 0u /* ids in the spec of self-tracing; the next id is the end */
#define TUMIT1_SELF_TRACE_WAIT 2u

void tumit1_self_trace_request(const char *name_, size_t length_, int on_) {
    if (on_ && tumit1_text_matches_level(name_, length_, "tracer", "TUMIT")) {
        tumit1_register(&tumit1_spec_self_trace, tumit1_shared_object());
    }
}
void tumit1_self_trace_read_settings(void) {
    if (tumit1_find_setting(getenv("TUMIT_LEVELS"), tumit1_setting_is_on, "tracer", "TUMIT", 0) ==
        1) {
        tumit1_register(&tumit1_spec_self_trace, tumit1_shared_object());
    }
}

/* The first id of the spec. 0 when the level is off. */
TUMIT1_SLOW(uint32_t tumit1_self_trace_base(void)) {
    return __atomic_load_n(&tumit1_self_trace_word, __ATOMIC_RELAXED) & 0xFFFFu;
}

/* Writes a record into a slot of the calling thread. The slot must have room for it and for a
 * wide timestamp. */
TUMIT1_SLOW(void tumit1_self_trace_put(struct tumit1_slot *slot_, uint32_t id_, uint64_t now_,
                                       const unsigned char *body_, size_t bytes_)) {
    const uint64_t state_ = slot_->state_, last_ = slot_->last_;
    unsigned char *start_ = tumit1_payload(slot_) + (uint32_t)state_, *p_ = start_;
    uint64_t delta_ = now_ - last_;
    if ((uint32_t)delta_ != delta_) {
        const uint32_t wide_ = tumit1_put_wide_timestamp(p_, last_, now_);
        p_ += wide_;
        now_ = wide_ != 0 ? now_ : last_;
        delta_ = 0;
    }
    __atomic_store_n(&slot_->last_, now_, __ATOMIC_RELAXED);
    p_ = tumit1_put_u16(p_, (uint16_t)id_);
    p_ = tumit1_put_u32(p_, (uint32_t)delta_);
    p_ = tumit1_put_bytes(p_, body_, bytes_);
    __atomic_store_n(&slot_->state_, state_ + (TUMIT1_ONE_RECORD | (uint64_t)(p_ - start_)),
                     __ATOMIC_RELEASE);
}

/* Records that the calling thread waited for the slot of its next record. Returns whether the
 * wait must be reported. The report follows that record, at the next slow path of the thread,
 * because the record keeps the timestamp of its call. */
int tumit1_self_trace_store_wait(int why_) {
    if (tumit1_self_trace_base() == 0) {
        return 0;
    }
    tumit1_cursor.waited_until_ = tumit1_now_slow();
    tumit1_cursor.waited_why_ = (unsigned char)why_;
    return 1;
}

/* Reports such a wait. It began at the timestamp of the last record. */
void tumit1_self_trace_record_wait(void) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_slot *slot_ = c_->thread_ == NULL ? NULL : c_->thread_->slot_;
    const uint32_t base_ = tumit1_self_trace_base();
    if (slot_ != NULL && base_ != 0 &&
        (uint32_t)slot_->state_ + 64u <= TUMIT1_ROOM_OF(tumit1_slot_bytes(slot_))) {
        tumit1_self_trace_put(slot_, base_ + TUMIT1_SELF_TRACE_WAIT, slot_->last_, &c_->waited_why_,
                              1);
        tumit1_self_trace_put(slot_, base_ + TUMIT1_SELF_TRACE_WAIT + 1, c_->waited_until_, NULL,
                              0);
    }
    c_->waited_until_ = 0;
    tumit1_set_slot(0, slot_);
}

/* Writes a record of the writer thread into its own stream. The caller must hold no lock. */
TUMIT1_SLOW(void tumit1_self_trace_record(uint32_t id_, const unsigned char *body_,
                                          size_t bytes_)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    const size_t total_ = TUMIT1_RECORD_HEAD_BYTES + bytes_;
    struct tumit1_slot *slot_;
    uint64_t now_;
    int called_;
    if (c_->thread_ == NULL && (!tumit1_is_open() || tumit1_attach(c_, 0) == NULL)) {
        tumit1_count_stray_drop();
        return;
    }
    now_ = tumit1_now_slow();
    slot_ = c_->thread_->slot_;
    if (slot_ == NULL ||
        (uint32_t)slot_->state_ + total_ > TUMIT1_ROOM_OF(tumit1_slot_bytes(slot_))) {
        slot_ = tumit1_exchange_slot(c_->thread_, total_, now_, &called_);
    }
    if (slot_ == NULL) {
        tumit1_count_drops(c_->thread_, 1, total_, now_, now_, TUMIT1_CAUSE_NO_BUFFER);
    } else {
        tumit1_self_trace_put(slot_, id_, now_, body_, bytes_);
    }
}

int tumit1_self_trace_begin_write(void) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const uint32_t base_ = tumit1_self_trace_base();
    unsigned char body_[12];
    uint32_t blocks_;
    if (base_ == 0) {
        return 0;
    }
    pthread_mutex_lock(&tumit1_state_lock);
    blocks_ = pool_->queue_count_;
    tumit1_put_u32(body_, blocks_);
    tumit1_put_u64(body_ + 4,
                   blocks_ == 0 ? 0 : (uint32_t)pool_->queue_[pool_->queue_first_]->state_);
    pthread_mutex_unlock(&tumit1_state_lock);
    if (blocks_ != 0) {
        tumit1_self_trace_record(base_ + TUMIT1_SELF_TRACE_WRITE, body_, sizeof body_);
    }
    return blocks_ != 0;
}
void tumit1_self_trace_end_write(void) {
    const uint32_t base_ = tumit1_self_trace_base();
    if (base_ != 0) {
        tumit1_self_trace_record(base_ + TUMIT1_SELF_TRACE_WRITE + 1, NULL, 0);
    }
}

/* Ends the stream of the writer thread. It remains after the thread has ended. */
void tumit1_self_trace_end_stream(void) {
    const uint64_t now_ = tumit1_now_slow();
    pthread_mutex_lock(&tumit1_state_lock);
    tumit1_detach(tumit1_cursor.thread_, now_);
    tumit1_cursor.thread_ = NULL;
    pthread_mutex_unlock(&tumit1_state_lock);
}
