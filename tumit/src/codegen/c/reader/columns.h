/* ---- Records by columns: unpacking codec 2 ---- */

/* The remaining input. `bad` is set when it ended too early or is invalid. */
struct tumit1r_col_input {
    const unsigned char *at;
    size_t left;
    bool bad;
};
/* Values of one column. `at` is the position of the next unused one. */
struct tumit1r_col_values {
    unsigned char *bytes;
    size_t filled, room, at;
};
struct tumit1r_col_part {
    uint32_t form, width, count;
    struct tumit1r_col_values counts, values;
};
struct tumit1r_col_kind {
    uint16_t id, parts;
    size_t records;
    struct tumit1r_col_values deltas;
};
struct tumit1r_columns {
    struct tumit1r_col_input in;
    size_t budget; /* remaining bytes that unpacked columns may have */
    struct tumit1r_col_kind *kinds;
    size_t kinds_count, kinds_room;
    struct tumit1r_col_part *parts; /* parts of all types, consecutive */
    size_t parts_count, parts_room;
    struct tumit1r_col_values order, entries, indices;
};

TUMIT1R_FN const unsigned char *tumit1r_col_take(struct tumit1r_col_input *in, size_t bytes) {
    const unsigned char *start = in->at;
    if (bytes > in->left) {
        in->bad = true;
        return NULL;
    }
    in->at += bytes;
    in->left -= bytes;
    return start;
}

TUMIT1R_FN uint32_t tumit1r_col_take_number(struct tumit1r_col_input *in, size_t bytes) {
    const unsigned char *p = tumit1r_col_take(in, bytes);
    return p == NULL ? 0 : (uint32_t)tumit1r_get(p, bytes);
}

/* Reads a signed number, and returns it in two's complement. */
TUMIT1R_FN uint64_t tumit1r_col_take_zigzag(struct tumit1r_col_input *in) {
    uint64_t code = 0;
    unsigned shift;
    for (shift = 0; shift < 64; shift += 7) {
        uint32_t byte = tumit1r_col_take_number(in, 1);
        code |= (uint64_t)(byte & 127u) << shift;
        if (byte < 128) {
            return (code & 1u) != 0 ? ~(code >> 1) : code >> 1;
        }
    }
    in->bad = true;
    return 0;
}

TUMIT1R_FN bool tumit1r_col_check_budget(struct tumit1r_columns *c, size_t count,
                                         size_t item_bytes) {
    if (item_bytes != 0 && count > c->budget / item_bytes) {
        return false;
    }
    c->budget -= count * item_bytes;
    return true;
}

/* Reads the numbers of one group from its packed bits and its exceptions. */
TUMIT1R_FN void tumit1r_col_take_group(struct tumit1r_col_input *in, uint64_t *numbers,
                                       size_t count, bool *differences) {
    uint32_t head = tumit1r_col_take_number(in, 1), exceptions;
    size_t width = head & 127u, i;
    uint64_t base = tumit1r_col_take_zigzag(in);
    const unsigned char *bits;
    exceptions = tumit1r_col_take_number(in, 1);
    *differences = head >= 128;
    bits = width > 64 ? NULL : tumit1r_col_take(in, (count * width + 7) / 8);
    if (bits == NULL) {
        in->bad = true;
        return;
    }
    for (i = 0; i < count; i++) {
        size_t bit = i * width, bit_count = 0;
        uint64_t number = 0;
        while (bit_count < width) {
            size_t shift = (bit + bit_count) % 8;
            number |= (uint64_t)(bits[(bit + bit_count) / 8] >> shift) << bit_count;
            bit_count += 8 - shift;
        }
        if (width < 64) {
            number &= ((uint64_t)1 << width) - 1;
        }
        numbers[i] = base + number;
    }
    for (; exceptions > 0 && !in->bad; exceptions--) {
        uint32_t index = tumit1r_col_take_number(in, 1);
        uint64_t number = base + tumit1r_col_take_zigzag(in);
        if (index >= count) {
            in->bad = true;
            return;
        }
        numbers[index] = number;
    }
}

TUMIT1R_FN bool tumit1r_col_take_groups(struct tumit1r_col_input *in, size_t count, size_t width,
                                        struct tumit1r_col_values *to) {
    uint64_t numbers[128], before = 0;
    bool differences = false;
    while (count > 0) {
        size_t group = count < 128 ? count : 128, i;
        tumit1r_col_take_group(in, numbers, group, &differences);
        if (in->bad || !tumit1r_room(&to->bytes, &to->room, to->filled + group * width, 1)) {
            return false;
        }
        for (i = 0; i < group; i++) {
            before = differences ? before + numbers[i] : numbers[i];
            tumit1r_put(to->bytes + to->filled, before, width);
            to->filled += width;
        }
        count -= group;
    }
    return true;
}

