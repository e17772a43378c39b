/* ---- The hot path: reserve, read the clock, write, publish ---- */

/* The word of a level: 0 when it is off, otherwise TUMIT1_ON and the first record id of the
 * spec. */
TUMIT1_HOT uint32_t tumit1_word(const uint32_t *level_) {
    return __atomic_load_n(level_, __ATOMIC_RELAXED);
}

#ifdef TUMIT_CLOCK
/* Reads the clock. A counter of 32 bits may have wrapped. */
TUMIT1_HOT uint64_t tumit1_read_clock(void) {
    const uint64_t now_ = (uint64_t)(TUMIT_CLOCK());
    return TUMIT1_LIKELY(now_ >> 32 != 0) ? now_ : tumit1_unwrapped(now_);
}
#endif

/* The clock that is read inline. The value is meaningless if the process uses another clock. Its
 * threads then have no slot here. */
TUMIT1_HOT uint64_t tumit1_ticks(void) {
#ifdef TUMIT_CLOCK
    uint64_t now_;
    tumit1_cursor.user_clock_calls_++; /* a clock function that records is also nested */
    now_ = tumit1_read_clock();
    tumit1_cursor.user_clock_calls_--;
    return now_;
#else
    return tumit1_counter();
#endif
}

/* The current timestamp, in ticks of this process's clock, for fields of type `date`. */
TUMIT1_HOT tumit1_date tumit1_now(void) {
#ifdef TUMIT_CLOCK
    return tumit1_read_clock();
#else
    const uint32_t kind_ = __atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED);
    return TUMIT1_LIKELY(kind_ == TUMIT1_CLOCK_NATIVE) ? tumit1_counter() : tumit1_now_slow();
#endif
}

/* A new task number for `async` spans: 1, 2, 3 ... in this process, from any thread. */
TUMIT1_HOT uint64_t tumit1_new_task(void) {
    return __atomic_add_fetch(&tumit1_tasks, 1u, __ATOMIC_RELAXED);
}

/* Accesses to data that other threads read while its owner writes it. Without thread sanitizer
 * these are plain accesses, which the compiler can combine with arithmetic. They have the same
 * effect. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define TUMIT1_THREAD_SANITIZER
#endif
#endif
#if defined __SANITIZE_THREAD__ || defined TUMIT1_THREAD_SANITIZER
#define TUMIT1_LOAD(object_) __atomic_load_n(&(object_), __ATOMIC_RELAXED)
#define TUMIT1_STORE(object_, value_) __atomic_store_n(&(object_), value_, __ATOMIC_RELAXED)
#else
#define TUMIT1_LOAD(object_) (object_)
#define TUMIT1_STORE(object_, value_) ((object_) = (value_))
#endif

/* The slot of the calling thread for the clock of this translation unit. */
#ifdef TUMIT_CLOCK
#define TUMIT1_SLOT_MEMBER other_
#else
#define TUMIT1_SLOT_MEMBER slot_
#endif

/* Begins a record of `bytes_` in all. Returns the position of its fields, or NULL when it is
 * dropped or too long. One comparison detects a full slot, the first record of a thread, and a
 * recorder that has ended. Another one detects a thread inside the recorder, and levels that
 * overwrite. */
TUMIT1_HOT unsigned char *tumit1_begin(uint32_t id_, size_t bytes_, struct tumit1_place *to_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_slot *slot_;
    unsigned char *p_;
    uint64_t now_, state_, delta_;
    if (TUMIT1_UNLIKELY((int32_t)TUMIT1_LOAD(c_->busy_) > (int32_t)id_)) {
        struct tumit1_room room_ = tumit1_make_room_special(id_, bytes_);
        if (room_.slot_ == NULL) {
            to_->state_ = room_.now_;
            return NULL;
        }
        slot_ = room_.slot_;
        state_ = slot_->state_;
        now_ = room_.now_;
    } else {
        TUMIT1_STORE(c_->busy_, TUMIT1_BUSY);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        now_ = tumit1_ticks();
        slot_ = c_->TUMIT1_SLOT_MEMBER;
        state_ = slot_->state_;
        if (TUMIT1_UNLIKELY((uint64_t)(uint32_t)state_ + bytes_ > TUMIT1_LOAD(c_->room_))) {
            struct tumit1_room room_ = tumit1_make_room(id_, bytes_, now_);
            if (room_.slot_ == NULL) {
                __atomic_signal_fence(__ATOMIC_SEQ_CST);
                TUMIT1_STORE(c_->busy_, 0u);
                to_->state_ = room_.now_;
                return NULL;
            }
            slot_ = room_.slot_;
            state_ = slot_->state_;
            now_ = room_.now_;
        }
    }
    p_ = (unsigned char *)slot_ + TUMIT1_SLOT_HEAD + (uint32_t)state_;
    delta_ = now_ - TUMIT1_LOAD(slot_->last_);
    if (TUMIT1_UNLIKELY((uint32_t)delta_ != delta_)) {
        uint32_t wide_ = tumit1_put_wide_timestamp(p_, TUMIT1_LOAD(slot_->last_), now_);
        p_ += wide_;
        state_ += wide_;
        now_ = wide_ != 0 ? now_ : TUMIT1_LOAD(slot_->last_);
        delta_ = 0;
    }
    to_->slot_ = slot_;
    to_->now_ = now_;
    to_->state_ = state_ + (TUMIT1_ONE_RECORD | bytes_);
    p_ = tumit1_put_u16(p_, (uint16_t)id_);
    return tumit1_put_u32(p_, (uint32_t)delta_);
}

/* Begins record `index_` of a spec, of constant size, when the word of the level is `on_`. Also
 * returns NULL when the word is 0. */
