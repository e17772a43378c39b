/* ---- The slots: a fixed number, in the live file or in private memory. Under the lock, unless said otherwise ---- */

TUMIT1_HOT unsigned char *tumit1_payload(struct tumit1_slot *slot_) { return (unsigned char *)slot_ + TUMIT1_SLOT_HEAD; }

/* Bytes of a slot, or of a part of one. */
TUMIT1_SLOW(uint32_t tumit1_slot_bytes(const struct tumit1_slot *slot_)) {
    return (size_t)((const unsigned char *)slot_ - tumit1_slots()) % TUMIT1_SLOT == 0 ? TUMIT1_SLOT : TUMIT1_PART;
}

/* Bytes for the log of names in a live file: what is known now fits, and what a program usually adds. */
TUMIT1_SLOW(size_t tumit1_log_bytes(size_t of_slots_)) {
    const struct tumit1_provider *provider_ = tumit1_session.providers_;
    const struct tumit1_names *tables_[2];
    size_t bytes_ = of_slots_ / 16;
    uint32_t i_, j_;
    bytes_ = bytes_ < TUMIT1_LOG_LEAST ? TUMIT1_LOG_LEAST : bytes_ > TUMIT1_LOG_MOST ? TUMIT1_LOG_MOST : bytes_;
    for (; provider_ != NULL; provider_ = provider_->next_) {
        bytes_ += provider_->again_ ? 0 : provider_->schema_raw_ + 24u;
    }
    tables_[0] = &tumit1_session.strings_;
    tables_[1] = &tumit1_session.sites_;
    for (i_ = 0; i_ < 2; i_++) {
        for (j_ = 0; j_ < tables_[i_]->count_; j_++) {
            bytes_ += tables_[i_]->entries_[j_].length_ + 36u;
        }
    }
    return bytes_;
}

