/* ---- Records by columns: the format of packed blocks. The caller holds the writer's lock. The
 * memory is allocated once, if there is a writer thread ---- */

/* size of the hash table of a dictionary, with at most half as many entries */
#define TUMIT1_PLACES 4096u
#define TUMIT1_PLACES_BITS 12
#define TUMIT1_MAX_RECORDS (TUMIT1_BLOCK / TUMIT1_RECORD_HEAD_BYTES + 1u)
/* maximum number of record types in a block; LZ4 packs blocks with more */
#define TUMIT1_MAX_KINDS 2048u
#define TUMIT1_INCOMPLETE 0xFFFFFFFFu /* instead of a size: the record is incomplete */

/* A record type in the current block. */
struct tumit1_kind {
    const unsigned char *parts_; /* codes of the parts, as in the block */
    uint32_t count_;             /* number of parts */
    uint32_t bytes_;             /* bytes of the codes */
    uint32_t id_;
    uint32_t fixed_;             /* bytes of each body; 0 if they differ or are empty */
    uint32_t first_, records_;   /* range in `offsets_` */
};

/* All memory that packing needs. No column of a block has more numbers than these arrays. */
struct tumit1_packer {
    /* a column; for a dictionary, the numbers of its entries follow */
    uint64_t values_[TUMIT1_BLOCK / 2];
    uint64_t indices_[TUMIT1_BLOCK / 2];
    uint64_t entries_[TUMIT1_PLACES / 2];
    uint16_t places_[TUMIT1_PLACES];
    /* position in `kinds_` by record id, valid only if that entry has the id */
    uint16_t numbers_[65536];
    struct tumit1_kind kinds_[TUMIT1_MAX_KINDS];
    uint32_t offsets_[TUMIT1_MAX_RECORDS]; /* offset of the rest of each record, by type */
    uint16_t order_[TUMIT1_MAX_RECORDS];   /* type of each record */
    uint16_t starts_[TUMIT1_MAX_RECORDS];
    unsigned char text_[TUMIT1_BLOCK];     /* a column of bytes */
    /* at most a block before each column; room for a column and its dictionary */
    unsigned char out_[4 * TUMIT1_BLOCK];
    uint32_t kinds_count_, records_;
};

/* Numbers the distinct values in the order of their first occurrence. Returns their count, or 0
 * when a dictionary would be no smaller. */
TUMIT1_WORK(uint32_t tumit1_number_values(struct tumit1_packer *packer_, uint32_t count_)) {
    const uint32_t max_ = count_ / 2 < TUMIT1_PLACES / 2 ? count_ / 2 : TUMIT1_PLACES / 2;
    uint32_t i_, entries_ = 0;
    memset(packer_->places_, 0, sizeof packer_->places_);
    for (i_ = 0; i_ < count_; i_++) {
        const uint64_t value_ = packer_->values_[i_];
        uint32_t place_ = (uint32_t)((value_ * 0x9E3779B97F4A7C15u) >> (64 - TUMIT1_PLACES_BITS));
        while (packer_->places_[place_] != 0 &&
               packer_->entries_[packer_->places_[place_] - 1] != value_) {
            place_ = (place_ + 1) % TUMIT1_PLACES;
        }
        if (packer_->places_[place_] == 0) {
            if (entries_ == max_) {
                return 0;
            }
            packer_->entries_[entries_++] = value_;
            packer_->places_[place_] = (uint16_t)entries_;
        }
        packer_->indices_[i_] = packer_->places_[place_] - 1u;
    }
    return entries_;
}

/* Writes a column of the numbers in `values_`: by groups, by a dictionary, or unchanged. It
 * chooses the shortest form. */
