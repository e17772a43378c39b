/* ---- Writing a record: from a struct to the bytes of its file's layout ---- */

/* The destination of a value: a field of a record type of the file, or of the spec itself
 * (`schema` is NULL). */
struct tumit1r_target {
    uint8_t form, scalar;
    bool wide;
    uint32_t count, names;
    const struct tumit1r_schema *schema;
};

TUMIT1R_FN bool tumit1r_append(struct tumit1r_writer *w, const void *bytes, size_t count) {
    if (!tumit1r_room(&w->body, &w->body_room, w->body_bytes + count + 1, 1)) {
        w->failed = true;
        return false;
    }
    memcpy(w->body + w->body_bytes, bytes, count);
    w->body_bytes += count;
    return true;
}

TUMIT1R_FN bool tumit1r_append_number(struct tumit1r_writer *w, uint64_t number, size_t bytes) {
    unsigned char p[8];
    tumit1r_put(p, number, bytes);
    return tumit1r_append(w, p, bytes);
}

/* Finds the number of an enum value in the target. Returns false when it has none. */
TUMIT1R_FN bool tumit1r_find_enum_number(const struct tumit1r_target *to,
                                         struct tumit1r_value *value) {
    const struct tumit1r_enum *item;
    uint32_t i;
    if (to->schema != NULL && value->text != NULL) {
        item = &to->schema->enums[to->names];
        if (value->bits < item->count && item->values[value->bits].number == value->bits &&
            strcmp(item->values[value->bits].name, value->text) == 0) {
            return true;
        }
        for (i = 0; i < item->count && strcmp(item->values[i].name, value->text) != 0; i++) {
        }
        if (i == item->count) {
            return false;
        }
        value->bits = item->values[i].number;
    }
    return to->wide || value->bits <= 0xFFu;
}

/* Appends a value. Returns false when the target cannot represent it. */
TUMIT1R_FN bool tumit1r_append_value(struct tumit1r_writer *w, const struct tumit1r_target *to,
                                     uint8_t from, struct tumit1r_value value) {
    size_t bytes = tumit1r_scalar_bytes(to->scalar, to->wide);
    uint64_t back;
    float single;
    uint32_t word;
    switch (to->scalar) {
    case TUMIT1R_INTERNED:
        return tumit1r_append_number(w, tumit1r_intern(w, &w->strings, value.text, value.bytes, 0),
                                     4);
    case TUMIT1R_STRING:
    case TUMIT1R_BYTES:
        return value.bytes <= 0xFFFFu && tumit1r_append_number(w, value.bytes, 2) &&
               tumit1r_append(w, value.text, value.bytes);
    case TUMIT1R_ENUM:
        return tumit1r_find_enum_number(to, &value) && tumit1r_append_number(w, value.bits, bytes);
    case TUMIT1R_F32:
        if (from == TUMIT1R_F64) {
            if (value.real > 3.4028234663852886e38 || value.real < -3.4028234663852886e38) {
                return false;
            }
            single = (float)value.real;
            if ((double)single != value.real && value.real == value.real) {
                return false;
            }
            memcpy(&word, &single, sizeof word);
            value.bits = word;
        }
        return tumit1r_append_number(w, value.bits, 4);
    default:
        break;
    }
    if (bytes < 8) {
        back = value.bits & ~(~(uint64_t)0 << (8 * bytes));
        if (tumit1r_is_signed(to->scalar) && (back >> (8 * bytes - 1)) != 0) {
            back |= ~(uint64_t)0 << (8 * bytes);
        }
        if (back != value.bits) {
            return false;
        }
    }
    return tumit1r_append_number(w, value.bits, bytes);
}

TUMIT1R_FN bool tumit1r_append_field(struct tumit1r_writer *w, const struct tumit1r_target *to,
                                    const struct tumit1r_event_field *field, const char *record) {
    const struct tumit1r_head *head = (const struct tumit1r_head *)(const void *)record;
    uint32_t names = to->schema == NULL ? UINT32_MAX : to->names;
    const char *array;
    size_t count, i, step = tumit1r_member_bytes(field->scalar);
    if (field->form == TUMIT1R_ONE) {
        return tumit1r_append_value(
            w, to, field->scalar,
            tumit1r_value_of_member(head, field, names, record, record + field->offset));
    }
    array = tumit1r_array(field, record, &count);
    count = array == NULL ? 0 : count;
    if (to->form == TUMIT1R_FIXED ? count != to->count : count > 0xFFFFu) {
        return false;
    }
    if (to->form == TUMIT1R_VARIABLE && !tumit1r_append_number(w, count, 2)) {
        return false;
    }
    for (i = 0; i < count; i++) {
        if (!tumit1r_append_value(
                w, to, field->scalar,
                tumit1r_value_of_member(head, field, names, record, array + i * step))) {
            return false;
        }
    }
    return true;
}

