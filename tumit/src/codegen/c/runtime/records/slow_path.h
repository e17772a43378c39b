/* ---- The slow path of records ---- */

/* Counts a record of a signal handler that runs while its thread is inside a record. */
TUMIT1_SLOW(void tumit1_count_nested_drop(size_t bytes_)) {
    struct tumit1_stream *t_ =
        tumit1_cursor.thread_ != NULL ? tumit1_cursor.thread_ : tumit1_cursor.flight_thread_;
    if (t_ != NULL) {
        uint64_t now_ = tumit1_clock_kind != 0 ? tumit1_now_slow() : 0;
        tumit1_count_drops(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_NESTED);
    } else {
        tumit1_count_stray_drop();
    }
}

/* A slot for a thread that has none, or a full one. NULL when none is free. `called_` is set if
 * the call made the thread wait. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_exchange_slot(struct tumit1_stream *t_, size_t bytes_,
                                                     uint64_t now_, int *called_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_slot *slot_ = NULL;
    int urgent_;
    if (t_->slot_ == NULL && !t_->overwrites_ &&
        __atomic_load_n(&s_->pool_.available_, __ATOMIC_RELAXED) == 0 &&
        __atomic_load_n(&s_->pool_.available_parts_, __ATOMIC_RELAXED) == 0) {
        return NULL; /* threads that must drop records do not wait for the lock */
    }
    pthread_mutex_lock(&tumit1_state_lock);
    if (s_->state_ == TUMIT1_OPEN) {
        tumit1_hand_over(t_);
        slot_ = tumit1_new_slot(t_, bytes_, now_);
    }
    urgent_ = tumit1_is_urgent();
    pthread_mutex_unlock(&tumit1_state_lock);
    *called_ = tumit1_wake_writer(urgent_);
    return slot_;
}

/* Waits for a free slot, if the policy of the record's level requires it. The record keeps the
 * timestamp of its call. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_wait_for_slot(struct tumit1_stream *t_, uint32_t id_,
                                                     size_t bytes_, uint64_t now_)) {
    const struct timespec nap_ = {0, 50000};
    uint64_t give_up_;
    int waits_, called_;
    pthread_mutex_lock(&tumit1_state_lock);
    waits_ = tumit1_waits_for_room(id_);
    pthread_mutex_unlock(&tumit1_state_lock);
    if (!waits_) {
        return NULL;
    }
    give_up_ = tumit1_nanos(CLOCK_MONOTONIC) + TUMIT1_WAIT_SECONDS * 1000000000u;
    while (tumit1_is_open() && tumit1_nanos(CLOCK_MONOTONIC) < give_up_) {
        struct tumit1_slot *slot_ = tumit1_exchange_slot(t_, bytes_, now_, &called_);
        if (slot_ != NULL) {
            return slot_;
        }
        __atomic_store_n(&tumit1_session.wanted_, 1u, __ATOMIC_SEQ_CST);
        (void)tumit1_wake_writer(1);
        (void)nanosleep(&nap_, NULL);
    }
    __atomic_store_n(&tumit1_session.stuck_, 1u, __ATOMIC_RELAXED);
    return NULL;
}

/* Finds room for a record of the calling thread's stream. If there is room for only a part of a
 * record that can be truncated, `cut_` gets the size of that part. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_find_room(struct tumit1_stream *t_, uint32_t id_,
                                                 size_t bytes_, uint64_t now_, uint64_t *cut_)) {
    struct tumit1_slot *slot_;
    int called_ = 0, why_ = -1;
    if (bytes_ > TUMIT1_MAX_RECORD) {
        if (cut_ != NULL) {
            *cut_ = TUMIT1_MAX_RECORD;
        } else {
            tumit1_count_drops(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_OVERSIZE);
        }
        return NULL;
    }
    slot_ = t_->slot_;
    if (slot_ != NULL &&
        (uint32_t)slot_->state_ + bytes_ <= TUMIT1_ROOM_OF(tumit1_slot_bytes(slot_))) {
        return slot_;
    }
    slot_ = tumit1_exchange_slot(t_, bytes_, now_, &called_);
    if (called_) {
        why_ = TUMIT1_WAITED_CALL;
    }
    if (slot_ == NULL && !t_->overwrites_ &&
        __atomic_load_n(&tumit1_session.may_wait_, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&tumit1_session.stuck_, __ATOMIC_RELAXED)) {
        slot_ = tumit1_wait_for_slot(t_, id_, bytes_, now_);
        why_ = TUMIT1_WAITED_ROOM;
    }
    tumit1_set_slot(t_->overwrites_, slot_);
    if (why_ >= 0 && slot_ != NULL && !t_->overwrites_ && tumit1_self_trace_store_wait(why_)) {
        tumit1_set_slot(0, NULL); /* the next record takes this path, and reports the wait */
    }
    if (slot_ == NULL && cut_ != NULL && bytes_ > TUMIT1_MAX_PART_RECORD) {
        *cut_ = TUMIT1_MAX_PART_RECORD;
    } else if (slot_ == NULL) {
        tumit1_count_drops(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_NO_BUFFER);
    }
    return slot_;
}

/* The slow path of a record without room in its slot: hands over the slot and takes another one.
 * Without room, the record must be truncated, or it is dropped and counted. */
