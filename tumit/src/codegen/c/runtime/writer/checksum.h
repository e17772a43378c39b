/* ---- CRC32C ---- */

/* The tables of CRC32C (Castagnoli) for eight bytes per step. Table k advances a byte over k
 * zero bytes. */
TUMIT1_SLOW(void tumit1_crc_init(void)) {
    uint32_t n_, k_, bit_;
    for (n_ = 0; n_ < 256; n_++) {
        uint32_t crc_ = n_;
        for (bit_ = 0; bit_ < 8; bit_++) {
            crc_ = (crc_ & 1u) != 0 ? (crc_ >> 1) ^ TUMIT1_CRC_POLYNOMIAL : crc_ >> 1;
        }
        tumit1_crc_tables[0][n_] = crc_;
    }
    for (k_ = 1; k_ < 8; k_++) {
        for (n_ = 0; n_ < 256; n_++) {
            uint32_t before_ = tumit1_crc_tables[k_ - 1][n_];
            tumit1_crc_tables[k_][n_] = tumit1_crc_tables[0][before_ & 0xFFu] ^ (before_ >> 8);
        }
    }
}

/* Continues a CRC32C over more bytes. The initial value is 0. */
TUMIT1_WORK(uint32_t tumit1_crc(uint32_t crc_, const unsigned char *p_, size_t bytes_)) {
    uint32_t(*t_)[256] = tumit1_crc_tables;
    crc_ = ~crc_;
    for (; bytes_ >= 8; bytes_ -= 8, p_ += 8) {
        uint32_t low_ = tumit1_get_u32(p_) ^ crc_;
        crc_ = t_[7][low_ & 0xFFu] ^ t_[6][(low_ >> 8) & 0xFFu] ^ t_[5][(low_ >> 16) & 0xFFu] ^
               t_[4][low_ >> 24] ^ t_[3][p_[4]] ^ t_[2][p_[5]] ^ t_[1][p_[6]] ^ t_[0][p_[7]];
    }
    for (; bytes_ > 0; bytes_--, p_++) {
        crc_ = t_[0][(crc_ ^ *p_) & 0xFFu] ^ (crc_ >> 8);
    }
    return ~crc_;
}
