/* ---- Combined readings of the clocks: they relate timestamps of one process to wall-clock
 * time, and show clock steps ---- */

#define TUMIT1_MAX_CLOCK_STEPS 32 /* a clock with more steps is not usable */

/* Reads three clocks. Of ten readings it keeps the one with the shortest bracket. */
TUMIT1_SLOW(void tumit1_read_clocks(struct tumit1_reading *to_)) {
    int i_;
    to_->bracket_ = UINT64_MAX;
    for (i_ = 0; i_ < 10; i_++) {
        uint64_t before_ = tumit1_now_slow();
        uint64_t m_ = tumit1_nanos(CLOCK_MONOTONIC);
        uint64_t r_ = tumit1_nanos(CLOCK_REALTIME);
        uint64_t width_ = tumit1_now_slow() - before_;
        if (width_ < to_->bracket_) {
            to_->bracket_ = width_;
            to_->ticks_ = before_ + width_ / 2;
            to_->monotonic_ = m_;
            to_->real_ = r_;
        }
    }
}

TUMIT1_SLOW(void tumit1_append_reading(const struct tumit1_reading *reading_)) {
    unsigned char block_[TUMIT1_HEADER_BYTES + 40];
    unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
    p_ = tumit1_put_u64(p_, reading_->ticks_);
    p_ = tumit1_put_u64(p_, reading_->monotonic_);
    p_ = tumit1_put_u64(p_, reading_->real_);
    p_ = tumit1_put_u64(p_, reading_->bracket_);
    (void)tumit1_append_plain(TUMIT1_KIND_ANCHORS, TUMIT1_PROCESS_STREAM, 1, block_, 32,
                              reading_->ticks_, reading_->ticks_);
}

/* Stores a reading of the clock. A killed process ends at the later of its last reading and its
 * last record. */
TUMIT1_SLOW(void tumit1_store_reading(uint64_t ticks_)) {
    struct tumit1_pool *pool_ = &tumit1_session.pool_;
    if (pool_->live_) {
        __atomic_store_n((uint64_t *)(void *)(pool_->map_ + TUMIT1_LIVE_LAST_READING), ticks_,
                         __ATOMIC_RELAXED);
    }
}

/* Reads the clocks, and writes the reading to the file if `wanted_`. After a clock step, it
 * writes the previous and the new reading, so that the time of the step is known. */
TUMIT1_SLOW(void tumit1_check_clocks(int wanted_)) {
    struct tumit1_writer *s_ = &tumit1_writer;
    struct tumit1_reading now_;
    int stepped_ = 0, is_rate_exact_;
    tumit1_read_clocks(&now_);
    tumit1_store_reading(now_.ticks_);
    /* enough for an exact rate */
    is_rate_exact_ =
        s_->read_.monotonic_ != 0 && now_.monotonic_ >= s_->read_.monotonic_ + 10000000u;
    if (is_rate_exact_) {
        double rate_ = ((double)now_.ticks_ - (double)s_->read_.ticks_) /
                       (double)(now_.monotonic_ - s_->read_.monotonic_);
        double change_ = s_->rate_ > 0 ? rate_ / s_->rate_ - 1 : 0;
        stepped_ =
            (change_ > 0.001 || change_ < -0.001) && s_->clock_steps_ < TUMIT1_MAX_CLOCK_STEPS;
        /* the reading after a step is also written: it gives the rate after the step */
        s_->rate_ = rate_;
    } else if (!wanted_) {
        return;
    }
    if (stepped_) {
        s_->clock_steps_++;
        if (s_->unread_) {
            tumit1_append_reading(&s_->read_);
        }
    }
    if (wanted_ || stepped_) {
        tumit1_append_reading(&now_);
    }
    s_->read_ = now_;
    s_->unread_ = !wanted_ && !stepped_;
}

TUMIT1_SLOW(void tumit1_append_anchor(void)) {
    tumit1_check_clocks(1);
}
