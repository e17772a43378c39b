/* ---- Sealing: what a thread wrote becomes a block ---- */

/* What a walk over records found. */
struct tumit1_walk {
    uint32_t records;       /* those of the program, and accounts of losses */
    uint64_t first, last;
    struct tumit1_lost lost; /* sum of the accounts */
    uint32_t accounts;
};

/* Size of the record at `p` after id and delta, by the shape that its spec gave. Under no lock: providers are only ever
 * added, in front, and never change. */
TUMIT1_SLOW size_t tumit1_body_bytes(uint16_t id, const unsigned char *p) {
    const struct tumit1_provider *provider = __atomic_load_n(&tumit1_session.providers, __ATOMIC_ACQUIRE);
    for (; provider != NULL; provider = provider->next) {
        if (id - provider->base < provider->ids) {
            const uint32_t *shape = provider->shapes + provider->shape_at[id - provider->base];
            size_t bytes = *shape++;
            for (; *shape != 0; shape += 2) {
                bytes += 2 + (size_t)tumit1_get_u16(p + bytes) * shape[0] + shape[1];
            }
            return bytes;
        }
    }
    return 0;
}

TUMIT1_SLOW void tumit1_add_account(struct tumit1_walk *walk, const unsigned char *p) {
    walk->lost.count += tumit1_get_u64(p);
    walk->lost.bytes += tumit1_get_u64(p + 8);
    walk->lost.first = walk->accounts == 0 ? tumit1_get_u64(p + 16) : walk->lost.first;
    walk->lost.last = tumit1_get_u64(p + 24);
    walk->lost.cause |= tumit1_get_u32(p + 32);
    walk->accounts++;
}

/* Counts and dates the records from `p` to `end`; `ticks` is the date before them. The first delta becomes zero: a block's
 * first date is that of its first record. */
TUMIT1_SLOW struct tumit1_walk tumit1_walk_records(unsigned char *p, const unsigned char *end, uint64_t ticks) {
    struct tumit1_walk walk;
    int first = 1;
    memset(&walk, 0, sizeof walk);
    walk.first = ticks;
    while (p < end) {
        uint16_t id = tumit1_get_u16(p);
        ticks += tumit1_get_u32(p + 2);
        if (id == TUMIT1_ID_WIDE_DATE) {
            ticks = tumit1_get_u64(p + 6);
            p += TUMIT1_WIDE_BYTES;
        } else {
            if (first) {
                tumit1_put_u32(p + 2, 0);
            }
            p += TUMIT1_RECORD_HEAD_BYTES;
            walk.records++;
            if (id == TUMIT1_ID_LOST) {
                tumit1_add_account(&walk, p);
                p += TUMIT1_LOST_BYTES - TUMIT1_RECORD_HEAD_BYTES;
            } else {
                p += tumit1_body_bytes(id, p);
            }
        }
        if (first) {
            walk.first = ticks;
            first = 0;
        }
    }
    walk.last = ticks;
    return walk;
}

/* Adds to the account of what is missing; it goes to the file as a `lost` record. Under the lock. */
TUMIT1_SLOW void tumit1_lose(struct tumit1_thread *t, uint64_t count, uint64_t bytes, uint64_t first, uint64_t last,
                             uint32_t cause) {
    if (count == 0) {
        return;
    }
    if (t->lost.count == 0) {
        t->lost.first = first;
    }
    t->lost.count += count;
    t->lost.bytes += bytes;
    t->lost.last = last;
    t->lost.cause |= cause;
    t->dropped += count;
}

/* Takes over the count of records that signal handlers could not write. Under the lock. */
TUMIT1_SLOW void tumit1_take_nested(struct tumit1_thread *t, uint64_t ticks) {
    uint32_t nested = __atomic_exchange_n(&t->cursor->nested, 0u, __ATOMIC_RELAXED);
    tumit1_lose(t, nested, 0, ticks, ticks, TUMIT1_CAUSE_NESTED);
}

/* Writes the account as a record and clears it. `bytes` of room there. */
TUMIT1_SLOW unsigned char *tumit1_put_lost(struct tumit1_thread *t, unsigned char *p) {
    p = tumit1_put_u16(p, TUMIT1_ID_LOST);
    p = tumit1_put_u32(p, 0);
    p = tumit1_put_u64(p, t->lost.count);
    p = tumit1_put_u64(p, t->lost.bytes);
    p = tumit1_put_u64(p, t->lost.first);
    p = tumit1_put_u64(p, t->lost.last);
    p = tumit1_put_u32(p, t->lost.cause);
    memset(&t->lost, 0, sizeof t->lost);
    return p;
}

/* Appends a block of records whose payload stands 64 bytes into `block`. Under the lock. A block that cannot be written
 * is counted as lost. */
