/* ---- Names of levels, and TUMIT_LEVELS ---- */

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

