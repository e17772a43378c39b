/* ---- Start, levels and end of the process ---- */

/* Which shared object holds the copy of the recorder that the program uses. Each object has its own `__dso_handle`. */
extern void *__dso_handle __attribute__((visibility("hidden")));
TUMIT1_SLOW const void *tumit1_home(void) { return &__dso_handle; }

/* Ends the trace: all threads' records, a last anchor and the end block. Records that come later are dropped. */
TUMIT1_SLOW void tumit1_close(void) {
    struct tumit1_session *s = &tumit1_session;
    struct tumit1_cursor *c = &tumit1_cursor;
    struct tumit1_thread *t;
    uint32_t busy;
    if (c->busy) {
        return; /* `exit` from a signal handler that interrupted us: what is sealed is readable */
    }
    busy = tumit1_lock_all();
    if (s->state == TUMIT1_OPEN) {
        unsigned char block[TUMIT1_HEADER_BYTES + 64];
        unsigned char *p = block + TUMIT1_HEADER_BYTES;
        uint64_t dropped;
        tumit1_seal_all();
        dropped = s->dropped;
        for (t = s->live; t != NULL; t = t->next) {
            tumit1_seal_lost(t);
            dropped += t->dropped;
        }
        (void)tumit1_append_schemas();
        tumit1_append_anchor();
        p = tumit1_put_integer_tag(p, TUMIT1_TAG_RECORDS_WRITTEN, s->written);
        p = tumit1_put_integer_tag(p, TUMIT1_TAG_RECORDS_DROPPED, dropped);
        (void)tumit1_append_plain(TUMIT1_KIND_END, TUMIT1_PROCESS_STREAM, 1, block,
                                  (size_t)(p - (block + TUMIT1_HEADER_BYTES)), 0, 0);
        close(s->file);
        s->dropped = dropped;
    }
    if (s->state != TUMIT1_CLOSED && s->state != TUMIT1_ENDED) {
        s->state = TUMIT1_ENDED;
        if (s->dropped != 0) {
            fprintf(stderr, "tumit: %llu records are missing from %s\n", (unsigned long long)s->dropped, s->folder);
        }
    }
    if (s->keyed) {
        s->keyed = 0;
        pthread_key_delete(s->key); /* our code may be gone when the next thread ends */
    }
    if (c->thread != NULL) {
        c->end = c->at; /* full: the slow path sees that it has ended */
    }
    tumit1_unlock(busy);
}

/* Cuts blanks at both ends of a piece of text; returns where it begins. */
TUMIT1_SLOW const char *tumit1_trim(const char *text, size_t *length) {
    while (*length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        --*length;
    }
    while (*length > 0 && (text[*length - 1] == ' ' || text[*length - 1] == '\t')) {
        --*length;
    }
    return text;
}

TUMIT1_SLOW bool tumit1_is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

/* Whether `LEVEL`, `TRACE.LEVEL` or `all`, in any case, names this level. */
TUMIT1_SLOW bool tumit1_names_level(const char *text, size_t length, const char *trace, const char *level) {
    const char *dot = (const char *)memchr(text, '.', length);
    if (dot != NULL) {
        return tumit1_is(text, (size_t)(dot - text), trace) && tumit1_is(dot + 1, (size_t)(text + length - dot) - 1, level);
    }
    return tumit1_is(text, length, "all") || tumit1_is(text, length, level);
}

/* The next entry of TUMIT_LEVELS from `text` on: its name, and 1 for on, 0 for off, -1 when it is not understood. Returns
 * where the one after it begins. */
TUMIT1_SLOW const char *tumit1_next_switch(const char *text, const char **name, size_t *name_length, int *on) {
    size_t length = strcspn(text, ","), sign = strcspn(text, "=,");
    size_t value_length = length > sign ? length - sign - 1 : 0;
    const char *value = text + (length > sign ? sign + 1 : sign);
    value = tumit1_trim(value, &value_length);
    *name_length = sign;
    *name = tumit1_trim(text, name_length);
    *on = -1;
    if (*name_length != 0 && (tumit1_is(value, value_length, "on") || tumit1_is(value, value_length, "1") ||
                              tumit1_is(value, value_length, "true"))) {
        *on = 1;
    } else if (*name_length != 0 && (tumit1_is(value, value_length, "off") || tumit1_is(value, value_length, "0") ||
                                     tumit1_is(value, value_length, "false"))) {
        *on = 0;
    }
    return text + length + (text[length] == ',');
}

/* What TUMIT_LEVELS (`COM=on,taktuk.APP=off`) says about a level; `enabled` when nothing. The last word counts. */
TUMIT1_SLOW int tumit1_env_level(const char *trace, const char *level, int enabled) {
    const char *text = getenv("TUMIT_LEVELS"), *name;
    size_t length;
    int on;
    while (text != NULL && *text != '\0') {
        text = tumit1_next_switch(text, &name, &length, &on);
        if (on >= 0 && tumit1_names_level(name, length, trace, level)) {
            enabled = on;
        }
    }
    return enabled;
}

