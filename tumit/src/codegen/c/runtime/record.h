/* ---- The hot path: reserve, read the clock, write, publish ---- */

/* The level's word: 0 when off, else TUMIT1_ON and the first record id of the spec. */
TUMIT1_HOT uint32_t tumit1_word(const uint32_t *level_) { return __atomic_load_n(level_, __ATOMIC_RELAXED); }

/* The date now, in ticks of this process's clock: for fields of type `date`. */
TUMIT1_HOT tumit1_date tumit1_now(void) {
#if defined TUMIT_CLOCK
    return (uint64_t)(TUMIT_CLOCK());
#elif defined __x86_64__ || defined __i386__
    if (TUMIT1_LIKELY(__atomic_load_n(&tumit1_clock_kind, __ATOMIC_RELAXED) == TUMIT1_CLOCK_TSC)) {
        return __builtin_ia32_rdtsc();
    }
    return tumit1_now_slow();
#else
    return tumit1_now_slow();
#endif
}

/* A number for a task, for the spans of `async`: 1, 2, 3 ... in this process, from any thread. */
TUMIT1_HOT uint64_t tumit1_new_task(void) { return __atomic_add_fetch(&tumit1_tasks, 1u, __ATOMIC_RELAXED); }

/* Begins a record of `bytes_` in all. Returns where its fields go, or NULL when it is dropped. One compare finds a full
 * block, a thread's first record and a recorder that has ended alike. */
TUMIT1_HOT unsigned char *tumit1_begin(uint32_t id_, size_t bytes_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    unsigned char *p_;
    uint64_t now_, delta_;
    if (TUMIT1_UNLIKELY(c_->busy_)) {
        tumit1_count_nested();
        return NULL;
    }
    c_->busy_ = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    p_ = c_->at_;
    if (TUMIT1_UNLIKELY((size_t)(c_->end_ - p_) < bytes_)) {
        p_ = tumit1_make_room(bytes_);
        if (p_ == NULL) {
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            c_->busy_ = 0;
            return NULL;
        }
    }
    now_ = tumit1_now();
    delta_ = now_ - c_->last_;
    if (TUMIT1_UNLIKELY(delta_ >> 32 != 0)) {
        p_ = tumit1_wide_date(p_, now_);
        delta_ = 0;
    } else {
        c_->last_ = now_;
    }
    p_ = tumit1_put_u16(p_, (uint16_t)id_);
    return tumit1_put_u32(p_, (uint32_t)delta_);
}

/* The same for record `index_` of a spec, of one size, when the level's word is `on_`: NULL, too, when that is 0. */
TUMIT1_HOT unsigned char *tumit1_try(uint32_t on_, uint32_t index_, size_t bytes_) {
    return on_ == 0 ? NULL : tumit1_begin(on_ + index_, bytes_);
}

/* Publishes the record that ends at `p_`: from here on it will be written, whatever the program does next. */
TUMIT1_HOT void tumit1_end(unsigned char *p_) {
    struct tumit1_cursor *c_ = &tumit1_cursor;
    __atomic_store_n(&c_->at_, p_, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c_->busy_ = 0;
}

/* The number of a source position, the same for the whole process. */
TUMIT1_HOT uint32_t tumit1_site_id(struct tumit1_site *site_) {
    uint32_t id_ = __atomic_load_n(&site_->id_, __ATOMIC_RELAXED);
    return TUMIT1_LIKELY(id_ != 0) ? id_ : tumit1_site_new(site_);
}

/* A count, as far as sizes are computed from it. One that does not fit its 16 bits is larger than a block: the record is
 * dropped, and its true size is told. */
TUMIT1_HOT size_t tumit1_count(size_t count_) { return count_ < 0xFFFFFFFu ? count_ : 0xFFFFFFFu; }

/* Bytes of a text. */
TUMIT1_HOT size_t tumit1_text_bytes(const char *text_) { return text_ == NULL ? 0 : tumit1_count(strlen(text_)); }

#ifdef TUMIT_CLOCK
#ifndef TUMIT_CLOCK_HZ
#define TUMIT_CLOCK_HZ 0
#endif
#ifndef TUMIT_CLOCK_DOMAIN
#define TUMIT_CLOCK_DOMAIN "TUMIT_CLOCK"
#endif
TUMIT1_UNUSED static uint64_t tumit1_user_clock(void) { return (uint64_t)(TUMIT_CLOCK()); }
TUMIT1_ENTER static void tumit1_use_clock(void) {
    (void)tumit1_set_clock(tumit1_user_clock, TUMIT_CLOCK_HZ, TUMIT_CLOCK_DOMAIN);
}
#endif
