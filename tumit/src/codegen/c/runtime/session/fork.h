/* ---- Fork: a child is a separate process with its own file ---- */

/* Runs before fork. No other thread may hold the locks when the child gets its copy of them. A
 * signal handler during the fork finds its thread inside the recorder, and waits for no lock. A
 * fork inside the recorder does not touch the locks. */
TUMIT1_SLOW(void tumit1_before_fork(void)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    uint32_t flags_ = 0;
    if (c_->locked_) {
        c_->inner_forks_++;
        return;
    }
#ifdef TUMIT1_BROKEN_HANDLER_DETECTION
    c_->locked_ = 1;
#else
    flags_ = tumit1_begin_work();
#endif
    tumit1_lock_writer();
    pthread_mutex_lock(&tumit1_state_lock);
    c_->before_fork_ = flags_;
}
TUMIT1_SLOW(void tumit1_after_fork_in_parent(void)) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    if (c_->inner_forks_ != 0) {
        c_->inner_forks_--;
        return;
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    pthread_mutex_unlock(&tumit1_writer_lock);
    tumit1_end_work(c_->before_fork_);
}

/* Runs in the child. The parent writes the contents of the slots, so the child must not share
 * their memory. The memory keeps its addresses, because a record that a signal handler
 * interrupted may still write to it. The first record of the child opens its own files. */
TUMIT1_SLOW(void tumit1_begin_child(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_provider *provider_;
    if (s_->state_ == TUMIT1_OPEN) {
        memcpy(s_->parent_, s_->id_, sizeof s_->parent_);
        s_->has_parent_ = 1;
    }
    if (s_->state_ != TUMIT1_CLOSED && tumit1_writer.file_ >= 0) {
        tumit1_close_if_same(&tumit1_writer.file_, &tumit1_writer.identity_);
    }
    if (s_->pool_.live_) {
        __atomic_store_n(&s_->pool_.live_, 0, __ATOMIC_RELEASE);
        tumit1_close_if_same(&s_->pool_.file_, &s_->pool_.identity_);
        (void)tumit1_map_private(s_->pool_.map_, tumit1_pool_bytes());
    }
    while (s_->live_ != NULL) {
        struct tumit1_stream *t_ = s_->live_;
        s_->live_ = t_->next_;
        t_->next_ = s_->spare_;
        s_->spare_ = t_;
    }
    if (s_->state_ != TUMIT1_ENDED) {
        s_->state_ = TUMIT1_CLOSED;
    }
    s_->alive_ = s_->streams_ = s_->waiting_ = s_->sleeps_ = s_->stuck_ = 0;
    s_->truncated_ = s_->repeated_ = s_->dropped_ = s_->early_drops_.count_ =
        s_->early_drops_.bytes_ = 0;
    s_->warned_ = s_->has_writer_thread_ = s_->stop_ = s_->join_ = s_->main_exited_ =
        s_->prints_folder_ = 0;
    tumit1_writer.written_ = tumit1_writer.blocks_ = tumit1_writer.latest_ = 0;
    tumit1_writer.file_ = s_->pool_.file_ = -1;
    tumit1_writer.ending_ = tumit1_writer.has_unwritten_ = tumit1_writer.keeps_live_file_ = 0;
    s_->strings_.written_ = s_->sites_.written_ = 0;
    s_->strings_.logged_ = s_->sites_.logged_ = 0;
    for (provider_ = s_->providers_; provider_ != NULL; provider_ = provider_->next_) {
        provider_->written_ = 0;
    }
    c_->thread_ = c_->flight_thread_ = NULL;
    c_->waited_until_ = 0;
    c_->slot_ = c_->other_ = c_->flight_slot_ = &tumit1_full_slot;
    c_->room_ = c_->flight_room_ = 0;
    memset(c_->name_, 0, sizeof c_->name_);
    memset(c_->label_, 0, sizeof c_->label_);
    if (s_->keyed_) {
        pthread_setspecific(s_->key_, NULL);
    }
}

/* Resets locks that other threads held, because these threads do not exist in the child. If a
 * signal handler forked inside the recorder, the interrupted work continues in the child. */
TUMIT1_SLOW(void tumit1_after_fork_in_child(void)) {
    pthread_mutex_t fresh_ = PTHREAD_MUTEX_INITIALIZER;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    tumit1_state_lock = fresh_;
    tumit1_writer_lock = fresh_;
    if (tumit1_session.guard_ != NULL) {
        __atomic_store_n(tumit1_session.guard_, 1u, __ATOMIC_RELAXED);
    }
    tumit1_begin_child();
    if (c_->inner_forks_ != 0) {
        c_->inner_forks_--;
        c_->forked_ = 1;
        tumit1_session.arena_left_ = 0; /* the interrupted code may be changing it */
    } else {
        tumit1_end_work(c_->before_fork_);
    }
}

/* Creates a page that is zero in a child, independent of the way in which the child is created.
 * Does nothing when the system does not support it. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_make_guard(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t *guard_ = s_->guard_ == NULL ? (uint32_t *)tumit1_map_memory(4096) : NULL;
    if (guard_ != NULL && madvise(guard_, 4096, TUMIT1_WIPE_ON_FORK) == 0) {
        s_->guard_ = guard_;
    } else if (guard_ != NULL) {
        munmap(guard_, 4096);
    }
    if (s_->guard_ != NULL) {
        __atomic_store_n(s_->guard_, 1u, __ATOMIC_RELAXED);
    }
}

/* Runs in a child that was created without the C library: the same work as after a fork. Its
 * records until here are in the slot of the parent. So such a child must call exec before it
 * records. */
void tumit1_begin_unannounced_child(void) {
    pthread_mutex_t fresh_ = PTHREAD_MUTEX_INITIALIZER;
    __atomic_store_n(tumit1_session.guard_, 1u, __ATOMIC_RELAXED);
    tumit1_state_lock = fresh_;
    tumit1_writer_lock = fresh_;
    tumit1_begin_child();
}

/* Runs after the interrupted work is done, and cleans up after it. The work may have begun the
 * session of the child. */
void tumit1_complete_child(void) {
    tumit1_cursor.forked_ = 0;
    tumit1_session.waiting_ = 0;
    if (tumit1_session.state_ != TUMIT1_OPEN) {
        tumit1_begin_child();
    }
}
