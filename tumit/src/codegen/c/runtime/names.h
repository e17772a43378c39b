/* ---- Names that records refer to by number: strings and source positions. Under the lock ---- */

TUMIT1_SLOW(uint32_t tumit1_hash(const char *text_, size_t length_, uint32_t line_)) {
    uint32_t hash_ = 2166136261u ^ line_;
    size_t i_;
    for (i_ = 0; i_ < length_; i_++) {
        hash_ = (hash_ ^ (unsigned char)text_[i_]) * 16777619u;
    }
    return hash_;
}

/* The id of a name, given now if it is new. When the table or memory is full, the last id stands for all others. */
TUMIT1_SLOW(uint32_t tumit1_name_id(struct tumit1_names *names_, const char *text_, size_t length_, uint32_t line_)) {
    static const char full_[] = "(more names than the recorder keeps)";
    const uint32_t mask_ = 2 * TUMIT1_MAX_NAMES - 1;
    uint32_t hash_, slot_;
    struct tumit1_name *name_;
    if (names_->entries_ == NULL) {
        size_t entries_ = TUMIT1_MAX_NAMES * sizeof *names_->entries_;
        unsigned char *memory_ = (unsigned char *)tumit1_map(entries_ + 2 * TUMIT1_MAX_NAMES * sizeof *names_->slots_);
        if (memory_ == NULL) {
            return 0;
        }
        names_->entries_ = (struct tumit1_name *)(void *)memory_;
        names_->slots_ = (uint32_t *)(void *)(memory_ + entries_);
    }
    if (length_ > TUMIT1_MAX_TEXT) {
        length_ = TUMIT1_MAX_TEXT;
        while (length_ > 0 && ((unsigned char)text_[length_] & 0xC0u) == 0x80u) {
            length_--; /* not inside a character */
        }
    }
    hash_ = tumit1_hash(text_, length_, line_);
    for (slot_ = hash_ & mask_; names_->slots_[slot_] != 0; slot_ = (slot_ + 1) & mask_) {
        name_ = &names_->entries_[names_->slots_[slot_] - 1];
        if (name_->hash_ == hash_ && name_->line_ == line_ && name_->length_ == length_ &&
            memcmp(name_->text_, text_, length_) == 0) {
            return names_->slots_[slot_];
        }
    }
    if (names_->count_ >= TUMIT1_MAX_NAMES) {
        return names_->count_;
    }
    if (names_->count_ == TUMIT1_MAX_NAMES - 1) {
        text_ = full_;
        length_ = sizeof full_ - 1;
    }
    name_ = &names_->entries_[names_->count_];
    name_->text_ = (const char *)tumit1_keep(text_, length_);
    if (name_->text_ == NULL) {
        return 0;
    }
    name_->length_ = (uint32_t)length_;
    name_->hash_ = hash_;
    name_->line_ = line_;
    names_->slots_[slot_] = ++names_->count_;
    return names_->count_;
}

/* Appends the names that the file does not have yet. Returns 0 or an errno; then they stay for the next time. */
TUMIT1_SLOW(int tumit1_append_names(struct tumit1_names *names_, uint8_t kind_)) {
    unsigned char block_[TUMIT1_HEADER_BYTES + 2 * TUMIT1_MAX_TEXT + 64];
    while (names_->written_ < names_->count_) {
        unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
        uint32_t at_ = names_->written_;
        int error_;
        for (; at_ < names_->count_; at_++) {
            const struct tumit1_name *name_ = &names_->entries_[at_];
            if ((size_t)(block_ + sizeof block_ - p_) < name_->length_ + 20u) {
                break;
            }
            p_ = tumit1_put_u32(p_, at_ + 1);
            if (kind_ == TUMIT1_KIND_SITES) {
                p_ = tumit1_put_u32(p_, name_->line_);
            }
            p_ = tumit1_put_u32(p_, name_->length_);
            p_ = tumit1_put_bytes(p_, name_->text_, name_->length_);
        }
        error_ = tumit1_append_plain(kind_, TUMIT1_PROCESS_STREAM, at_ - names_->written_, block_,
                                    (size_t)(p_ - (block_ + TUMIT1_HEADER_BYTES)), 0, 0);
        if (error_ != 0) {
            return error_;
        }
        names_->written_ = at_;
    }
    return 0;
}

