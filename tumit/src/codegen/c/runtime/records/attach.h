/* ---- The streams of a thread: their slots, creation and end ---- */

/* Takes the slot from the thread. Queues it for the writer thread, or keeps it until it is
 * overwritten. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_hand_over(struct tumit1_stream *t_)) {
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
TUMIT1_SLOW(struct tumit1_slot *tumit1_new_slot(struct tumit1_stream *t_, size_t bytes_,
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
TUMIT1_SLOW(void tumit1_store_thread_end(struct tumit1_stream *t_, uint64_t end_)) {
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
void tumit1_detach(struct tumit1_stream *t_, uint64_t now_) {
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
    uint32_t flags_;
    int urgent_;
    if (cursor_ != c_ || c_->locked_) {
        return;
    }
    c_->busy_ = 0; /* the thread was cancelled inside a record, which is then discarded */
    flags_ = tumit1_begin_work();
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
    tumit1_end_work(flags_);
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
    uint32_t flags_ = tumit1_lock_state();
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
    tumit1_end_work(flags_);
    return error_;
}

void tumit1_set_rank(int rank_, int ranks_) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t flags_ = tumit1_lock_state();
    if (s_->state_ == TUMIT1_CLOSED) {
        s_->rank_ = rank_;
        s_->ranks_ = ranks_;
        s_->rank_known_ = 1;
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    tumit1_end_work(flags_);
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
TUMIT1_SLOW(struct tumit1_stream *tumit1_attach(struct tumit1_cursor *c_, int overwrites_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_stream *t_ = NULL;
    const uint64_t tid_ = (uint64_t)syscall(SYS_gettid);
    unsigned char tags_[TUMIT1_STREAM_BYTES];
    int has_unlogged_name_ = 0;
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
            t_ = (struct tumit1_stream *)tumit1_arena_copy(NULL, sizeof *t_);
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
        has_unlogged_name_ = s_->pool_.live_ && !tumit1_log(TUMIT1_KIND_STREAM, t_->stream_, tags_,
                                                  (size_t)(tumit1_put_stream(tags_, t_) - tags_));
        *(overwrites_ ? &c_->flight_thread_ : &c_->thread_) = t_;
        tumit1_move_early_drops(t_);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    if (has_unlogged_name_) {
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