/* What the lists of the slots take. */
TUMIT1_SLOW(size_t tumit1_lists_bytes(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    return (3 * (size_t)pool_->places_ + pool_->room_) * sizeof *pool_->free_ + pool_->room_;
}

/* Room for slots of so many bytes: addresses, which a forked child uses again. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_pool_reserve(uint64_t bytes_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    unsigned char *lists_;
    if (pool_->map_ != NULL) {
        return 0;
    }
    bytes_ = bytes_ / TUMIT1_SLOT;
    pool_->room_ = bytes_ < 2 ? 2u : bytes_ > 0xFFFFFu ? 0xFFFFFu : (uint32_t)bytes_;
    pool_->front_ = (TUMIT1_LIVE_LOG + tumit1_log_bytes((size_t)pool_->room_ * TUMIT1_SLOT) + 4095u) & ~(size_t)4095u;
    pool_->places_ = pool_->room_ * (TUMIT1_PIECES - 1);
    lists_ = (unsigned char *)tumit1_map(tumit1_lists_bytes());
    pool_->map_ = lists_ == NULL ? NULL : (unsigned char *)tumit1_map(tumit1_pool_bytes());
    if (pool_->map_ == NULL) {
        if (lists_ != NULL) {
            munmap(lists_, tumit1_lists_bytes());
        }
        return ENOMEM;
    }
    pool_->free_ = (struct tumit1_slot **)(void *)lists_;
    pool_->queue_ = pool_->free_ + pool_->room_;
    pool_->ring_ = pool_->queue_ + pool_->places_;
    pool_->parts_ = pool_->ring_ + pool_->places_;
    pool_->taken_parts_ = (unsigned char *)(pool_->parts_ + pool_->places_);
    return 0;
}

/* Gives back what was reserved, and reserves so much. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_pool_again(uint64_t bytes_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    munmap(pool_->map_, tumit1_pool_bytes());
    munmap(pool_->free_, tumit1_lists_bytes());
    pool_->map_ = NULL;
    return tumit1_pool_reserve(bytes_);
}

/* All slots are free. */
TUMIT1_SLOW(void tumit1_pool_clear(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    pool_->ready_ = pool_->slots_ = pool_->room_;
    pool_->fresh_ = pool_->free_count_ = pool_->queue_first_ = pool_->queue_count_ = pool_->parts_count_ = 0;
    memset(pool_->taken_parts_, 0, pool_->room_);
    __atomic_store_n(&pool_->available_parts_, 0u, __ATOMIC_RELAXED);
    pool_->ring_first_ = pool_->ring_count_ = 0;
    pool_->ring_bytes_ = 0;
    pool_->on_its_way_ = NULL;
    pool_->log_full_ = pool_->refilled_ = 0;
    __atomic_store_n(&pool_->available_, pool_->slots_, __ATOMIC_RELAXED);
}

/* Gets room on the disk for more slots; a disk without any ends the growth. */
TUMIT1_SLOW(void tumit1_pool_grow(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t more_ = pool_->slots_ - pool_->ready_;
    more_ = more_ < TUMIT1_CHUNK ? more_ : TUMIT1_CHUNK;
    if (more_ != 0 && pool_->live_ && tumit1_reach(&pool_->file_, &pool_->who_, tumit1_session.live_path_) != 0) {
        more_ = 0;
    }
    if (more_ != 0 && posix_fallocate(pool_->file_, (off_t)(pool_->front_ + (size_t)pool_->ready_ * TUMIT1_SLOT),
                                      (off_t)((size_t)more_ * TUMIT1_SLOT)) != 0) {
        __atomic_store_n(&pool_->available_, pool_->available_ - (pool_->slots_ - pool_->ready_), __ATOMIC_RELAXED);
        pool_->slots_ = pool_->ready_;
        more_ = 0;
    }
    pool_->ready_ += more_;
}

/* A slot that was never touched; NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_fresh(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->fresh_ == pool_->ready_) {
        tumit1_pool_grow();
    }
    if (pool_->fresh_ == pool_->ready_) {
        return NULL;
    }
    return (struct tumit1_slot *)(void *)(tumit1_slots() + (size_t)pool_->fresh_++ * TUMIT1_SLOT);
}

/* Makes slots of those whose parts are all free. */
TUMIT1_SLOW(void tumit1_join_parts(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t i_, kept_ = 0;
    for (i_ = 0; i_ < pool_->parts_count_; i_++) {
        struct tumit1_slot *part_ = pool_->parts_[i_];
        const size_t at_ = (size_t)((unsigned char *)part_ - tumit1_slots());
        if (pool_->taken_parts_[at_ / TUMIT1_SLOT] != 0) {
            pool_->parts_[kept_++] = part_;
        } else if (at_ % TUMIT1_SLOT == TUMIT1_PART) {
            struct tumit1_slot *whole_ = (struct tumit1_slot *)(void *)((unsigned char *)part_ - TUMIT1_PART);
            __atomic_store_n(&whole_->taken_, 0u, __ATOMIC_RELEASE);
            pool_->free_[pool_->free_count_++] = whole_;
        }
    }
    __atomic_store_n(&pool_->available_, pool_->available_ + (pool_->parts_count_ - kept_) / (TUMIT1_PIECES - 1), __ATOMIC_RELAXED);
    pool_->parts_count_ = kept_;
    __atomic_store_n(&pool_->available_parts_, kept_, __ATOMIC_RELAXED);
}

/* Takes a free slot; NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ = pool_->free_count_ != 0 ? pool_->free_[--pool_->free_count_] : tumit1_take_fresh();
    if (slot_ == NULL && pool_->parts_count_ != 0) {
        tumit1_join_parts();
        slot_ = pool_->free_count_ != 0 ? pool_->free_[--pool_->free_count_] : NULL;
    }
    if (slot_ != NULL) {
        __atomic_store_n(&pool_->available_, pool_->available_ - 1, __ATOMIC_RELAXED);
    }
    return slot_;
}

/* Takes a part of a slot that is divided, or that now is; NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_part(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    if (pool_->parts_count_ == 0) {
        uint32_t piece_;
        struct tumit1_slot *whole_ = tumit1_take_slot();
        if (whole_ == NULL) {
            return NULL;
        }
        for (piece_ = TUMIT1_PIECES - 1; piece_ != 0; piece_--) {
            slot_ = (struct tumit1_slot *)(void *)((unsigned char *)whole_ + (size_t)piece_ * TUMIT1_PART);
            __atomic_store_n(&slot_->taken_, 0u, __ATOMIC_RELAXED); /* what stood there was no head */
            pool_->parts_[pool_->parts_count_++] = slot_;
        }
        __atomic_store_n(&whole_->taken_, TUMIT1_TAKEN_DIVIDED, __ATOMIC_RELEASE);
    }
    slot_ = pool_->parts_[--pool_->parts_count_];
    __atomic_store_n(&pool_->available_parts_, pool_->parts_count_, __ATOMIC_RELAXED);
    pool_->taken_parts_[(size_t)((unsigned char *)slot_ - tumit1_slots()) / TUMIT1_SLOT]++;
    return slot_;
}

/* A slot for a record of so many bytes, or, with many threads, and for the first records of one while others have many slots, a part of one:
 * most threads are short. NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_some(const struct tumit1_thread *t_, size_t bytes_)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    if (bytes_ > TUMIT1_MAX_PART_RECORD) {
        return tumit1_take_slot();
    }
    if (tumit1_session.alive_ > pool_->slots_ / 2 || (!t_->fed_ && pool_->available_ < pool_->slots_ - pool_->slots_ / 4)) {
        return tumit1_take_part();
    }
    slot_ = tumit1_take_slot();
    return slot_ == NULL ? tumit1_take_part() : slot_;
}

/* Writes to each page of a slot that nobody uses any more, so that the thread that gets it meets no page fault: neither the
 * first one, nor those after the system has written pages of a file back. Without the lock. */
TUMIT1_SLOW(void tumit1_make_ready(struct tumit1_slot *slot_)) {
    const size_t bytes_ = tumit1_slot_bytes(slot_);
    size_t at_;
    __atomic_store_n(&slot_->taken_, 0u, __ATOMIC_RELEASE);
    for (at_ = 0; at_ < bytes_; at_ += 4096) {
        *((volatile unsigned char *)slot_ + at_) = 0;
    }
}

/* Gives a slot back that was made ready: what it held is in the file, or counted as lost. */
TUMIT1_SLOW(void tumit1_give_slot(struct tumit1_slot *slot_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    pool_->refilled_ = 1;
    __atomic_store_n(&tumit1_session.stuck_, 0u, __ATOMIC_RELAXED);
    if (tumit1_slot_bytes(slot_) != TUMIT1_SLOT) {
        pool_->taken_parts_[(size_t)((unsigned char *)slot_ - tumit1_slots()) / TUMIT1_SLOT]--;
        pool_->parts_[pool_->parts_count_++] = slot_;
        __atomic_store_n(&pool_->available_parts_, pool_->parts_count_, __ATOMIC_RELAXED);
        return;
    }
    pool_->free_[pool_->free_count_++] = slot_;
    __atomic_store_n(&pool_->available_, pool_->available_ + 1, __ATOMIC_RELAXED);
}

/* A full slot waits to be written. */
TUMIT1_SLOW(void tumit1_queue_slot(struct tumit1_thread *t_, struct tumit1_slot *slot_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const uint32_t at_ = pool_->queue_first_ + pool_->queue_count_++;
    pool_->queue_[at_ < pool_->places_ ? at_ : at_ - pool_->places_] = slot_;
    t_->queued_++;
}

/* Gets one more slot ready when few are, behind those that are warmer. Programs that record little touch little; those that
 * fill slots get as many as they may need before the helper comes back. The helper's work, without the lock. Returns whether it did. */
TUMIT1_SLOW(int tumit1_warm_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    uint32_t wanted_;
    pthread_mutex_lock(&tumit1_lock);
    wanted_ = pool_->refilled_ && pool_->slots_ / 4 > TUMIT1_WARM ? pool_->slots_ / 4 : TUMIT1_WARM;
    slot_ = pool_->free_count_ < wanted_ ? tumit1_take_fresh() : NULL;
    if (slot_ != NULL) {
        __atomic_store_n(&pool_->available_, pool_->available_ - 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&tumit1_lock);
    if (slot_ == NULL) {
        return 0;
    }
    tumit1_make_ready(slot_);
    pthread_mutex_lock(&tumit1_lock);
    memmove(pool_->free_ + 1, pool_->free_, pool_->free_count_ * sizeof *pool_->free_);
    pool_->free_[0] = slot_;
    pool_->free_count_++;
    __atomic_store_n(&pool_->available_, pool_->available_ + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&tumit1_lock);
    return 1;
}

/* Whether the helper should look at once, not only when it does anyway: slots are getting scarce. Seldom enough that a thread
 * that fills slots makes no system call for it. */
TUMIT1_SLOW(int tumit1_is_urgent(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const uint32_t few_ = pool_->slots_ / 4;
    return pool_->queue_count_ >= (few_ < 1 ? 1 : few_) || pool_->available_ <= few_;
}