struct tumit1_room tumit1_make_room(uint32_t id_, size_t bytes_, uint64_t now_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_room room_;
    const uint32_t flags_ = tumit1_begin_work();
    const int overwrites_ = (id_ & TUMIT1_OVERWRITES) != 0;
    struct tumit1_stream *t_ = overwrites_ ? c_->flight_thread_ : c_->thread_;
    uint64_t cut_ = 0;
    room_.slot_ = NULL;
    room_.now_ = now_;
    if (c_->waited_until_ != 0 && !overwrites_) {
        tumit1_self_trace_record_wait();
    }
    if (t_ == NULL && tumit1_must_not_attach()) {
        tumit1_count_early_drop(bytes_);
        tumit1_end_work(flags_);
        room_.now_ = 0;
        return room_;
    }
    if (t_ == NULL) {
        t_ = tumit1_attach(c_, overwrites_);
        /* after the start of recording; this is the timestamp of the record */
        room_.now_ = tumit1_now_slow();
    } else if (__atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED) != TUMIT1_CLOCK_NATIVE) {
        room_.now_ = tumit1_now_slow();
    }
    if (t_ == NULL || !tumit1_is_open()) {
        tumit1_count_stray_drop();
        tumit1_set_slot(overwrites_, NULL);
    } else {
        room_.slot_ = tumit1_find_room(t_, id_ & 0xFFFFu, bytes_, room_.now_,
                                       (id_ & TUMIT1_TRUNCATABLE) != 0 ? &cut_ : NULL);
    }
    tumit1_end_work(flags_);
    if ((overwrites_ ? c_->flight_thread_ : c_->thread_) == NULL) {
        /* a signal handler forked, and this is the child: the record belongs to the parent */
        room_.slot_ = NULL;
        cut_ = 0;
    }
    if (room_.slot_ == NULL) {
        room_.now_ = cut_;
    }
    return room_;
}

/* The other slow path: for a record of a level that overwrites, for a record of a signal handler
 * while its thread is inside the recorder, and for the first record after a jump out of such a
 * handler. A record without room, or inside the recorder, is dropped and counted. While the slot
 * has room, the function takes no lock and makes no system call. */
struct tumit1_room tumit1_make_room_special(uint32_t id_, size_t bytes_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_room room_ = {NULL, 0};
    if (__atomic_load_n(&c_->busy_, __ATOMIC_RELAXED) != 0 && !tumit1_left_a_record(c_)) {
        tumit1_count_nested_drop(bytes_);
        return room_;
    }
    __atomic_store_n(&c_->busy_, TUMIT1_BUSY, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    room_.now_ = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED) == TUMIT1_CLOCK_NATIVE
                     ? tumit1_counter()
                     : tumit1_now_slow();
    if ((id_ & TUMIT1_OVERWRITES) != 0) {
        room_.slot_ = c_->flight_slot_;
    } else {
        room_.slot_ = c_->slot_ != &tumit1_full_slot ? c_->slot_ : c_->other_;
    }
    if ((uint64_t)(uint32_t)room_.slot_->state_ + bytes_ >
        ((id_ & TUMIT1_OVERWRITES) != 0 ? c_->flight_room_ : c_->room_)) {
        room_ = tumit1_make_room(id_, bytes_, room_.now_);
        if (room_.slot_ == NULL) {
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            __atomic_store_n(&c_->busy_, 0u, __ATOMIC_RELAXED);
        }
    }
    return room_;
}

/* Writes a wide timestamp record, for a timestamp that exceeds a delta. Returns its size.
 * Returns 0 for a clock that ran backwards. The record then gets the last timestamp. */
uint32_t tumit1_put_wide_timestamp(unsigned char *p_, uint64_t last_, uint64_t now_) {
    if (now_ < last_) {
        __atomic_fetch_add(&tumit1_session.repeated_, 1u, __ATOMIC_RELAXED);
        return 0;
    }
    p_ = tumit1_put_u16(p_, TUMIT1_ID_WIDE_TIMESTAMP);
    p_ = tumit1_put_u32(p_, 0);
    tumit1_put_u64(p_, now_);
    return TUMIT1_WIDE_BYTES;
}

/* Gives a stream the name and the label of the calling thread. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_update_stream_name(struct tumit1_stream *t_)) {
    unsigned char tags_[TUMIT1_STREAM_BYTES];
    if (t_ != NULL) {
        memcpy(t_->name_, tumit1_cursor.name_, sizeof t_->name_);
        memcpy(t_->label_, tumit1_cursor.label_, sizeof t_->label_);
        t_->described_ = 0; /* written again before its next block */
        if (tumit1_session.pool_.live_) {
            (void)tumit1_log(TUMIT1_KIND_STREAM, t_->stream_, tags_,
                             (size_t)(tumit1_put_stream(tags_, t_) - tags_));
        }
    }
}

/* Gives the calling thread and its streams a name or a label. */
TUMIT1_SLOW(void tumit1_set_name(char *kept_, size_t room_, const char *text_)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    size_t length_ = text_ == NULL ? 0 : strlen(text_);
    uint32_t busy_;
    if (c_->locked_) {
        return; /* in a signal handler that interrupted the recorder */
    }
    busy_ = tumit1_lock_state();
    if (length_ > room_ - 1) {
        length_ = room_ - 1;
        while (length_ > 0 && ((unsigned char)text_[length_] & 0xC0u) == 0x80u) {
            length_--; /* not inside a character */
        }
    }
    memmove(kept_, text_ == NULL ? kept_ : text_, length_);
    kept_[length_] = '\0';
    tumit1_update_stream_name(c_->thread_);
    tumit1_update_stream_name(c_->flight_thread_);
    tumit1_unlock_state(busy_);
}

void tumit1_set_thread_name(const char *name_) {
    tumit1_set_name(tumit1_cursor.name_, sizeof tumit1_cursor.name_, name_);
}

void tumit1_set_stream_label(const char *label_) {
    tumit1_set_name(tumit1_cursor.label_, sizeof tumit1_cursor.label_, label_);
}
