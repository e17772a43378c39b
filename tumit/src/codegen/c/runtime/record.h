/* ---- The hot path: reserve, read the clock, write, publish ---- */

/* The level's word: 0 when off, else TUMIT1_ON and the first record id of the spec. */
TUMIT1_HOT uint32_t tumit1_word(const uint32_t *level) { return __atomic_load_n(level, __ATOMIC_RELAXED); }

/* A signal handler records while its thread is recording: counted. */
TUMIT1_SLOW void tumit1_count_nested(void) { __atomic_fetch_add(&tumit1_cursor.nested, 1u, __ATOMIC_RELAXED); }

/* Begins a record of `bytes` in all. Returns where its fields go, or NULL when it is dropped. One compare finds a full
 * block, a thread's first record and a recorder that has ended alike. */
TUMIT1_HOT unsigned char *tumit1_begin(uint32_t id, size_t bytes) {
    struct tumit1_cursor *c = &tumit1_cursor;
    unsigned char *p;
    uint64_t now, delta;
    if (TUMIT1_UNLIKELY(c->busy)) {
        tumit1_count_nested();
        return NULL;
    }
    c->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    p = c->at;
    if (TUMIT1_UNLIKELY((size_t)(c->end - p) < bytes)) {
        p = tumit1_make_room(bytes);
        if (p == NULL) {
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            c->busy = 0;
            return NULL;
        }
    }
    now = tumit1_now();
    delta = now - c->last;
    if (TUMIT1_UNLIKELY(delta >> 32 != 0)) {
        p = tumit1_wide_date(p, now);
        delta = 0;
    } else {
        c->last = now;
    }
    p = tumit1_put_u16(p, (uint16_t)id);
    return tumit1_put_u32(p, (uint32_t)delta);
}

/* Publishes the record that ends at `p`: from here on it will be written, whatever the program does next. */
TUMIT1_HOT void tumit1_end(unsigned char *p) {
    struct tumit1_cursor *c = &tumit1_cursor;
    __atomic_store_n(&c->at, p, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    c->busy = 0;
}

/* A count that fits its 16 bits; what is beyond is cut. */
TUMIT1_HOT uint16_t tumit1_count(size_t count) { return (uint16_t)(count < 0xFFFFu ? count : 0xFFFFu); }

/* Bytes of a text in a record; longer ones are cut between characters. */
TUMIT1_HOT uint16_t tumit1_text_bytes(const char *text) {
    size_t length = text == NULL ? 0 : strlen(text);
    if (TUMIT1_UNLIKELY(length > 0xFFFFu)) {
        length = 0xFFFFu;
        while (length > 0 && ((unsigned char)text[length] & 0xC0u) == 0x80u) {
            length--;
        }
    }
    return (uint16_t)length;
}
