/* ---- Creation and end of a thread's stream, and the slow path of its records ---- */

/* Takes the slot from the thread. Queues it for the writer thread, or keeps it until it is
 * overwritten. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_hand_over(struct tumit1_thread *t_)) {
    struct tumit1_slot *slot_ = t_->slot_;
    uint64_t done_;
    if (slot_ == NULL) {
        return;
    }
    done_ = t_->planned_slot_ == slot_ ? t_->planned_ : slot_->flushed_;
    t_->slot_ = NULL;
    t_->last_ = slot_->last_;
    slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    t_->sequence_ = slot_->sequence_ + (done_ >> 48) + ((uint32_t)done_ != (uint32_t)slot_->state_);
    if (t_->overwrites_ && slot_->state_ >> 32 != (slot_->flushed_ >> 32 & 0xFFFFu)) {
        tumit1_keep_slot(t_, slot_);
    } else {
        tumit1_queue_slot(t_, slot_);
    }
}

/* A new slot for the thread. It starts with the count of dropped records. NULL when none is
 * free. The caller holds the lock. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_new_slot(struct tumit1_thread *t_, size_t bytes_,
                                                uint64_t now_)) {
    struct tumit1_slot *slot_ = t_->overwrites_ ? tumit1_take_flight_slot(t_, bytes_)
                                                : tumit1_take_slot_or_part(t_, bytes_);
    unsigned char *start_;
    if (slot_ == NULL) {
        return NULL;
    }
    if (t_->last_ > now_) {
        now_ = t_->last_; /* timestamps of a stream never decrease */
    }
    start_ = tumit1_payload(slot_);
    slot_->first_ = slot_->flushed_last_ = now_;
    __atomic_store_n(&slot_->last_, now_, __ATOMIC_RELAXED);
    slot_->flushed_ = 0;
    slot_->sequence_ = t_->sequence_;
    slot_->stream_ = t_->stream_;
    __atomic_store_n(&slot_->state_,
                     (uint64_t)(tumit1_put_drop_report(&t_->drops_, start_) - start_),
                     __ATOMIC_RELEASE);
    slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    __atomic_store_n(&slot_->taken_, t_->overwrites_ ? TUMIT1_TAKEN_OVERWRITES : TUMIT1_TAKEN_YES,
                     __ATOMIC_RELEASE);
    t_->slot_ = slot_;
    t_->had_slot_ = 1;
    return slot_;
}

/* Sets the slot of the calling thread for levels that overwrite (`overwrites_`), or for all others.
 * NULL means no slot. With a clock that is not read inline, every record of the latter calls
 * tumit1_make_room(). */
TUMIT1_SLOW(void tumit1_set_slot(int overwrites_, struct tumit1_slot *slot_)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    const uint32_t kind_ = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED);
    const uint32_t room_ = slot_ != NULL ? TUMIT1_ROOM_OF(tumit1_slot_bytes(slot_)) : 0;
    if (overwrites_) {
        c_->flight_slot_ = slot_ != NULL ? slot_ : &tumit1_full_slot;
        c_->flight_room_ = room_;
        return;
    }
    c_->room_ = room_;
    c_->slot_ = slot_ != NULL && kind_ == TUMIT1_CLOCK_NATIVE ? slot_ : &tumit1_full_slot;
    c_->other_ = slot_ != NULL && kind_ == TUMIT1_CLOCK_USER && tumit1_clock.inline_
                     ? slot_
                     : &tumit1_full_slot;
}

/* Records the end of the stream's thread. The live file has the rest of its tags already. The
 * caller holds the lock. */
TUMIT1_SLOW(void tumit1_store_thread_end(struct tumit1_thread *t_, uint64_t end_)) {
    unsigned char tag_[16];
    if (end_ != 0) {
        t_->end_ = end_;
        t_->described_ = 0;
        (void)tumit1_log(
            TUMIT1_KIND_STREAM, t_->stream_, tag_,
            (size_t)(tumit1_put_integer_tag(tag_, TUMIT1_TAG_THREAD_END, end_) - tag_));
    }
}

/* Detaches the stream of a thread that has ended. The thread's end is `now_` or its last record,
 * whichever is later. `now_` is 0 if the time of the end is unknown. The caller has the lock. */
void tumit1_detach(struct tumit1_thread *t_, uint64_t now_) {
    if (t_ != NULL) {
        tumit1_hand_over(t_);
        now_ = now_ > t_->last_ ? now_ : t_->last_;
        if (t_->cursor_ != NULL) {
            tumit1_store_thread_end(t_, now_ > t_->drops_.last_ ? now_ : t_->drops_.last_);
        }
        tumit1_session.alive_ -= t_->cursor_ != NULL;
        t_->cursor_ = NULL;
        if (t_->tid_ == (uint64_t)getpid()) {
            __atomic_store_n(&tumit1_session.main_exited_, 1, __ATOMIC_RELAXED);
        }
    }
}

