/* ---- Names that records refer to by number: strings and source positions. The lock protects
 * the tables, and the writer's lock the state of their output. Entries never change or move, so
 * they can be read without the lock ---- */

TUMIT1_WORK(uint32_t tumit1_hash(const char *text_, size_t length_, uint32_t line_)) {
    uint32_t hash_ = 2166136261u ^ line_;
    size_t i_;
    for (i_ = 0; i_ < length_; i_++) {
        hash_ = (hash_ ^ (unsigned char)text_[i_]) * 16777619u;
    }
    return hash_;
}

/* An entry of a block of names. */
TUMIT1_SLOW(unsigned char *tumit1_put_name(unsigned char *p_, const struct tumit1_name *name_,
                                           uint32_t id_, int site_)) {
    p_ = tumit1_put_u32(p_, id_);
    if (site_) {
        p_ = tumit1_put_u32(p_, name_->line_);
    }
    p_ = tumit1_put_u32(p_, name_->length_);
    return tumit1_put_bytes(p_, name_->text_, name_->length_);
}

/* Writes a name to the live file. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_log_name(struct tumit1_names *names_, uint32_t id_)) {
    const struct tumit1_name *name_ = &names_->entries_[id_ - 1];
    const int site_ = names_ == &tumit1_session.sites_;
    const size_t bytes_ = (site_ ? 12u : 8u) + (size_t)name_->length_;
    unsigned char *p_ = tumit1_log_room(site_ ? TUMIT1_KIND_SITES : TUMIT1_KIND_STRINGS,
                                        TUMIT1_PROCESS_STREAM, bytes_);
    if (p_ != NULL) {
        (void)tumit1_put_name(p_, name_, id_, site_);
        tumit1_log_commit(bytes_);
        names_->logged_ = id_;
    }
}

/* Writes a spec to the live file, uncompressed. Returns 0 when there is no room for it. The
 * caller holds the lock. */
TUMIT1_SLOW(int tumit1_log_schema(const struct tumit1_provider *provider_)) {
    unsigned char *p_ =
        tumit1_log_room(TUMIT1_KIND_SCHEMA, TUMIT1_PROCESS_STREAM, provider_->schema_raw_);
    if (p_ == NULL) {
        return 0;
    }
    tumit1_lz4_decompress(provider_->schema_, provider_->schema_bytes_, p_, provider_->schema_raw_);
    tumit1_log_commit(provider_->schema_raw_);
    return 1;
}

/* Writes all known specs and names to a new live file. The caller holds the lock. */
TUMIT1_SLOW(void tumit1_log_definitions(void)) {
    const struct tumit1_provider *provider_ = tumit1_session.providers_;
    uint32_t id_;
    for (; provider_ != NULL; provider_ = provider_->next_) {
        if (!provider_->is_copy_) {
            (void)tumit1_log_schema(provider_);
        }
    }
    for (id_ = 1; id_ <= tumit1_session.strings_.count_; id_++) {
        tumit1_log_name(&tumit1_session.strings_, id_);
    }
    for (id_ = 1; id_ <= tumit1_session.sites_.count_; id_++) {
        tumit1_log_name(&tumit1_session.sites_, id_);
    }
}

/* Whether a name must be in the file before a record uses it. The records of a killed program
 * thus always have their names. The caller holds the lock. */
TUMIT1_SLOW(int tumit1_must_save(const struct tumit1_names *names_, uint32_t id_)) {
    return tumit1_session.pool_.live_ && id_ > names_->logged_ &&
           id_ > __atomic_load_n(&names_->written_, __ATOMIC_ACQUIRE);
}

/* The id of a name. A new name gets an id. When the table or the memory is full, all further
 * names get the last id. */
