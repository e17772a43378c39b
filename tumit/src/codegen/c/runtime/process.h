/* ---- Start, levels and end of the process ---- */

/* Which shared object holds the copy of the recorder that the program uses. Each object has its own `__dso_handle`. */
extern void *__dso_handle __attribute__((__visibility__("hidden")));
TUMIT1_SLOW(const void *tumit1_home(void)) { return &__dso_handle; }

/* Ends the trace: all threads' records, a last anchor and the end block. Records that come later are dropped. */
TUMIT1_SLOW(void tumit1_close(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_cursor *c_ = &tumit1_cursor;
    struct tumit1_thread *t_;
    uint32_t busy_;
    if (c_->busy_) {
        return; /* `exit` from a signal handler that interrupted us: what is sealed is readable */
    }
    busy_ = tumit1_lock_all();
    if (s_->state_ == TUMIT1_OPEN) {
        unsigned char block_[TUMIT1_HEADER_BYTES + 64];
        unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
        uint64_t dropped_;
        tumit1_seal_all();
        dropped_ = s_->dropped_;
        for (t_ = s_->live_; t_ != NULL; t_ = t_->next_) {
            tumit1_seal_lost(t_);
            dropped_ += t_->dropped_;
        }
        (void)tumit1_append_schemas();
        tumit1_append_anchor();
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RECORDS_WRITTEN, s_->written_);
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_RECORDS_DROPPED, dropped_);
        (void)tumit1_append_plain(TUMIT1_KIND_END, TUMIT1_PROCESS_STREAM, 1, block_,
                                  (size_t)(p_ - (block_ + TUMIT1_HEADER_BYTES)), 0, 0);
        close(s_->file_);
        s_->dropped_ = dropped_;
    }
    if (s_->state_ != TUMIT1_CLOSED && s_->state_ != TUMIT1_ENDED) {
        s_->state_ = TUMIT1_ENDED;
        if (s_->dropped_ != 0) {
            fprintf(stderr, "tumit: %llu records are missing from %s\n", (unsigned long long)s_->dropped_, s_->folder_);
        }
    }
    if (s_->keyed_) {
        s_->keyed_ = 0;
        pthread_key_delete(s_->key_); /* our code may be gone when the next thread ends */
    }
    if (c_->thread_ != NULL) {
        c_->end_ = c_->at_; /* full: the slow path sees that it has ended */
    }
    tumit1_unlock(busy_);
}

/* Cuts blanks at both ends of a piece of text; returns where it begins. */
TUMIT1_SLOW(const char *tumit1_trim(const char *text_, size_t *length_)) {
    while (*length_ > 0 && (*text_ == ' ' || *text_ == '\t')) {
        text_++;
        --*length_;
    }
    while (*length_ > 0 && (text_[*length_ - 1] == ' ' || text_[*length_ - 1] == '\t')) {
        --*length_;
    }
    return text_;
}

TUMIT1_SLOW(bool tumit1_is(const char *text_, size_t length_, const char *word_)) {
    return strlen(word_) == length_ && strncasecmp(text_, word_, length_) == 0;
}

/* Whether `LEVEL`, `TRACE.LEVEL` or `all`, in any case, names this level. */
TUMIT1_SLOW(bool tumit1_names_level(const char *text_, size_t length_, const char *trace_, const char *level_)) {
    const char *dot_ = (const char *)memchr(text_, '.', length_);
    if (dot_ != NULL) {
        return tumit1_is(text_, (size_t)(dot_ - text_), trace_) && tumit1_is(dot_ + 1, (size_t)(text_ + length_ - dot_) - 1, level_);
    }
    return tumit1_is(text_, length_, "all") || tumit1_is(text_, length_, level_);
}

/* The next entry of TUMIT_LEVELS from `text_` on: its name, and 1 for on, 0 for off, -1 when it is not understood. Returns
 * where the one after it begins. */