TUMIT1_WORK(unsigned char *tumit1_put_column(struct tumit1_packer *packer_, unsigned char *start_,
                                             uint32_t count_, uint32_t width_)) {
    unsigned char *p_, *other_;
    uint32_t i_, entries_;
    if (count_ == 0) {
        return start_;
    }
    p_ = tumit1_put_groups(start_, packer_->values_, count_, width_);
    /* Numbers that are close to each other take less than two bytes. Only other numbers can be
     * repeated values for which a dictionary is smaller. */
    if (width_ > 2 && count_ >= TUMIT1_GROUP && (size_t)(p_ - start_) > count_ + count_ / 2 &&
        (entries_ = tumit1_number_values(packer_, count_)) != 0) {
        other_ = p_;
        *other_++ = TUMIT1_COLUMN_DICTIONARY;
        other_ = tumit1_put_u16(other_, (uint16_t)entries_);
        other_ = tumit1_put_groups(other_, packer_->entries_, entries_, width_);
        other_ = tumit1_put_groups(other_, packer_->indices_, count_, 2);
        if (other_ - p_ < p_ - start_) {
            memmove(start_, p_, (size_t)(other_ - p_));
            p_ = start_ + (other_ - p_);
        }
    }
    if ((size_t)(p_ - start_) > (size_t)count_ * width_) {
        p_ = start_;
        *p_++ = TUMIT1_COLUMN_PLAIN;
        for (i_ = 0; i_ < count_; i_++) {
            memcpy(p_, &packer_->values_[i_], width_);
            p_ += width_;
        }
    }
    return p_;
}

/* Writes a column of the bytes in `text_`. */
TUMIT1_WORK(unsigned char *tumit1_put_text_column(struct tumit1_packer *packer_, unsigned char *p_,
                                                  uint32_t bytes_)) {
    uint32_t packed_;
    if (bytes_ == 0) {
        return p_;
    }
    packed_ = bytes_ < 16 ? 0
                          : tumit1_lz4_compress(packer_->text_, bytes_, p_ + 5, bytes_ - 5,
                                                tumit1_writer.table_);
    if (packed_ == 0) {
        *p_++ = TUMIT1_COLUMN_PLAIN;
        return tumit1_put_bytes(p_, packer_->text_, bytes_);
    }
    *p_++ = TUMIT1_COLUMN_GROUPS;
    return tumit1_put_u32(p_, packed_) + packed_;
}

/* A little-endian number of 1, 2, 4 or 8 bytes. */
TUMIT1_HOT uint64_t tumit1_get_number(const unsigned char *p_, uint32_t width_) {
    return width_ == 8   ? tumit1_get_u64(p_)
           : width_ == 4 ? tumit1_get_u32(p_)
           : width_ == 2 ? tumit1_get_u16(p_)
                         : *p_;
}

/* The number of bytes of a body, which starts after the record head. TUMIT1_INCOMPLETE when it
 * exceeds `room_`. */
TUMIT1_WORK(uint32_t tumit1_body_bytes(struct tumit1_kind *kind_, const unsigned char *body_,
                                       uint32_t room_)) {
    const unsigned char *code_ = kind_->parts_;
    uint32_t i_, offset_ = 0;
    int fixed_ = 1;
    for (i_ = 0; i_ < kind_->count_; i_++) {
        const uint32_t width_ = *code_ & 3u, form_ = (uint32_t)*code_++ >> 2;
        uint64_t count_ = 1;
        if (form_ == 1) {
            count_ = tumit1_get_u32(code_);
            code_ += 4;
        } else if (form_ == 2) {
            if (room_ - offset_ < 2) {
                return TUMIT1_INCOMPLETE;
            }
            count_ = tumit1_get_u16(body_ + offset_);
            offset_ += 2;
            fixed_ = 0;
        }
        if (count_ << width_ > room_ - offset_) {
            return TUMIT1_INCOMPLETE;
        }
        offset_ += (uint32_t)(count_ << width_);
    }
    kind_->fixed_ = fixed_ ? offset_ : 0;
    return offset_;
}

