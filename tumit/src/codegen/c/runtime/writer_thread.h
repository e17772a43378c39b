/* ---- The writer thread: it writes the slots that threads hand over, and prepares new ones.
 * About ten times a second it checks for external requests to switch levels. Without it
 * (TUMIT_NO_THREAD, or when no thread can be created) the recording threads write ---- */

#define TUMIT1_POLL_NANOS 100000000

/* Constants of Linux. Their headers use names that programs may define as macros. */
#define TUMIT1_WAKE_CALL 129
#define TUMIT1_SET_MASK 2     /* SIG_SETMASK */
#define TUMIT1_ALL_SIGNALS 0xFFFFFFFE7FFFFFFFu /* except 32 and 33, with which the C library changes the user */

TUMIT1_SLOW(void tumit1_futex(uint32_t *word_, int operation_, uint32_t value_, const struct timespec *patience_)) {
    (void)syscall(SYS_futex, word_, operation_, value_, patience_, NULL, 0);
}

/* Sleeps for a while, or until a thread wakes the writer thread. A wake-up after it read `seen_`
 * also ends the sleep, even if it comes before the sleep. */
TUMIT1_SLOW(void tumit1_sleep(uint32_t seen_, long nanos_)) {
    struct timespec patience_;
    patience_.tv_sec = 0;
    patience_.tv_nsec = nanos_;
    __atomic_store_n(&tumit1_session.sleeps_, 1u, __ATOMIC_SEQ_CST);
    tumit1_futex(&tumit1_session.wake_, TUMIT1_SLEEP_CALL, seen_, &patience_);
    __atomic_store_n(&tumit1_session.sleeps_, 0u, __ATOMIC_SEQ_CST);
}

/* To be called after a slot is handed over. Wakes the writer thread if it sleeps and `urgent_`
 * is set. Without a writer thread, does its work here. Returns whether the calling thread did
 * one of these. It must hold no lock. */
TUMIT1_SLOW(int tumit1_call_helper(int urgent_)) {
    struct tumit1_session *s_ = &tumit1_session;
    int called_ = 0;
    if (__atomic_load_n(&s_->helper_, __ATOMIC_ACQUIRE)) {
        if (urgent_) {
            __atomic_fetch_add(&s_->wake_, 1u, __ATOMIC_SEQ_CST);
            called_ = __atomic_load_n(&s_->sleeps_, __ATOMIC_SEQ_CST) != 0;
        }
        if (called_) {
            tumit1_futex(&s_->wake_, TUMIT1_WAKE_CALL, 1, NULL);
        }
        return called_;
    }
    tumit1_lock_sink();
    /* After the end, the contents of a kept live file stay there. */
    while (__atomic_load_n(&s_->state_, __ATOMIC_ACQUIRE) == TUMIT1_OPEN && tumit1_write_next()) {
        called_ = 1;
    }
    pthread_mutex_unlock(&tumit1_sink_lock);
    return called_;
}

/* Whether all threads but the writer thread have ended. It must then not keep the process alive. */
TUMIT1_SLOW(int tumit1_is_alone(void)) {
    char text_[1024];
    const char *p_;
    long number_ = 0;
    int i_;
    if (tumit1_read_line("/proc/self/stat", text_, sizeof text_) == 0) {
        return 0;
    }
    p_ = strrchr(text_, ')'); /* after the name: the state, and 17 fields later the number of threads */
    if (p_ == NULL || strlen(p_) < 3 || p_[2] != 'Z') {
        return 0; /* the first thread has not ended */
    }
    for (i_ = 0; i_ < 18 && p_ != NULL; i_++) {
        p_ = strchr(p_ + 1, ' ');
    }
    number_ = p_ == NULL ? 0 : strtol(p_, NULL, 10);
    return number_ == 2;
}

/* The periodic work of the writer thread. It reads the clocks ten times a second. About once a
 * second it writes the records of quiet threads and a reading of the clocks. The first reading
 * is soon after the start. So a program that is killed in its first second has two readings,
 * which define the rate. */
TUMIT1_SLOW(void tumit1_tick(uint32_t round_)) {
    tumit1_lock_sink();
    if (tumit1_is_open() && round_ % 10 == 0) {
        tumit1_restore();
        tumit1_write_live(TUMIT1_QUIET);
    }
    if (tumit1_is_open()) {
        tumit1_look_at_clocks(round_ == 1 || round_ % 10 == 0);
    }
    pthread_mutex_unlock(&tumit1_sink_lock);
}

/* Ends the writer thread if it is the only remaining thread. As the last thread, it runs the
 * code for the end of the program. */