TUMIT1_SLOW(const char *tumit1_next_switch(const char *text_, const char **name_, size_t *name_length_, int *on_)) {
    size_t length_ = strcspn(text_, ","), sign_ = strcspn(text_, "=,");
    size_t value_length_ = length_ > sign_ ? length_ - sign_ - 1 : 0;
    const char *value_ = text_ + (length_ > sign_ ? sign_ + 1 : sign_);
    value_ = tumit1_trim(value_, &value_length_);
    *name_length_ = sign_;
    *name_ = tumit1_trim(text_, name_length_);
    *on_ = -1;
    if (*name_length_ != 0 && (tumit1_is(value_, value_length_, "on") || tumit1_is(value_, value_length_, "1") ||
                              tumit1_is(value_, value_length_, "true"))) {
        *on_ = 1;
    } else if (*name_length_ != 0 && (tumit1_is(value_, value_length_, "off") || tumit1_is(value_, value_length_, "0") ||
                                     tumit1_is(value_, value_length_, "false"))) {
        *on_ = 0;
    }
    return text_ + length_ + (text_[length_] == ',');
}

/* What TUMIT_LEVELS (`COM=on,taktuk.APP=off`) says about a level; `enabled_` when nothing. The last word counts. */
TUMIT1_SLOW(int tumit1_env_level(const char *trace_, const char *level_, int enabled_)) {
    const char *text_ = getenv("TUMIT_LEVELS"), *name_;
    size_t length_;
    int on_;
    while (text_ != NULL && *text_ != '\0') {
        text_ = tumit1_next_switch(text_, &name_, &length_, &on_);
        if (on_ >= 0 && tumit1_names_level(name_, length_, trace_, level_)) {
            enabled_ = on_;
        }
    }
    return enabled_;
}

/* Says which entries of TUMIT_LEVELS are not understood. */
TUMIT1_SLOW(void tumit1_check_levels(void)) {
    const char *text_ = getenv("TUMIT_LEVELS"), *name_;
    size_t length_;
    int on_;
    while (text_ != NULL && *text_ != '\0') {
        const char *entry_ = text_;
        size_t entry_length_ = strcspn(text_, ",");
        text_ = tumit1_next_switch(text_, &name_, &length_, &on_);
        entry_ = tumit1_trim(entry_, &entry_length_);
        if (on_ < 0 && entry_length_ != 0) {
            fprintf(stderr, "tumit: TUMIT_LEVELS: `%.*s` is not understood: write NAME=on or NAME=off, separated by commas\n",
                    (int)entry_length_, entry_);
        }
    }
}

TUMIT1_SLOW(void tumit1_switch(const struct tumit1_level *level_, uint32_t base_, int on_)) {
    __atomic_store_n(level_->word_, on_ ? TUMIT1_ON | base_ : 0u, __ATOMIC_RELAXED);
}

/* The provider that this spec is already, from another shared object; NULL if it is none. */
TUMIT1_SLOW(struct tumit1_provider *tumit1_find_provider(const struct tumit1_spec *spec_)) {
    struct tumit1_provider *provider_ = tumit1_session.providers_;
    size_t behind_ = spec_->base_at_ + 8;
    for (; provider_ != NULL; provider_ = provider_->next_) {
        if (!provider_->again_ && provider_->schema_bytes_ == spec_->schema_bytes_ &&
            memcmp(provider_->schema_, spec_->schema_, spec_->base_at_) == 0 &&
            memcmp(provider_->schema_ + behind_, spec_->schema_ + behind_, spec_->schema_bytes_ - behind_) == 0) {
            return provider_;
        }
    }
    return NULL;
}