/* Appends the specs that the file does not have yet. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_schemas(void)) {
    struct tumit1_provider *provider_;
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        size_t room_ = TUMIT1_HEADER_BYTES + (size_t)provider_->schema_bytes_ + 8;
        unsigned char *block_;
        int error_;
        if (provider_->written_ || provider_->again_) {
            continue;
        }
        block_ = (unsigned char *)tumit1_map(room_);
        if (block_ == NULL) {
            return ENOMEM;
        }
        tumit1_put_bytes(block_ + TUMIT1_HEADER_BYTES, provider_->schema_, provider_->schema_bytes_);
        error_ = tumit1_append_packed(TUMIT1_KIND_SCHEMA, block_, provider_->schema_raw_, provider_->schema_bytes_);
        munmap(block_, room_);
        if (error_ != 0) {
            return error_;
        }
        provider_->written_ = 1;
    }
    return 0;
}

/* All that must stand before a block of records of this thread. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_tables(struct tumit1_thread *t_)) {
    unsigned char block_[TUMIT1_HEADER_BYTES + 128];
    unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
    int error_ = tumit1_append_schemas();
    if (error_ == 0) {
        error_ = tumit1_append_names(&tumit1_session.strings_, TUMIT1_KIND_STRINGS);
    }
    if (error_ == 0) {
        error_ = tumit1_append_names(&tumit1_session.sites_, TUMIT1_KIND_SITES);
    }
    if (error_ == 0 && !t_->described_) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_TID, t_->tid_);
        if (t_->name_[0] != '\0') {
            p_ = tumit1_put_tag(p_, TUMIT1_TAG_THREAD_NAME, t_->name_, strlen(t_->name_));
        }
        error_ = tumit1_append_plain(TUMIT1_KIND_STREAM, t_->stream_, 1, block_,
                                    (size_t)(p_ - (block_ + TUMIT1_HEADER_BYTES)), 0, 0);
        t_->described_ = error_ == 0;
    }
    return error_;
}

/* The number by which records name this text; NULL is the empty text. A thread remembers the last texts that it named:
 * entries of the table never change, so that it can compare without the lock. */
uint32_t tumit1_intern(const char *text_) {
    struct tumit1_names *names_ = &tumit1_session.strings_;
    struct tumit1_thread *t_ = tumit1_cursor.thread_;
    size_t length_ = text_ == NULL ? 0 : strlen(text_);
    uint32_t hash_, id_, busy_;
    if (length_ == 0) {
        return 0;
    }
    hash_ = tumit1_hash(text_, length_, 0);
    id_ = t_ == NULL ? 0 : t_->recent_[hash_ % TUMIT1_RECENT];
    if (id_ != 0) {
        const struct tumit1_name *name_ = &names_->entries_[id_ - 1];
        if (name_->hash_ == hash_ && name_->length_ == length_ && memcmp(name_->text_, text_, length_) == 0) {
            return id_;
        }
    }
    busy_ = tumit1_lock_all();
    id_ = tumit1_name_id(names_, text_, length_, 0);
    tumit1_unlock(busy_);
    if (t_ != NULL) {
        t_->recent_[hash_ % TUMIT1_RECENT] = id_;
    }
    return id_;
}

uint32_t tumit1_site_new(struct tumit1_site *site_) {
    uint32_t busy_, id_;
    if (site_->file_ == NULL) {
        return 0; /* unknown */
    }
    busy_ = tumit1_lock_all();
    id_ = tumit1_name_id(&tumit1_session.sites_, site_->file_, strlen(site_->file_), site_->line_);
    tumit1_unlock(busy_);
    __atomic_store_n(&site_->id_, id_, __ATOMIC_RELAXED);
    return id_;
}
