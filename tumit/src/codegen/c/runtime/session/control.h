/* ---- Requests to the recorder, from the program or from `tumit level` ---- */

/* Updates the word of a level. The level is off during a pause, and after recording has ended.
 * The caller holds the lock. */
TUMIT1_SLOW(void tumit1_apply_level(const struct tumit1_provider *provider_, uint32_t which_)) {
    int on_ =
        provider_->on_[which_] && !tumit1_session.paused_ && tumit1_session.state_ != TUMIT1_ENDED;
    const uint32_t how_ =
        provider_->policies_[which_] == TUMIT1_POLICY_OVERWRITE ? TUMIT1_OVERWRITES : TUMIT1_ON;
    __atomic_store_n(provider_->levels_[which_].word_, on_ ? how_ | provider_->base_ : 0u,
                     __ATOMIC_RELAXED);
}

TUMIT1_SLOW(void tumit1_apply_levels(void)) {
    const struct tumit1_provider *provider_;
    uint32_t i_;
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        for (i_ = 0; i_ < provider_->levels_count_; i_++) {
            tumit1_apply_level(provider_, i_);
        }
    }
}

/* Stores a switch for specs that are registered later. */
TUMIT1_SLOW(void tumit1_store_switch(const char *name_, size_t length_, int on_)) {
    struct tumit1_requested_switch **link_ = &tumit1_session.requested_switches_, *switch_;
    for (; (switch_ = *link_) != NULL; link_ = &switch_->next_) {
        if (tumit1_text_is(name_, length_, switch_->name_)) {
            *link_ = switch_->next_; /* moved to the front, because the latest switch applies */
            break;
        }
    }
    if (switch_ == NULL) {
        switch_ = (struct tumit1_requested_switch *)tumit1_arena_copy(NULL, sizeof *switch_);
        if (switch_ == NULL) {
            return;
        }
        switch_->name_ = (char *)tumit1_arena_copy(NULL, length_ + 1);
        if (switch_->name_ == NULL) {
            return;
        }
        memcpy(switch_->name_, name_, length_);
        switch_->name_[length_] = '\0';
    }
    switch_->on_ = on_;
    switch_->next_ = tumit1_session.requested_switches_;
    tumit1_session.requested_switches_ = switch_;
}

/* Switches all levels with this name. Returns their number. The caller holds the lock. */
TUMIT1_SLOW(int tumit1_switch_levels(const char *name_, size_t length_, int on_)) {
    const struct tumit1_provider *provider_;
    uint32_t i_;
    int count_ = 0;
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        for (i_ = 0; i_ < provider_->levels_count_; i_++) {
            if (tumit1_text_matches_level(name_, length_, provider_->name_,
                                          provider_->levels_[i_].name_)) {
                provider_->on_[i_] = on_ != 0;
                tumit1_apply_level(provider_, i_);
                count_++;
            }
        }
    }
    tumit1_store_switch(name_, length_, on_);
    return count_;
}

/* Requests deferred from a signal handler that interrupted the recorder. The writer thread runs
 * them. */
#define TUMIT1_DEFERRED_FLUSH 1u
#define TUMIT1_DEFERRED_DUMP 2u
#define TUMIT1_DEFERRED_PAUSE 4u
#define TUMIT1_DEFERRED_RESUME 8u
TUMIT1_SLOW(void tumit1_defer_request(uint32_t what_)) {
    if (what_ >= TUMIT1_DEFERRED_PAUSE) { /* the latest request replaces earlier ones */
        __atomic_fetch_and(&tumit1_session.deferred_,
                           ~(TUMIT1_DEFERRED_PAUSE | TUMIT1_DEFERRED_RESUME), __ATOMIC_RELAXED);
    }
    __atomic_fetch_or(&tumit1_session.deferred_, what_, __ATOMIC_RELEASE);
}

/* Defers a switch of a level. Of several switches with one name, the last one counts. An entry
 * that is being processed is not changed, because this may be a handler that interrupted the
 * processing. */
TUMIT1_SLOW(void tumit1_defer_switch(const char *name_, int on_)) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t from_, i_;
    for (from_ = 2; from_ != 1 && strlen(name_) < sizeof s_->deferred_levels_[0].name_;
         from_ = from_ == 2 ? 0 : 1) {
        for (i_ = 0; i_ < TUMIT1_DEFERRED_LEVELS; i_++) {
            uint32_t phase_ = from_;
            if (!__atomic_compare_exchange_n(&s_->deferred_levels_[i_].phase_, &phase_, 1u, 0,
                                             __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
                continue;
            }
            if (from_ == 2 && strcmp(s_->deferred_levels_[i_].name_, name_) != 0) {
                __atomic_store_n(&s_->deferred_levels_[i_].phase_, 2u, __ATOMIC_RELEASE);
                continue;
            }
            memcpy(s_->deferred_levels_[i_].name_, name_, strlen(name_) + 1);
            s_->deferred_levels_[i_].on_ = on_;
            s_->deferred_levels_[i_].turn_ =
                __atomic_fetch_add(&s_->deferred_turn_, 1u, __ATOMIC_RELAXED);
            __atomic_store_n(&s_->deferred_levels_[i_].phase_, 2u, __ATOMIC_RELEASE);
            return;
        }
    }
}