TUMIT1_SLOW(uint32_t tumit1_name_id(struct tumit1_names *names_, const char *text_, size_t length_,
                                    uint32_t line_)) {
    static const char full_[] = "(more names than the recorder keeps)";
    const uint32_t mask_ = 2 * TUMIT1_MAX_NAMES - 1;
    uint32_t hash_, slot_;
    struct tumit1_name *name_;
    if (names_->entries_ == NULL) {
        size_t entries_ = TUMIT1_MAX_NAMES * sizeof *names_->entries_;
        unsigned char *memory_ = (unsigned char *)tumit1_map_memory(
            entries_ + 2 * TUMIT1_MAX_NAMES * sizeof *names_->slots_);
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
    name_->text_ = (const char *)tumit1_arena_copy(text_, length_);
    if (name_->text_ == NULL) {
        return 0;
    }
    name_->length_ = (uint32_t)length_;
    name_->hash_ = hash_;
    name_->line_ = line_;
    names_->slots_[slot_] = names_->count_ + 1;
    __atomic_store_n(&names_->count_, names_->count_ + 1, __ATOMIC_RELEASE);
    tumit1_log_name(names_, names_->count_);
    return names_->count_;
}

/* Appends the names that are not in the file yet. Returns 0 or an errno. After an error the
 * names remain for the next call. */
TUMIT1_SLOW(int tumit1_append_names(struct tumit1_names *names_, uint8_t kind_)) {
    unsigned char *block_ = tumit1_session.scratch_.names_,
                  *packed_ = tumit1_session.scratch_.packed_;
    const uint32_t count_ = __atomic_load_n(&names_->count_, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&names_->written_, __ATOMIC_RELAXED) < count_) {
        unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
        uint32_t number_ = names_->written_, bytes_, packed_bytes_;
        int error_;
        for (; number_ < count_; number_++) {
            const struct tumit1_name *name_ = &names_->entries_[number_];
            if ((size_t)(block_ + sizeof tumit1_session.scratch_.names_ - p_) <
                name_->length_ + 20u) {
                break;
            }
            p_ = tumit1_put_name(p_, name_, number_ + 1, kind_ == TUMIT1_KIND_SITES);
        }
        bytes_ = (uint32_t)(p_ - (block_ + TUMIT1_HEADER_BYTES));
        packed_bytes_ = tumit1_lz4_compress(block_ + TUMIT1_HEADER_BYTES, bytes_,
                                      packed_ + TUMIT1_HEADER_BYTES, bytes_, tumit1_writer.table_);
        error_ = packed_bytes_ != 0
                     ? tumit1_append_packed(kind_, number_ - names_->written_, packed_, bytes_,
                                            packed_bytes_)
                     : tumit1_append_plain(kind_, TUMIT1_PROCESS_STREAM, number_ - names_->written_,
                                           block_, bytes_, 0, 0);
        if (error_ != 0) {
            return error_;
        }
        __atomic_store_n(&names_->written_, number_, __ATOMIC_RELEASE);
    }
    return 0;
}

/* Appends the specs that are not in the file yet. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_schemas(void)) {
    struct tumit1_provider *provider_;
    for (provider_ = tumit1_session.providers_; provider_ != NULL; provider_ = provider_->next_) {
        size_t room_ = TUMIT1_HEADER_BYTES + (size_t)provider_->schema_bytes_ + 8;
        unsigned char *block_;
        int error_;
        if (provider_->written_ || provider_->is_copy_) {
            continue;
        }
        block_ = (unsigned char *)tumit1_map_memory(room_);
        if (block_ == NULL) {
            return ENOMEM;
        }
        tumit1_put_bytes(block_ + TUMIT1_HEADER_BYTES, provider_->schema_,
                         provider_->schema_bytes_);
        error_ = tumit1_append_packed(TUMIT1_KIND_SCHEMA, 1, block_, provider_->schema_raw_,
                                      provider_->schema_bytes_);
        munmap(block_, room_);
        if (error_ != 0) {
            return error_;
        }
        provider_->written_ = 1;
    }
    return 0;
}

/* The tagged fields of a stream, at most TUMIT1_STREAM_BYTES. The caller holds the lock. */
TUMIT1_SLOW(unsigned char *tumit1_put_stream(unsigned char *p_, const struct tumit1_stream *t_)) {
    p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_TID, t_->tid_);
    if (t_->overwrites_) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_OVERWRITTEN, 1);
    }
    if (t_->name_[0] != '\0') {
        p_ = tumit1_put_tag(p_, TUMIT1_TAG_THREAD_NAME, t_->name_, strlen(t_->name_));
    }
    if (t_->end_ != 0) {
        p_ = tumit1_put_integer_tag(p_, TUMIT1_TAG_THREAD_END, t_->end_);
    }
    return t_->label_[0] == '\0'
               ? p_
               : tumit1_put_tag(p_, TUMIT1_TAG_STREAM_LABEL, t_->label_, strlen(t_->label_));
}

