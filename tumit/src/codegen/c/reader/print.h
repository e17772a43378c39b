/* ---- Printing: the text that `tumit dump` prints ---- */

TUMIT1R_FN void tumit1r_print_hex(FILE *out, const char *bytes, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        fprintf(out, "%02x", (unsigned)(unsigned char)bytes[i]);
    }
}

/* Prints a value without quotes. */
TUMIT1R_FN void tumit1r_print_value(FILE *out, const struct tumit1r_process *p, uint8_t scalar,
                                   const struct tumit1r_value *value) {
    char text[40];
    switch (scalar) {
    case TUMIT1R_BOOL:
        fputs(value->bits != 0 ? "true" : "false", out);
        break;
    case TUMIT1R_F32:
    case TUMIT1R_F64:
        tumit1r_print_float(out, value->real, scalar == TUMIT1R_F32);
        break;
    case TUMIT1R_DATE:
        tumit1r_timestamp_text(text, sizeof text, tumit1r_timestamp(p, value->bits));
        fputs(text, out);
        break;
    case TUMIT1R_POINTER:
        fprintf(out, "0x%llx", (unsigned long long)value->bits);
        break;
    case TUMIT1R_BYTES:
        tumit1r_print_hex(out, value->text, value->bytes);
        break;
    case TUMIT1R_ENUM:
    case TUMIT1R_INTERNED:
    case TUMIT1R_STRING:
        if (value->text != NULL) {
            tumit1r_print_text(out, value->text, value->bytes, true);
            break;
        }
        fprintf(out, "%llu", (unsigned long long)value->bits);
        break;
    default:
        if (tumit1r_is_signed(scalar)) {
            /* The bits are in two's complement, as in all values. */
            uint64_t size = (value->bits >> 63) != 0 ? 0u - value->bits : value->bits;
            fprintf(out, "%s%llu", (value->bits >> 63) != 0 ? "-" : "", (unsigned long long)size);
        } else {
            fprintf(out, "%llu", (unsigned long long)value->bits);
        }
        break;
    }
}

TUMIT1R_FN bool tumit1r_is_quoted(uint8_t scalar, const struct tumit1r_value *value) {
    return scalar == TUMIT1R_POINTER || scalar >= TUMIT1R_INTERNED ||
           (scalar == TUMIT1R_ENUM && value->text != NULL);
}

TUMIT1R_FN void tumit1r_print_one(FILE *out, const struct tumit1r_process *p, uint8_t scalar,
                                 const struct tumit1r_value *value) {
    bool is_quoted = tumit1r_is_quoted(scalar, value);
    if (is_quoted) {
        fputc('"', out);
    }
    tumit1r_print_value(out, p, scalar, value);
    if (is_quoted) {
        fputc('"', out);
    }
}

/* A value from a file, with names looked up. */
TUMIT1R_FN struct tumit1r_value tumit1r_value_of_file(const struct tumit1r_head *head,
                                                      const struct tumit1r_field *field,
                                                      const unsigned char *p, char buffer[32]) {
    struct tumit1r_value value = tumit1r_load_value(field->scalar, field->wide, p);
    if (field->scalar == TUMIT1R_INTERNED) {
        tumit1r_find_string(head->process, &value, buffer);
    } else if (field->scalar == TUMIT1R_ENUM) {
        value.text = tumit1r_enum_name(head->type->schema, field->names, value.bits);
        value.bytes = value.text == NULL ? 0 : strlen(value.text);
    }
    return value;
}

TUMIT1R_FN void tumit1r_print_file_field(FILE *out, const struct tumit1r_head *head,
                                         const struct tumit1r_field *field,
                                         const unsigned char *p) {
    struct tumit1r_value value;
    char buffer[32];
    size_t count, i, step = tumit1r_scalar_bytes(field->scalar, field->wide);
    fprintf(out, " %s=", field->name);
    if (field->form == TUMIT1R_ONE) {
        value = tumit1r_value_of_file(head, field, p, buffer);
        tumit1r_print_one(out, head->process, field->scalar, &value);
        return;
    }
    count = tumit1r_element_count(field, p);
    p += field->form == TUMIT1R_FIXED ? 0 : 2;
    fputs("[", out);
    for (i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        value = tumit1r_value_of_file(head, field, p + i * step, buffer);
        tumit1r_print_one(out, head->process, field->scalar, &value);
    }
    fputs("]", out);
}