int tumit1_set_level(const char *name_, int on_) {
    uint32_t flags_;
    int count_;
    if (name_ == NULL) {
        return 0;
    }
    if (tumit1_cursor.locked_) {
        tumit1_defer_switch(name_, on_); /* in a signal handler that interrupted the recorder */
        return -1;
    }
    tumit1_self_trace_request(name_, strlen(name_), on_);
    flags_ = tumit1_lock_state();
    count_ = tumit1_switch_levels(name_, strlen(name_), on_);
    tumit1_unlock_state(flags_);
    return count_;
}

TUMIT1_SLOW(void tumit1_set_paused(int paused_)) {
    uint32_t flags_;
    if (tumit1_cursor.locked_) {
        tumit1_defer_request(paused_ ? TUMIT1_DEFERRED_PAUSE : TUMIT1_DEFERRED_RESUME);
        return;
    }
    flags_ = tumit1_lock_state();
    tumit1_session.paused_ = paused_;
    tumit1_apply_levels();
    tumit1_unlock_state(flags_);
}
void tumit1_pause(void) { tumit1_set_paused(1); }
void tumit1_resume(void) { tumit1_set_paused(0); }

/* Runs a request from the live file once, `LEVEL=on,LEVEL=off`, and stores the result there.
 * Only the writer thread calls it. */