/* Ends a thread: writes its last records to the file. Records of later destructors begin a new
 * stream. */
TUMIT1_SLOW(void tumit1_retire(void *cursor_)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    uint64_t now_;
    uint32_t before_;
    int urgent_;
    if (cursor_ != c_ || c_->locked_) {
        return;
    }
    c_->busy_ = 0; /* the thread was cancelled inside a record, which is then discarded */
    before_ = tumit1_begin_work();
    now_ = tumit1_now_slow();
    pthread_mutex_lock(&tumit1_state_lock);
    if (c_->waited_until_ != 0) {
        tumit1_self_trace_record_wait();
    }
    tumit1_detach(c_->thread_, now_);
    tumit1_detach(c_->flight_thread_, now_);
    c_->thread_ = c_->flight_thread_ = NULL;
    tumit1_set_slot(0, NULL);
    tumit1_set_slot(1, NULL);
    /* The writer thread may be the only remaining thread. */
    urgent_ = tumit1_is_urgent() || __atomic_load_n(&tumit1_session.main_exited_, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&tumit1_state_lock);
    (void)tumit1_wake_writer(urgent_);
    tumit1_end_work(before_);
}

/* Runs with the first record of a process. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_install_hooks(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (!s_->keyed_) {
        s_->keyed_ = pthread_key_create(&s_->key_, tumit1_retire) == 0;
    }
}

/* Gives a thread without a name a default name. */
TUMIT1_SLOW(void tumit1_default_name(struct tumit1_cursor *c_, uint64_t tid_)) {
    char program_[48];
    if (c_->name_[0] != '\0') {
        return;
    }
    tumit1_read_line("/proc/self/comm", program_, sizeof program_);
    if (tid_ == (uint64_t)getpid()) {
        memcpy(c_->name_, "main", 5);
    } else if (prctl(PR_GET_NAME, c_->name_) != 0 || strcmp(c_->name_, program_) == 0) {
        c_->name_[0] = '\0'; /* the name of the program is not the name of a thread */
    }
}

/* Opens the files at the first record of the process, or when the process requests it. Returns 0
 * or an errno. */