/* Fills in the parts of a record type. Returns 0 when no spec has the type. */
TUMIT1_WORK(int tumit1_find_kind(struct tumit1_kind *kind_, uint32_t id_)) {
    static const unsigned char wide_[] = {1, 0, 3}, drops_[] = {5, 0, 3, 3, 3, 3, 2};
    const struct tumit1_provider *provider_ =
        __atomic_load_n(&tumit1_session.providers_, __ATOMIC_ACQUIRE);
    const unsigned char *shape_;
    uint32_t i_;
    memset(kind_, 0, sizeof *kind_);
    kind_->id_ = id_;
    if (id_ >= TUMIT1_FIRST_RESERVED_ID) {
        shape_ = id_ == TUMIT1_ID_WIDE_TIMESTAMP ? wide_ : id_ == TUMIT1_ID_DROPPED ? drops_ : NULL;
    } else {
        while (provider_ != NULL &&
               (provider_->is_copy_ || id_ - provider_->base_ >= provider_->ids_)) {
            provider_ = provider_->next_;
        }
        i_ = provider_ == NULL ? TUMIT1_NO_SHAPE : provider_->shapes_at_[id_ - provider_->base_];
        shape_ = i_ == TUMIT1_NO_SHAPE ? NULL : provider_->shapes_ + i_;
    }
    if (shape_ == NULL) {
        return 0;
    }
    kind_->count_ = tumit1_get_u16(shape_);
    kind_->parts_ = shape_ + 2;
    for (i_ = 0; i_ < kind_->count_; i_++) {
        kind_->bytes_ += kind_->parts_[kind_->bytes_] >> 2 == 1 ? 5u : 1u;
    }
    return 1;
}

/* Finds the records of a payload and their types. Returns 0 when a record has an unknown type,
 * or the last record is incomplete. */
TUMIT1_WORK(int tumit1_split_columns(struct tumit1_packer *packer_, const unsigned char *payload_,
                                     uint32_t bytes_)) {
    uint32_t offset_ = 0, i_, first_ = 0;
    packer_->records_ = packer_->kinds_count_ = 0;
    while (offset_ < bytes_) {
        struct tumit1_kind *kind_;
        uint32_t id_, number_, size_;
        if (bytes_ - offset_ < TUMIT1_RECORD_HEAD_BYTES) {
            return 0;
        }
        id_ = tumit1_get_u16(payload_ + offset_);
        number_ = packer_->numbers_[id_];
        if (number_ >= packer_->kinds_count_ || packer_->kinds_[number_].id_ != id_) {
            number_ = packer_->kinds_count_;
            if (number_ == TUMIT1_MAX_KINDS || !tumit1_find_kind(&packer_->kinds_[number_], id_)) {
                return 0;
            }
            packer_->numbers_[id_] = (uint16_t)number_;
            packer_->kinds_count_++;
        }
        kind_ = &packer_->kinds_[number_];
        packer_->starts_[packer_->records_] = (uint16_t)offset_;
        packer_->order_[packer_->records_++] = (uint16_t)number_;
        kind_->records_++;
        offset_ += TUMIT1_RECORD_HEAD_BYTES;
        size_ = kind_->fixed_ != 0 ? kind_->fixed_
                                   : tumit1_body_bytes(kind_, payload_ + offset_, bytes_ - offset_);
        if (size_ > bytes_ - offset_) {
            return 0;
        }
        offset_ += size_;
    }
    for (i_ = 0; i_ < packer_->kinds_count_; i_++) {
        packer_->kinds_[i_].first_ = first_;
        first_ += packer_->kinds_[i_].records_;
        packer_->kinds_[i_].records_ = 0;
    }
    for (i_ = 0; i_ < packer_->records_; i_++) {
        struct tumit1_kind *kind_ = &packer_->kinds_[packer_->order_[i_]];
        packer_->offsets_[kind_->first_ + kind_->records_++] = packer_->starts_[i_];
    }
    return 1;
}

/* Writes the columns of one part, for all records of a type. `offsets_` of each record then points
 * to the next part. */
TUMIT1_WORK(unsigned char *tumit1_put_part(struct tumit1_packer *packer_, unsigned char *p_,
                                           const unsigned char *payload_,
                                           const struct tumit1_kind *kind_,
                                           const unsigned char *code_)) {
    const uint32_t width_ = 1u << (*code_ & 3u), form_ = (uint32_t)*code_ >> 2;
    uint32_t *const offsets_ = packer_->offsets_ + kind_->first_;
    uint32_t i_, j_, count_ = form_ == 1 ? tumit1_get_u32(code_ + 1) : 1, number_count_ = 0;
    if (form_ == 2) {
        for (i_ = 0; i_ < kind_->records_; i_++) {
            packer_->values_[i_] = tumit1_get_u16(payload_ + offsets_[i_]);
        }
        p_ = tumit1_put_column(packer_, p_, kind_->records_, 2);
    }
    for (i_ = 0; i_ < kind_->records_; i_++) {
        const unsigned char *from_ = payload_ + offsets_[i_];
        if (form_ == 2) {
            count_ = tumit1_get_u16(from_);
            from_ += 2;
        }
        if (form_ != 0 && width_ == 1) {
            tumit1_put_bytes(packer_->text_ + number_count_, from_, count_);
            from_ += count_;
            number_count_ += count_;
        } else {
            for (j_ = 0; j_ < count_; j_++) {
                packer_->values_[number_count_++] = tumit1_get_number(from_, width_);
                from_ += width_;
            }
        }
        offsets_[i_] = (uint32_t)(from_ - payload_);
    }
    return form_ != 0 && width_ == 1 ? tumit1_put_text_column(packer_, p_, number_count_)
                                     : tumit1_put_column(packer_, p_, number_count_, width_);
}

