/* ---- Names of levels, TUMIT_LEVELS and TUMIT_POLICY ---- */

/* Removes blanks at both ends of a piece of text. Returns its start. */
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

TUMIT1_SLOW(bool tumit1_text_is(const char *text_, size_t length_, const char *word_)) {
    return strlen(word_) == length_ && strncasecmp(text_, word_, length_) == 0;
}

/* Whether `LEVEL`, `TRACE.LEVEL` or `all`, in any case, refers to this level. */
TUMIT1_SLOW(bool tumit1_text_matches_level(const char *text_, size_t length_, const char *trace_,
                                           const char *level_)) {
    const char *dot_ = (const char *)memchr(text_, '.', length_);
    if (dot_ != NULL) {
        return tumit1_text_is(text_, (size_t)(dot_ - text_), trace_) &&
               tumit1_text_is(dot_ + 1, (size_t)(text_ + length_ - dot_) - 1, level_);
    }
    if (tumit1_text_is(text_, length_, "all")) {
        /* all levels except self-tracing */
        return strcmp(level_, "TUMIT") != 0 || strcmp(trace_, "tracer") != 0;
    }
    return tumit1_text_is(text_, length_, level_);
}

/* An entry of TUMIT_LEVELS or TUMIT_POLICY. */
struct tumit1_setting {
    const char *text_, *name_, *value_;
    size_t bytes_, name_bytes_, value_bytes_;
};

/* Parses the first entry from `text_` on, NAME=VALUE. Returns the start of the next entry. */
TUMIT1_SLOW(const char *tumit1_next_setting(const char *text_, struct tumit1_setting *setting_)) {
    const size_t length_ = strcspn(text_, ","), sign_ = strcspn(text_, "=,");
    setting_->bytes_ = length_;
    setting_->text_ = tumit1_trim(text_, &setting_->bytes_);
    setting_->name_bytes_ = sign_;
    setting_->name_ = tumit1_trim(text_, &setting_->name_bytes_);
    setting_->value_bytes_ = length_ > sign_ ? length_ - sign_ - 1 : 0;
    setting_->value_ =
        tumit1_trim(text_ + (length_ > sign_ ? sign_ + 1 : sign_), &setting_->value_bytes_);
    return text_ + length_ + (text_[length_] == ',');
}

/* The index of the value of an entry in a list of words. -1 when it is invalid. */
TUMIT1_SLOW(int tumit1_setting_index(const struct tumit1_setting *setting_,
                                     const char *const *words_)) {
    int i_;
    for (i_ = 0; setting_->name_bytes_ != 0 && words_[i_] != NULL; i_++) {
        if (tumit1_text_is(setting_->value_, setting_->value_bytes_, words_[i_])) {
            return i_;
        }
    }
    return -1;
}
/* The value of an entry: 1 for on, 0 for off, -1 when it is invalid. */
TUMIT1_SLOW(int tumit1_setting_is_on(const struct tumit1_setting *setting_)) {
    static const char *const words_[] = {"off", "on", "0", "1", "false", "true", NULL};
    const int which_ = tumit1_setting_index(setting_, words_);
    return which_ < 0 ? which_ : which_ % 2;
}
TUMIT1_SLOW(int tumit1_setting_policy(const struct tumit1_setting *setting_)) {
    /* in the order of the policies */
    static const char *const words_[] = {"drop", "block", "overwrite", NULL};
    return tumit1_setting_index(setting_, words_);
}

/* The value of a level in a text. `otherwise_` when the text has none. The last entry for the level
 * decides. */
TUMIT1_SLOW(int tumit1_find_setting(const char *text_, int (*parse_)(const struct tumit1_setting *),
                                    const char *trace_, const char *level_, int otherwise_)) {
    struct tumit1_setting setting_;
    while (text_ != NULL && *text_ != '\0') {
        int parsed_;
        text_ = tumit1_next_setting(text_, &setting_);
        parsed_ = parse_(&setting_);
        if (parsed_ >= 0 &&
            tumit1_text_matches_level(setting_.name_, setting_.name_bytes_, trace_, level_)) {
            otherwise_ = parsed_;
        }
    }
    return otherwise_;
}

/* Reports the invalid entries of a text. */
TUMIT1_SLOW(void tumit1_report_invalid_settings(const char *text_,
                                                int (*parse_)(const struct tumit1_setting *),
                                                const char *where_, const char *hint_)) {
    struct tumit1_setting setting_;
    while (text_ != NULL && *text_ != '\0') {
        text_ = tumit1_next_setting(text_, &setting_);
        if (setting_.bytes_ != 0 && parse_(&setting_) < 0) {
            tumit1_report_invalid(where_, setting_.text_, (int)setting_.bytes_, hint_);
        }
    }
}
TUMIT1_SLOW(void tumit1_report_invalid_levels(void)) {
    tumit1_report_invalid_settings(getenv("TUMIT_LEVELS"), tumit1_setting_is_on, "TUMIT_LEVELS",
                                   "NAME=on or NAME=off, separated by commas");
}