/* Says which entries of TUMIT_LEVELS are not understood. */
TUMIT1_SLOW void tumit1_check_levels(void) {
    const char *text = getenv("TUMIT_LEVELS"), *name;
    size_t length;
    int on;
    while (text != NULL && *text != '\0') {
        const char *entry = text;
        size_t entry_length = strcspn(text, ",");
        text = tumit1_next_switch(text, &name, &length, &on);
        entry = tumit1_trim(entry, &entry_length);
        if (on < 0 && entry_length != 0) {
            fprintf(stderr, "tumit: TUMIT_LEVELS: `%.*s` is not understood: write NAME=on or NAME=off, separated by commas\n",
                    (int)entry_length, entry);
        }
    }
}

TUMIT1_SLOW void tumit1_switch(const struct tumit1_level *level, uint32_t base, int on) {
    __atomic_store_n(level->word, on ? TUMIT1_ON | base : 0u, __ATOMIC_RELAXED);
}

/* Makes a spec known, once per program: gives its records their ids and switches its levels. Runs before `main`. */
TUMIT1_SLOW void tumit1_register(struct tumit1_spec *spec, const void *home) {
    struct tumit1_session *s = &tumit1_session;
    struct tumit1_provider *provider;
    uint32_t busy;
    uint32_t i;
    busy = tumit1_lock_all();
    if (s->next_base == 0) {
        s->next_base = 1;
        tumit1_check_levels();
    }
    if (!spec->registered && spec->ids <= TUMIT1_FIRST_RESERVED_ID - s->next_base) {
        spec->registered = 1;
        provider = (struct tumit1_provider *)tumit1_keep(NULL, sizeof *provider);
        if (provider != NULL) {
            memset(provider, 0, sizeof *provider);
            provider->name = (char *)tumit1_keep(spec->name, strlen(spec->name) + 1);
            provider->schema = (unsigned char *)tumit1_keep(spec->schema, spec->schema_bytes);
            provider->shapes = (uint32_t *)tumit1_keep(spec->shapes, spec->shapes_count * sizeof *spec->shapes);
            provider->shape_at = (uint32_t *)tumit1_keep(spec->shape_at, spec->ids * sizeof *spec->shape_at);
        }
        if (provider != NULL && provider->name != NULL && provider->schema != NULL && provider->shapes != NULL &&
            provider->shape_at != NULL) {
            provider->schema_bytes = spec->schema_bytes;
            provider->levels = spec->levels;
            provider->levels_count = spec->levels_count;
            provider->home = home;
            provider->base = s->next_base;
            provider->ids = spec->ids;
            provider->next = s->providers;
            s->next_base += spec->ids;
            __atomic_store_n(&s->providers, provider, __ATOMIC_RELEASE);
            for (i = 0; i < spec->levels_count; i++) {
                const struct tumit1_level *level = &spec->levels[i];
                tumit1_switch(level, provider->base, tumit1_env_level(spec->name, level->name, level->enabled));
            }
        }
    }
    tumit1_unlock(busy);
}

/* A shared object is unloaded, or the program ends: its levels can be reached no more; with the recorder goes the trace. */
TUMIT1_SLOW void tumit1_unregister(const void *home) {
    struct tumit1_provider *provider;
    uint32_t busy;
    if (home == tumit1_home()) {
        tumit1_close();
        return;
    }
    busy = tumit1_lock_all();
    for (provider = tumit1_session.providers; provider != NULL; provider = provider->next) {
        if (provider->home == home) {
            provider->levels_count = 0;
        }
    }
    tumit1_unlock(busy);
}

/* Switches a level (`APP`, or `TRACE.APP`) while the program runs. Returns how many levels of that name there are. */
TUMIT1_SLOW int tumit1_set_level(const char *name, int on) {
    const struct tumit1_provider *provider;
    uint32_t busy;
    uint32_t i;
    int found = 0;
    busy = tumit1_lock_all();
    for (provider = tumit1_session.providers; provider != NULL; provider = provider->next) {
        for (i = 0; i < provider->levels_count; i++) {
            if (tumit1_names_level(name, strlen(name), provider->name, provider->levels[i].name)) {
                tumit1_switch(&provider->levels[i], provider->base, on);
                found++;
            }
        }
    }
    tumit1_unlock(busy);
    return found;
}

/* In each shared object: the last of its destructors, so that those of the program can still record. */
__attribute__((destructor(101), unused)) static void tumit1_leave(void) { tumit1_unregister(&__dso_handle); }

#ifdef TUMIT_CLOCK
#ifndef TUMIT_CLOCK_HZ
#define TUMIT_CLOCK_HZ 0
#endif
#ifndef TUMIT_CLOCK_DOMAIN
#define TUMIT_CLOCK_DOMAIN "TUMIT_CLOCK"
#endif
__attribute__((unused)) static uint64_t tumit1_user_clock(void) { return (uint64_t)(TUMIT_CLOCK()); }
__attribute__((constructor(101), unused)) static void tumit1_use_clock(void) {
    (void)tumit1_set_clock(tumit1_user_clock, TUMIT_CLOCK_HZ, TUMIT_CLOCK_DOMAIN);
}
#endif