TUMIT1_SLOW(int tumit1_begin_session(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    int error_ = EALREADY, opened_ = 0;
    tumit1_lock_writer();
    pthread_mutex_lock(&tumit1_state_lock);
    if (s_->state_ == TUMIT1_CLOSED) {
        tumit1_writer.file_ = s_->pool_.file_ = -1;
        __atomic_store_n(&s_->state_, TUMIT1_FAILED, __ATOMIC_RELEASE);
        error_ = tumit1_open_session();
        opened_ = error_ == 0;
        tumit1_install_hooks();
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    if (opened_) {
        tumit1_allocate_packer();
        /* later records need these definitions, even if the program is killed */
        (void)tumit1_append_definitions();
        pthread_mutex_lock(&tumit1_state_lock);
        __atomic_store_n(&s_->state_, TUMIT1_OPEN, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&tumit1_state_lock);
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
    if (opened_) {
        tumit1_start_writer_thread();
    }
    return error_;
}

int tumit1_start(const struct tumit1_config *config_) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t before_ = tumit1_lock_state();
    int error_;
    if (config_ != NULL && s_->state_ == TUMIT1_CLOSED) {
        const char **texts_[4];
        size_t i_;
        s_->config_ = *config_; /* the texts are copied, also for forked children */
        texts_[0] = &s_->config_.folder_;
        texts_[1] = &s_->config_.live_folder_;
        texts_[2] = &s_->config_.policies_;
        texts_[3] = &s_->config_.buffers_;
        for (i_ = 0; i_ < 4; i_++) {
            if (*texts_[i_] != NULL) {
                *texts_[i_] = **texts_[i_] == '\0' ? NULL
                                                   : (const char *)tumit1_arena_copy(
                                                         *texts_[i_], strlen(*texts_[i_]) + 1);
            }
        }
        if (s_->config_.folder_ != NULL) {
            /* the configured folder replaces that of the parent of a forked child */
            s_->folder_[0] = '\0';
        }
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    error_ = tumit1_begin_session();
    tumit1_end_work(before_);
    return error_;
}

/* Whether no stream can be created for the calling thread, because it is in a signal handler.
 * The start of a session allocates memory. The C library does so, too, when it stores a value
 * under a key that is not among the first ones. */
TUMIT1_SLOW(int tumit1_must_not_attach(void)) {
    const struct tumit1_session *s_ = &tumit1_session;
    return (!tumit1_is_open() || (s_->keyed_ && s_->key_ >= 32)) && tumit1_in_signal_handler();
}

/* Creates a stream at the first record of a thread, of levels that overwrite or of the others.
 * NULL when it cannot. */
TUMIT1_SLOW(struct tumit1_thread *tumit1_attach(struct tumit1_cursor *c_, int overwrites_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_thread *t_ = NULL;
    const uint64_t tid_ = (uint64_t)syscall(SYS_gettid);
    unsigned char tags_[TUMIT1_STREAM_BYTES];
    int unknown_ = 0;
    tumit1_default_name(c_, tid_);
    if (!tumit1_is_open()) {
        (void)tumit1_begin_session();
    }
    pthread_mutex_lock(&tumit1_state_lock);
    if (s_->state_ == TUMIT1_OPEN) {
        t_ = s_->spare_;
        if (t_ != NULL) {
            s_->spare_ = t_->next_;
        } else {
            t_ = (struct tumit1_thread *)tumit1_arena_copy(NULL, sizeof *t_);
        }
    }
    if (t_ != NULL) {
        memset(t_, 0, sizeof *t_);
        t_->stream_ = s_->streams_++;
        t_->tid_ = tid_;
        t_->overwrites_ = overwrites_;
        memcpy(t_->name_, c_->name_, sizeof t_->name_);
        memcpy(t_->label_, c_->label_, sizeof t_->label_);
        t_->cursor_ = c_;
        t_->next_ = s_->live_;
        s_->live_ = t_;
        s_->alive_++;
        unknown_ = s_->pool_.live_ && !tumit1_log(TUMIT1_KIND_STREAM, t_->stream_, tags_,
                                                  (size_t)(tumit1_put_stream(tags_, t_) - tags_));
        *(overwrites_ ? &c_->flight_thread_ : &c_->thread_) = t_;
        tumit1_move_early_drops(t_);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    if (unknown_) {
        /* names without room in the live file are written before their first use */
        tumit1_save_names();
    }
    if (t_ != NULL && s_->keyed_) {
        pthread_setspecific(s_->key_, c_);
    }
    return t_;
}

/* At the end: if only signal handlers tried to record, reports these records in the run. Must be
 * called after tumit1_begin_work(). */
void tumit1_report_early_drops(void) {
    struct tumit1_session *s_ = &tumit1_session;
    if (__atomic_load_n(&s_->state_, __ATOMIC_ACQUIRE) == TUMIT1_CLOSED &&
        __atomic_load_n(&s_->early_drops_.count_, __ATOMIC_RELAXED) != 0 &&
        !tumit1_in_signal_handler()) {
        (void)tumit1_attach(&tumit1_cursor, 0);
    }
}

/* Counts a record of a signal handler that runs while its thread is inside a record. */
TUMIT1_SLOW(void tumit1_count_nested_drop(size_t bytes_)) {
    struct tumit1_thread *t_ =
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
TUMIT1_SLOW(struct tumit1_slot *tumit1_exchange_slot(struct tumit1_thread *t_, size_t bytes_,
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
TUMIT1_SLOW(struct tumit1_slot *tumit1_wait_for_slot(struct tumit1_thread *t_, uint32_t id_,
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
TUMIT1_SLOW(struct tumit1_slot *tumit1_find_room(struct tumit1_thread *t_, uint32_t id_,
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
    const uint32_t before_ = tumit1_begin_work();
    const int overwrites_ = (id_ & TUMIT1_OVERWRITES) != 0;
    struct tumit1_thread *t_ = overwrites_ ? c_->flight_thread_ : c_->thread_;
    uint64_t cut_ = 0;
    room_.slot_ = NULL;
    room_.now_ = now_;
    if (c_->waited_until_ != 0 && !overwrites_) {
        tumit1_self_trace_record_wait();
    }
    if (t_ == NULL && tumit1_must_not_attach()) {
        tumit1_count_early_drop(bytes_);
        tumit1_end_work(before_);
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
    tumit1_end_work(before_);
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
    p_ = tumit1_put_u16(p_, TUMIT1_ID_WIDE_DATE);
    p_ = tumit1_put_u32(p_, 0);
    tumit1_put_u64(p_, now_);
    return TUMIT1_WIDE_BYTES;
}

/* Gives a stream the name and the label of the calling thread. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_update_stream_name(struct tumit1_thread *t_)) {
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