TUMIT1_HOT unsigned char *tumit1_try(uint32_t on_, uint32_t index_, size_t bytes_,
                                     struct tumit1_place *to_) {
    return on_ == 0 ? NULL : tumit1_begin(on_ + index_, bytes_, to_);
}

/* Publishes the record. After this call it is written in any case. */
TUMIT1_HOT void tumit1_end(const struct tumit1_place *to_) {
    /* only now, because an unpublished record has no timestamp */
    TUMIT1_STORE(to_->slot_->last_, to_->now_);
    __atomic_store_n(&to_->slot_->state_, to_->state_, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    TUMIT1_STORE(tumit1_cursor.busy_, 0u);
}

/* The number of a source position, the same in the whole process. */
TUMIT1_HOT uint32_t tumit1_site_id(struct tumit1_site *site_) {
    uint32_t id_ = __atomic_load_n(&site_->id_, __ATOMIC_RELAXED);
    return TUMIT1_LIKELY(id_ != 0) ? id_ : tumit1_site_new(site_);
}

/* The number of bytes to which a record that did not begin must be truncated. 0 when it is
 * dropped. */
TUMIT1_HOT uint64_t tumit1_limit(const struct tumit1_place *to_) { return to_->state_; }

/* The number of elements of `each_` bytes that fit into `max_` bytes. */
TUMIT1_HOT size_t tumit1_fit_count(size_t count_, size_t each_, size_t max_) {
    return count_ < max_ / each_ ? count_ : max_ / each_;
}

/* A count, limited so that sizes can be computed from it. A count of more than 16 bits exceeds a
 * slot. The record is truncated, and the mark has the number of missing bytes. */
TUMIT1_HOT size_t tumit1_count(size_t count_) { return count_ < 0xFFFFFFFu ? count_ : 0xFFFFFFFu; }

/* The number of bytes of a text. */
TUMIT1_HOT size_t tumit1_text_bytes(const char *text_) {
    return text_ == NULL ? 0 : tumit1_count(strlen(text_));
}

#ifndef TUMIT_EXTERN
/* The maximum number of bytes of each counted field in a record that is too long. The longest
 * fields are truncated to one length. The record has `fixed_` bytes without these fields, which
 * have `sizes_`. */
size_t tumit1_fit(struct tumit1_place *to_, uint64_t limit_, size_t fixed_, const size_t *sizes_,
                  size_t count_) {
    size_t fits_ = 0, exceeds_ = 65536, i_;
    to_->now_ = fixed_;
    for (i_ = 0; i_ < count_; i_++) {
        to_->now_ += sizes_[i_];
    }
    while (exceeds_ - fits_ > 1) {
        const size_t middle_ = fits_ + (exceeds_ - fits_) / 2;
        uint64_t bytes_ = fixed_ + TUMIT1_DROP_REPORT_BYTES;
        for (i_ = 0; i_ < count_; i_++) {
            bytes_ += sizes_[i_] < middle_ ? sizes_[i_] : middle_;
        }
        if (bytes_ <= limit_) {
            fits_ = middle_;
        } else {
            exceeds_ = middle_;
        }
    }
    return fits_;
}

/* The number of bytes of a text, at most `max_`, in whole characters. */
size_t tumit1_fit_text(const char *text_, size_t bytes_, size_t max_) {
    size_t back_ = 0;
    if (bytes_ <= max_) {
        return bytes_;
    }
    while (back_ < 3 && back_ < max_ && ((unsigned char)text_[max_ - back_] & 0xC0u) == 0x80u) {
        back_++;
    }
    /* The text is not UTF-8 if no character begins here. */
    return ((unsigned char)text_[max_ - back_] & 0xC0u) == 0x80u ? max_ : max_ - back_;
}

/* Begins a record that is truncated to `bytes_`. It follows its mark, and is published together
 * with it. */
unsigned char *tumit1_begin_cut(uint32_t id_, size_t bytes_, struct tumit1_place *to_) {
    const uint64_t missing_ = to_->now_ - bytes_;
    unsigned char *p_ = tumit1_begin(id_, bytes_ + TUMIT1_DROP_REPORT_BYTES, to_);
    if (p_ != NULL) {
        /* with the delta of the record */
        (void)tumit1_put_u16(p_ - TUMIT1_RECORD_HEAD_BYTES, TUMIT1_ID_DROPPED);
        p_ = tumit1_put_u64(p_, 0);
        p_ = tumit1_put_u64(p_, missing_);
        p_ = tumit1_put_u64(p_, to_->now_);
        p_ = tumit1_put_u64(p_, to_->now_);
        p_ = tumit1_put_u32(p_, TUMIT1_CAUSE_TRUNCATED);
        p_ = tumit1_put_u16(p_, (uint16_t)id_);
        p_ = tumit1_put_u32(p_, 0);
        tumit1_count_truncated();
    }
    return p_;
}
#endif

#ifdef TUMIT_CLOCK
#ifndef TUMIT_CLOCK_HZ
#define TUMIT_CLOCK_HZ 0
#endif
#ifndef TUMIT_CLOCK_DOMAIN
#define TUMIT_CLOCK_DOMAIN "TUMIT_CLOCK"
#endif
TUMIT1_UNUSED static uint64_t tumit1_user_clock(void) { return (uint64_t)(TUMIT_CLOCK()); }
TUMIT1_ENTER static void tumit1_use_clock(void) {
    (void)tumit1_choose_user_clock(tumit1_user_clock, TUMIT_CLOCK_HZ, TUMIT_CLOCK_DOMAIN, 1);
}
#endif