TUMIT1_SLOW(int tumit1_leave_last(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (!tumit1_is_alone()) {
        return 0;
    }
    pthread_mutex_lock(&tumit1_lock);
    if (s_->helper_) {
        __atomic_store_n(&s_->helper_, 0, __ATOMIC_RELEASE);
        pthread_detach(s_->helper_id_);
    }
    pthread_mutex_unlock(&tumit1_lock);
    tumit1_own_leave();
    tumit1_idle(0);
    return 1;
}

TUMIT1_SLOW(void *tumit1_help(void *unused_)) {
    struct tumit1_session *s_ = &tumit1_session;
    uint64_t next_ = tumit1_nanos(CLOCK_MONOTONIC) + TUMIT1_POLL_NANOS;
    uint32_t round_ = 0, written_ = 0;
    (void)tumit1_busy();
    (void)prctl(PR_SET_NAME, "tumit-helper");
    if (s_->mask_bytes_ > 0) {
        (void)syscall(SYS_sched_setaffinity, 0, (size_t)s_->mask_bytes_, s_->mask_);
    }
    while (!__atomic_load_n(&s_->stop_, __ATOMIC_ACQUIRE)) {
        uint32_t seen_ = __atomic_load_n(&s_->wake_, __ATOMIC_SEQ_CST);
        uint64_t now_;
        int more_, told_, turns_;
#ifdef TUMIT1_HELD /* in tests: until a thread waits */
        if (__atomic_exchange_n(&s_->wanted_, 0u, __ATOMIC_SEQ_CST) == 0) {
            tumit1_sleep(seen_, TUMIT1_POLL_NANOS / 10);
            continue;
        }
#endif
        told_ = tumit1_own_begin_write();
        tumit1_lock_sink();
        more_ = tumit1_is_open() && tumit1_write_next(); /* after the end, records stay in a kept live file */
        pthread_mutex_unlock(&tumit1_sink_lock);
        if (told_) {
            tumit1_own_end_write();
        }
        for (turns_ = 0; turns_ < 1000 && __atomic_load_n(&s_->waiting_, __ATOMIC_RELAXED) != 0; turns_++) {
            sched_yield(); /* threads that wait for the file have priority */
        }
        while (tumit1_warm_slot()) {
        }
        now_ = tumit1_nanos(CLOCK_MONOTONIC);
        if (now_ >= next_) {
            next_ = now_ + TUMIT1_POLL_NANOS;
            round_++;
            tumit1_answer_request();
            tumit1_do_later();
            tumit1_tick(round_);
            if (tumit1_leave_last()) {
                return unused_;
            }
        }
        written_ += more_ ? 1u : 0u;
        if (!more_) {
            /* The first thread has ended. The process ends when the writer thread is its only
             * thread. */
            int gone_ = __atomic_load_n(&s_->main_gone_, __ATOMIC_RELAXED);
            if (gone_ && tumit1_leave_last()) {
                return unused_;
            }
            tumit1_sleep(seen_, gone_ ? TUMIT1_POLL_NANOS / 50 : written_ >= 2 ? TUMIT1_POLL_NANOS / 10 : TUMIT1_POLL_NANOS);
            written_ = 0;
        }
    }
    tumit1_own_leave();
    return unused_;
}

/* Allocates memory for packing by columns, once. Without it blocks are packed by LZ4. A child
 * uses the memory of its parent. Must be called with the sink's lock and before other threads
 * record, so that all blocks are packed in the same way. */
TUMIT1_SLOW(void tumit1_get_packer(void)) {
#ifndef TUMIT_NO_THREAD
    if (tumit1_sink.packer_ == NULL) {
        tumit1_sink.packer_ = (struct tumit1_packer *)tumit1_map(sizeof *tumit1_sink.packer_);
    }
#endif
}

/* Used when no thread can be created. Recording threads then write, and should not spend time on
 * columns. */
TUMIT1_SLOW(void tumit1_drop_packer(void)) {
    tumit1_lock_sink();
    if (tumit1_sink.packer_ != NULL) {
        munmap(tumit1_sink.packer_, sizeof *tumit1_sink.packer_);
        tumit1_sink.packer_ = NULL;
    }
    pthread_mutex_unlock(&tumit1_sink_lock);
}

/* Starts the writer thread. All signals are blocked in it, because they belong to the program. */
TUMIT1_SLOW(void tumit1_start_helper(void)) {
#ifndef TUMIT_NO_THREAD
    struct tumit1_session *s_ = &tumit1_session;
    uint64_t all_ = TUMIT1_ALL_SIGNALS, before_ = 0;
    pthread_attr_t attributes_;
    int error_ = pthread_attr_init(&attributes_);
    pthread_t id_;
    if (error_ != 0) {
        tumit1_drop_packer();
        return;
    }
    (void)syscall(SYS_rt_sigprocmask, TUMIT1_SET_MASK, &all_, &before_, sizeof all_);
    (void)pthread_attr_setstacksize(&attributes_, 262144);
    error_ = pthread_create(&id_, &attributes_, tumit1_help, NULL);
    if (error_ == EINVAL) { /* thread-local variables need a larger stack */
        error_ = pthread_create(&id_, NULL, tumit1_help, NULL);
    }
    (void)syscall(SYS_rt_sigprocmask, TUMIT1_SET_MASK, &before_, NULL, sizeof before_);
    pthread_attr_destroy(&attributes_);
    if (error_ != 0) {
        tumit1_drop_packer();
        return;
    }
    pthread_mutex_lock(&tumit1_lock);
    s_->helper_id_ = id_;
    __atomic_store_n(&s_->helper_, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&tumit1_lock);
#endif
}

/* Requests the end of the writer thread. It ends while this thread writes the rest of the trace.
 * The caller must hold no lock. */
TUMIT1_SLOW(void tumit1_stop_helper(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    pthread_mutex_lock(&tumit1_lock);
    s_->join_ |= s_->helper_;
    __atomic_store_n(&s_->helper_, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&s_->stop_, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&tumit1_lock);
    if (s_->join_) {
        __atomic_fetch_add(&s_->wake_, 1u, __ATOMIC_SEQ_CST);
        tumit1_futex(&s_->wake_, TUMIT1_WAKE_CALL, 1, NULL);
    }
}

/* Waits for the end of the writer thread, because its code may be unmapped next. The caller must
 * hold no lock. */
TUMIT1_SLOW(void tumit1_join_helper(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (s_->join_) {
        s_->join_ = 0;
        (void)pthread_join(s_->helper_id_, NULL);
    }
}
