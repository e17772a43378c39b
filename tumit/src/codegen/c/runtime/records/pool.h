/* ---- The slots: a fixed number, in the live file or in private memory. The caller holds the
 * lock, unless stated otherwise ---- */

TUMIT1_HOT unsigned char *tumit1_payload(struct tumit1_slot *slot_) {
    return (unsigned char *)slot_ + TUMIT1_SLOT_HEAD;
}

/* Number of bytes of a slot, or of a part of one. */
TUMIT1_SLOW(uint32_t tumit1_slot_bytes(const struct tumit1_slot *slot_)) {
    return (size_t)((const unsigned char *)slot_ - tumit1_slots()) % TUMIT1_SLOT == 0 ? TUMIT1_SLOT
                                                                                      : TUMIT1_PART;
}

/* Number of bytes for the log of names in a live file: for all current names, and for those that
 * a program usually adds. */
TUMIT1_SLOW(size_t tumit1_log_bytes(size_t of_slots_)) {
    const struct tumit1_provider *provider_ = tumit1_session.providers_;
    const struct tumit1_names *tables_[2];
    size_t bytes_ = of_slots_ / 16;
    uint32_t i_, j_;
    bytes_ = bytes_ < TUMIT1_MIN_LOG_BYTES   ? TUMIT1_MIN_LOG_BYTES
             : bytes_ > TUMIT1_MAX_LOG_BYTES ? TUMIT1_MAX_LOG_BYTES
                                             : bytes_;
    for (; provider_ != NULL; provider_ = provider_->next_) {
        bytes_ += provider_->is_copy_ ? 0 : provider_->schema_raw_ + 24u;
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

/* Number of bytes of the lists of slots. */
TUMIT1_SLOW(size_t tumit1_lists_bytes(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    return (3 * (size_t)pool_->max_parts_ + pool_->max_slots_) * sizeof *pool_->free_ +
           pool_->max_slots_;
}

/* Reserves addresses for slots of `bytes_` bytes in all. A forked child uses them again. Returns
 * 0 or an errno. */
TUMIT1_SLOW(int tumit1_pool_reserve(uint64_t bytes_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    unsigned char *lists_;
    if (pool_->map_ != NULL) {
        return 0;
    }
    bytes_ = bytes_ / TUMIT1_SLOT;
    pool_->max_slots_ = bytes_ < 2 ? 2u : bytes_ > 0xFFFFFu ? 0xFFFFFu : (uint32_t)bytes_;
    pool_->slots_offset_ =
        (TUMIT1_LIVE_LOG + tumit1_log_bytes((size_t)pool_->max_slots_ * TUMIT1_SLOT) + 4095u) &
        ~(size_t)4095u;
    pool_->max_parts_ = pool_->max_slots_ * (TUMIT1_PARTS_PER_SLOT - 1);
    lists_ = (unsigned char *)tumit1_map_memory(tumit1_lists_bytes());
    pool_->map_ = lists_ == NULL ? NULL : (unsigned char *)tumit1_map_memory(tumit1_pool_bytes());
    if (pool_->map_ == NULL) {
        if (lists_ != NULL) {
            munmap(lists_, tumit1_lists_bytes());
        }
        return ENOMEM;
    }
    pool_->free_ = (struct tumit1_slot **)(void *)lists_;
    pool_->queue_ = pool_->free_ + pool_->max_slots_;
    pool_->kept_slots_ = pool_->queue_ + pool_->max_parts_;
    pool_->parts_ = pool_->kept_slots_ + pool_->max_parts_;
    pool_->taken_parts_ = (unsigned char *)(pool_->parts_ + pool_->max_parts_);
    return 0;
}

/* Releases the reservation, and reserves `bytes_`. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_pool_resize(uint64_t bytes_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    munmap(pool_->map_, tumit1_pool_bytes());
    munmap(pool_->free_, tumit1_lists_bytes());
    pool_->map_ = NULL;
    return tumit1_pool_reserve(bytes_);
}

/* Marks all slots as free. */
TUMIT1_SLOW(void tumit1_pool_clear(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    pool_->ready_ = pool_->slots_ = pool_->max_slots_;
    pool_->fresh_ = pool_->free_count_ = pool_->queue_first_ = pool_->queue_count_ =
        pool_->parts_count_ = 0;
    memset(pool_->taken_parts_, 0, pool_->max_slots_);
    __atomic_store_n(&pool_->available_parts_, 0u, __ATOMIC_RELAXED);
    pool_->kept_first_ = pool_->kept_count_ = 0;
    pool_->kept_bytes_ = 0;
    pool_->being_written_ = NULL;
    pool_->log_full_ = pool_->refilled_ = 0;
    __atomic_store_n(&pool_->available_, pool_->slots_, __ATOMIC_RELAXED);
}

/* Reserves room on the disk for more slots. A full disk ends the growth. */
TUMIT1_SLOW(void tumit1_pool_grow(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t count_ = pool_->slots_ - pool_->ready_;
    count_ = count_ < TUMIT1_CHUNK ? count_ : TUMIT1_CHUNK;
    if (count_ != 0 && pool_->live_ &&
        tumit1_ensure_open(&pool_->file_, &pool_->identity_, tumit1_session.live_path_) != 0) {
        count_ = 0;
    }
    if (count_ != 0 &&
        posix_fallocate(pool_->file_,
                        (off_t)(pool_->slots_offset_ + (size_t)pool_->ready_ * TUMIT1_SLOT),
                        (off_t)((size_t)count_ * TUMIT1_SLOT)) != 0) {
        __atomic_store_n(&pool_->available_, pool_->available_ - (pool_->slots_ - pool_->ready_),
                         __ATOMIC_RELAXED);
        pool_->slots_ = pool_->ready_;
        count_ = 0;
    }
    pool_->ready_ += count_;
}

/* Takes a slot that was never used. NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_unused_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->fresh_ == pool_->ready_) {
        tumit1_pool_grow();
    }
    if (pool_->fresh_ == pool_->ready_) {
        return NULL;
    }
    return (struct tumit1_slot *)(void *)(tumit1_slots() + (size_t)pool_->fresh_++ * TUMIT1_SLOT);
}

/* Joins the parts of a slot when all of them are free. */
TUMIT1_SLOW(void tumit1_join_parts(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint32_t i_, count_ = 0;
    for (i_ = 0; i_ < pool_->parts_count_; i_++) {
        struct tumit1_slot *part_ = pool_->parts_[i_];
        const size_t offset_ = (size_t)((unsigned char *)part_ - tumit1_slots());
        if (pool_->taken_parts_[offset_ / TUMIT1_SLOT] != 0) {
            pool_->parts_[count_++] = part_;
        } else if (offset_ % TUMIT1_SLOT == TUMIT1_PART) {
            struct tumit1_slot *whole_ =
                (struct tumit1_slot *)(void *)((unsigned char *)part_ - TUMIT1_PART);
            __atomic_store_n(&whole_->taken_, 0u, __ATOMIC_RELEASE);
            pool_->free_[pool_->free_count_++] = whole_;
        }
    }
    __atomic_store_n(&pool_->available_,
                     pool_->available_ +
                         (pool_->parts_count_ - count_) / (TUMIT1_PARTS_PER_SLOT - 1),
                     __ATOMIC_RELAXED);
    pool_->parts_count_ = count_;
    __atomic_store_n(&pool_->available_parts_, count_, __ATOMIC_RELAXED);
}

/* Takes a free slot. NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_ =
        pool_->free_count_ != 0 ? pool_->free_[--pool_->free_count_] : tumit1_take_unused_slot();
    if (slot_ == NULL && pool_->parts_count_ != 0) {
        tumit1_join_parts();
        slot_ = pool_->free_count_ != 0 ? pool_->free_[--pool_->free_count_] : NULL;
    }
    if (slot_ != NULL) {
        __atomic_store_n(&pool_->available_, pool_->available_ - 1, __ATOMIC_RELAXED);
    }
    return slot_;
}

/* Takes a part of a divided slot. If necessary it divides a slot. NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_part(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    if (pool_->parts_count_ == 0) {
        uint32_t part_;
        struct tumit1_slot *whole_ = tumit1_take_slot();
        if (whole_ == NULL) {
            return NULL;
        }
        for (part_ = TUMIT1_PARTS_PER_SLOT - 1; part_ != 0; part_--) {
            slot_ = (struct tumit1_slot *)(void *)((unsigned char *)whole_ +
                                                   (size_t)part_ * TUMIT1_PART);
            /* there was no head at this position */
            __atomic_store_n(&slot_->taken_, 0u, __ATOMIC_RELAXED);
            pool_->parts_[pool_->parts_count_++] = slot_;
        }
        __atomic_store_n(&whole_->taken_, TUMIT1_TAKEN_DIVIDED, __ATOMIC_RELEASE);
    }
    slot_ = pool_->parts_[--pool_->parts_count_];
    __atomic_store_n(&pool_->available_parts_, pool_->parts_count_, __ATOMIC_RELAXED);
    pool_->taken_parts_[(size_t)((unsigned char *)slot_ - tumit1_slots()) / TUMIT1_SLOT]++;
    return slot_;
}

/* Takes a slot for a record of `bytes_` bytes. With many threads, and for the first records of a
 * thread while others have many slots, it takes a part of a slot, because most threads record
 * little. NULL when there is none. */
TUMIT1_SLOW(struct tumit1_slot *tumit1_take_slot_or_part(const struct tumit1_stream *t_,
                                                         size_t bytes_)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    if (bytes_ > TUMIT1_MAX_PART_RECORD) {
        return tumit1_take_slot();
    }
    if (tumit1_session.alive_ > pool_->slots_ / 2 ||
        (!t_->had_slot_ && pool_->available_ < pool_->slots_ - pool_->slots_ / 4)) {
        return tumit1_take_part();
    }
    slot_ = tumit1_take_slot();
    return slot_ == NULL ? tumit1_take_part() : slot_;
}

/* Writes to each page of an unused slot, so that its next owner has no page faults: neither the
 * first one, nor those after the system has written back pages of a file. Called without the
 * lock. */
TUMIT1_SLOW(void tumit1_prefault_slot(struct tumit1_slot *slot_)) {
    const size_t bytes_ = tumit1_slot_bytes(slot_);
    size_t offset_;
    __atomic_store_n(&slot_->taken_, 0u, __ATOMIC_RELEASE);
    for (offset_ = 0; offset_ < bytes_; offset_ += 4096) {
        *((volatile unsigned char *)slot_ + offset_) = 0;
    }
}

/* Returns a slot after tumit1_prefault_slot(). Its records are in the file, or counted as
 * dropped. */
TUMIT1_SLOW(void tumit1_return_slot(struct tumit1_slot *slot_)) {
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

/* Queues a full slot for writing. */
TUMIT1_SLOW(void tumit1_queue_slot(struct tumit1_stream *t_, struct tumit1_slot *slot_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const uint32_t place_ = pool_->queue_first_ + pool_->queue_count_++;
    pool_->queue_[place_ < pool_->max_parts_ ? place_ : place_ - pool_->max_parts_] = slot_;
    t_->queued_++;
}

/* Prepares one more slot when few are prepared, with lower priority than recently used slots.
 * Programs that record little thus touch little memory. Programs that fill slots get enough
 * until the next run of the writer thread. Only the writer thread calls it, without the lock.
 * Returns whether it prepared a slot. */
TUMIT1_SLOW(int tumit1_warm_slot(void)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    struct tumit1_slot *slot_;
    uint32_t wanted_;
    pthread_mutex_lock(&tumit1_state_lock);
    wanted_ = pool_->refilled_ && pool_->slots_ / 4 > TUMIT1_WARM_SLOTS ? pool_->slots_ / 4
                                                                        : TUMIT1_WARM_SLOTS;
    slot_ = pool_->free_count_ < wanted_ ? tumit1_take_unused_slot() : NULL;
    if (slot_ != NULL) {
        __atomic_store_n(&pool_->available_, pool_->available_ - 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    if (slot_ == NULL) {
        return 0;
    }
    tumit1_prefault_slot(slot_);
    pthread_mutex_lock(&tumit1_state_lock);
    memmove(pool_->free_ + 1, pool_->free_, pool_->free_count_ * sizeof *pool_->free_);
    pool_->free_[0] = slot_;
    pool_->free_count_++;
    __atomic_store_n(&pool_->available_, pool_->available_ + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&tumit1_state_lock);
    return 1;
}

/* Whether the writer thread must wake up at once, because slots are scarce. This is so rare that
 * a thread which fills slots does not make a system call for each. */
TUMIT1_SLOW(int tumit1_is_urgent(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    const uint32_t few_ = pool_->slots_ / 4;
    return pool_->queue_count_ >= (few_ < 1 ? 1 : few_) || pool_->available_ <= few_;
}