TUMIT1_SLOW void tumit1_append_records(struct tumit1_thread *t, unsigned char *block, uint32_t raw, uint32_t stored,
                                       const struct tumit1_walk *walk) {
    struct tumit1_session *s = &tumit1_session;
    struct tumit1_header h;
    uint64_t monotonic;
    int error = EBADF;
    memset(&h, 0, sizeof h);
    h.kind = TUMIT1_KIND_RECORDS;
    h.codec = (uint8_t)(stored == raw ? TUMIT1_CODEC_RAW : TUMIT1_CODEC_LZ4);
    h.stream = t->stream;
    h.records = walk->records - walk->accounts;
    h.sequence = t->sequence;
    h.raw = raw;
    h.stored = stored;
    h.dropped = t->dropped;
    h.first = walk->first;
    h.last = walk->last;
    if (s->state == TUMIT1_OPEN) {
        error = tumit1_append_tables(t);
        error = error == 0 ? tumit1_append_block(&h, block) : error;
    }
    if (error != 0) {
        struct tumit1_lost later = t->lost;
        if (s->state == TUMIT1_OPEN) {
            tumit1_warn("cannot write", s->path, error);
        }
        t->lost = walk->lost; /* accounts in the block are told again; `dropped` has them already */
        if (later.count != 0) {
            t->lost.first = walk->accounts != 0 ? walk->lost.first : later.first;
            t->lost.last = later.last;
            t->lost.count += later.count;
            t->lost.bytes += later.bytes;
            t->lost.cause |= later.cause;
        }
        tumit1_lose(t, walk->records - walk->accounts, raw, walk->first, walk->last, TUMIT1_CAUSE_WRITE_FAILED);
        return;
    }
    t->sequence++;
    s->written += walk->records - walk->accounts;
    monotonic = tumit1_nanos(CLOCK_MONOTONIC);
    if (monotonic - s->anchored >= 1000000000u) {
        tumit1_append_anchor();
    }
}

/* Seals what the thread published since the last time. Under the lock, which is given up while compressing when the
 * owner itself calls: nobody else touches its records meanwhile. */
TUMIT1_SLOW void tumit1_seal(struct tumit1_thread *t, int owner) {
    unsigned char *at = __atomic_load_n(&t->cursor->at, __ATOMIC_ACQUIRE);
    uint32_t raw = (uint32_t)(at - t->done);
    struct tumit1_walk walk;
    uint32_t stored;
    unsigned char *block = t->packed;
    if (raw != 0) {
        t->sealing = 1;
        if (owner) {
            pthread_mutex_unlock(&tumit1_lock);
        }
        walk = tumit1_walk_records(t->done, at, t->ticks);
        stored = tumit1_lz4(t->done, raw, block + TUMIT1_HEADER_BYTES, raw - raw / 16, t->table);
        if (stored == 0) {
            stored = raw;
            memcpy(block + TUMIT1_HEADER_BYTES, t->done, raw);
        }
        if (owner) {
            pthread_mutex_lock(&tumit1_lock);
        }
        t->sealing = 0;
        t->ticks = walk.last;
        t->done = at;
        tumit1_append_records(t, block, raw, stored, &walk);
    }
    tumit1_take_nested(t, t->ticks);
}

/* A block with nothing but the account of losses, for a thread that will write no more. Under the lock. */
TUMIT1_SLOW void tumit1_seal_lost(struct tumit1_thread *t) {
    unsigned char block[TUMIT1_HEADER_BYTES + TUMIT1_LOST_BYTES + 8];
    struct tumit1_walk walk;
    if (t->lost.count != 0) {
        memset(&walk, 0, sizeof walk);
        walk.records = walk.accounts = 1;
        walk.lost = t->lost;
        walk.first = walk.last = t->lost.last;
        tumit1_put_lost(t, block + TUMIT1_HEADER_BYTES);
        tumit1_append_records(t, block, TUMIT1_LOST_BYTES, TUMIT1_LOST_BYTES, &walk);
    }
}

/* Seals what all threads published. Under the lock, which is given up while a thread is compressing its own. */
TUMIT1_SLOW void tumit1_seal_all(void) {
    struct tumit1_thread *t = tumit1_session.live;
    int patience = 100000;
    while (t != NULL) {
        if (t->sealing && patience-- > 0) {
            pthread_mutex_unlock(&tumit1_lock);
            sched_yield();
            pthread_mutex_lock(&tumit1_lock);
            t = tumit1_session.live; /* it may have changed; those done before have nothing left to seal */
            continue;
        }
        if (!t->sealing) {
            tumit1_seal(t, 0);
        }
        t = t->next;
    }
}
