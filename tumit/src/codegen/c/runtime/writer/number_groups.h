/* ---- Columns of numbers: the methods, and groups stored as distances from a base ---- */

#define TUMIT1_GROUP 128u          /* numbers in a group */
/* flag in the first byte of a group: the numbers are differences */
#define TUMIT1_GROUP_STEPS 0x80u
#define TUMIT1_COLUMN_PLAIN 0u     /* methods of columns */
#define TUMIT1_COLUMN_GROUPS 1u    /* columns of bytes: an LZ4 block */
#define TUMIT1_COLUMN_DICTIONARY 2u

/* The size of a group that is stored as distances from a base. */
struct tumit1_plan {
    uint64_t base_;
    uint32_t width_, bytes_;
    int exceptions_;
};

TUMIT1_HOT uint32_t tumit1_bit_width(uint64_t value_) {
    return value_ == 0 ? 0u : 64u - (uint32_t)__builtin_clzll(value_);
}

/* The number with its sign in the lowest bit. */
TUMIT1_HOT uint64_t tumit1_zigzag(uint64_t value_) { return (value_ << 1) ^ (0u - (value_ >> 63)); }

/* Sign-extends a number of `width_` bytes, so that differences get their shortest form. */
TUMIT1_HOT uint64_t tumit1_extend(uint64_t value_, uint32_t width_) {
    const uint64_t sign_ = (uint64_t)1 << (8u * width_ - 1u);
    value_ &= sign_ | (sign_ - 1u);
    return (value_ ^ sign_) - sign_;
}

TUMIT1_HOT unsigned char *tumit1_put_varint(unsigned char *p_, uint64_t value_) {
    for (; value_ >= 0x80u; value_ >>= 7) {
        *p_++ = (unsigned char)(value_ | 0x80u);
    }
    *p_++ = (unsigned char)value_;
    return p_;
}

/* The least of the numbers, compared as signed. */
TUMIT1_HOT uint64_t tumit1_minimum(const uint64_t *numbers_, uint32_t count_) {
    const uint64_t sign_ = (uint64_t)1 << 63;
    uint64_t least_ = numbers_[0] ^ sign_;
    uint32_t i_;
    for (i_ = 1; i_ < count_; i_++) {
        least_ = (numbers_[i_] ^ sign_) < least_ ? numbers_[i_] ^ sign_ : least_;
    }
    return least_ ^ sign_;
}

/* The best width for the distances of numbers from a base. It results from the number of
 * distances of each width. */
TUMIT1_WORK(struct tumit1_plan tumit1_plan_from(const uint64_t *numbers_, uint32_t count_,
                                                uint64_t base_)) {
    struct tumit1_plan best_;
    uint16_t counts_[65];
    uint32_t i_, widest_, exceptions_ = 0;
    uint64_t bits_ = 0;
    memset(counts_, 0, sizeof counts_);
    for (i_ = 0; i_ < count_; i_++) {
        bits_ |= numbers_[i_] - base_;
        counts_[tumit1_bit_width(numbers_[i_] - base_)]++;
    }
    widest_ = tumit1_bit_width(bits_);
    best_.base_ = base_;
    best_.width_ = widest_;
    best_.bytes_ = (count_ * widest_ + 7u) / 8u;
    best_.exceptions_ = 0;
    for (i_ = widest_; i_-- > 0 && exceptions_ < best_.bytes_;) {
        uint32_t bytes_;
        exceptions_ += counts_[i_ + 1] * (1u + (i_ + 8u) / 7u); /* a position and the zigzag code */
        bytes_ = (count_ * i_ + 7u) / 8u + exceptions_;
        if (bytes_ < best_.bytes_) {
            best_.width_ = i_;
            best_.bytes_ = bytes_;
            best_.exceptions_ = 1;
        }
    }
    best_.bytes_ += (tumit1_bit_width(tumit1_zigzag(base_) | 1u) + 6u) / 7u;
    return best_;
}

/* Plans distances from the least number, or from a number to which most others seem to be close. */
TUMIT1_WORK(struct tumit1_plan tumit1_best_plan(const uint64_t *numbers_, uint32_t count_)) {
    const uint64_t one_ = numbers_[count_ / 4], two_ = numbers_[count_ / 2],
                   three_ = numbers_[count_ * 3 / 4];
    const uint64_t least_ = tumit1_minimum(numbers_, count_);
    const uint64_t usual_ = one_ == two_ || one_ == three_ ? one_ : two_ == three_ ? two_ : least_;
    struct tumit1_plan best_ = tumit1_plan_from(numbers_, count_, least_), other_;
    if (usual_ != least_) {
        other_ = tumit1_plan_from(numbers_, count_, usual_);
        best_ = other_.bytes_ < best_.bytes_ ? other_ : best_;
    }
    return best_;
}