/* Writes the body of a record in the layout of the file from which it was read. Fields that the
 * spec does not have are copied unchanged. */
TUMIT1R_FN bool tumit1r_encode_as_read(struct tumit1r_writer *w,
                                       const struct tumit1r_event_type *event, const char *record) {
    const struct tumit1r_head *head = (const struct tumit1r_head *)(const void *)record;
    const struct tumit1r_type *type = head->type;
    uint32_t i, k;
    if (!tumit1r_room(&w->offsets, &w->offsets_room, (size_t)type->count + 1, sizeof *w->offsets) ||
        !tumit1r_find_offsets(type, head->body, head->body_bytes, w->offsets)) {
        return false;
    }
    for (k = 0; k < type->count; k++) {
        const struct tumit1r_field *field = &type->fields[k];
        struct tumit1r_target to;
        bool is_valid;
        for (i = 0; i < event->count && type->map[(i + k) % event->count] != k + 1; i++) {
        }
        if (i == event->count) {
            is_valid =
                tumit1r_append(w, head->body + w->offsets[k], w->offsets[k + 1] - w->offsets[k]);
        } else {
            to.form = field->form;
            to.scalar = field->scalar;
            to.wide = field->wide;
            to.count = field->count;
            to.names = field->names;
            to.schema = type->schema;
            is_valid = tumit1r_append_field(w, &to, &event->fields[(i + k) % event->count], record);
        }
        if (!is_valid) {
            return false;
        }
    }
    return true;
}

/* Writes the body of a record in the layout of the spec. */
TUMIT1R_FN bool tumit1r_encode_event(struct tumit1r_writer *w,
                                     const struct tumit1r_event_type *event, const char *record) {
    uint32_t i;
    for (i = 0; i < event->count; i++) {
        struct tumit1r_target to;
        memset(&to, 0, sizeof to);
        to.form = event->fields[i].form;
        to.scalar = event->fields[i].scalar;
        to.wide = event->fields[i].wide;
        to.count = event->fields[i].count;
        if (!tumit1r_append_field(w, &to, &event->fields[i], record)) {
            return false;
        }
    }
    return true;
}

/* The id of the spec's first event in the file. The schema is written at the first use. 0 when
 * there is no room for it. */
TUMIT1R_FN uint32_t tumit1r_first_id(struct tumit1r_writer *w, const struct tumit1r_spec *spec) {
    unsigned char *payload;
    uint32_t i, base = 0;
    for (i = 0; i < w->specs_count; i++) {
        if (w->specs[i] == spec) {
            return w->bases[i];
        }
    }
    for (i = 0; w->of != NULL && i < w->of->schemas_count; i++) {
        const struct tumit1r_schema *schema = w->of->schemas[i];
        if (schema->bytes_count == spec->schema_bytes + 8 &&
            memcmp(schema->bytes + 8, spec->schema, spec->schema_bytes) == 0) {
            base = schema->base;
        }
    }
    if (w->specs_count == TUMIT1R_SPECS || w->next_base + spec->count > TUMIT1R_FIRST_RESERVED_ID) {
        return 0;
    }
    if (base == 0) {
        payload = (unsigned char *)malloc(spec->schema_bytes + 8);
        if (payload == NULL) {
            return 0;
        }
        base = w->next_base;
        w->next_base += spec->count;
        tumit1r_put(payload, base, 4);
        tumit1r_put(payload + 4, spec->count, 4);
        memcpy(payload + 8, spec->schema, spec->schema_bytes);
        tumit1r_out_plain(w, TUMIT1R_KIND_SCHEMA, 1, payload, spec->schema_bytes + 8);
        free(payload);
    }
    w->specs[w->specs_count] = spec;
    w->bases[w->specs_count++] = base;
    return base;
}