/* Copies what a spec says, under new ids. Returns 0 when there is no memory. */
TUMIT1_SLOW(int tumit1_copy_spec(struct tumit1_provider *provider_, const struct tumit1_spec *spec_, uint32_t base_)) {
    provider_->name_ = (char *)tumit1_keep(spec_->name_, strlen(spec_->name_) + 1);
    provider_->schema_ = (unsigned char *)tumit1_keep(spec_->schema_, spec_->schema_bytes_);
    provider_->shapes_ = (uint32_t *)tumit1_keep(spec_->shapes_, spec_->ids_ * sizeof *spec_->shapes_);
    provider_->counted_ = (uint32_t *)tumit1_keep(spec_->counted_, spec_->counted_count_ * sizeof *spec_->counted_);
    if (provider_->name_ == NULL || provider_->schema_ == NULL || provider_->shapes_ == NULL ||
        provider_->counted_ == NULL) {
        return 0;
    }
    tumit1_put_u32(provider_->schema_ + spec_->base_at_, base_);
    tumit1_put_u32(provider_->schema_ + spec_->base_at_ + 4, spec_->ids_);
    provider_->schema_bytes_ = spec_->schema_bytes_;
    provider_->schema_raw_ = spec_->schema_raw_;
    provider_->base_ = base_;
    provider_->ids_ = spec_->ids_;
    return 1;
}

/* Makes a spec known, once per shared object: gives its records their ids and switches its levels. Runs before `main`. */
TUMIT1_SLOW(void tumit1_register(struct tumit1_spec *spec_, const void *home_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_provider *provider_, *first_;
    uint32_t busy_, i_;
    busy_ = tumit1_lock_all();
    if (s_->next_base_ == 0) {
        s_->next_base_ = 1;
        tumit1_check_levels();
    }
    first_ = spec_->registered_ ? NULL : tumit1_find_provider(spec_);
    if (!spec_->registered_ && first_ == NULL && spec_->ids_ > TUMIT1_FIRST_RESERVED_ID - s_->next_base_) {
        fprintf(stderr, "tumit: %s is not recorded: its events are more than a file can tell apart\n", spec_->name_);
    } else if (!spec_->registered_) {
        spec_->registered_ = 1;
        provider_ = (struct tumit1_provider *)tumit1_keep(NULL, sizeof *provider_);
        if (provider_ != NULL && first_ != NULL) {
            *provider_ = *first_;
            provider_->again_ = 1;
        } else if (provider_ != NULL) {
            memset(provider_, 0, sizeof *provider_);
            if (tumit1_copy_spec(provider_, spec_, s_->next_base_)) {
                s_->next_base_ += spec_->ids_;
            } else {
                provider_ = NULL;
            }
        }
        if (provider_ != NULL) {
            provider_->levels_ = spec_->levels_;
            provider_->levels_count_ = spec_->levels_count_;
            provider_->home_ = home_;
            provider_->next_ = s_->providers_;
            __atomic_store_n(&s_->providers_, provider_, __ATOMIC_RELEASE);
            for (i_ = 0; i_ < spec_->levels_count_; i_++) {
                const struct tumit1_level *level_ = &spec_->levels_[i_];
                tumit1_switch(level_, provider_->base_, tumit1_env_level(spec_->name_, level_->name_, level_->enabled_));
            }
        }
    }
    tumit1_unlock(busy_);
}

/* A shared object is unloaded, or the program ends: its levels can be reached no more; with the recorder goes the trace. */
TUMIT1_SLOW(void tumit1_unregister(const void *home_)) {
    struct tumit1_provider *provider_;
    uint32_t busy_;
    if (home_ == tumit1_home()) {
        tumit1_close();
        return;
    }
    busy_ = tumit1_lock_all();
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        if (provider_->home_ == home_) {
            provider_->levels_count_ = 0;
        }
    }
    tumit1_unlock(busy_);
}

int tumit1_set_level(const char *name_, int on_) {
    const struct tumit1_provider *provider_;
    uint32_t busy_;
    uint32_t i_;
    int found_ = 0;
    busy_ = tumit1_lock_all();
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        for (i_ = 0; i_ < provider_->levels_count_; i_++) {
            if (tumit1_names_level(name_, strlen(name_), provider_->name_, provider_->levels_[i_].name_)) {
                tumit1_switch(&provider_->levels_[i_], provider_->base_, on_);
                found_++;
            }
        }
    }
    tumit1_unlock(busy_);
    return found_;
}

/* In each shared object: the last of its destructors, so that those of the program can still record. */
__attribute__((__destructor__(101), __unused__)) static void tumit1_leave(void) { tumit1_unregister(&__dso_handle); }