/* Appends the tags of streams that are not in the file yet. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_streams(void)) {
    for (;;) {
        unsigned char block_[TUMIT1_HEADER_BYTES + TUMIT1_STREAM_BYTES];
        const unsigned char *end_ = block_;
        struct tumit1_stream *t_;
        int error_;
        pthread_mutex_lock(&tumit1_state_lock);
        for (t_ = tumit1_session.live_; t_ != NULL && t_->described_; t_ = t_->next_) {
        }
        if (t_ != NULL) {
            end_ = tumit1_put_stream(block_ + TUMIT1_HEADER_BYTES, t_);
            t_->described_ = 1; /* until its name changes */
            /* The process does not end before a thread that ends while the end is written. */
            if (t_->end_ > tumit1_writer.latest_) {
                tumit1_writer.latest_ = t_->end_;
            }
        }
        pthread_mutex_unlock(&tumit1_state_lock);
        if (t_ == NULL) {
            return 0;
        }
        error_ = tumit1_append_plain(TUMIT1_KIND_STREAM, t_->stream_, 1, block_,
                                     (size_t)(end_ - (block_ + TUMIT1_HEADER_BYTES)), 0, 0);
        if (error_ != 0) {
            pthread_mutex_lock(&tumit1_state_lock);
            t_->described_ = 0;
            pthread_mutex_unlock(&tumit1_state_lock);
            return error_;
        }
    }
}

/* Appends all definitions that records refer to and that are not in the file yet. Returns 0 or
 * an errno. */
TUMIT1_SLOW(int tumit1_append_definitions(void)) {
    const uint64_t logged_ = tumit1_logged_bytes();
    int error_ = tumit1_append_schemas();
    error_ =
        error_ == 0 ? tumit1_append_names(&tumit1_session.strings_, TUMIT1_KIND_STRINGS) : error_;
    error_ = error_ == 0 ? tumit1_append_names(&tumit1_session.sites_, TUMIT1_KIND_SITES) : error_;
    error_ = error_ == 0 ? tumit1_append_streams() : error_;
    if (error_ == 0) {
        tumit1_store_written_log_bytes(logged_);
    }
    return error_;
}

/* Writes names without room in the live file to the file at once, before a record can use them. */
TUMIT1_SLOW(void tumit1_save_names(void)) {
    uint32_t flags_ = tumit1_begin_work();
    tumit1_lock_writer();
    if (tumit1_is_open()) {
        (void)tumit1_append_definitions();
    }
    pthread_mutex_unlock(&tumit1_writer_lock);
    tumit1_end_work(flags_);
}

/* The number of this text in records. NULL counts as the empty text. Each thread caches its
 * latest texts. Entries of the table never change, so the thread compares them without the lock. */
uint32_t tumit1_intern(const char *text_) {
    struct tumit1_names *names_ = &tumit1_session.strings_;
    struct tumit1_stream *t_ =
        tumit1_cursor.thread_ != NULL ? tumit1_cursor.thread_ : tumit1_cursor.flight_thread_;
    size_t length_ = text_ == NULL ? 0 : strlen(text_);
    uint32_t hash_, id_, busy_;
    int full_;
    if (length_ == 0) {
        return 0;
    }
    hash_ = tumit1_hash(text_, length_, 0);
    id_ = t_ == NULL ? 0 : t_->recent_[hash_ % TUMIT1_RECENT];
    if (id_ != 0) {
        const struct tumit1_name *name_ = &names_->entries_[id_ - 1];
        if (name_->hash_ == hash_ && name_->length_ == length_ &&
            memcmp(name_->text_, text_, length_) == 0) {
            return id_;
        }
    }
    if (tumit1_cursor.locked_) {
        /* in a signal handler that interrupted the recorder: the record is dropped and counted */
        return 0;
    }
    busy_ = tumit1_lock_state();
    id_ = tumit1_name_id(names_, text_, length_, 0);
    full_ = tumit1_must_save(names_, id_);
    tumit1_unlock_state(busy_);
    if (full_) {
        tumit1_save_names();
    }
    if (t_ != NULL) {
        t_->recent_[hash_ % TUMIT1_RECENT] = id_;
    }
    return id_;
}

uint32_t tumit1_site_new(struct tumit1_site *site_) {
    struct tumit1_names *names_ = &tumit1_session.sites_;
    uint32_t busy_, id_;
    int full_;
    if (site_->file_ == NULL || tumit1_cursor.locked_) {
        return 0; /* unknown position, or the record is dropped, as above */
    }
    busy_ = tumit1_lock_state();
    id_ = tumit1_name_id(names_, site_->file_, strlen(site_->file_), site_->line_);
    full_ = tumit1_must_save(names_, id_);
    tumit1_unlock_state(busy_);
    if (full_) {
        tumit1_save_names();
    }
    __atomic_store_n(&site_->id_, id_, __ATOMIC_RELAXED);
    return id_;
}