/* Whether a spec has a level with this name. The caller holds the lock. */
TUMIT1_SLOW(int tumit1_has_level(const char *name_, size_t length_)) {
    const struct tumit1_provider *provider_ = tumit1_session.providers_;
    uint32_t i_;
    for (; provider_ != NULL; provider_ = provider_->next_) {
        for (i_ = 0; i_ < provider_->levels_count_; i_++) {
            if (tumit1_text_matches_level(name_, length_, provider_->name_,
                                          provider_->levels_[i_].name_)) {
                return 1;
            }
        }
    }
    return tumit1_text_is(name_, length_, "all") ||
           tumit1_text_matches_level(name_, length_, "tracer", "TUMIT");
}

/* At the end: reports names in texts about levels that are in no spec. */
TUMIT1_SLOW(void tumit1_report_unknown(const char *text_,
                                       int (*parse_)(const struct tumit1_setting *),
                                       const char *where_)) {
    struct tumit1_setting setting_;
    while (text_ != NULL && *text_ != '\0') {
        text_ = tumit1_next_setting(text_, &setting_);
        if (parse_(&setting_) >= 0 && !tumit1_has_level(setting_.name_, setting_.name_bytes_)) {
            fprintf(stderr, "tumit: %s: no spec that this program uses has a level `%.*s`\n",
                    where_, (int)setting_.name_bytes_, setting_.name_);
        }
    }
}
TUMIT1_SLOW(void tumit1_report_unknown_levels(void)) {
    pthread_mutex_lock(&tumit1_state_lock);
    tumit1_report_unknown(getenv("TUMIT_LEVELS"), tumit1_setting_is_on, "TUMIT_LEVELS");
    tumit1_report_unknown(getenv("TUMIT_POLICY"), tumit1_setting_policy, "TUMIT_POLICY");
    tumit1_report_unknown(tumit1_session.config_.policies_, tumit1_setting_policy, "policies");
    pthread_mutex_unlock(&tumit1_state_lock);
}

/* The state of a level by TUMIT_LEVELS (`COM=on,taktuk.APP=off`) and by requests of the program
 * so far. `enabled_` when there are none. */
TUMIT1_SLOW(int tumit1_requested_level(const char *trace_, const char *level_, int enabled_)) {
    const struct tumit1_requested_switch *switch_ = tumit1_session.requested_switches_;
    for (; switch_ != NULL; switch_ = switch_->next_) {
        if (tumit1_text_matches_level(switch_->name_, strlen(switch_->name_), trace_, level_)) {
            return switch_->on_;
        }
    }
    return tumit1_find_setting(getenv("TUMIT_LEVELS"), tumit1_setting_is_on, trace_, level_,
                               enabled_);
}

/* Sets the policies of a spec's levels by TUMIT_POLICY (`COM=block,APP=overwrite`) and by the
 * program. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_set_provider_policies(struct tumit1_provider *provider_)) {
    uint32_t i_;
    for (i_ = 0; i_ < provider_->levels_count_; i_++) {
        const char *level_ = provider_->levels_[i_].name_;
        int policy_ = tumit1_find_setting(getenv("TUMIT_POLICY"), tumit1_setting_policy,
                                          provider_->name_, level_, TUMIT1_POLICY_DROP);
        policy_ = tumit1_find_setting(tumit1_session.config_.policies_, tumit1_setting_policy,
                                      provider_->name_, level_, policy_);
        provider_->policies_[i_] = (unsigned char)policy_;
        if (policy_ == TUMIT1_POLICY_BLOCK) {
            __atomic_store_n(&tumit1_session.may_wait_, 1u, __ATOMIC_RELAXED);
        }
    }
}

/* Sets the policies of all specs when recording begins. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_set_policies(void)) {
    struct tumit1_provider *provider_;
    static const char hint_[] = "LEVEL=block, LEVEL=drop or LEVEL=overwrite, separated by commas";
    tumit1_report_invalid_settings(getenv("TUMIT_POLICY"), tumit1_setting_policy, "TUMIT_POLICY",
                                   hint_);
    tumit1_report_invalid_settings(tumit1_session.config_.policies_, tumit1_setting_policy,
                                   "policies", hint_);
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        tumit1_set_provider_policies(provider_);
    }
}

/* Whether threads wait for room for records with this id. The caller holds the lock. */
TUMIT1_SLOW(int tumit1_waits_for_room(uint32_t id_)) {
    const struct tumit1_provider *provider_ = tumit1_session.providers_;
    uint32_t i_, level_ = 0;
    while (provider_ != NULL &&
           (provider_->is_copy_ || id_ - provider_->base_ >= provider_->ids_)) {
        provider_ = provider_->next_;
    }
    if (provider_ == NULL) {
        return 0;
    }
    for (i_ = 0; i_ < provider_->runs_count_ && provider_->runs_[2 * i_] <= id_ - provider_->base_;
         i_++) {
        level_ = provider_->runs_[2 * i_ + 1];
    }
    return level_ < provider_->levels_count_ && provider_->policies_[level_] == TUMIT1_POLICY_BLOCK;
}
