/* ---- One file of a run: its bytes, and the positions of its blocks ---- */

struct tumit1r_block {
    uint64_t payload; /* its position in the file */
    uint64_t sequence, dropped, first_ticks, last_ticks;
    uint32_t stream, records, raw, stored;
    uint8_t kind, codec, flags;
};

/* A part of a file that is in memory. */
struct tumit1r_window {
    FILE *file;
    uint64_t length, start;
    unsigned char *bytes;
    size_t filled, room;
    bool failed;
};

TUMIT1R_FN size_t tumit1r_read_at(FILE *file, uint64_t offset, unsigned char *to, size_t bytes) {
    if (bytes == 0 || offset > (uint64_t)(~0ul >> 1) || fseek(file, (long)offset, SEEK_SET) != 0) {
        return 0;
    }
    return fread(to, 1, bytes, file);
}

/* Reads up to `bytes` bytes from `offset`. `*size` gets their number. */
TUMIT1R_FN const unsigned char *tumit1r_window_at(struct tumit1r_window *window, uint64_t offset,
                                                  size_t bytes, size_t *size) {
    uint64_t position = offset - window->start,
             available = offset < window->length ? window->length - offset : 0;
    size_t count = bytes < TUMIT1R_CHUNK ? TUMIT1R_CHUNK : bytes;
    if (offset >= window->start && position <= window->filled &&
        window->filled - position >= bytes) {
        *size = bytes;
        return window->bytes + position;
    }
    count = count > available ? (size_t)available : count;
    if (!tumit1r_room(&window->bytes, &window->room, count + 1, 1)) {
        window->failed = true;
        *size = 0;
        return (const unsigned char *)"";
    }
    window->start = offset;
    window->filled = tumit1r_read_at(window->file, offset, window->bytes, count);
    window->failed = window->failed || ferror(window->file) != 0;
    *size = window->filled < bytes ? window->filled : bytes;
    return window->bytes;
}

/* The payload of a block. A compressed payload is unpacked into `*buffer`, which the caller
 * frees. NULL when it cannot be unpacked. */
TUMIT1R_FN const unsigned char *tumit1r_unpack(const struct tumit1r_block *block,
                                               const unsigned char *payload, unsigned char **buffer,
                                               size_t *room) {
    if (block->codec == TUMIT1R_CODEC_RAW) {
        return block->raw == block->stored ? payload : NULL;
    }
    if (!tumit1r_room(buffer, room, (size_t)block->raw + 1, 1)) {
        return NULL;
    }
    switch (block->codec) {
    case TUMIT1R_CODEC_LZ4:
        return tumit1r_lz4(payload, block->stored, *buffer, block->raw) ? *buffer : NULL;
    case TUMIT1R_CODEC_COLUMNS:
        return tumit1r_unpack_columns(payload, block->stored, *buffer, block->raw) ? *buffer : NULL;
    default:
        return NULL;
    }
}

/* Reads the header of a block and checks its checksum. `*cost` gets the number of bytes read. */
TUMIT1R_FN bool tumit1r_block_at(struct tumit1r_window *window, uint64_t offset,
                                 struct tumit1r_block *block, const unsigned char **payload,
                                 uint64_t *cost) {
    unsigned char head[TUMIT1R_HEADER_BYTES];
    size_t size, total;
    const unsigned char *p = tumit1r_window_at(window, offset, sizeof head, &size);
    uint32_t crc;
    *cost = sizeof head;
    if (size < sizeof head || memcmp(p, TUMIT1R_BLOCK_MAGIC, 8) != 0) {
        return false;
    }
    memcpy(head, p, sizeof head);
    block->payload = offset + sizeof head;
    block->kind = head[12];
    block->codec = head[13];
    block->flags = head[14];
    block->stream = tumit1r_get_u32(head + 16);
    block->records = tumit1r_get_u32(head + 20);
    block->sequence = tumit1r_get_u64(head + 24);
    block->raw = tumit1r_get_u32(head + 32);
    block->stored = tumit1r_get_u32(head + 36);
    block->dropped = tumit1r_get_u64(head + 40);
    block->first_ticks = tumit1r_get_u64(head + 48);
    block->last_ticks = tumit1r_get_u64(head + 56);
    if (block->raw > TUMIT1R_MAX_PAYLOAD_BYTES || block->stored > TUMIT1R_MAX_PAYLOAD_BYTES) {
        return false;
    }
    total = sizeof head + block->stored;
    p = tumit1r_window_at(window, offset, total, &size);
    *cost = total;
    if (size < total) {
        return false;
    }
    crc = tumit1r_get_u32(head + 8);
    memset(head + 8, 0, 4);
    *payload = p + sizeof head;
    return crc == tumit1r_crc(tumit1r_crc(0, head, sizeof head), *payload, block->stored);
}

/* The position of the next block magic, at or after `from`. The length of the file when there is
 * none. */
TUMIT1R_FN uint64_t tumit1r_next_magic(struct tumit1r_window *window, uint64_t from) {
    while (from < window->length) {
        size_t size, position = 0;
        const unsigned char *p = tumit1r_window_at(window, from, TUMIT1R_CHUNK, &size);
        while (size >= 8 && position <= size - 8) {
            const void *first =
                memchr(p + position, (unsigned char)TUMIT1R_BLOCK_MAGIC[0], size - 7 - position);
            if (first == NULL) {
                break;
            }
            position = (size_t)((const unsigned char *)first - p);
            if (memcmp(first, TUMIT1R_BLOCK_MAGIC, 8) == 0) {
                return from + position;
            }
            position++;
        }
        from += size > 8 ? size - 7 : 1;
        if (size == 0) {
            break;
        }
    }
    return window->length;
}

/* Zeros up to the end are reserved and unused space, not damage. */
TUMIT1R_FN bool tumit1r_only_zeros(struct tumit1r_window *window, uint64_t from) {
    while (from < window->length) {
        size_t size, i;
        const unsigned char *p = tumit1r_window_at(window, from, TUMIT1R_CHUNK, &size);
        for (i = 0; i < size; i++) {
            if (p[i] != 0) {
                return false;
            }
        }
        if (size == 0) {
            break;
        }
        from += size;
    }
    return true;
}
