/* ---- Birth and death of a thread's stream, and the slow path of its records ---- */

/* Takes the thread's slot away and queues it for the helper. Under the lock. */
TUMIT1_SLOW(void tumit1_hand_over(struct tumit1_thread *t_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = t_->slot_;
    uint32_t at_;
    if (slot_ == NULL) {
        return;
    }
    t_->slot_ = NULL;
    t_->last_ = slot_->last_;
    slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    if (slot_->flushed_ >> 48 == 0) {
        slot_->sequence_ = t_->sequence_;
    }
    t_->sequence_ += slot_->state_ != t_->cut_;
    at_ = pool_->queue_first_ + pool_->queue_count_++;
    pool_->queue_[at_ < pool_->room_ ? at_ : at_ - pool_->room_] = slot_;
    t_->queued_++;
}

/* A slot for the thread, first in it the account of what is missing; NULL when none is free. Under the lock. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_new_slot(struct tumit1_thread *t_, uint64_t now_)) {
    struct tumit1_slot *slot_ = tumit1_take_slot();
    unsigned char *start_;
    if (slot_ == NULL) {
        return NULL;
    }
    if (t_->last_ > now_) {
        now_ = t_->last_; /* dates of a stream never run backwards */
    }
    start_ = tumit1_payload(slot_);
    slot_->first_ = slot_->flushed_last_ = now_;
    __atomic_store_n(&slot_->last_, now_, __ATOMIC_RELAXED);
    slot_->flushed_ = t_->cut_ = 0;
    slot_->sequence_ = t_->sequence_;
    slot_->stream_ = t_->stream_;
    __atomic_store_n(&slot_->state_, (uint64_t)(tumit1_put_lost(t_, start_) - start_), __ATOMIC_RELEASE);
    slot_->dropped_ = __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    __atomic_store_n(&slot_->taken_, 1u, __ATOMIC_RELEASE);
    t_->slot_ = slot_;
    return slot_;
}

/* A thread ends: its last records go to the file. Records of later destructors begin a new stream. */
TUMIT1_SLOW(void tumit1_retire(void *thread_)) {
    struct tumit1_thread *t_ = (struct tumit1_thread *)thread_;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    uint32_t before_;
    if (t_ == NULL || c_->thread_ != t_ || c_->busy_) {
        return;
    }
    before_ = tumit1_lock_all();
    tumit1_hand_over(t_);
    t_->cursor_ = NULL;
    c_->thread_ = NULL;
    c_->slot_ = &tumit1_full;
    if (t_->tid_ == (uint64_t)getpid()) {
        tumit1_session.main_gone_ = 1;
    }
    pthread_mutex_unlock(&tumit1_lock);
    tumit1_wake_helper();
    tumit1_idle(before_);
}