/* Whether a group is smaller when it stores differences. The test uses a quarter of the group. */
TUMIT1_WORK(int tumit1_prefers_steps(const uint64_t *plain_, const uint64_t *steps_,
                                     uint32_t count_)) {
    uint64_t some_[2][TUMIT1_GROUP / 4];
    uint32_t i_, picked_ = 0;
    if (count_ < TUMIT1_GROUP / 4) {
        return tumit1_best_plan(steps_, count_).bytes_ < tumit1_best_plan(plain_, count_).bytes_;
    }
    for (i_ = 2; i_ < count_; i_ += 4) {
        some_[0][picked_] = plain_[i_];
        some_[1][picked_++] = steps_[i_];
    }
    return tumit1_plan_from(some_[1], picked_, tumit1_minimum(some_[1], picked_)).bytes_ <
           tumit1_plan_from(some_[0], picked_, tumit1_minimum(some_[0], picked_)).bytes_;
}

/* Writes a group. It writes eight bytes at a time, so up to seven bytes after the group change.
 * Later output replaces them. */
TUMIT1_WORK(unsigned char *tumit1_put_group(unsigned char *p_, const uint64_t *numbers_,
                                            uint32_t count_, struct tumit1_plan plan_,
                                            uint32_t order_)) {
    const uint32_t width_ = plan_.width_;
    unsigned char *count_byte_, *bits_;
    uint64_t word_ = 0;
    uint32_t i_, used_bits_ = 0;
    *p_++ = (unsigned char)(width_ | order_);
    p_ = tumit1_put_varint(p_, tumit1_zigzag(plan_.base_));
    count_byte_ = p_++;
    *count_byte_ = 0;
    bits_ = p_;
    p_ += (count_ * width_ + 7u) / 8u;
    for (i_ = 0; width_ != 0 && i_ < count_; i_++) {
        const uint64_t distance_ = (numbers_[i_] - plan_.base_) & UINT64_MAX >> (64u - width_);
        word_ |= distance_ << used_bits_;
        used_bits_ += width_;
        if (used_bits_ >= 64) {
            bits_ = tumit1_put_u64(bits_, word_);
            used_bits_ -= 64;
            /* the bits that did not fit */
            word_ = used_bits_ == 0 ? 0 : distance_ >> (width_ - used_bits_);
        }
    }
    if (used_bits_ != 0) {
        tumit1_put_u64(bits_, word_);
    }
    for (i_ = 0; plan_.exceptions_ && i_ < count_; i_++) {
        const uint64_t distance_ = numbers_[i_] - plan_.base_;
        if (tumit1_bit_width(distance_) > width_) {
            ++*count_byte_;
            *p_++ = (unsigned char)i_;
            p_ = tumit1_put_varint(p_, tumit1_zigzag(distance_));
        }
    }
    return p_;
}

/* Writes numbers of `width_` bytes in groups. A group takes at most 16 bytes more than its
 * values. */
TUMIT1_WORK(unsigned char *tumit1_put_groups(unsigned char *p_, const uint64_t *values_,
                                             uint32_t count_, uint32_t width_)) {
    uint64_t last_ = 0;
    *p_++ = TUMIT1_COLUMN_GROUPS;
    while (count_ != 0) {
        const uint32_t size_ = count_ < TUMIT1_GROUP ? count_ : TUMIT1_GROUP;
        uint64_t plain_[TUMIT1_GROUP], steps_[TUMIT1_GROUP], differ_ = 0, changing_ = 0;
        struct tumit1_plan plan_;
        const uint64_t *numbers_ = plain_;
        uint32_t i_;
        for (i_ = 0; i_ < size_; i_++) {
            plain_[i_] = tumit1_extend(values_[i_], width_);
            steps_[i_] = tumit1_extend(values_[i_] - last_, width_);
            last_ = values_[i_];
            differ_ |= plain_[i_] ^ plain_[0];
            changing_ |= steps_[i_] ^ steps_[0];
        }
        if (differ_ != 0 && (changing_ == 0 || tumit1_prefers_steps(plain_, steps_, size_))) {
            numbers_ = steps_;
        }
        plan_ = tumit1_best_plan(numbers_, size_);
        p_ = tumit1_put_group(p_, numbers_, size_, plan_,
                              numbers_ == steps_ ? TUMIT1_GROUP_STEPS : 0);
        values_ += size_;
        count_ -= size_;
    }
    return p_;
}