/* Writes the columns of a record type. Returns NULL when they become too long. */
TUMIT1_WORK(unsigned char *tumit1_put_kind(struct tumit1_packer *packer_, unsigned char *p_,
                                           const unsigned char *end_, const unsigned char *payload_,
                                           const struct tumit1_kind *kind_)) {
    const unsigned char *code_ = kind_->parts_;
    uint32_t *const offsets_ = packer_->offsets_ + kind_->first_;
    uint32_t i_;
    for (i_ = 0; i_ < kind_->records_; i_++) {
        packer_->values_[i_] = tumit1_get_u32(payload_ + offsets_[i_] + 2);
        offsets_[i_] += TUMIT1_RECORD_HEAD_BYTES;
    }
    p_ = tumit1_put_column(packer_, p_, kind_->records_, 4);
    for (i_ = 0; i_ < kind_->count_ && p_ < end_; i_++) {
        p_ = tumit1_put_part(packer_, p_, payload_, kind_, code_);
        code_ += *code_ >> 2 == 1 ? 5 : 1;
    }
    return p_ < end_ ? p_ : NULL;
}

/* Writes the records found by tumit1_split_columns() to `out_`. Returns the end, or NULL when the
 * size would be `room_` bytes or more. */
TUMIT1_WORK(const unsigned char *tumit1_put_columns(struct tumit1_packer *packer_,
                                                    const unsigned char *payload_,
                                                    uint32_t room_)) {
    unsigned char *p_ = packer_->out_;
    const unsigned char *const end_ = p_ + room_;
    uint32_t i_;
    p_ = tumit1_put_u16(p_, (uint16_t)packer_->kinds_count_);
    for (i_ = 0; i_ < packer_->kinds_count_; i_++) {
        const struct tumit1_kind *kind_ = &packer_->kinds_[i_];
        if (p_ >= end_ || kind_->bytes_ >= (size_t)(end_ - p_)) {
            return NULL;
        }
        p_ = tumit1_put_u16(p_, (uint16_t)kind_->id_);
        p_ = tumit1_put_bytes(p_, kind_->parts_ - 2, kind_->bytes_ + 2u);
    }
    p_ = tumit1_put_u32(p_, packer_->records_);
    for (i_ = 0; i_ < packer_->records_; i_++) {
        packer_->values_[i_] = packer_->order_[i_];
    }
    p_ = tumit1_put_column(packer_, p_, packer_->records_, 2);
    for (i_ = 0; i_ < packer_->kinds_count_ && p_ != NULL; i_++) {
        p_ = p_ >= end_ ? NULL : tumit1_put_kind(packer_, p_, end_, payload_, &packer_->kinds_[i_]);
    }
    return p_;
}

/* Packs records by columns into `to_`, in less than `room_` bytes. Returns the number of bytes,
 * or 0 when it cannot. Takes linear time. */
TUMIT1_WORK(uint32_t tumit1_pack_columns(struct tumit1_packer *packer_,
                                         const unsigned char *payload_, uint32_t bytes_,
                                         unsigned char *to_, uint32_t room_)) {
    const unsigned char *end_ = tumit1_split_columns(packer_, payload_, bytes_)
                                    ? tumit1_put_columns(packer_, payload_, room_)
                                    : NULL;
    if (end_ == NULL) {
        return 0;
    }
    tumit1_put_bytes(to_, packer_->out_, (size_t)(end_ - packer_->out_));
    return (uint32_t)(end_ - packer_->out_);
}
