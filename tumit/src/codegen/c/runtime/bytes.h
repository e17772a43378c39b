/* ---- Bytes: unaligned stores, checksum ---- */

TUMIT1_HOT unsigned char *tumit1_put_bytes(unsigned char *p, const void *from, size_t bytes) {
    if (bytes != 0) {
        memcpy(p, from, bytes);
    }
    return p + bytes;
}
TUMIT1_HOT unsigned char *tumit1_put_u8(unsigned char *p, uint8_t value) {
    *p = value;
    return p + 1;
}
TUMIT1_HOT unsigned char *tumit1_put_u16(unsigned char *p, uint16_t value) {
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}
TUMIT1_HOT unsigned char *tumit1_put_u32(unsigned char *p, uint32_t value) {
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}
TUMIT1_HOT unsigned char *tumit1_put_u64(unsigned char *p, uint64_t value) {
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}
TUMIT1_HOT unsigned char *tumit1_put_f32(unsigned char *p, float value) {
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}
TUMIT1_HOT unsigned char *tumit1_put_f64(unsigned char *p, double value) {
    memcpy(p, &value, sizeof value);
    return p + sizeof value;
}
TUMIT1_HOT uint16_t tumit1_get_u16(const unsigned char *p) {
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}
TUMIT1_HOT uint32_t tumit1_get_u32(const unsigned char *p) {
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}
TUMIT1_HOT uint64_t tumit1_get_u64(const unsigned char *p) {
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* The tables of CRC32C (Castagnoli) for eight bytes a step: table k advances a byte over k zero bytes. */
TUMIT1_SLOW void tumit1_crc_init(void) {
    uint32_t n, k, bit;
    for (n = 0; n < 256; n++) {
        uint32_t crc = n;
        for (bit = 0; bit < 8; bit++) {
            crc = (crc & 1u) != 0 ? (crc >> 1) ^ TUMIT1_CRC_POLYNOMIAL : crc >> 1;
        }
        tumit1_crc_tables[0][n] = crc;
    }
    for (k = 1; k < 8; k++) {
        for (n = 0; n < 256; n++) {
            uint32_t before = tumit1_crc_tables[k - 1][n];
            tumit1_crc_tables[k][n] = tumit1_crc_tables[0][before & 0xFFu] ^ (before >> 8);
        }
    }
}

/* Continues a CRC32C over more bytes; start from 0. */
TUMIT1_SLOW uint32_t tumit1_crc(uint32_t crc, const unsigned char *p, size_t bytes) {
    uint32_t(*t)[256] = tumit1_crc_tables;
    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint32_t low = tumit1_get_u32(p) ^ crc;
        crc = t[7][low & 0xFFu] ^ t[6][(low >> 8) & 0xFFu] ^ t[5][(low >> 16) & 0xFFu] ^ t[4][low >> 24] ^ t[3][p[4]] ^
              t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]];
    }
    for (; bytes > 0; bytes--, p++) {
        crc = t[0][(crc ^ *p) & 0xFFu] ^ (crc >> 8);
    }
    return ~crc;
}
