/* ---- The locks of the recorder, and the protection of their holders ---- */

/* There are two locks. The writer's lock protects the file, and is held while blocks are
 * compressed and written. The other lock protects all other state, and is never held for long.
 * Code that needs both takes the writer's lock first. */

/* Blocks or unblocks the signal with which the C library cancels threads asynchronously. Such a
 * signal can be pending from before cancellation was disabled, and glibc's handler (2.36) does
 * not check again. The thread would then end while it holds a lock. sigprocmask() cannot block
 * this signal. */
#if defined __GLIBC__ && defined SYS_rt_sigprocmask
TUMIT1_HOT void tumit1_hold_cancel(int how_) {
    /* SIGCANCEL, the first signal that is hidden from programs */
    const uint64_t cancel_ = (uint64_t)1 << 31;
    (void)syscall(SYS_rt_sigprocmask, how_, &cancel_, NULL, sizeof cancel_);
}
#else
#define tumit1_hold_cancel(how_) ((void)(how_))
#endif

/* The state of a thread before tumit1_begin_work(). */
#define TUMIT1_WAS_BUSY 1u
#define TUMIT1_WAS_LOCKED 2u
#define TUMIT1_WAS_CANCELLABLE 4u
#define TUMIT1_WAS_ASYNCHRONOUS 8u

/* Must precede the locks in calls that are not records. A record in a signal handler then sees
 * `busy_`, and does not wait for a lock that its own thread holds. The thread cannot be
 * cancelled either. Returns the argument for tumit1_end_work(). */
TUMIT1_SLOW(uint32_t tumit1_begin_work(void)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    uint32_t flags_ = (c_->busy_ != 0) * TUMIT1_WAS_BUSY | c_->locked_ * TUMIT1_WAS_LOCKED;
    const uint32_t *guard_ = tumit1_session.guard_;
    int cancel_ = 0, type_ = PTHREAD_CANCEL_DEFERRED;
    if (!c_->locked_) {
        c_->errno_ = errno;
        if (guard_ != NULL && __atomic_load_n(guard_, __ATOMIC_RELAXED) == 0) {
            tumit1_begin_unannounced_child();
        }
    }
    __atomic_store_n(&c_->busy_, TUMIT1_BUSY, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c_->locked_ = 1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_);
    if (cancel_ != PTHREAD_CANCEL_DISABLE) {
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
        flags_ |= TUMIT1_WAS_CANCELLABLE;
    }
    if (type_ == PTHREAD_CANCEL_ASYNCHRONOUS) {
        tumit1_hold_cancel(SIG_BLOCK);
        flags_ |= TUMIT1_WAS_ASYNCHRONOUS;
    }
    return flags_;
}
TUMIT1_SLOW(void tumit1_end_work(uint32_t flags_)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    const int outermost_ = (flags_ & TUMIT1_WAS_LOCKED) == 0;
    if (c_->forked_ && outermost_) {
        tumit1_complete_child();
    }
    c_->locked_ = flags_ / TUMIT1_WAS_LOCKED & 1u;
    __atomic_store_n(&c_->busy_, (flags_ & TUMIT1_WAS_BUSY) != 0 ? TUMIT1_BUSY : 0u,
                     __ATOMIC_RELEASE);
    if ((flags_ & TUMIT1_WAS_ASYNCHRONOUS) != 0) {
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
        tumit1_hold_cancel(SIG_UNBLOCK);
    }
    if (outermost_) {
        errno = c_->errno_;
    }
    if ((flags_ & TUMIT1_WAS_CANCELLABLE) != 0) {
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); /* may not return */
    }
}

/* Takes the lock of all state except the file, in calls that are not records. Returns the
 * argument for tumit1_unlock_state(). */
TUMIT1_SLOW(uint32_t tumit1_lock_state(void)) {
    uint32_t flags_ = tumit1_begin_work();
    pthread_mutex_lock(&tumit1_state_lock);
    return flags_;
}
TUMIT1_SLOW(void tumit1_unlock_state(uint32_t flags_)) {
    pthread_mutex_unlock(&tumit1_state_lock);
    tumit1_end_work(flags_);
}

/* Takes the writer's lock, after tumit1_begin_work(). The writer thread gives precedence to threads
 * that wait for it. */
TUMIT1_SLOW(void tumit1_lock_writer(void)) {
    __atomic_fetch_add(&tumit1_session.waiting_, 1u, __ATOMIC_RELAXED);
    pthread_mutex_lock(&tumit1_writer_lock);
    __atomic_fetch_sub(&tumit1_session.waiting_, 1u, __ATOMIC_RELAXED);
}

TUMIT1_SLOW(int tumit1_is_open(void)) {
    return __atomic_load_n(&tumit1_session.state_, __ATOMIC_ACQUIRE) == TUMIT1_OPEN;
}