/* Adds the record with the current body to the block of its stream. */
TUMIT1R_FN bool tumit1r_append_record(struct tumit1r_writer *w, uint32_t number, uint32_t id,
                                      uint64_t ticks, uint64_t dropped) {
    struct tumit1r_out_stream *stream = tumit1r_out_stream(w, number);
    size_t need = w->body_bytes + 2 * TUMIT1R_RECORD_HEAD_BYTES + 8;
    unsigned char *p;
    uint64_t delta;
    bool wide;
    if (stream == NULL || need > TUMIT1R_MAX_PAYLOAD_BYTES) {
        return false;
    }
    if (stream->count > 0 && (stream->count + need > TUMIT1R_OUT_BLOCK || id == TUMIT1R_ID_DROPPED)) {
        tumit1r_seal(w, stream);
    }
    if (!tumit1r_room(&stream->bytes, &stream->room, stream->count + need, 1)) {
        w->failed = true;
        return false;
    }
    if (ticks < stream->last) {
        ticks = stream->last;
        w->backward_records++;
    }
    if (stream->count == 0) {
        stream->first = ticks;
        stream->last = ticks;
    }
    p = stream->bytes + stream->count;
    delta = ticks - stream->last;
    wide = delta > UINT32_MAX;
    if (wide) {
        tumit1r_put(p, TUMIT1R_ID_WIDE_TIMESTAMP, 2);
        tumit1r_put(p + 2, 0, 4);
        tumit1r_put(p + 6, ticks, 8);
        p += 14;
        delta = 0;
    }
    tumit1r_put(p, id, 2);
    tumit1r_put(p + 2, delta, 4);
    if (w->body_bytes > 0) {
        memcpy(p + 6, w->body, w->body_bytes);
    }
    stream->count += (wide ? 14u : 0u) + 6 + w->body_bytes;
    stream->last = ticks;
    stream->dropped = dropped > stream->dropped ? dropped : stream->dropped;
    if (id != TUMIT1R_ID_DROPPED) {
        stream->records++;
        w->written++;
    }
    return true;
}

/* Writes a record into the stream from which it was read. A new record goes into the stream that
 * was described or written last. In the `head` of a new record all members are 0 except `ticks`,
 * `file` and `line`.
 *
 * Returns false when the record is not written: because the layout of the file cannot represent
 * a value, the event comes from another file and is not in the spec, or there is no memory. */
TUMIT1R_FN bool tumit1r_write(struct tumit1r_writer *w, const struct tumit1r_spec *spec,
                              uint32_t kind, const void *record) {
    const struct tumit1r_head *head = (const struct tumit1r_head *)record;
    const struct tumit1r_event_type *event = kind < spec->count ? &spec->types[kind] : NULL;
    bool home = w->of != NULL && head->process == w->of && head->type != NULL;
    bool located = home ? head->type->located : event != NULL && event->located;
    uint32_t number = head->stream != NULL ? head->stream->number
                      : w->current < w->streams_count ? w->streams[w->current].number
                                                      : 0;
    uint64_t dropped = head->process == w->of && w->of != NULL ? head->stream_dropped : 0;
    uint32_t id;
    w->body_bytes = 0;
    if (kind == TUMIT1R_DROPPED) {
        struct tumit1r_out_stream *stream = tumit1r_out_stream(w, number);
        if (dropped == 0 && stream != NULL) {
            dropped = stream->dropped + head->dropped.count;
        }
        return tumit1r_append_number(w, head->dropped.count, 8) &&
               tumit1r_append_number(w, head->dropped.bytes, 8) &&
               tumit1r_append_number(w, head->dropped.first_ticks, 8) &&
               tumit1r_append_number(w, head->dropped.last_ticks, 8) &&
               tumit1r_append_number(w, head->dropped.cause, 4) &&
               tumit1r_append_record(w, number, TUMIT1R_ID_DROPPED, head->ticks, dropped);
    }
    if (located) {
        const char *file = head->file == NULL ? "" : head->file;
        uint32_t line = head->file == NULL ? 0 : head->line;
        if (!tumit1r_append_number(w, tumit1r_intern(w, &w->sites, file, strlen(file), line), 4)) {
            return false;
        }
    }
    if (home && event == NULL) {
        return tumit1r_append(w, head->body, head->body_bytes) &&
               tumit1r_append_record(w, number, head->type->id, head->ticks, dropped);
    }
    if (event == NULL) {
        return false;
    }
    if (home && head->type->event == event) {
        return tumit1r_encode_as_read(w, event, (const char *)record) &&
               tumit1r_append_record(w, number, head->type->id, head->ticks, dropped);
    }
    id = tumit1r_first_id(w, spec);
    return id != 0 && tumit1r_encode_event(w, event, (const char *)record) &&
           tumit1r_append_record(w, number, id + kind, head->ticks, dropped);
}
