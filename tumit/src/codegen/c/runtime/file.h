/* ---- The file: blocks appended whole or not at all. All of it under the lock ---- */

/* Appends bytes; on failure the file is cut back to where it was. Returns 0 or an errno. */
TUMIT1_SLOW int tumit1_append(const unsigned char *bytes, size_t length) {
    struct tumit1_session *s = &tumit1_session;
    size_t done = 0;
    while (done < length) {
        ssize_t wrote = pwrite(s->file, bytes + done, length - done, (off_t)(s->offset + done));
        if (wrote <= 0) {
            int error = wrote == 0 ? ENOSPC : errno;
            if (error == EINTR) {
                continue;
            }
            if (done != 0 && ftruncate(s->file, (off_t)s->offset) != 0) {
                s->offset = (s->offset + done + 7u) & ~(uint64_t)7u; /* readers search for the next block */
            }
            return error;
        }
        done += (size_t)wrote;
    }
    s->offset += length;
    return 0;
}

/* What stands in a block's header besides sizes and checksum. */
struct tumit1_header {
    uint8_t kind, codec;
    uint32_t stream, records;
    uint64_t sequence;
    uint32_t raw, stored;
    uint64_t dropped, first, last;
};

/* Appends a block: 64 bytes for its header stand in front of the payload, 7 for padding behind it. */
TUMIT1_SLOW int tumit1_append_block(const struct tumit1_header *h, unsigned char *block) {
    unsigned char *p = block;
    size_t length = TUMIT1_HEADER_BYTES + (size_t)h->stored;
    size_t padded = (length + 7u) & ~(size_t)7u;
    p = tumit1_put_bytes(p, TUMIT1_BLOCK_MAGIC, 8);
    p = tumit1_put_u32(p, 0);
    p = tumit1_put_u8(p, h->kind);
    p = tumit1_put_u8(p, h->codec);
    p = tumit1_put_u16(p, 0);
    p = tumit1_put_u32(p, h->stream);
    p = tumit1_put_u32(p, h->records);
    p = tumit1_put_u64(p, h->sequence);
    p = tumit1_put_u32(p, h->raw);
    p = tumit1_put_u32(p, h->stored);
    p = tumit1_put_u64(p, h->dropped);
    p = tumit1_put_u64(p, h->first);
    p = tumit1_put_u64(p, h->last);
    tumit1_put_u32(block + 8, tumit1_crc(0, block, length));
    memset(block + length, 0, padded - length);
    return tumit1_append(block, padded);
}

/* Appends an uncompressed block of the process (or of `stream`, kind `stream`). Returns 0 or an errno. */
TUMIT1_SLOW int tumit1_append_plain(uint8_t kind, uint32_t stream, uint32_t entries, unsigned char *block,
                                    size_t payload, uint64_t first, uint64_t last) {
    struct tumit1_header h;
    int error;
    memset(&h, 0, sizeof h);
    h.kind = kind;
    h.stream = stream;
    h.records = entries;
    h.sequence = tumit1_session.sequence;
    h.raw = h.stored = (uint32_t)payload;
    h.first = first;
    h.last = last;
    error = tumit1_append_block(&h, block);
    if (error == 0) {
        tumit1_session.sequence++;
    }
    return error;
}

TUMIT1_SLOW unsigned char *tumit1_put_tag(unsigned char *p, uint16_t tag, const void *bytes, size_t length) {
    p = tumit1_put_u16(p, tag);
    p = tumit1_put_u32(p, (uint32_t)length);
    return tumit1_put_bytes(p, bytes, length);
}
TUMIT1_SLOW unsigned char *tumit1_put_integer_tag(unsigned char *p, uint16_t tag, uint64_t value) {
    return tumit1_put_tag(p, tag, &value, sizeof value);
}

/* Three clocks read together, the best of ten tries. Keeps dates of one process comparable with the wall. */
TUMIT1_SLOW void tumit1_append_anchor(void) {
    unsigned char block[TUMIT1_HEADER_BYTES + 40];
    unsigned char *p = block + TUMIT1_HEADER_BYTES;
    uint64_t ticks = 0, monotonic = 0, real = 0, bracket = UINT64_MAX;
    int i;
    for (i = 0; i < 10; i++) {
        uint64_t before = tumit1_now_slow();
        uint64_t m = tumit1_nanos(CLOCK_MONOTONIC);
        uint64_t r = tumit1_nanos(CLOCK_REALTIME);
        uint64_t width = tumit1_now_slow() - before;
        if (width < bracket) {
            bracket = width;
            ticks = before + width / 2;
            monotonic = m;
            real = r;
        }
    }
    p = tumit1_put_u64(p, ticks);
    p = tumit1_put_u64(p, monotonic);
    p = tumit1_put_u64(p, real);
    p = tumit1_put_u64(p, bracket);
    tumit1_session.anchored = monotonic;
    (void)tumit1_append_plain(TUMIT1_KIND_ANCHORS, TUMIT1_PROCESS_STREAM, 1, block, 32, ticks, ticks);
}