TUMIT1_SLOW(void tumit1_serve_request(void)) {
    unsigned char *map_ = tumit1_session.pool_.map_;
    struct tumit1_setting setting_;
    const char *p_;
    char text_[1025];
    uint32_t request_, length_, result_ = 0;
    if (!tumit1_session.pool_.live_) {
        return;
    }
    request_ = __atomic_load_n((uint32_t *)(void *)(map_ + 128), __ATOMIC_ACQUIRE);
    if (request_ == __atomic_load_n((uint32_t *)(void *)(map_ + 1280), __ATOMIC_RELAXED)) {
        return;
    }
    length_ = tumit1_get_u32(map_ + 132);
    length_ = length_ < sizeof text_ ? length_ : (uint32_t)sizeof text_ - 1;
    memcpy(text_, map_ + 136, length_);
    text_[length_] = '\0';
    for (p_ = text_; *p_ != '\0';) {
        p_ = tumit1_next_setting(p_, &setting_);
        tumit1_self_trace_request(setting_.name_, setting_.name_bytes_,
                                  tumit1_setting_is_on(&setting_) == 1);
    }
    pthread_mutex_lock(&tumit1_state_lock);
    for (p_ = text_; *p_ != '\0';) {
        int on_;
        p_ = tumit1_next_setting(p_, &setting_);
        on_ = tumit1_setting_is_on(&setting_);
        if (on_ >= 0 && tumit1_switch_levels(setting_.name_, setting_.name_bytes_, on_) == 0) {
            result_ = 1;
        }
        result_ = on_ < 0 && setting_.bytes_ != 0 ? 1 : result_;
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    tumit1_put_u32(map_ + 1284, result_);
    __atomic_store_n((uint32_t *)(void *)(map_ + 1280), request_, __ATOMIC_RELEASE);
}

/* Writes records on request. `which_` is TUMIT1_FLUSH or TUMIT1_DUMP. */
TUMIT1_SLOW(void tumit1_write_requested(int which_)) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t flags_, waiting_;
    if (tumit1_cursor.locked_) {
        tumit1_defer_request(which_ == TUMIT1_DUMP ? TUMIT1_DEFERRED_DUMP : TUMIT1_DEFERRED_FLUSH);
        return;
    }
    flags_ = tumit1_begin_work();
    tumit1_lock_writer();
    pthread_mutex_lock(&tumit1_state_lock);
    if (s_->state_ == TUMIT1_OPEN && which_ == TUMIT1_DUMP) {
        tumit1_release_kept_slots();
    }
    waiting_ = s_->state_ == TUMIT1_OPEN ? s_->pool_.queue_count_ : 0;
    pthread_mutex_unlock(&tumit1_state_lock);
    while (waiting_-- > 0 && tumit1_write_full_slot()) {
    }
    if (tumit1_is_open()) {
        tumit1_write_current_slots(which_);
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
    tumit1_end_work(flags_);
}

void tumit1_flush(void) { tumit1_write_requested(TUMIT1_FLUSH); }

void tumit1_dump(void) { tumit1_write_requested(TUMIT1_DUMP); }

/* Runs the first deferred switch of a level. Returns 0 when there is none. */
TUMIT1_SLOW(int tumit1_run_deferred_switch(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    char name_[sizeof s_->deferred_levels_[0].name_];
    uint32_t i_, phase_ = 2, first_ = TUMIT1_DEFERRED_LEVELS;
    int on_;
    for (i_ = 0; i_ < TUMIT1_DEFERRED_LEVELS; i_++) {
        if (__atomic_load_n(&s_->deferred_levels_[i_].phase_, __ATOMIC_ACQUIRE) == 2 &&
            (first_ == TUMIT1_DEFERRED_LEVELS ||
             s_->deferred_levels_[i_].turn_ < s_->deferred_levels_[first_].turn_)) {
            first_ = i_;
        }
    }
    if (first_ == TUMIT1_DEFERRED_LEVELS ||
        !__atomic_compare_exchange_n(&s_->deferred_levels_[first_].phase_, &phase_, 1u, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return 0;
    }
    memcpy(name_, s_->deferred_levels_[first_].name_, sizeof name_);
    on_ = s_->deferred_levels_[first_].on_;
    __atomic_store_n(&s_->deferred_levels_[first_].phase_, 0u, __ATOMIC_RELEASE);
    (void)tumit1_set_level(name_, on_);
    return 1;
}

/* Runs deferred requests. Only the writer thread calls it: it is no signal handler, and holds no
 * lock here. */
TUMIT1_SLOW(void tumit1_run_deferred(void)) {
    const uint32_t request_ = __atomic_exchange_n(&tumit1_session.deferred_, 0u, __ATOMIC_ACQUIRE);
    tumit1_cursor.locked_ = 0;
    while (tumit1_run_deferred_switch()) {
    }
    if ((request_ & (TUMIT1_DEFERRED_PAUSE | TUMIT1_DEFERRED_RESUME)) != 0) {
        tumit1_set_paused((request_ & TUMIT1_DEFERRED_PAUSE) != 0);
    }
    if ((request_ & TUMIT1_DEFERRED_FLUSH) != 0) {
        tumit1_flush();
    }
    if ((request_ & TUMIT1_DEFERRED_DUMP) != 0) {
        tumit1_dump();
    }
    tumit1_cursor.locked_ = 1;
}

/* Number of records dropped so far. The caller holds the lock. */
TUMIT1_SLOW(uint64_t tumit1_dropped_records(void)) {
    const struct tumit1_stream *t_;
    uint64_t dropped_ = __atomic_load_n(&tumit1_session.dropped_, __ATOMIC_RELAXED);
    for (t_ = tumit1_session.live_; t_ != NULL; t_ = t_->next_) {
        dropped_ += __atomic_load_n(&t_->dropped_, __ATOMIC_RELAXED);
    }
    return dropped_;
}

/* Number of records that are in slots and in no file. The caller holds both locks. */
TUMIT1_SLOW(uint64_t tumit1_unwritten_records(void)) {
    const struct tumit1_pool *pool_ = &tumit1_session.pool_;
    uint64_t records_ = 0;
    size_t offset_, step_;
    for (offset_ = 0; pool_->map_ != NULL && offset_ < (size_t)pool_->fresh_ * TUMIT1_SLOT;
         offset_ += step_) {
        const struct tumit1_slot *slot_ =
            (const struct tumit1_slot *)(const void *)(tumit1_slots() + offset_);
        const uint32_t taken_ = __atomic_load_n(&slot_->taken_, __ATOMIC_ACQUIRE);
        step_ = taken_ == TUMIT1_TAKEN_DIVIDED ? TUMIT1_PART : tumit1_slot_bytes(slot_);
        if (taken_ != 0 && taken_ != TUMIT1_TAKEN_DIVIDED) {
            uint64_t flushed_ = __atomic_load_n(&slot_->flushed_, __ATOMIC_ACQUIRE);
            records_ += (__atomic_load_n(&slot_->state_, __ATOMIC_ACQUIRE) >> 32) -
                        (flushed_ >> 32 & 0xFFFFu);
        }
    }
    return records_;
}

void tumit1_get_stats(struct tumit1_stats *stats_) {
    struct tumit1_session *s_ = &tumit1_session;
    uint32_t flags_;
    memset(stats_, 0, sizeof *stats_);
    if (tumit1_cursor.locked_) {
        return;
    }
    flags_ = tumit1_begin_work();
    tumit1_lock_writer();
    pthread_mutex_lock(&tumit1_state_lock);
    stats_->written_ = tumit1_writer.written_;
    stats_->file_bytes_ = tumit1_writer.offset_;
    stats_->blocks_ = tumit1_writer.blocks_;
    stats_->dropped_ = tumit1_dropped_records();
    stats_->in_live_file_ = tumit1_writer.keeps_live_file_ ? tumit1_unwritten_records() : 0;
    stats_->streams_ = s_->streams_;
    stats_->slots_ = s_->pool_.slots_;
    stats_->slots_free_ = s_->pool_.available_;
    stats_->slots_full_ = s_->pool_.queue_count_;
    stats_->mapped_ = s_->pool_.live_;
    stats_->writer_thread_ = s_->has_writer_thread_;
    pthread_mutex_unlock(&tumit1_state_lock);
    pthread_mutex_unlock(&tumit1_writer_lock);
    tumit1_end_work(flags_);
}
