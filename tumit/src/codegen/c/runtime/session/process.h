/* ---- Start and end of the process ---- */

/* The shared object with the copy of the recorder that the program uses. Each object has its own
 * `__dso_handle`. */
extern void *__dso_handle __attribute__((__visibility__("hidden")));
TUMIT1_SLOW(const void *tumit1_shared_object(void)) { return &__dso_handle; }

/* Ends the recorder. After its shared object is unloaded, no code may call it. */
TUMIT1_SLOW(void tumit1_close(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    tumit1_finish();
    if (s_->keyed_) {
        s_->keyed_ = 0;
        pthread_key_delete(s_->key_); /* the destructor may be unloaded when the next thread ends */
    }
}

/* The provider that another shared object registered for the same spec. NULL if there is none. */
TUMIT1_SLOW(struct tumit1_provider *tumit1_find_provider(const struct tumit1_spec *spec_)) {
    struct tumit1_provider *provider_ = tumit1_session.providers_;
    size_t after_base_ = spec_->base_at_ + 8;
    for (; provider_ != NULL; provider_ = provider_->next_) {
        if (!provider_->is_copy_ && provider_->schema_bytes_ == spec_->schema_bytes_ &&
            memcmp(provider_->schema_, spec_->schema_, spec_->base_at_) == 0 &&
            memcmp(provider_->schema_ + after_base_, spec_->schema_ + after_base_,
                   spec_->schema_bytes_ - after_base_) == 0) {
            return provider_;
        }
    }
    return NULL;
}

/* Copies a spec, with new ids. Returns 0 when there is no memory. */
TUMIT1_SLOW(int tumit1_copy_spec(struct tumit1_provider *provider_, const struct tumit1_spec *spec_,
                                 uint32_t base_)) {
    provider_->name_ = (char *)tumit1_arena_copy(spec_->name_, strlen(spec_->name_) + 1);
    provider_->schema_ = (unsigned char *)tumit1_arena_copy(spec_->schema_, spec_->schema_bytes_);
    if (provider_->name_ == NULL || provider_->schema_ == NULL) {
        return 0;
    }
    tumit1_put_u32(provider_->schema_ + spec_->base_at_, base_);
    tumit1_put_u32(provider_->schema_ + spec_->base_at_ + 4, spec_->ids_);
    provider_->schema_bytes_ = spec_->schema_bytes_;
    provider_->schema_raw_ = spec_->schema_raw_;
    provider_->base_ = base_;
    provider_->ids_ = spec_->ids_;
    provider_->runs_ =
        (uint16_t *)tumit1_arena_copy(spec_->runs_, 2 * sizeof *spec_->runs_ * spec_->runs_count_);
    provider_->runs_count_ = provider_->runs_ == NULL ? 0 : spec_->runs_count_;
    provider_->shapes_ = (unsigned char *)tumit1_arena_copy(spec_->shapes_, spec_->shapes_bytes_);
    provider_->shapes_at_ =
        (uint16_t *)tumit1_arena_copy(spec_->shapes_at_, sizeof *spec_->shapes_at_ * spec_->ids_);
    if (provider_->shapes_ == NULL || provider_->shapes_at_ == NULL) {
        return 0;
    }
    return 1;
}

/* Makes a provider for a spec: a copy of `first_`, the provider of another shared object, or if
 * that is NULL, one with new ids. Returns NULL when there is no memory. */
TUMIT1_SLOW(struct tumit1_provider *tumit1_make_provider(const struct tumit1_spec *spec_,
                                                         const struct tumit1_provider *first_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_provider *provider_ =
        (struct tumit1_provider *)tumit1_arena_copy(NULL, sizeof *provider_);
    if (provider_ == NULL) {
        return NULL;
    }
    if (first_ != NULL) {
        *provider_ = *first_;
        provider_->is_copy_ = 1;
    } else {
        memset(provider_, 0, sizeof *provider_);
        if (!tumit1_copy_spec(provider_, spec_, s_->next_base_)) {
            return NULL;
        }
        s_->next_base_ += spec_->ids_;
    }
    provider_->on_ = (unsigned char *)tumit1_arena_copy(NULL, 2 * (size_t)spec_->levels_count_ + 1);
    return provider_->on_ == NULL ? NULL : provider_;
}

/* Adds a provider to the list of the process. Returns whether its schema is in the log. */
TUMIT1_SLOW(int tumit1_publish_provider(struct tumit1_provider *provider_,
                                        const struct tumit1_spec *spec_, const void *home_)) {
    struct tumit1_session *s_ = &tumit1_session;
    int logged_;
    provider_->policies_ = provider_->on_ + spec_->levels_count_;
    provider_->levels_ = spec_->levels_;
    provider_->levels_count_ = spec_->levels_count_;
    provider_->home_ = home_;
    provider_->next_ = s_->providers_;
    tumit1_set_provider_policies(provider_);
    logged_ = provider_->is_copy_ || tumit1_log_schema(provider_);
    __atomic_store_n(&s_->providers_, provider_, __ATOMIC_RELEASE);
    return logged_;
}

/* Switches the levels of a provider as the environment requests. */
TUMIT1_SLOW(void tumit1_set_requested_levels(struct tumit1_provider *provider_,
                                     const struct tumit1_spec *spec_)) {
    uint32_t i_;
    for (i_ = 0; i_ < spec_->levels_count_; i_++) {
        const struct tumit1_level *level_ = &spec_->levels_[i_];
        provider_->on_[i_] =
            tumit1_requested_level(spec_->name_, level_->name_, level_->enabled_) != 0;
        tumit1_apply_level(provider_, i_);
    }
}

/* What the first registration in a process starts: the launch, the guard, the handlers of fork. */
TUMIT1_SLOW(void tumit1_prepare_process(void)) {
    struct tumit1_session *s_ = &tumit1_session;
    tumit1_store_start_folder();
    if (s_->next_base_ == 0) {
        s_->next_base_ = 1;
        tumit1_report_invalid_levels();
    }
    tumit1_find_launch();
    if (s_->mask_bytes_ == 0) {
        tumit1_make_guard();
        s_->mask_bytes_ = syscall(SYS_sched_getaffinity, 0, sizeof s_->mask_, s_->mask_);
    }
    /* at registration: a fork that begins before the first record does not run later handlers */
    if (!s_->hooks_) {
        s_->hooks_ = pthread_atfork(tumit1_before_fork, tumit1_after_fork_in_parent,
                                    tumit1_after_fork_in_child) == 0;
    }
}

/* Registers a spec, once per shared object: assigns the ids of its records, and switches its
 * levels. Runs before `main`. */
TUMIT1_SLOW(void tumit1_register(struct tumit1_spec *spec_, const void *home_)) {
    struct tumit1_session *s_ = &tumit1_session;
    struct tumit1_provider *provider_ = NULL, *first_;
    uint32_t busy_;
    int logged_ = 1, save_;
    busy_ = tumit1_lock_state();
    tumit1_prepare_process();
    first_ = spec_->registered_ ? NULL : tumit1_find_provider(spec_);
    if (!spec_->registered_ && first_ == NULL &&
        spec_->ids_ > TUMIT1_FIRST_RESERVED_ID - s_->next_base_) {
        fprintf(stderr,
                "tumit: no record ids are left for spec `%s`: its events are not recorded\n",
                spec_->name_);
    } else if (!spec_->registered_) {
        spec_->registered_ = 1;
        provider_ = tumit1_make_provider(spec_, first_);
        if (provider_ != NULL) {
            logged_ = tumit1_publish_provider(provider_, spec_, home_);
        }
    }
    save_ = s_->state_ == TUMIT1_OPEN && !logged_;
    tumit1_unlock_state(busy_);
    if (save_) {
        tumit1_save_names(); /* records of a killed program need their spec */
    }
    busy_ = tumit1_lock_state();
    if (provider_ != NULL) {
        tumit1_set_requested_levels(provider_, spec_);
    }
    tumit1_unlock_state(busy_);
    if (spec_ != &tumit1_spec_self_trace) {
        tumit1_self_trace_read_settings();
        if (tumit1_env("TUMIT_START") != NULL) {
            (void)tumit1_start(NULL); /* levels can be switched before the first record */
        }
    }
}

/* The first bytes of this shared object, if the linker provides their address. */
extern const char __ehdr_start __attribute__((__weak__, __visibility__("hidden")));

/* Whether the recorder belongs to the program itself. It then stays after the destructors of the
 * program, and those of its libraries run later. */
TUMIT1_SLOW(int tumit1_belongs_to_program(void)) {
    const uintptr_t head_ = (uintptr_t)&__ehdr_start;
    const int file_ = head_ == 0 ? -1 : open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
    uintptr_t pair_[2];
    int is_own_ = 0;
    while (file_ >= 0 && !is_own_ && read(file_, pair_, sizeof pair_) == (ssize_t)sizeof pair_) {
        /* AT_PHDR: address of the program's own headers */
        is_own_ = pair_[0] == 3 && pair_[1] - head_ < 4096;
    }
    if (file_ >= 0) {
        close(file_);
    }
    return is_own_;
}

/* Runs when a shared object is unloaded, or when the program ends: its levels are no longer
 * accessible. The trace ends together with the shared object of the recorder, or with the last
 * one. */
TUMIT1_SLOW(void tumit1_unregister(const void *home_)) {
    struct tumit1_provider *provider_;
    uint32_t busy_;
    int has_others_ = 0;
    if (tumit1_cursor.locked_) {
        /* `exit` in a signal handler that interrupted the recorder: this thread may hold the
         * lock */
        return;
    }
    busy_ = tumit1_lock_state();
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        if (provider_->home_ == home_) {
            provider_->home_ = NULL;
            provider_->levels_count_ =
                home_ == tumit1_shared_object() ? provider_->levels_count_ : 0;
        }
        has_others_ |= provider_->home_ != NULL && provider_->home_ != tumit1_shared_object();
    }
    tumit1_unlock_state(busy_);
    if (home_ == tumit1_shared_object()) {
        tumit1_session.leaving_ = 1;
    }
    if (tumit1_session.leaving_ && (!has_others_ || !tumit1_belongs_to_program())) {
        tumit1_close();
    }
}

/* The last destructor in each shared object, so that the destructors of the program can still
 * record. */
TUMIT1_PLAIN __attribute__((__destructor__(101), __unused__)) static void tumit1_at_unload(void) {
    tumit1_unregister(&__dso_handle);
}