/* A value from a struct, with the name of an enum value. */
TUMIT1R_FN struct tumit1r_value tumit1r_value_of_member(const struct tumit1r_head *head,
                                                        const struct tumit1r_event_field *field,
                                                        uint32_t names, const char *record,
                                                        const void *place) {
    struct tumit1r_value value;
    float single;
    bool flag;
    uint32_t choice, i;
    memset(&value, 0, sizeof value);
    switch (field->scalar) {
    case TUMIT1R_F32:
        memcpy(&single, place, sizeof single);
        value.real = (double)single;
        memcpy(&choice, place, sizeof choice);
        value.bits = choice;
        break;
    case TUMIT1R_F64:
        memcpy(&value.real, place, sizeof value.real);
        memcpy(&value.bits, place, sizeof value.bits);
        break;
    case TUMIT1R_BOOL:
        memcpy(&flag, place, sizeof flag);
        value.bits = flag;
        break;
    case TUMIT1R_ENUM:
        memcpy(&choice, place, sizeof choice);
        value.bits = choice & 0xFFFFu;
        if (choice >= TUMIT1R_UNKNOWN) {
            value.text = head->type == NULL || names == UINT32_MAX
                             ? NULL
                             : tumit1r_enum_name(head->type->schema, names, value.bits);
        }
        for (i = 0; i < field->choice->count && choice < TUMIT1R_UNKNOWN; i++) {
            if (field->choice->numbers[i] == choice) {
                value.text = field->choice->names[i];
                break;
            }
        }
        value.bytes = value.text == NULL ? 0 : strlen(value.text);
        break;
    case TUMIT1R_INTERNED:
        memcpy(&value.text, place, sizeof value.text);
        value.text = value.text == NULL ? "" : value.text;
        value.bytes = strlen(value.text);
        break;
    case TUMIT1R_STRING:
    case TUMIT1R_BYTES:
        memcpy(&value.text, place, sizeof value.text);
        memcpy(&value.bytes, record + field->count_offset, sizeof value.bytes);
        value.bytes = value.text == NULL ? 0 : value.bytes;
        value.text = value.text == NULL ? "" : value.text;
        break;
    default: {
        unsigned char bytes[8] = {0};
        size_t size = tumit1r_member_bytes(field->scalar);
        uint8_t u8;
        uint16_t u16;
        memcpy(bytes, place, size);
        if (size == 1) {
            memcpy(&u8, bytes, 1);
            value.bits = u8;
        } else if (size == 2) {
            memcpy(&u16, bytes, 2);
            value.bits = u16;
        } else if (size == 4) {
            memcpy(&choice, bytes, 4);
            value.bits = choice;
        } else {
            memcpy(&value.bits, bytes, 8);
        }
        if (tumit1r_is_signed(field->scalar) && size < 8 && (value.bits >> (8 * size - 1)) != 0) {
            value.bits |= ~(uint64_t)0 << (8 * size);
        }
        break;
    }
    }
    return value;
}

/* An array of a struct, and its number of elements. */
TUMIT1R_FN const char *tumit1r_array(const struct tumit1r_event_field *field, const char *record,
                                     size_t *count) {
    const char *array;
    memcpy(&array, record + field->offset, sizeof array);
    *count = field->count;
    if (field->form == TUMIT1R_VARIABLE) {
        memcpy(count, record + field->count_offset, sizeof *count);
    }
    return array;
}

/* The field of the file from which a field of a record comes. NULL if there is none. */
TUMIT1R_FN const struct tumit1r_field *tumit1r_source_field(const struct tumit1r_head *head,
                                                            const struct tumit1r_event_type *event,
                                                            uint32_t field) {
    if (head->type == NULL || head->type->event != event || head->type->map[field] == 0) {
        return NULL;
    }
    return &head->type->fields[head->type->map[field] - 1];
}

TUMIT1R_FN void tumit1r_print_event_field(FILE *out, const struct tumit1r_head *head,
                                          const struct tumit1r_event_field *field, uint32_t names,
                                          const char *record) {
    struct tumit1r_value value;
    const char *array;
    size_t count, i, step = tumit1r_member_bytes(field->scalar);
    fprintf(out, " %s=", field->name);
    if (field->form == TUMIT1R_ONE) {
        value = tumit1r_value_of_member(head, field, names, record, record + field->offset);
        tumit1r_print_one(out, head->process, field->scalar, &value);
        return;
    }
    array = tumit1r_array(field, record, &count);
    fputs("[", out);
    for (i = 0; array != NULL && i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        value = tumit1r_value_of_member(head, field, names, record, array + i * step);
        tumit1r_print_one(out, head->process, field->scalar, &value);
    }
    fputs("]", out);
}

/* Prints the name of the event. If `more` follows, it is padded to the width of the column. */
TUMIT1R_FN void tumit1r_print_name(FILE *out, const struct tumit1r_head *head, const char *name,
                                   bool more, size_t width) {
    size_t length = tumit1r_characters(name);
    tumit1r_print_text(out, name, strlen(name), false);
    if (more || head->file != NULL) {
        for (; length < width + 1; length++) {
            fputc(' ', out);
        }
        if (width < tumit1r_characters(name)) {
            fputc(' ', out);
        }
    }
}

