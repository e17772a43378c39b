/* ---- One LZ4 block ---- */

#ifdef TUMIT_LZ4
TUMIT1_END_DECLS
#include <lz4.h>
TUMIT1_BEGIN_DECLS

/* Compresses with liblz4: link with -llz4. Arguments and result are those of the function below. */
TUMIT1_WORK(uint32_t tumit1_lz4_compress(const unsigned char *from_, uint32_t bytes_,
                                         unsigned char *to_, uint32_t room_, uint16_t *table_)) {
    int packed_ = LZ4_compress_default((const char *)from_, (char *)to_, (int)bytes_, (int)room_);
    (void)table_;
    return packed_ < 0 ? 0 : (uint32_t)packed_;
}
#else
/* The compressor is greedy: a hash of four bytes finds the last position of the same bytes. */

TUMIT1_HOT unsigned char *tumit1_lz4_length(unsigned char *out_, uint32_t length_) {
    for (; length_ >= 255; length_ -= 255) {
        *out_++ = 255;
    }
    *out_++ = (unsigned char)length_;
    return out_;
}

/* Writes literals, and then a match of `length_` bytes at distance `offset_`, unless `length_`
 * is 0. Returns NULL when the output would exceed `end_`. */
TUMIT1_HOT unsigned char *tumit1_lz4_emit(unsigned char *out_, const unsigned char *end_,
                                          const unsigned char *literals_, uint32_t count_,
                                          uint32_t offset_, uint32_t length_) {
    uint32_t match_ = length_ == 0 ? 0 : length_ - 4;
    unsigned char *token_ = out_++;
    if ((size_t)(end_ - token_) < (size_t)count_ + count_ / 255 + match_ / 255 + 8) {
        return NULL;
    }
    *token_ = (unsigned char)((count_ < 15 ? count_ : 15) << 4 | (match_ < 15 ? match_ : 15));
    if (count_ >= 15) {
        out_ = tumit1_lz4_length(out_, count_ - 15);
    }
    if (length_ != 0 && count_ <= 12 && end_ - out_ >= 12) {
        /* a match begins at least twelve bytes before the end, so no loop is needed */
        memcpy(out_, literals_, 12);
        out_ += count_;
    } else {
        out_ = tumit1_put_bytes(out_, literals_, count_);
    }
    if (length_ != 0) {
        out_ = tumit1_put_u16(out_, (uint16_t)offset_);
        if (match_ >= 15) {
            out_ = tumit1_lz4_length(out_, match_ - 15);
        }
    }
    return out_;
}

TUMIT1_HOT uint32_t tumit1_lz4_hash(const unsigned char *p_) {
    return (tumit1_get_u32(p_) * 2654435761u) >> (32 - TUMIT1_LZ4_BITS);
}

/* The number of equal bytes at `p_` and at the earlier position `q_`, up to `end_`. */
TUMIT1_HOT uint32_t tumit1_lz4_match_length(const unsigned char *p_, const unsigned char *q_,
                                            const unsigned char *end_) {
    const unsigned char *start_ = p_;
    while (end_ - p_ >= 8) {
        uint64_t differ_ = tumit1_get_u64(p_) ^ tumit1_get_u64(q_);
        if (differ_ != 0) {
            return (uint32_t)(p_ - start_) + (uint32_t)__builtin_ctzll(differ_) / 8;
        }
        p_ += 8;
        q_ += 8;
    }
    while (p_ < end_ && *p_ == *q_) {
        p_++;
        q_++;
    }
    return (uint32_t)(p_ - start_);
}

/* Compresses `bytes_` (at most TUMIT1_BLOCK) into `room_` bytes at `to_`. Returns the compressed
 * size, or 0 when it would not fit. The format requires that the last five bytes are literals,
 * and that the last match begins at least twelve bytes before the end. */
TUMIT1_WORK(uint32_t tumit1_lz4_compress(const unsigned char *from_, uint32_t bytes_,
                                         unsigned char *to_, uint32_t room_, uint16_t *table_)) {
    const unsigned char *end_ = to_ + room_;
    unsigned char *out_ = to_;
    uint32_t index_ = 1, anchor_ = 0;
    memset(table_, 0, sizeof(uint16_t) << TUMIT1_LZ4_BITS);
    while (index_ + 12 <= bytes_) {
        uint32_t slot_ = tumit1_lz4_hash(from_ + index_);
        uint32_t match_ = table_[slot_];
        uint32_t length_ = 4;
        table_[slot_] = (uint16_t)index_;
        if (match_ >= index_ || tumit1_get_u32(from_ + match_) != tumit1_get_u32(from_ + index_)) {
            index_ += 1 + ((index_ - anchor_) >> 6); /* larger steps in data without repetitions */
            continue;
        }
        while (index_ > anchor_ && match_ > 0 && from_[index_ - 1] == from_[match_ - 1]) {
            index_--;
            match_--;
            length_++;
        }
        length_ += tumit1_lz4_match_length(from_ + index_ + length_, from_ + match_ + length_,
                                           from_ + bytes_ - 5);
        out_ = tumit1_lz4_emit(out_, end_, from_ + anchor_, index_ - anchor_, index_ - match_,
                               length_);
        if (out_ == NULL) {
            return 0;
        }
        index_ += length_;
        anchor_ = index_;
        if (index_ + 12 <= bytes_) {
            table_[tumit1_lz4_hash(from_ + index_ - 2)] = (uint16_t)(index_ - 2);
        }
    }
    out_ = tumit1_lz4_emit(out_, end_, from_ + anchor_, bytes_ - anchor_, 0, 0);
    return out_ == NULL ? 0 : (uint32_t)(out_ - to_);
}
#endif

/* The bytes of a length that exceeds its four bits. `*p_` moves after them. */
TUMIT1_HOT size_t tumit1_lz4_read_length(const unsigned char **p_) {
    size_t length_ = 0;
    unsigned char byte_;
    do {
        byte_ = *(*p_)++;
        length_ += byte_;
    } while (byte_ == 255);
    return length_;
}

/* Unpacks a block that the generator compressed: a spec, which a live file has uncompressed.
 * `bytes_` is the compressed size, and `raw_` the uncompressed one. */
TUMIT1_SLOW(void tumit1_lz4_decompress(const unsigned char *p_, size_t bytes_, unsigned char *to_,
                                       size_t raw_)) {
    const unsigned char *const end_ = p_ + bytes_, *const full_ = to_ + raw_;
    while (p_ < end_) {
        const unsigned char token_ = *p_++;
        size_t length_ = token_ >> 4;
        const unsigned char *from_;
        length_ += length_ == 15 ? tumit1_lz4_read_length(&p_) : 0;
        to_ = tumit1_put_bytes(to_, p_, length_);
        p_ += length_;
        if (p_ >= end_) {
            return;
        }
        from_ = to_ - tumit1_get_u16(p_);
        p_ += 2;
        length_ = token_ & 15u;
        length_ += length_ == 15 ? tumit1_lz4_read_length(&p_) : 0;
        for (length_ += 4; length_ > 0 && to_ < full_; length_--) {
            *to_++ = *from_++; /* byte by byte, because the ranges can overlap */
        }
    }
}
