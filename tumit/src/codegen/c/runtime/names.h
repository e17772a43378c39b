/* ---- Names that records refer to by number: strings and source positions. Under the lock ---- */

TUMIT1_SLOW uint32_t tumit1_hash(const char *text, size_t length, uint32_t line) {
    uint32_t hash = 2166136261u ^ line;
    size_t i;
    for (i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

/* The id of a name, given now if it is new. When the table or memory is full, the last id stands for all others. */
TUMIT1_SLOW uint32_t tumit1_name_id(struct tumit1_names *names, const char *text, size_t length, uint32_t line) {
    static const char full[] = "(more names than the recorder keeps)";
    const uint32_t mask = 2 * TUMIT1_MAX_NAMES - 1;
    uint32_t hash, slot;
    struct tumit1_name *name;
    if (names->entries == NULL) {
        size_t entries = TUMIT1_MAX_NAMES * sizeof *names->entries;
        unsigned char *memory = (unsigned char *)tumit1_map(entries + 2 * TUMIT1_MAX_NAMES * sizeof *names->slots);
        if (memory == NULL) {
            return 0;
        }
        names->entries = (struct tumit1_name *)(void *)memory;
        names->slots = (uint32_t *)(void *)(memory + entries);
    }
    if (length > TUMIT1_MAX_TEXT) {
        length = TUMIT1_MAX_TEXT;
        while (length > 0 && ((unsigned char)text[length] & 0xC0u) == 0x80u) {
            length--; /* not inside a character */
        }
    }
    hash = tumit1_hash(text, length, line);
    for (slot = hash & mask; names->slots[slot] != 0; slot = (slot + 1) & mask) {
        name = &names->entries[names->slots[slot] - 1];
        if (name->hash == hash && name->line == line && name->length == length &&
            memcmp(name->text, text, length) == 0) {
            return names->slots[slot];
        }
    }
    if (names->count >= TUMIT1_MAX_NAMES) {
        return names->count;
    }
    if (names->count == TUMIT1_MAX_NAMES - 1) {
        text = full;
        length = sizeof full - 1;
    }
    name = &names->entries[names->count];
    name->text = (const char *)tumit1_keep(text, length);
    if (name->text == NULL) {
        return 0;
    }
    name->length = (uint32_t)length;
    name->hash = hash;
    name->line = line;
    names->slots[slot] = ++names->count;
    return names->count;
}

/* Appends the names that the file does not have yet. Returns 0 or an errno; then they stay for the next time. */
TUMIT1_SLOW int tumit1_append_names(struct tumit1_names *names, uint8_t kind) {
    unsigned char block[TUMIT1_HEADER_BYTES + 2 * TUMIT1_MAX_TEXT + 64];
    while (names->written < names->count) {
        unsigned char *p = block + TUMIT1_HEADER_BYTES;
        uint32_t at = names->written;
        int error;
        for (; at < names->count; at++) {
            const struct tumit1_name *name = &names->entries[at];
            if ((size_t)(block + sizeof block - p) < name->length + 20u) {
                break;
            }
            p = tumit1_put_u32(p, at + 1);
            if (kind == TUMIT1_KIND_SITES) {
                p = tumit1_put_u32(p, name->line);
            }
            p = tumit1_put_u32(p, name->length);
            p = tumit1_put_bytes(p, name->text, name->length);
        }
        error = tumit1_append_plain(kind, TUMIT1_PROCESS_STREAM, at - names->written, block,
                                    (size_t)(p - (block + TUMIT1_HEADER_BYTES)), 0, 0);
        if (error != 0) {
            return error;
        }
        names->written = at;
    }
    return 0;
}

/* Appends the specs that the file does not have yet. Returns 0 or an errno. */
TUMIT1_SLOW int tumit1_append_schemas(void) {
    struct tumit1_provider *provider;
    for (provider = tumit1_session.providers; provider != NULL; provider = provider->next) {
        size_t length = 8 + (size_t)provider->schema_bytes;
        size_t room = TUMIT1_HEADER_BYTES + length + 8;
        unsigned char *block, *p;
        int error;
        if (provider->written) {
            continue;
        }
        block = (unsigned char *)tumit1_map(room);
        if (block == NULL) {
            return ENOMEM;
        }
        p = block + TUMIT1_HEADER_BYTES;
        p = tumit1_put_u32(p, provider->base);
        p = tumit1_put_u32(p, provider->ids);
        tumit1_put_bytes(p, provider->schema, provider->schema_bytes);
        error = tumit1_append_plain(TUMIT1_KIND_SCHEMA, TUMIT1_PROCESS_STREAM, 1, block, length, 0, 0);
        munmap(block, room);
        if (error != 0) {
            return error;
        }
        provider->written = 1;
    }
    return 0;
}

/* All that must stand before a block of records of this thread. Returns 0 or an errno. */
TUMIT1_SLOW int tumit1_append_tables(struct tumit1_thread *t) {
    unsigned char block[TUMIT1_HEADER_BYTES + 128];
    unsigned char *p = block + TUMIT1_HEADER_BYTES;
    int error = tumit1_append_schemas();
    if (error == 0) {
        error = tumit1_append_names(&tumit1_session.strings, TUMIT1_KIND_STRINGS);
    }
    if (error == 0) {
        error = tumit1_append_names(&tumit1_session.sites, TUMIT1_KIND_SITES);
    }
    if (error == 0 && !t->described) {
        p = tumit1_put_integer_tag(p, TUMIT1_TAG_TID, t->tid);
        if (t->name[0] != '\0') {
            p = tumit1_put_tag(p, TUMIT1_TAG_THREAD_NAME, t->name, strlen(t->name));
        }
        error = tumit1_append_plain(TUMIT1_KIND_STREAM, t->stream, 1, block,
                                    (size_t)(p - (block + TUMIT1_HEADER_BYTES)), 0, 0);
        t->described = error == 0;
    }
    return error;
}

/* The number by which records name this text; NULL is the empty text. A thread remembers the last texts that it named:
 * entries of the table never change, so that it can compare without the lock. */
TUMIT1_SLOW uint32_t tumit1_intern(const char *text) {
    struct tumit1_names *names = &tumit1_session.strings;
    struct tumit1_thread *t = tumit1_cursor.thread;
    size_t length = text == NULL ? 0 : strlen(text);
    uint32_t hash, id, busy;
    if (length == 0) {
        return 0;
    }
    hash = tumit1_hash(text, length, 0);
    id = t == NULL ? 0 : t->recent[hash % TUMIT1_RECENT];
    if (id != 0) {
        const struct tumit1_name *name = &names->entries[id - 1];
        if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0) {
            return id;
        }
    }
    busy = tumit1_lock_all();
    id = tumit1_name_id(names, text, length, 0);
    tumit1_unlock(busy);
    if (t != NULL) {
        t->recent[hash % TUMIT1_RECENT] = id;
    }
    return id;
}

TUMIT1_SLOW uint32_t tumit1_site_new(struct tumit1_site *site) {
    uint32_t busy, id;
    if (site->file == NULL) {
        return 0; /* unknown */
    }
    busy = tumit1_lock_all();
    id = tumit1_name_id(&tumit1_session.sites, site->file, strlen(site->file), site->line);
    tumit1_unlock(busy);
    __atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
    return id;
}

TUMIT1_HOT uint32_t tumit1_site_id(struct tumit1_site *site) {
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);
    return TUMIT1_LIKELY(id != 0) ? id : tumit1_site_new(site);
}