/* With the first record of a process. Under the lock. */
TUMIT1_SLOW(void tumit1_install_hooks(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (!s_->keyed_) {
        s_->keyed_ = pthread_key_create(&s_->key_, tumit1_retire) == 0;
    }
}

/* Names a thread that has not named itself. */
TUMIT1_SLOW(void tumit1_default_name(struct tumit1_cursor *c_, uint64_t tid_)) {
    char program_[48];
    if (c_->name_[0] != '\0') {
        return;
    }
    tumit1_read_line("/proc/self/comm", program_, sizeof program_);
    if (tid_ == (uint64_t)getpid()) {
        memcpy(c_->name_, "main", 5);
    } else if (prctl(PR_GET_NAME, c_->name_) != 0 || strcmp(c_->name_, program_) == 0) {
        c_->name_[0] = '\0'; /* the program's name is no name of a thread */
    }
}

/* Opens the file at the first record of the process. */
TUMIT1_SLOW(void tumit1_start(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    int opened_ = 0;
    tumit1_lock_sink();
    pthread_mutex_lock(&tumit1_lock);
    if (s_->state_ == TUMIT1_CLOSED) {
        tumit1_open();
        opened_ = s_->state_ == TUMIT1_OPEN;
        if (opened_) {
            (void)tumit1_append_definitions(); /* what comes later explains itself even if the program is killed */
            tumit1_install_hooks();
        }
    }
    pthread_mutex_unlock(&tumit1_lock);
    pthread_mutex_unlock(&tumit1_sink_lock);
    if (opened_) {
        tumit1_start_helper();
    }
}

/* The first record of a thread: makes a stream. NULL when there is none; that is counted. */
TUMIT1_SLOW(struct tumit1_thread *tumit1_attach(struct tumit1_cursor *c_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_thread *t_ = NULL;
    const uint64_t tid_ = (uint64_t)syscall(SYS_gettid);
    unsigned char tags_[128];
    tumit1_default_name(c_, tid_);
    if (!tumit1_is_open()) {
        tumit1_start();
    }
    pthread_mutex_lock(&tumit1_lock);
    if (s_->state_ == TUMIT1_OPEN) {
        t_ = s_->spare_;
        if (t_ != NULL) {
            s_->spare_ = t_->next_;
        } else {
            t_ = (struct tumit1_thread *)tumit1_keep(NULL, sizeof *t_);
        }
    }
    if (t_ != NULL) {
        memset(t_, 0, sizeof *t_);
        t_->stream_ = s_->streams_++;
        t_->tid_ = tid_;
        memcpy(t_->name_, c_->name_, sizeof t_->name_);
        t_->cursor_ = c_;
        t_->next_ = s_->live_;
        s_->live_ = t_;
        if (s_->pool_.live_) {
            (void)tumit1_log(TUMIT1_KIND_STREAM, t_->stream_, tags_, (size_t)(tumit1_put_stream(tags_, t_) - tags_));
        }
        c_->thread_ = t_;
    }
    pthread_mutex_unlock(&tumit1_lock);
    if (t_ != NULL && s_->keyed_) {
        pthread_setspecific(s_->key_, t_);
    }
    return t_;
}

/* A signal handler records while its thread is recording: counted. */
void tumit1_count_nested(size_t bytes_) {
    struct tumit1_thread *t_ = tumit1_cursor.thread_;
    if (t_ != NULL) {
        uint64_t now_ = tumit1_clock_kind != 0 ? tumit1_now_slow() : 0;
        tumit1_lose(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_NESTED);
    } else {
        tumit1_lose_stray();
    }
}

/* A slot for a thread whose own is full, or that has none. NULL when none is free. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_exchange(struct tumit1_thread *t_, uint64_t now_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_slot *slot_ = NULL;
    int handed_;
    if (t_->slot_ == NULL && __atomic_load_n(&s_->pool_.available_, __ATOMIC_RELAXED) == 0) {
        return NULL; /* threads that must drop do not queue for the lock */
    }
    pthread_mutex_lock(&tumit1_lock);
    handed_ = t_->slot_ != NULL;
    if (s_->state_ == TUMIT1_OPEN) {
        tumit1_hand_over(t_);
        slot_ = tumit1_new_slot(t_, now_);
    }
    pthread_mutex_unlock(&tumit1_lock);
    if (handed_) {
        tumit1_wake_helper();
    }
    return slot_;
}

/* A record that finds no room: hands over the slot and takes another. Returns 0 when it is dropped, which is counted. */
int tumit1_make_room(size_t bytes_, uint64_t now_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_slot *slot_ = NULL;
    uint32_t before_ = tumit1_busy();
    struct tumit1_thread *t_ = c_->thread_;
    if (t_ == NULL) {
        t_ = tumit1_attach(c_);
        now_ = tumit1_now_slow(); /* behind what the start took; the record, begun before, gets this date */
    }
    if (t_ == NULL || __atomic_load_n(&tumit1_session.state_, __ATOMIC_ACQUIRE) != TUMIT1_OPEN) {
        tumit1_lose_stray();
        c_->slot_ = &tumit1_full;
    } else if (bytes_ > TUMIT1_MAX_RECORD) {
        tumit1_lose(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_OVERSIZE);
    } else {
        slot_ = tumit1_exchange(t_, now_);
        c_->slot_ = slot_ != NULL ? slot_ : &tumit1_full;
        if (slot_ == NULL) {
            tumit1_lose(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_NO_BUFFER);
        }
    }
    tumit1_idle(before_);
    return slot_ != NULL;
}

/* A date that a delta cannot tell: writes a wide date, and returns its size; 0 for a clock that
 * ran backwards: the last date is taken. */
uint32_t tumit1_wide_date(unsigned char *p_, uint64_t last_, uint64_t now_) {
    if (now_ < last_) {
        return 0;
    }
    p_ = tumit1_put_u16(p_, TUMIT1_ID_WIDE_DATE);
    p_ = tumit1_put_u32(p_, 0);
    tumit1_put_u64(p_, now_);
    return TUMIT1_WIDE_BYTES;
}

void tumit1_set_thread_name(const char *name_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    size_t length_ = strlen(name_);
    uint32_t busy_ = tumit1_lock_all();
    if (length_ > sizeof c_->name_ - 1) {
        length_ = sizeof c_->name_ - 1;
        while (length_ > 0 && ((unsigned char)name_[length_] & 0xC0u) == 0x80u) {
            length_--; /* not inside a character */
        }
    }
    memcpy(c_->name_, name_, length_);
    c_->name_[length_] = '\0';
    if (c_->thread_ != NULL) {
        memcpy(c_->thread_->name_, c_->name_, sizeof c_->thread_->name_);
        c_->thread_->described_ = 0; /* told again before its next block */
        if (tumit1_session.pool_.live_) {
            unsigned char tags_[128];
            (void)tumit1_log(TUMIT1_KIND_STREAM, c_->thread_->stream_, tags_,
                             (size_t)(tumit1_put_stream(tags_, c_->thread_) - tags_));
        }
    }
    tumit1_unlock(busy_);
}

