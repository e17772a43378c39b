/* ---- The writer thread: it writes the slots that threads hand over, and prepares new ones.
 * About ten times a second it checks for external requests to switch levels. Without it
 * (TUMIT_NO_THREAD, or when no thread can be created) the recording threads write ---- */

#define TUMIT1_POLL_NANOS 100000000

/* Constants of Linux. Their headers use names that programs may define as macros. */
#define TUMIT1_WAKE_CALL 129
#define TUMIT1_SET_MASK 2     /* SIG_SETMASK */
/* except 32 and 33, with which the C library changes the user */
#define TUMIT1_ALL_SIGNALS 0xFFFFFFFE7FFFFFFFu

TUMIT1_SLOW(void tumit1_futex(uint32_t *word_, int operation_, uint32_t value_,
                              const struct timespec *timeout_)) {
    (void)syscall(SYS_futex, word_, operation_, value_, timeout_, NULL, 0);
}

/* Sleeps for a while, or until a thread wakes the writer thread. A wake-up after it read `seen_`
 * also ends the sleep, even if it comes before the sleep. */
TUMIT1_SLOW(void tumit1_sleep(uint32_t seen_, long nanos_)) {
    struct timespec timeout_;
    timeout_.tv_sec = 0;
    timeout_.tv_nsec = nanos_;
    __atomic_store_n(&tumit1_session.sleeps_, 1u, __ATOMIC_SEQ_CST);
    tumit1_futex(&tumit1_session.wake_, TUMIT1_SLEEP_CALL, seen_, &timeout_);
    __atomic_store_n(&tumit1_session.sleeps_, 0u, __ATOMIC_SEQ_CST);
}

/* To be called after a slot is handed over. Wakes the writer thread if it sleeps and `urgent_`
 * is set. Without a writer thread, does its work here. Returns whether the calling thread did
 * one of these. It must hold no lock. */
