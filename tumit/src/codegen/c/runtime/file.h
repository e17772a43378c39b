/* ---- The file: blocks appended whole or not at all. All of it under the lock ---- */

/* Appends bytes; on failure the file is cut back to where it was. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append(const unsigned char *bytes_, size_t length_)) {
    struct tumit1_session *s_ = &tumit1_session;
    size_t done_ = 0;
    while (done_ < length_) {
        ssize_t wrote_ = pwrite(s_->file_, bytes_ + done_, length_ - done_, (off_t)(s_->offset_ + done_));
        if (wrote_ <= 0) {
            int error_ = wrote_ == 0 ? ENOSPC : errno;
            if (error_ == EINTR) {
                continue;
            }
            if (done_ != 0 && ftruncate(s_->file_, (off_t)s_->offset_) != 0) {
                s_->offset_ = (s_->offset_ + done_ + 7u) & ~(uint64_t)7u; /* readers search for the next block */
            }
            return error_;
        }
        done_ += (size_t)wrote_;
    }
    s_->offset_ += length_;
    return 0;
}

/* What stands in a block's header besides sizes and checksum. */
struct tumit1_header {
    uint8_t kind_, codec_;
    uint32_t stream_, records_;
    uint64_t sequence_;
    uint32_t raw_, stored_;
    uint64_t dropped_, first_, last_;
};

/* Appends a block: 64 bytes for its header stand in front of the payload, 7 for padding behind it. */
TUMIT1_SLOW(int tumit1_append_block(const struct tumit1_header *h_, unsigned char *block_)) {
    unsigned char *p_ = block_;
    size_t length_ = TUMIT1_HEADER_BYTES + (size_t)h_->stored_;
    size_t padded_ = (length_ + 7u) & ~(size_t)7u;
    p_ = tumit1_put_bytes(p_, TUMIT1_BLOCK_MAGIC, 8);
    p_ = tumit1_put_u32(p_, 0);
    p_ = tumit1_put_u8(p_, h_->kind_);
    p_ = tumit1_put_u8(p_, h_->codec_);
    p_ = tumit1_put_u16(p_, 0);
    p_ = tumit1_put_u32(p_, h_->stream_);
    p_ = tumit1_put_u32(p_, h_->records_);
    p_ = tumit1_put_u64(p_, h_->sequence_);
    p_ = tumit1_put_u32(p_, h_->raw_);
    p_ = tumit1_put_u32(p_, h_->stored_);
    p_ = tumit1_put_u64(p_, h_->dropped_);
    p_ = tumit1_put_u64(p_, h_->first_);
    p_ = tumit1_put_u64(p_, h_->last_);
    tumit1_put_u32(block_ + 8, tumit1_crc(0, block_, length_));
    memset(block_ + length_, 0, padded_ - length_);
    return tumit1_append(block_, padded_);
}

/* Appends an uncompressed block of the process (or of `stream`, kind `stream`). Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_plain(uint8_t kind_, uint32_t stream_, uint32_t entries_, unsigned char *block_,
                                    size_t payload_, uint64_t first_, uint64_t last_)) {
    struct tumit1_header h_;
    int error_;
    memset(&h_, 0, sizeof h_);
    h_.kind_ = kind_;
    h_.stream_ = stream_;
    h_.records_ = entries_;
    h_.sequence_ = tumit1_session.sequence_;
    h_.raw_ = h_.stored_ = (uint32_t)payload_;
    h_.first_ = first_;
    h_.last_ = last_;
    error_ = tumit1_append_block(&h_, block_);
    if (error_ == 0) {
        tumit1_session.sequence_++;
    }
    return error_;
}

/* Appends a block of the process whose one entry was compressed before. Returns 0 or an errno. */
TUMIT1_SLOW(int tumit1_append_packed(uint8_t kind_, unsigned char *block_, uint32_t raw_, uint32_t stored_)) {
    struct tumit1_header h_;
    int error_;
    memset(&h_, 0, sizeof h_);
    h_.kind_ = kind_;
    h_.codec_ = TUMIT1_CODEC_LZ4;
    h_.stream_ = TUMIT1_PROCESS_STREAM;
    h_.records_ = 1;
    h_.sequence_ = tumit1_session.sequence_;
    h_.raw_ = raw_;
    h_.stored_ = stored_;
    error_ = tumit1_append_block(&h_, block_);
    if (error_ == 0) {
        tumit1_session.sequence_++;
    }
    return error_;
}

TUMIT1_SLOW(unsigned char *tumit1_put_tag(unsigned char *p_, uint16_t tag_, const void *bytes_, size_t length_)) {
    p_ = tumit1_put_u16(p_, tag_);
    p_ = tumit1_put_u32(p_, (uint32_t)length_);
    return tumit1_put_bytes(p_, bytes_, length_);
}
TUMIT1_SLOW(unsigned char *tumit1_put_integer_tag(unsigned char *p_, uint16_t tag_, uint64_t value_)) {
    return tumit1_put_tag(p_, tag_, &value_, sizeof value_);
}

/* Three clocks read together, the best of ten tries. Keeps dates of one process comparable with the wall. */
TUMIT1_SLOW(void tumit1_append_anchor(void)) {
    unsigned char block_[TUMIT1_HEADER_BYTES + 40];
    unsigned char *p_ = block_ + TUMIT1_HEADER_BYTES;
    uint64_t ticks_ = 0, monotonic_ = 0, real_ = 0, bracket_ = UINT64_MAX;
    int i_;
    for (i_ = 0; i_ < 10; i_++) {
        uint64_t before_ = tumit1_now_slow();
        uint64_t m_ = tumit1_nanos(CLOCK_MONOTONIC);
        uint64_t r_ = tumit1_nanos(CLOCK_REALTIME);
        uint64_t width_ = tumit1_now_slow() - before_;
        if (width_ < bracket_) {
            bracket_ = width_;
            ticks_ = before_ + width_ / 2;
            monotonic_ = m_;
            real_ = r_;
        }
    }
    p_ = tumit1_put_u64(p_, ticks_);
    p_ = tumit1_put_u64(p_, monotonic_);
    p_ = tumit1_put_u64(p_, real_);
    p_ = tumit1_put_u64(p_, bracket_);
    tumit1_session.anchored_ = monotonic_;
    (void)tumit1_append_plain(TUMIT1_KIND_ANCHORS, TUMIT1_PROCESS_STREAM, 1, block_, 32, ticks_, ticks_);
}
