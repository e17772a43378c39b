/* ---- One LZ4 block, greedily: a hash of four bytes finds the last place where they stood ---- */

TUMIT1_HOT unsigned char *tumit1_lz4_length(unsigned char *out, uint32_t rest) {
    for (; rest >= 255; rest -= 255) {
        *out++ = 255;
    }
    *out++ = (unsigned char)rest;
    return out;
}

/* Literals, and then a match of `length` bytes `offset` back unless `length` is 0. NULL when `end` would be passed. */
TUMIT1_HOT unsigned char *tumit1_lz4_emit(unsigned char *out, const unsigned char *end, const unsigned char *literals,
                                          uint32_t count, uint32_t offset, uint32_t length) {
    uint32_t match = length == 0 ? 0 : length - 4;
    unsigned char *token = out++;
    if ((size_t)(end - token) < (size_t)count + count / 255 + match / 255 + 8) {
        return NULL;
    }
    *token = (unsigned char)((count < 15 ? count : 15) << 4 | (match < 15 ? match : 15));
    if (count >= 15) {
        out = tumit1_lz4_length(out, count - 15);
    }
    if (length != 0 && count <= 12 && end - out >= 12) {
        memcpy(out, literals, 12); /* a match begins twelve bytes before the end: they are there, and no loop is needed */
        out += count;
    } else {
        out = tumit1_put_bytes(out, literals, count);
    }
    if (length != 0) {
        out = tumit1_put_u16(out, (uint16_t)offset);
        if (match >= 15) {
            out = tumit1_lz4_length(out, match - 15);
        }
    }
    return out;
}

TUMIT1_HOT uint32_t tumit1_lz4_hash(const unsigned char *p) {
    return (tumit1_get_u32(p) * 2654435761u) >> (32 - TUMIT1_LZ4_BITS);
}

/* How many bytes are the same at `p` and before it at `q`, up to `end`. */
TUMIT1_HOT uint32_t tumit1_lz4_same(const unsigned char *p, const unsigned char *q, const unsigned char *end) {
    const unsigned char *start = p;
    while (end - p >= 8) {
        uint64_t differ = tumit1_get_u64(p) ^ tumit1_get_u64(q);
        if (differ != 0) {
            return (uint32_t)(p - start) + (uint32_t)__builtin_ctzll(differ) / 8;
        }
        p += 8;
        q += 8;
    }
    while (p < end && *p == *q) {
        p++;
        q++;
    }
    return (uint32_t)(p - start);
}

/* Compresses `bytes` (at most TUMIT1_BLOCK) into `room` bytes at `to`. Returns the compressed size, 0 when it would not
 * fit. The format asks that the last five bytes be literals and the last match begin twelve bytes before the end. */
TUMIT1_SLOW uint32_t tumit1_lz4(const unsigned char *from, uint32_t bytes, unsigned char *to, uint32_t room,
                                uint16_t *table) {
    const unsigned char *end = to + room;
    unsigned char *out = to;
    uint32_t at = 1, anchor = 0;
    memset(table, 0, sizeof(uint16_t) << TUMIT1_LZ4_BITS);
    while (at + 12 <= bytes) {
        uint32_t slot = tumit1_lz4_hash(from + at);
        uint32_t before = table[slot];
        uint32_t length = 4;
        table[slot] = (uint16_t)at;
        if (before >= at || tumit1_get_u32(from + before) != tumit1_get_u32(from + at)) {
            at += 1 + ((at - anchor) >> 6); /* faster and faster where nothing repeats */
            continue;
        }
        while (at > anchor && before > 0 && from[at - 1] == from[before - 1]) {
            at--;
            before--;
            length++;
        }
        length += tumit1_lz4_same(from + at + length, from + before + length, from + bytes - 5);
        out = tumit1_lz4_emit(out, end, from + anchor, at - anchor, at - before, length);
        if (out == NULL) {
            return 0;
        }
        at += length;
        anchor = at;
        if (at + 12 <= bytes) {
            table[tumit1_lz4_hash(from + at - 2)] = (uint16_t)(at - 2);
        }
    }
    out = tumit1_lz4_emit(out, end, from + anchor, bytes - anchor, 0, 0);
    return out == NULL ? 0 : (uint32_t)(out - to);
}