/* Reads a column of numbers without a dictionary. */
TUMIT1R_FN bool tumit1r_col_take_plain(struct tumit1r_col_input *in, uint32_t method, size_t count,
                                       size_t width, struct tumit1r_col_values *to) {
    const unsigned char *taken;
    if (method == 1) {
        return tumit1r_col_take_groups(in, count, width, to);
    }
    taken = method == 0 ? tumit1r_col_take(in, count * width) : NULL;
    if (taken == NULL || !tumit1r_room(&to->bytes, &to->room, count * width, 1)) {
        return false;
    }
    memcpy(to->bytes, taken, count * width);
    to->filled = count * width;
    return true;
}

TUMIT1R_FN bool tumit1r_col_take_numbers(struct tumit1r_columns *c, size_t count, size_t width,
                                         struct tumit1r_col_values *to) {
    uint32_t method, entries;
    size_t i;
    if (count == 0) {
        return true;
    }
    method = tumit1r_col_take_number(&c->in, 1);
    if (method != 2) {
        return tumit1r_col_take_plain(&c->in, method, count, width, to);
    }
    entries = tumit1r_col_take_number(&c->in, 2);
    c->entries.filled = c->indices.filled = 0;
    if (width < 2 || entries == 0 || entries > count ||
        !tumit1r_room(&to->bytes, &to->room, count * width, 1) ||
        !tumit1r_col_take_plain(&c->in, tumit1r_col_take_number(&c->in, 1), entries, width,
                                &c->entries) ||
        !tumit1r_col_take_plain(&c->in, tumit1r_col_take_number(&c->in, 1), count, 2,
                                &c->indices)) {
        return false;
    }
    for (i = 0; i < count; i++) {
        size_t entry = tumit1r_get_u16(c->indices.bytes + 2 * i);
        if (entry >= entries) {
            return false;
        }
        memcpy(to->bytes + i * width, c->entries.bytes + entry * width, width);
    }
    to->filled = count * width;
    return true;
}

TUMIT1R_FN bool tumit1r_col_take_bytes(struct tumit1r_columns *c, size_t count,
                                       struct tumit1r_col_values *to) {
    uint32_t method, size;
    const unsigned char *taken;
    if (count == 0) {
        return true;
    }
    method = tumit1r_col_take_number(&c->in, 1);
    if (method == 0) {
        return tumit1r_col_take_plain(&c->in, 0, count, 1, to);
    }
    size = tumit1r_col_take_number(&c->in, 4);
    taken = method == 1 ? tumit1r_col_take(&c->in, size) : NULL;
    if (taken == NULL || !tumit1r_room(&to->bytes, &to->room, count, 1)) {
        return false;
    }
    to->filled = count;
    return tumit1r_lz4(taken, size, to->bytes, count);
}

/* Reads the list of types: the layouts of their records. */
TUMIT1R_FN bool tumit1r_col_take_kinds(struct tumit1r_columns *c) {
    uint32_t remaining = tumit1r_col_take_number(&c->in, 2), parts;
    for (; remaining > 0 && !c->in.bad; remaining--) {
        struct tumit1r_col_kind *kind;
        if (!tumit1r_room(&c->kinds, &c->kinds_room, c->kinds_count + 1, sizeof *c->kinds)) {
            return false;
        }
        kind = &c->kinds[c->kinds_count++];
        memset(kind, 0, sizeof *kind);
        kind->id = (uint16_t)tumit1r_col_take_number(&c->in, 2);
        kind->parts = (uint16_t)tumit1r_col_take_number(&c->in, 2);
        for (parts = kind->parts; parts > 0 && !c->in.bad; parts--) {
            struct tumit1r_col_part *part;
            uint32_t code = tumit1r_col_take_number(&c->in, 1);
            if (code / 4 > 2 || c->parts_count == 0xFFFFu ||
                !tumit1r_room(&c->parts, &c->parts_room, c->parts_count + 1, sizeof *c->parts)) {
                return false;
            }
            part = &c->parts[c->parts_count++];
            memset(part, 0, sizeof *part);
            part->form = code / 4;
            part->width = 1u << (code & 3u);
            part->count = part->form == 1 ? tumit1r_col_take_number(&c->in, 4) : 1;
        }
    }
    return !c->in.bad;
}

