/* ---- Bytes: unaligned loads and stores ---- */

TUMIT1_HOT unsigned char *tumit1_put_bytes(unsigned char *p_, const void *from_, size_t bytes_) {
    if (bytes_ != 0) {
        memcpy(p_, from_, bytes_);
    }
    return p_ + bytes_;
}
/* Copies a text, truncated to the room. */
TUMIT1_HOT void tumit1_put_text(char *to_, size_t room_, const char *text_) {
    size_t length_ = strlen(text_);
    length_ = length_ < room_ ? length_ : room_ - 1;
    memcpy(to_, text_, length_);
    to_[length_] = '\0';
}
TUMIT1_HOT unsigned char *tumit1_put_u8(unsigned char *p_, uint8_t value_) {
    *p_ = value_;
    return p_ + 1;
}
TUMIT1_HOT unsigned char *tumit1_put_u16(unsigned char *p_, uint16_t value_) {
    memcpy(p_, &value_, sizeof value_);
    return p_ + sizeof value_;
}
TUMIT1_HOT unsigned char *tumit1_put_u32(unsigned char *p_, uint32_t value_) {
    memcpy(p_, &value_, sizeof value_);
    return p_ + sizeof value_;
}
TUMIT1_HOT unsigned char *tumit1_put_u64(unsigned char *p_, uint64_t value_) {
    memcpy(p_, &value_, sizeof value_);
    return p_ + sizeof value_;
}
TUMIT1_HOT unsigned char *tumit1_put_f32(unsigned char *p_, float value_) {
    memcpy(p_, &value_, sizeof value_);
    return p_ + sizeof value_;
}
TUMIT1_HOT unsigned char *tumit1_put_f64(unsigned char *p_, double value_) {
    memcpy(p_, &value_, sizeof value_);
    return p_ + sizeof value_;
}
TUMIT1_HOT uint16_t tumit1_get_u16(const unsigned char *p_) {
    uint16_t value_;
    memcpy(&value_, p_, sizeof value_);
    return value_;
}
TUMIT1_HOT uint32_t tumit1_get_u32(const unsigned char *p_) {
    uint32_t value_;
    memcpy(&value_, p_, sizeof value_);
    return value_;
}
TUMIT1_HOT uint64_t tumit1_get_u64(const unsigned char *p_) {
    uint64_t value_;
    memcpy(&value_, p_, sizeof value_);
    return value_;
}