TUMIT1R_FN void tumit1r_print_location(FILE *out, const struct tumit1r_head *head) {
    if (head->file != NULL) {
        fputs("  (", out);
        tumit1r_print_text(out, head->file, strlen(head->file), false);
        fprintf(out, ":%u)", (unsigned)head->line);
    }
}

/* Prints `post  node=1 ...` with the values of a struct, without fields that its file does not
 * have. */
TUMIT1R_FN void tumit1r_print_event(FILE *out, const struct tumit1r_event_type *event,
                                    const void *record, size_t width) {
    const struct tumit1r_head *head = (const struct tumit1r_head *)record;
    bool read = head->type != NULL && head->type->event == event;
    uint32_t i, count = 0;
    for (i = 0; i < event->count; i++) {
        count += !read || head->type->map[i] != 0;
    }
    tumit1r_print_name(out, head, event->name, count > 0, width);
    for (i = 0; i < event->count; i++) {
        const struct tumit1r_field *origin = tumit1r_source_field(head, event, i);
        if (!read || origin != NULL) {
            uint32_t names =
                origin == NULL || origin->scalar != TUMIT1R_ENUM ? UINT32_MAX : origin->names;
            tumit1r_print_event_field(out, head, &event->fields[i], names, (const char *)record);
        }
    }
    tumit1r_print_location(out, head);
}

/* Prints a record of any event in the same form, with the fields of its file. */
TUMIT1R_FN void tumit1r_print_raw(FILE *out, const struct tumit1r_head *head, size_t width) {
    const struct tumit1r_type *type = head->type;
    size_t *offsets;
    uint32_t k;
    if (type == NULL) {
        if (head->dropped.count == 0 && head->dropped.cause == TUMIT1R_CAUSE_TRUNCATED) {
            fprintf(out, "(the next record is truncated: %llu bytes are missing)",
                    (unsigned long long)head->dropped.bytes);
        } else {
            fprintf(out, "(%llu records dropped, missing or damaged)", (unsigned long long)head->dropped.count);
        }
        return;
    }
    tumit1r_print_name(out, head, type->name, type->count > 0, width);
    offsets = (size_t *)malloc(((size_t)type->count + 1) * sizeof *offsets);
    if (offsets != NULL && tumit1r_find_offsets(type, head->body, head->body_bytes, offsets)) {
        for (k = 0; k < type->count; k++) {
            tumit1r_print_file_field(out, head, &type->fields[k], head->body + offsets[k]);
        }
    }
    free(offsets);
    tumit1r_print_location(out, head);
}

/* Prints the columns of `tumit dump` before the name of the event: timestamp, process, thread. */
TUMIT1R_FN void tumit1r_print_columns(FILE *out, const struct tumit1r_head *head) {
    const struct tumit1r_process *p = head->process;
    char timestamp[40], process[40];
    size_t length;
    tumit1r_timestamp_text(timestamp, sizeof timestamp, head->nanos);
    (void)snprintf(process, sizeof process, p->run->ranked ? "rank %llu" : "pid %llu",
                   (unsigned long long)(p->run->ranked ? p->rank : p->pid));
    fprintf(out, "%15s  %-11s  ", timestamp, process);
    tumit1r_print_text(out, head->stream->name, strlen(head->stream->name), false);
    for (length = tumit1r_characters(head->stream->name); length < p->run->thread_width; length++) {
        fputc(' ', out);
    }
    fputs("  ", out);
}

/* Prints a record: the name of the event, its fields and its source position. */
TUMIT1R_FN void tumit1r_print(FILE *out, const struct tumit1r_spec *spec, uint32_t kind,
                              const void *record, size_t width) {
    if (kind < spec->count) {
        tumit1r_print_event(out, &spec->types[kind], record, width);
    } else {
        tumit1r_print_raw(out, (const struct tumit1r_head *)record, width);
    }
}

/* Prints a line of `tumit dump --clock none`. */
TUMIT1R_FN void tumit1r_print_line(FILE *out, const struct tumit1r_spec *spec, uint32_t kind,
                                   const void *record) {
    const struct tumit1r_head *head = (const struct tumit1r_head *)record;
    if (head->process == NULL || head->stream == NULL) {
        tumit1r_print(out, spec, kind, record, 0);
    } else {
        tumit1r_print_columns(out, head);
        tumit1r_print(out, spec, kind, record, head->process->run->event_width);
    }
    fputc('\n', out);
}