TUMIT1_SLOW(int tumit1_wake_writer(int urgent_)) {
    struct tumit1_session *s_ = &tumit1_session;
    int called_ = 0;
    if (__atomic_load_n(&s_->has_writer_thread_, __ATOMIC_ACQUIRE)) {
        if (urgent_) {
            __atomic_fetch_add(&s_->wake_, 1u, __ATOMIC_SEQ_CST);
            called_ = __atomic_load_n(&s_->sleeps_, __ATOMIC_SEQ_CST) != 0;
        }
        if (called_) {
            tumit1_futex(&s_->wake_, TUMIT1_WAKE_CALL, 1, NULL);
        }
        return called_;
    }
    tumit1_lock_writer();
    /* After the end, the contents of a kept live file stay there. */
    while (__atomic_load_n(&s_->state_, __ATOMIC_ACQUIRE) == TUMIT1_OPEN &&
           tumit1_write_full_slot()) {
        called_ = 1;
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
    return called_;
}

/* Whether all threads but the writer thread have ended. It must then not keep the process alive. */
TUMIT1_SLOW(int tumit1_is_last_thread(void)) {
    char text_[1024];
    const char *p_;
    long number_ = 0;
    int i_;
    if (tumit1_read_line("/proc/self/stat", text_, sizeof text_) == 0) {
        return 0;
    }
    /* after the name: the state, and 17 fields later the number of threads */
    p_ = strrchr(text_, ')');
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
TUMIT1_SLOW(void tumit1_run_periodic_work(uint32_t round_)) {
    tumit1_lock_writer();
    if (tumit1_is_open() && round_ % 10 == 0) {
        tumit1_restore_file();
        tumit1_write_current_slots(TUMIT1_QUIET);
    }
    if (tumit1_is_open()) {
        tumit1_check_clocks(round_ == 1 || round_ % 10 == 0);
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
}

/* Ends the writer thread if it is the only remaining thread. As the last thread, it runs the
 * code for the end of the program. */
TUMIT1_SLOW(int tumit1_exit_as_last_thread(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (!tumit1_is_last_thread()) {
        return 0;
    }
    pthread_mutex_lock(&tumit1_state_lock);
    if (s_->has_writer_thread_) {
        __atomic_store_n(&s_->has_writer_thread_, 0, __ATOMIC_RELEASE);
        pthread_detach(s_->writer_thread_);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    tumit1_self_trace_end_stream();
    tumit1_end_work(0);
    return 1;
}

TUMIT1_SLOW(void *tumit1_run_writer_thread(void *unused_)) {
    struct tumit1_session *s_ = &tumit1_session;
    uint64_t next_ = tumit1_nanos(CLOCK_MONOTONIC) + TUMIT1_POLL_NANOS;
    uint32_t round_ = 0, slots_written_ = 0;
    (void)tumit1_begin_work();
    (void)prctl(PR_SET_NAME, "tumit-writer");
    if (s_->mask_bytes_ > 0) {
        (void)syscall(SYS_sched_setaffinity, 0, (size_t)s_->mask_bytes_, s_->mask_);
    }
    while (!__atomic_load_n(&s_->stop_, __ATOMIC_ACQUIRE)) {
        uint32_t seen_ = __atomic_load_n(&s_->wake_, __ATOMIC_SEQ_CST);
        uint64_t now_;
        int has_written_, traced_, turns_;
#ifdef TUMIT1_HELD /* in tests: until a thread waits */
        if (__atomic_exchange_n(&s_->wanted_, 0u, __ATOMIC_SEQ_CST) == 0) {
            tumit1_sleep(seen_, TUMIT1_POLL_NANOS / 10);
            continue;
        }
#endif
        traced_ = tumit1_self_trace_begin_write();
        tumit1_lock_writer();
        /* after the end, records stay in a kept live file */
        has_written_ = tumit1_is_open() && tumit1_write_full_slot();
        pthread_mutex_unlock(&tumit1_writer_lock);
        if (traced_) {
            tumit1_self_trace_end_write();
        }
        for (turns_ = 0; turns_ < 1000 && __atomic_load_n(&s_->waiting_, __ATOMIC_RELAXED) != 0;
             turns_++) {
            sched_yield(); /* threads that wait for the file have priority */
        }
        while (tumit1_warm_slot()) {
        }
        now_ = tumit1_nanos(CLOCK_MONOTONIC);
        if (now_ >= next_) {
            next_ = now_ + TUMIT1_POLL_NANOS;
            round_++;
            tumit1_serve_request();
            tumit1_run_deferred();
            tumit1_run_periodic_work(round_);
            if (tumit1_exit_as_last_thread()) {
                return unused_;
            }
        }
        slots_written_ += has_written_ ? 1u : 0u;
        if (!has_written_) {
            /* The first thread has ended. The process ends when the writer thread is its only
             * thread. */
            int main_exited_now_ = __atomic_load_n(&s_->main_exited_, __ATOMIC_RELAXED);
            if (main_exited_now_ && tumit1_exit_as_last_thread()) {
                return unused_;
            }
            tumit1_sleep(seen_, main_exited_now_ ? TUMIT1_POLL_NANOS / 50
                                : slots_written_ >= 2  ? TUMIT1_POLL_NANOS / 10
                                                 : TUMIT1_POLL_NANOS);
            slots_written_ = 0;
        }
    }
    tumit1_self_trace_end_stream();
    return unused_;
}

/* Allocates memory for packing by columns, once. Without it blocks are packed by LZ4. A child
 * uses the memory of its parent. Must be called with the writer's lock and before other threads
 * record, so that all blocks are packed in the same way. */
TUMIT1_SLOW(void tumit1_allocate_packer(void)) {
#ifndef TUMIT_NO_THREAD
    if (tumit1_writer.packer_ == NULL) {
        tumit1_writer.packer_ =
            (struct tumit1_packer *)tumit1_map_memory(sizeof *tumit1_writer.packer_);
    }
#endif
}

/* Used when no thread can be created. Recording threads then write, and should not spend time on
 * columns. */
TUMIT1_SLOW(void tumit1_free_packer(void)) {
    tumit1_lock_writer();
    if (tumit1_writer.packer_ != NULL) {
        munmap(tumit1_writer.packer_, sizeof *tumit1_writer.packer_);
        tumit1_writer.packer_ = NULL;
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
}

/* Starts the writer thread. All signals are blocked in it, because they belong to the program. */
TUMIT1_SLOW(void tumit1_start_writer_thread(void)) {
#ifndef TUMIT_NO_THREAD
    struct tumit1_session *s_ = &tumit1_session;
    uint64_t signals_ = TUMIT1_ALL_SIGNALS, old_mask_ = 0;
    pthread_attr_t attributes_;
    int error_ = pthread_attr_init(&attributes_);
    pthread_t id_;
    if (error_ != 0) {
        tumit1_free_packer();
        return;
    }
    (void)syscall(SYS_rt_sigprocmask, TUMIT1_SET_MASK, &signals_, &old_mask_, sizeof signals_);
    (void)pthread_attr_setstacksize(&attributes_, 262144);
    error_ = pthread_create(&id_, &attributes_, tumit1_run_writer_thread, NULL);
    if (error_ == EINVAL) { /* thread-local variables need a larger stack */
        error_ = pthread_create(&id_, NULL, tumit1_run_writer_thread, NULL);
    }
    (void)syscall(SYS_rt_sigprocmask, TUMIT1_SET_MASK, &old_mask_, NULL, sizeof old_mask_);
    pthread_attr_destroy(&attributes_);
    if (error_ != 0) {
        tumit1_free_packer();
        return;
    }
    pthread_mutex_lock(&tumit1_state_lock);
    s_->writer_thread_ = id_;
    __atomic_store_n(&s_->has_writer_thread_, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&tumit1_state_lock);
#endif
}

/* Requests the end of the writer thread. It ends while this thread writes the rest of the trace.
 * The caller must hold no lock. */
TUMIT1_SLOW(void tumit1_stop_writer_thread(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    pthread_mutex_lock(&tumit1_state_lock);
    s_->join_ |= s_->has_writer_thread_;
    __atomic_store_n(&s_->has_writer_thread_, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&s_->stop_, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&tumit1_state_lock);
    if (s_->join_) {
        __atomic_fetch_add(&s_->wake_, 1u, __ATOMIC_SEQ_CST);
        tumit1_futex(&s_->wake_, TUMIT1_WAKE_CALL, 1, NULL);
    }
}

/* Waits for the end of the writer thread, because its code may be unmapped next. The caller must
 * hold no lock. */
TUMIT1_SLOW(void tumit1_join_writer_thread(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    if (s_->join_) {
        s_->join_ = 0;
        (void)pthread_join(s_->writer_thread_, NULL);
    }
}
