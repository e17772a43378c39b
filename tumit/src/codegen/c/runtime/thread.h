/* ---- Birth and death of a thread's buffer, and the slow path of its records ---- */

/* Makes `c_` write from the start of the thread's block again; first the account of what is missing. Under the lock. */
TUMIT1_SLOW(void tumit1_restart(struct tumit1_thread *t_, struct tumit1_cursor *c_)) {
    uint64_t now_ = tumit1_now_slow();
    unsigned char *p_ = t_->start_;
    if (t_->ticks_ > now_) {
        now_ = t_->ticks_; /* dates of a stream never run backwards */
    }
    t_->done_ = p_;
    t_->ticks_ = now_;
    c_->last_ = now_;
    if (t_->lost_.count_ != 0) {
        p_ = tumit1_put_lost(t_, p_);
    }
    c_->end_ = t_->start_ + t_->size_ - TUMIT1_WIDE_BYTES;
    __atomic_store_n(&c_->at_, p_, __ATOMIC_RELEASE);
}

/* Gives the buffer back. Under the lock. */
TUMIT1_SLOW(void tumit1_release(struct tumit1_thread *t_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_thread **link_ = &s_->live_;
    while (*link_ != NULL && *link_ != t_) {
        link_ = &(*link_)->next_;
    }
    if (*link_ == t_) {
        *link_ = t_->next_;
        s_->threads_--;
    }
    s_->dropped_ += t_->dropped_;
    t_->next_ = s_->spare_;
    s_->spare_ = t_;
}

/* A thread ends: its last records go to the file. Records of later destructors begin a new stream. */
TUMIT1_SLOW(void tumit1_retire(void *thread_)) {
    struct tumit1_thread *t_ = (struct tumit1_thread *)thread_;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    uint32_t busy_;
    if (t_ == NULL || c_->thread_ != t_ || c_->busy_) {
        return;
    }
    busy_ = tumit1_lock_all();
    tumit1_seal(t_, 1);
    tumit1_seal_lost(t_);
    tumit1_release(t_);
    c_->at_ = c_->end_ = NULL;
    c_->thread_ = NULL;
    tumit1_unlock(busy_);
}

/* With the first record of a process. */
TUMIT1_SLOW(void tumit1_install_hooks(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (!s_->hooks_) {
        s_->hooks_ = pthread_atfork(tumit1_before_fork, tumit1_after_fork, tumit1_in_child) == 0;
    }
    if (!s_->keyed_) {
        s_->keyed_ = pthread_key_create(&s_->key_, tumit1_retire) == 0;
    }
}

/* A buffer of the size that the number of threads allows: a spare one, or new memory. Under the lock. */
TUMIT1_SLOW(struct tumit1_thread *tumit1_new_buffer(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t size_ = s_->threads_ < TUMIT1_MANY_THREADS ? TUMIT1_BLOCK : TUMIT1_SMALL_BLOCK;
    struct tumit1_thread *t_ = s_->spare_;
    unsigned char *memory_;
    if (t_ != NULL) {
        s_->spare_ = t_->next_;
        memory_ = t_->start_;
        size_ = t_->size_;
    } else {
        size_t head_ = (sizeof *t_ + 63u) & ~(size_t)63u;
        if (s_->threads_ >= TUMIT1_MAX_THREADS) {
            return NULL;
        }
        t_ = (struct tumit1_thread *)tumit1_map(head_ + 2 * (size_t)size_ + TUMIT1_HEADER_BYTES + 64u);
        if (t_ == NULL) {
            return NULL;
        }
        memory_ = (unsigned char *)t_ + head_;
    }
    memset(t_, 0, sizeof *t_);
    t_->start_ = memory_;
    t_->size_ = size_;
    t_->packed_ = memory_ + size_;
    return t_;
}

/* The first record of a thread: opens the file if need be, and makes a stream. Under the lock. */
TUMIT1_SLOW(struct tumit1_thread *tumit1_attach(struct tumit1_cursor *c_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_thread *t_;
    if (s_->state_ == TUMIT1_CLOSED) {
        tumit1_open();
        if (s_->state_ == TUMIT1_OPEN) {
            (void)tumit1_append_schemas(); /* what comes later explains itself even if the program is killed */
        }
    }
    t_ = NULL;
    if (s_->state_ == TUMIT1_OPEN) {
        tumit1_install_hooks();
        t_ = tumit1_new_buffer();
    }
    if (t_ == NULL) {
        s_->dropped_++;
        return NULL;
    }
    t_->stream_ = s_->streams_++;
    t_->tid_ = (uint64_t)syscall(SYS_gettid);
    if (c_->name_[0] == '\0') {
        char program_[48];
        tumit1_read_line("/proc/self/comm", program_, sizeof program_);
        if (t_->tid_ == (uint64_t)getpid()) {
            memcpy(c_->name_, "main", 5);
        } else if (prctl(PR_GET_NAME, c_->name_) != 0 || strcmp(c_->name_, program_) == 0) {
            c_->name_[0] = '\0'; /* the program's name is no name of a thread */
        }
    }
    memcpy(t_->name_, c_->name_, sizeof t_->name_);
    t_->cursor_ = c_;
    t_->next_ = s_->live_;
    s_->live_ = t_;
    s_->threads_++;
    c_->thread_ = t_;
    if (s_->keyed_) {
        pthread_setspecific(s_->key_, t_);
    }
    return t_;
}

/* A signal handler records while its thread is recording: counted. */
void tumit1_count_nested(void) { __atomic_fetch_add(&tumit1_cursor.nested_, 1u, __ATOMIC_RELAXED); }

/* A record that finds no room: seals the block and begins it again. Returns where to write, or NULL (dropped, counted). */
unsigned char *tumit1_make_room(size_t bytes_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_thread *t_ = c_->thread_;
    unsigned char *p_ = NULL;
    pthread_mutex_lock(&tumit1_lock);
    if (t_ == NULL) {
        t_ = tumit1_attach(c_);
        if (t_ != NULL) {
            tumit1_restart(t_, c_);
        }
    } else if (bytes_ <= t_->size_ - TUMIT1_WIDE_BYTES - TUMIT1_LOST_BYTES && tumit1_session.state_ == TUMIT1_OPEN) {
        tumit1_seal(t_, 1);
        tumit1_restart(t_, c_);
    }
    if (t_ != NULL) {
        if (tumit1_session.state_ == TUMIT1_ENDED) {
            tumit1_session.dropped_++;
        } else if ((size_t)(c_->end_ - c_->at_) < bytes_) {
            uint64_t now_ = tumit1_now_slow();
            tumit1_lose(t_, 1, bytes_, now_, now_, TUMIT1_CAUSE_OVERSIZE);
        } else {
            p_ = c_->at_;
        }
    }
    pthread_mutex_unlock(&tumit1_lock);
    return p_;
}

/* A date that a delta cannot tell: writes a wide date, or takes the last date for a clock that ran backwards. */
unsigned char *tumit1_wide_date(unsigned char *p_, uint64_t now_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    if (now_ > c_->last_) {
        p_ = tumit1_put_u16(p_, TUMIT1_ID_WIDE_DATE);
        p_ = tumit1_put_u32(p_, 0);
        p_ = tumit1_put_u64(p_, now_);
        c_->last_ = now_;
    }
    return p_;
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
    }
    tumit1_unlock(busy_);
}

void tumit1_flush(void) {
    if (!tumit1_cursor.busy_) {
        uint32_t busy_ = tumit1_lock_all();
        tumit1_seal_all();
        tumit1_unlock(busy_);
    }
}
