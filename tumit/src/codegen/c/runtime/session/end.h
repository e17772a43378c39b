/* ---- The end of the trace ---- */

/* Appends the end block. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_end(uint64_t dropped_, uint64_t end_)) {
    unsigned char block_[TUMIT1_HEADER_BYTES + 96];
    unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RECORDS_WRITTEN, tumit1_writer.written_);
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RECORDS_DROPPED, dropped_);
    if (tumit1_session.repeated_ != 0) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_REPEATED_TIMESTAMPS, tumit1_session.repeated_);
    }
    if (tumit1_session.truncated_ != 0) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RECORDS_TRUNCATED, tumit1_session.truncated_);
    }
    if (tumit1_clock.latest_ >> 32 != 0 && !tumit1_clock.wide_) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_CLOCK_WRAPS, tumit1_clock.latest_ >> 32);
    }
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_PROCESS_END, end_);
    return tumit1_append_plain(TUMIT1_KIND_END, TUMIT1_PROCESS_STREAM, 1, block_,
                               (size_t)(p_ - (block_ + TUMIT1_HEADER_BYTES)), 0, 0);
}

/* Writes all records and the end block, and closes the file. Threads no longer get slots, so the
 * number of full slots is finite. Returns the number of records that are in no file. */
TUMIT1_SLOW(uint64_t tumit1_write_end(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    const struct tumit1_stream *t_;
    uint64_t dropped_, end_ = tumit1_now_slow();
    uint32_t next_;
    tumit1_restore_file();
    pthread_mutex_lock(&tumit1_state_lock);
    tumit1_release_kept_slots();
    pthread_mutex_unlock(&tumit1_state_lock);
    while (tumit1_write_full_slot()) {
    }
    tumit1_writer.has_unwritten_ = 0;
    tumit1_write_current_slots(TUMIT1_FINISH);
    while (tumit1_write_full_slot()) {
    }
    tumit1_writer.ending_ = 1;
    /* its counters report the drops */
    tumit1_writer.keeps_live_file_ = s_->pool_.live_ && tumit1_writer.has_unwritten_;
    for (next_ = 0; next_ < s_->streams_; next_++) {
        pthread_mutex_lock(&tumit1_state_lock);
        t_ = tumit1_find_stream(next_);
        pthread_mutex_unlock(&tumit1_state_lock);
        if (t_ != NULL && tumit1_writer.keeps_live_file_) {
            tumit1_report_to_live_file((struct tumit1_stream *)(uintptr_t)t_);
        } else if (t_ != NULL) {
            (void)tumit1_report_overwritten((struct tumit1_stream *)(uintptr_t)t_, NULL);
            tumit1_report_drops((struct tumit1_stream *)(uintptr_t)t_);
        }
    }
    tumit1_writer.keeps_live_file_ = s_->pool_.live_ && tumit1_writer.has_unwritten_;
    (void)tumit1_append_definitions();
    tumit1_append_anchor();
    pthread_mutex_lock(&tumit1_state_lock);
    /* only now: earlier calls count as dropped, and calls after the sum are not recorded */
    tumit1_apply_levels();
    dropped_ = tumit1_dropped_records() +
               (tumit1_writer.keeps_live_file_ ? 0 : tumit1_unwritten_records());
    end_ = end_ > tumit1_writer.latest_ ? end_ : tumit1_writer.latest_;
    for (t_ = s_->live_; t_ != NULL; t_ = t_->next_) { /* threads can end at the same time */
        end_ = end_ > t_->end_ ? end_ : t_->end_;
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    tumit1_store_process_end(end_);
    /* otherwise there is no end block, and readers read the live file */
    if (!tumit1_writer.keeps_live_file_) {
        tumit1_writer.ending_ = 2;
        if (tumit1_append_end(dropped_, end_) == 0) {
            tumit1_remove_live_file(); /* otherwise its counters report the drops */
        }
    }
    if (tumit1_writer.reserved_ > tumit1_writer.offset_ &&
        tumit1_is_same_file(tumit1_writer.file_, &tumit1_writer.identity_)) {
        (void)tumit1_truncate_file();
    }
    tumit1_close_if_same(&tumit1_writer.file_, &tumit1_writer.identity_);
    return dropped_;
}

/* Ends the trace: writes the records of all threads, a last anchor and the end block. Later
 * records are dropped. */
void tumit1_finish(void) {
    struct tumit1_session *s_ = &tumit1_session;
    uint64_t dropped_ = 0;
    uint32_t flags_;
    int was_;
    if (tumit1_cursor.locked_) {
        /* `exit` in a signal handler that interrupted the recorder; the files are readable */
        return;
    }
    flags_ = tumit1_begin_work();
    tumit1_report_early_drops();
    if (tumit1_cursor.waited_until_ != 0) {
        tumit1_self_trace_record_wait();
    }
    tumit1_stop_writer_thread();
    if (__atomic_load_n(&tumit1_self_trace_word, __ATOMIC_RELAXED) != 0) {
        tumit1_join_writer_thread(); /* its self-tracing records are in the trace */
    }
    tumit1_lock_writer();
    pthread_mutex_lock(&tumit1_state_lock);
    was_ = s_->state_;
    if (was_ != TUMIT1_CLOSED) {
        __atomic_store_n(&s_->state_, TUMIT1_ENDED, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&tumit1_state_lock);
    if (was_ == TUMIT1_OPEN) {
        dropped_ = tumit1_write_end();
    } else if (was_ != TUMIT1_CLOSED) {
        pthread_mutex_lock(&tumit1_state_lock);
        tumit1_apply_levels();
        dropped_ = tumit1_dropped_records();
        pthread_mutex_unlock(&tumit1_state_lock);
    }
    if (was_ == TUMIT1_OPEN || was_ == TUMIT1_FAILED) {
        if (dropped_ != 0) {
            fprintf(stderr, "tumit: %llu records were dropped from %s\n",
                    (unsigned long long)dropped_, s_->folder_);
        }
        if (tumit1_writer.keeps_live_file_) {
            fprintf(
                stderr,
                "tumit: records that %s cannot contain are in %s; `tumit repair` joins the files\n",
                s_->path_, s_->live_path_);
        }
        tumit1_report_unknown_levels();
    }
    /* once per launch */
    if (was_ == TUMIT1_OPEN && s_->prints_folder_ && s_->rank_ <= 0 && !s_->inherits_) {
        fprintf(stderr, "tumit: the trace is in %s\n", s_->folder_);
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
    tumit1_join_writer_thread();
    tumit1_end_work(flags_);
}
