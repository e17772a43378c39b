/* ---- Fork: a child is a process of its own, with a file of its own ---- */

/* Around fork: no other thread may hold the lock when the child gets its copy of it. */
TUMIT1_SLOW(void tumit1_before_fork(void)) {
    if (!tumit1_cursor.busy_) {
        pthread_mutex_lock(&tumit1_lock);
    }
}
TUMIT1_SLOW(void tumit1_after_fork(void)) {
    if (!tumit1_cursor.busy_) {
        pthread_mutex_unlock(&tumit1_lock);
    }
}

/* In the child: what is in the buffers is the parent's to write. The child's first record opens a file of its own. */
TUMIT1_SLOW(void tumit1_in_child(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_provider *provider_;
    pthread_mutex_t fresh_ = PTHREAD_MUTEX_INITIALIZER;
    tumit1_lock = fresh_;
    if (s_->state_ == TUMIT1_OPEN) {
        close(s_->file_);
        memcpy(s_->parent_, s_->id_, sizeof s_->parent_);
        s_->has_parent_ = 1;
    }
    while (s_->live_ != NULL) {
        struct tumit1_thread *t_ = s_->live_;
        s_->live_ = t_->next_;
        t_->next_ = s_->spare_;
        s_->spare_ = t_;
    }
    s_->state_ = TUMIT1_CLOSED;
    s_->streams_ = s_->threads_ = 0;
    s_->written_ = s_->dropped_ = 0;
    s_->warned_ = 0;
    s_->strings_.written_ = s_->sites_.written_ = 0;
    for (provider_ = s_->providers_; provider_ != NULL; provider_ = provider_->next_) {
        provider_->written_ = 0;
    }
    memset(c_, 0, sizeof *c_);
    if (s_->keyed_) {
        pthread_setspecific(s_->key_, NULL);
    }
}