/* Reads the values of one part of a type's records. */
TUMIT1R_FN bool tumit1r_col_take_part(struct tumit1r_columns *c, size_t records,
                                      struct tumit1r_col_part *part) {
    size_t count = records, i;
    if (part->form == 1) {
        if (part->count != 0 && records > TUMIT1R_MAX_PAYLOAD_BYTES / part->count) {
            return false;
        }
        count = records * part->count;
    } else if (part->form == 2) {
        if (!tumit1r_col_check_budget(c, records, 2) ||
            !tumit1r_col_take_numbers(c, records, 2, &part->counts)) {
            return false;
        }
        for (i = 0, count = 0; i < records; i++) {
            count += tumit1r_get_u16(part->counts.bytes + 2 * i);
        }
    }
    if (!tumit1r_col_check_budget(c, count, part->width)) {
        return false;
    }
    return part->form != 0 && part->width == 1
               ? tumit1r_col_take_bytes(c, count, &part->values)
               : tumit1r_col_take_numbers(c, count, part->width, &part->values);
}

TUMIT1R_FN bool tumit1r_col_take_all(struct tumit1r_columns *c) {
    size_t records, i, k, part = 0;
    if (!tumit1r_col_take_kinds(c)) {
        return false;
    }
    records = tumit1r_col_take_number(&c->in, 4);
    if (!tumit1r_col_check_budget(c, records, TUMIT1R_RECORD_HEAD_BYTES) ||
        !tumit1r_col_take_numbers(c, records, 2, &c->order)) {
        return false;
    }
    for (i = 0; i < records; i++) {
        size_t kind = tumit1r_get_u16(c->order.bytes + 2 * i);
        if (kind >= c->kinds_count) {
            return false;
        }
        c->kinds[kind].records++;
    }
    for (k = 0; k < c->kinds_count; k++) {
        struct tumit1r_col_kind *kind = &c->kinds[k];
        if (!tumit1r_col_take_numbers(c, kind->records, 4, &kind->deltas)) {
            return false;
        }
        for (i = 0; i < kind->parts; i++, part++) {
            if (!tumit1r_col_take_part(c, kind->records, &c->parts[part])) {
                return false;
            }
        }
    }
    return !c->in.bad && c->in.left == 0 && c->budget == 0;
}

TUMIT1R_FN void tumit1r_col_copy(struct tumit1r_col_values *values, unsigned char **to,
                                 size_t bytes) {
    if (bytes > 0) {
        memcpy(*to, values->bytes + values->at, bytes);
        values->at += bytes;
        *to += bytes;
    }
}

/* Assembles the records. The columns have exactly the necessary values, and `to` has room for
 * the records. */
TUMIT1R_FN bool tumit1r_col_put_records(struct tumit1r_columns *c, unsigned char *to) {
    size_t *first = (size_t *)malloc((c->kinds_count + 1) * sizeof *first), i, part;
    if (first == NULL) {
        return false;
    }
    for (i = 0, part = 0; i < c->kinds_count; i++) {
        first[i] = part;
        part += c->kinds[i].parts;
    }
    for (i = 0; i < c->order.filled; i += 2) {
        size_t number = tumit1r_get_u16(c->order.bytes + i);
        struct tumit1r_col_kind *kind = &c->kinds[number];
        tumit1r_put(to, kind->id, 2);
        to += 2;
        tumit1r_col_copy(&kind->deltas, &to, 4);
        for (part = first[number]; part < first[number] + kind->parts; part++) {
            struct tumit1r_col_part *p = &c->parts[part];
            size_t count = p->count;
            if (p->form == 2) {
                count = tumit1r_get_u16(p->counts.bytes + p->counts.at);
                tumit1r_col_copy(&p->counts, &to, 2);
            }
            tumit1r_col_copy(&p->values, &to, count * p->width);
        }
    }
    free(first);
    return true;
}

/* Unpacks records into exactly `size` bytes. Never reads or writes out of bounds, even for
 * invalid columns. Uses memory of about three times `size` at most. */
TUMIT1R_FN bool tumit1r_unpack_columns(const unsigned char *from, size_t bytes, unsigned char *to,
                                       size_t size) {
    struct tumit1r_columns c;
    size_t i;
    bool is_valid;
    memset(&c, 0, sizeof c);
    c.in.at = from;
    c.in.left = bytes;
    c.budget = size;
    is_valid = tumit1r_col_take_all(&c) && tumit1r_col_put_records(&c, to);
    for (i = 0; i < c.kinds_count; i++) {
        free(c.kinds[i].deltas.bytes);
    }
    for (i = 0; i < c.parts_count; i++) {
        free(c.parts[i].counts.bytes);
        free(c.parts[i].values.bytes);
    }
    free(c.order.bytes);
    free(c.entries.bytes);
    free(c.indices.bytes);
    free(c.kinds);
    free(c.parts);
    return is_valid;
}
