/* ---- Fork: a child is a process of its own, with a file of its own ---- */

/* Around fork: no other thread may hold the locks when the child gets its copy of them. */
TUMIT1_SLOW(void tumit1_before_fork(void)) {
    if (!tumit1_cursor.locked_) {
        tumit1_lock_sink();
        pthread_mutex_lock(&tumit1_lock);
    }
}
TUMIT1_SLOW(void tumit1_after_fork(void)) {
    if (!tumit1_cursor.locked_) {
        pthread_mutex_unlock(&tumit1_lock);
        pthread_mutex_unlock(&tumit1_sink_lock);
    }
}

/* In the child: what is in the slots is the parent's to write, and their memory must not be the parent's any more: at the
 * same addresses, as a record that a signal handler interrupted may still be written to the end. The child's first record
 * opens a file of its own. */
TUMIT1_SLOW(void tumit1_in_child(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_provider *provider_;
    pthread_mutex_t fresh_ = PTHREAD_MUTEX_INITIALIZER;
    tumit1_lock = fresh_;
    tumit1_sink_lock = fresh_;
    if (s_->state_ == TUMIT1_OPEN) {
        close(tumit1_sink.file_);
        memcpy(s_->parent_, s_->id_, sizeof s_->parent_);
        s_->has_parent_ = 1;
        if (s_->pool_.live_) {
            close(s_->pool_.file_);
            (void)mmap(s_->pool_.map_, TUMIT1_LIVE_FRONT + (size_t)s_->pool_.room_ * TUMIT1_SLOT, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        }
    }
    while (s_->live_ != NULL) {
        struct tumit1_thread *t_ = s_->live_;
        s_->live_ = t_->next_;
        t_->next_ = s_->spare_;
        s_->spare_ = t_;
    }
    if (s_->state_ != TUMIT1_ENDED) {
        s_->state_ = TUMIT1_CLOSED;
    }
    __atomic_store_n(&s_->pool_.live_, 0, __ATOMIC_RELEASE);
    s_->streams_ = s_->waiting_ = s_->sleeps_ = 0;
    s_->dropped_ = 0;
    s_->warned_ = s_->helper_ = s_->stop_ = s_->main_gone_ = 0;
    tumit1_sink.written_ = tumit1_sink.blocks_ = 0;
    tumit1_sink.file_ = -1;
    tumit1_sink.ending_ = 0;
    s_->strings_.written_ = s_->sites_.written_ = 0;
    s_->strings_.logged_ = s_->sites_.logged_ = 0;
    for (provider_ = s_->providers_; provider_ != NULL; provider_ = provider_->next_) {
        provider_->written_ = 0;
    }
    c_->thread_ = NULL;
    c_->slot_ = &tumit1_full;
    memset(c_->name_, 0, sizeof c_->name_);
    if (s_->keyed_) {
        pthread_setspecific(s_->key_, NULL);
    }
}
