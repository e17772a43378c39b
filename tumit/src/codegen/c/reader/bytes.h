/* ---- Bytes: little-endian numbers at any address, the checksum, LZ4 ---- */

TUMIT1R_FN uint64_t tumit1r_get(const unsigned char *p, size_t bytes) {
    uint64_t value = 0;
    while (bytes > 0) {
        bytes--;
        value = value << 8 | p[bytes];
    }
    return value;
}
TUMIT1R_FN uint16_t tumit1r_get_u16(const unsigned char *p) { return (uint16_t)tumit1r_get(p, 2); }
TUMIT1R_FN uint32_t tumit1r_get_u32(const unsigned char *p) { return (uint32_t)tumit1r_get(p, 4); }
TUMIT1R_FN uint64_t tumit1r_get_u64(const unsigned char *p) { return tumit1r_get(p, 8); }

TUMIT1R_FN void tumit1r_put(unsigned char *p, uint64_t value, size_t bytes) {
    size_t i;
    for (i = 0; i < bytes; i++) {
        p[i] = (unsigned char)(value & 0xFFu);
        value >>= 8;
    }
}

/* Tables of CRC32C. Table k advances a byte over k zero bytes. */
TUMIT1R_DATA uint32_t tumit1r_crc_tables[8][256];

TUMIT1R_FN void tumit1r_crc_init(void) {
    uint32_t n, k, bit;
    for (n = 0; n < 256; n++) {
        uint32_t crc = n;
        for (bit = 0; bit < 8; bit++) {
            crc = (crc & 1u) != 0 ? (crc >> 1) ^ TUMIT1R_CRC_POLYNOMIAL : crc >> 1;
        }
        tumit1r_crc_tables[0][n] = crc;
    }
    for (k = 1; k < 8; k++) {
        for (n = 0; n < 256; n++) {
            uint32_t before = tumit1r_crc_tables[k - 1][n];
            tumit1r_crc_tables[k][n] = tumit1r_crc_tables[0][before & 0xFFu] ^ (before >> 8);
        }
    }
}

/* Continues a CRC32C (Castagnoli) over more bytes. The initial value is 0. */
TUMIT1R_FN uint32_t tumit1r_crc(uint32_t crc, const unsigned char *p, size_t bytes) {
    uint32_t(*t)[256] = tumit1r_crc_tables;
    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint32_t low = tumit1r_get_u32(p) ^ crc;
        crc = t[7][low & 0xFFu] ^ t[6][(low >> 8) & 0xFFu] ^ t[5][(low >> 16) & 0xFFu] ^
              t[4][low >> 24] ^ t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; bytes > 0; bytes--, p++) {
        crc = t[0][(crc ^ *p) & 0xFFu] ^ (crc >> 8);
    }
    return ~crc;
}

/* Adds the further bytes of a length in an LZ4 sequence. */
TUMIT1R_FN bool tumit1r_lz4_length(const unsigned char *from, size_t bytes, size_t *position,
                                   size_t *length) {
    unsigned char byte = 255;
    while (byte == 255) {
        if (*position >= bytes) {
            return false;
        }
        byte = from[*position];
        *position += 1;
        *length += byte;
    }
    return true;
}

/* Unpacks one LZ4 block into exactly `size` bytes. Never reads or writes out of bounds, even for
 * invalid blocks. */
TUMIT1R_FN bool tumit1r_lz4(const unsigned char *from, size_t bytes, unsigned char *to,
                            size_t size) {
    size_t position = 0, place = 0;
    while (position < bytes) {
        unsigned char token = from[position++];
        size_t length = (size_t)(token >> 4), offset;
        if (length == 15 && !tumit1r_lz4_length(from, bytes, &position, &length)) {
            return false;
        }
        if (length > bytes - position || length > size - place) {
            return false;
        }
        memcpy(to + place, from + position, length);
        position += length;
        place += length;
        if (position == bytes) {
            return place == size;
        }
        if (bytes - position < 2) {
            return false;
        }
        offset = tumit1r_get_u16(from + position);
        position += 2;
        length = token & 15u;
        if (length == 15 && !tumit1r_lz4_length(from, bytes, &position, &length)) {
            return false;
        }
        length += 4;
        if (offset == 0 || offset > place || length > size - place) {
            return false;
        }
        for (; length > 0; length--, place++) { /* the source can overlap the bytes just written */
            to[place] = to[place - offset];
        }
    }
    return false; /* a block ends with literals */
}
