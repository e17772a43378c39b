/* ---- From a record of a file to a struct of the program's spec. Events, fields and enum values
 * are matched by name ---- */

struct tumit1r_event_enum {
    const char *const *names;
    const uint16_t *numbers;
    uint32_t count;
};
struct tumit1r_event_field {
    const char *name;
    uint8_t form, scalar;
    bool wide;
    uint32_t count;                        /* length of a fixed array */
    const struct tumit1r_event_enum *choice; /* NULL if it is not an enum */
    /* positions in the struct: the value, and its number of elements or bytes */
    size_t offset, count_offset;
};
struct tumit1r_event_type {
    const char *name;
    bool located;
    uint32_t count;
    const struct tumit1r_event_field *fields;
    size_t bytes; /* size of the struct */
};
struct tumit1r_spec {
    const char *name;
    const struct tumit1r_event_type *types;
    uint32_t count;
    const unsigned char *schema;
    size_t schema_bytes;
};
/* One value, of any type. */
struct tumit1r_value {
    /* integers (negative: 64-bit two's complement), timestamps, pointers, numbers of enums */
    uint64_t bits;
    double real;
    /* strings and bytes; for an enum, the name of the value, NULL if it has none */
    const char *text;
    size_t bytes;
};

TUMIT1R_FN bool tumit1r_is_text(uint8_t scalar) {
    return scalar == TUMIT1R_STRING || scalar == TUMIT1R_INTERNED;
}
TUMIT1R_FN bool tumit1r_is_unsigned(uint8_t scalar) { return scalar <= TUMIT1R_U64; }
TUMIT1R_FN bool tumit1r_is_signed(uint8_t scalar) {
    return scalar >= TUMIT1R_I8 && scalar <= TUMIT1R_I64;
}

/* Whether every value of one type is a value of the other. */
TUMIT1R_FN bool tumit1r_is_subtype(uint8_t from, uint8_t to) {
    size_t from_bytes = tumit1r_scalar_bytes(from, false),
           to_bytes = tumit1r_scalar_bytes(to, false);
    if (from == to || (tumit1r_is_text(from) && tumit1r_is_text(to))) {
        return true;
    }
    if (tumit1r_is_unsigned(from)) {
        return (tumit1r_is_unsigned(to) || tumit1r_is_signed(to)) && from_bytes < to_bytes;
    }
    return (tumit1r_is_signed(from) && tumit1r_is_signed(to) && from_bytes < to_bytes) ||
           (from == TUMIT1R_F32 && to == TUMIT1R_F64);
}

TUMIT1R_FN bool tumit1r_is_convertible(const struct tumit1r_field *from,
                                       const struct tumit1r_event_field *to) {
    bool forms = from->form == to->form
                     ? from->form != TUMIT1R_FIXED || from->count == to->count
                     : from->form == TUMIT1R_FIXED && to->form == TUMIT1R_VARIABLE;
    return forms && tumit1r_is_subtype(from->scalar, to->scalar) &&
           strcmp(from->name, to->name) == 0;
}

TUMIT1R_FN bool tumit1r_same_enum(const struct tumit1r_enum *a,
                                  const struct tumit1r_event_enum *b) {
    uint32_t i;
    for (i = 0; i < a->count && i < b->count; i++) {
        if (a->values[i].number != b->numbers[i] || strcmp(a->values[i].name, b->names[i]) != 0) {
            return false;
        }
    }
    return a->count == b->count;
}

/* Finds the event of the spec for a record type of a file, and its fields. */
TUMIT1R_FN void tumit1r_bind(const struct tumit1r_type *const_type, const struct tumit1r_spec *spec,
                             size_t guess) {
    struct tumit1r_type *type = (struct tumit1r_type *)const_type;
    const struct tumit1r_event_type *event = NULL;
    uint32_t i, k;
    type->bound_to = spec;
    type->event = NULL;
    type->kind = TUMIT1R_OTHER;
    type->same = false;
    if (strcmp(type->schema->name, spec->name) != 0) {
        return;
    }
    for (i = 0; i <= spec->count && event == NULL; i++) {
        size_t index = i == 0 ? guess : i - 1;
        if (index < spec->count && strcmp(spec->types[index].name, type->name) == 0) {
            event = &spec->types[index];
            type->kind = (uint32_t)index;
        }
    }
    if (event == NULL) {
        return;
    }
    free(type->map);
    type->map = (uint32_t *)calloc((size_t)event->count + 1, sizeof *type->map);
    if (type->map == NULL) {
        type->kind = TUMIT1R_OTHER;
        return;
    }
    type->event = event;
    type->same = event->count == type->count && event->located == type->located;
    for (i = 0; i < event->count; i++) {
        for (k = 0; k < type->count && type->map[i] == 0; k++) {
            if (tumit1r_is_convertible(&type->fields[k], &event->fields[i])) {
                const struct tumit1r_field *field = &type->fields[k];
                type->map[i] = k + 1;
                type->same = type->same && k == i && field->form == event->fields[i].form &&
                             field->scalar == event->fields[i].scalar &&
                             field->wide == event->fields[i].wide &&
                             (field->scalar != TUMIT1R_ENUM ||
                              tumit1r_same_enum(&type->schema->enums[field->names],
                                                event->fields[i].choice));
            }
        }
        type->same = type->same && type->map[i] != 0;
    }
}

/* Number of bytes of an element in a struct. */
TUMIT1R_FN size_t tumit1r_member_bytes(uint8_t scalar) {
    switch (scalar) {
    case TUMIT1R_ENUM:
        return sizeof(uint32_t);
    case TUMIT1R_BOOL:
        return sizeof(bool);
    case TUMIT1R_INTERNED:
    case TUMIT1R_STRING:
    case TUMIT1R_BYTES:
        return sizeof(const char *);
    default:
        return tumit1r_scalar_bytes(scalar, false);
    }
}

/* Converts the bytes of a file to a value. The names of texts and enums are not looked up. */
TUMIT1R_FN struct tumit1r_value tumit1r_load_value(uint8_t scalar, bool wide,
                                                   const unsigned char *p) {
    struct tumit1r_value value;
    size_t bytes = tumit1r_scalar_bytes(scalar, wide);
    float single;
    memset(&value, 0, sizeof value);
    value.bits = tumit1r_get(p, bytes);
    if (tumit1r_is_signed(scalar) && bytes < 8 && (value.bits >> (8 * bytes - 1)) != 0) {
        value.bits |= ~(uint64_t)0 << (8 * bytes);
    } else if (scalar == TUMIT1R_BOOL) {
        value.bits = value.bits != 0;
    } else if (scalar == TUMIT1R_F32) {
        uint32_t word = (uint32_t)value.bits;
        memcpy(&single, &word, sizeof single);
        value.real = (double)single;
    } else if (scalar == TUMIT1R_F64) {
        memcpy(&value.real, &value.bits, sizeof value.real);
    } else if (bytes == 0) {
        value.text = (const char *)p + 2;
        value.bytes = tumit1r_get_u16(p);
    }
    return value;
}

/* The text for the number of an interned string. `spare` has room for the text of a missing one. */
TUMIT1R_FN void tumit1r_find_string(const struct tumit1r_process *p, struct tumit1r_value *value,
                                    char buffer[32]) {
    const struct tumit1r_name *name =
        value->bits < p->strings.count ? &p->strings.by_id[value->bits] : NULL;
    if (name != NULL && name->text != NULL) {
        value->text = name->text;
        value->bytes = name->bytes;
    } else {
        buffer[0] = '\0';
        if (value->bits != 0) {
            (void)snprintf(buffer, 32, "string %u (missing)", (unsigned)value->bits);
        }
        value->text = buffer;
        value->bytes = strlen(buffer);
    }
}

/* The value of an enum field for a number of the file: the spec's number for the value with the
 * same name. */
TUMIT1R_FN uint32_t tumit1r_event_enum_number(const struct tumit1r_schema *schema, uint32_t names,
                                      const struct tumit1r_event_enum *choice, uint64_t number) {
    const char *name = tumit1r_enum_name(schema, names, number);
    uint32_t i;
    if (name != NULL) {
        if (number < choice->count && strcmp(choice->names[number], name) == 0) {
            return choice->numbers[number];
        }
        for (i = 0; i < choice->count; i++) {
            if (strcmp(choice->names[i], name) == 0) {
                return choice->numbers[i];
            }
        }
    }
    return TUMIT1R_UNKNOWN | (uint32_t)number;
}

TUMIT1R_FN unsigned char *tumit1r_allocate(struct tumit1r_cursor *c, size_t bytes) {
    unsigned char *p = c->memory + c->memory_used;
    c->memory_used += (bytes + 15) / 16 * 16;
    return p;
}

/* Stores an element of a struct. */
TUMIT1R_FN void tumit1r_store_value(struct tumit1r_cursor *c, const struct tumit1r_field *from,
                                    const struct tumit1r_event_field *to,
                                    struct tumit1r_value value, void *place) {
    const struct tumit1r_schema *schema = c->head.type->schema;
    char buffer[32], *text;
    uint32_t choice;
    float single = 0;
    bool flag;
    switch (to->scalar) {
    case TUMIT1R_F32:
        if (value.real >= -3.4028234663852886e38 && value.real <= 3.4028234663852886e38) {
            single = (float)value.real;
            memcpy(place, &single, sizeof single);
        } else {
            uint32_t word = (uint32_t)value.bits; /* infinite or not a number: unchanged */
            memcpy(place, &word, sizeof word);
        }
        break;
    case TUMIT1R_F64:
        memcpy(place, &value.real, sizeof value.real);
        break;
    case TUMIT1R_BOOL:
        flag = value.bits != 0;
        memcpy(place, &flag, sizeof flag);
        break;
    case TUMIT1R_ENUM:
        choice = tumit1r_event_enum_number(schema, from->names, to->choice, value.bits);
        memcpy(place, &choice, sizeof choice);
        break;
    case TUMIT1R_INTERNED:
    case TUMIT1R_STRING:
    case TUMIT1R_BYTES:
        if (from->scalar == TUMIT1R_INTERNED) {
            tumit1r_find_string(c->process, &value, buffer);
        }
        if (value.text == buffer || from->scalar != TUMIT1R_INTERNED) {
            text = (char *)tumit1r_allocate(c, value.bytes + 1);
            memcpy(text, value.text, value.bytes);
            text[value.bytes] = '\0';
            value.text = text;
        }
        memcpy(place, &value.text, sizeof value.text);
        if (to->form == TUMIT1R_ONE && to->scalar != TUMIT1R_INTERNED) {
            memcpy((char *)place - to->offset + to->count_offset, &value.bytes, sizeof value.bytes);
        }
        break;
    default:
        switch (tumit1r_member_bytes(to->scalar)) {
        case 1: {
            uint8_t byte = (uint8_t)value.bits;
            memcpy(place, &byte, sizeof byte);
            break;
        }
        case 2: {
            uint16_t byte = (uint16_t)value.bits;
            memcpy(place, &byte, sizeof byte);
            break;
        }
        case 4: {
            uint32_t byte = (uint32_t)value.bits;
            memcpy(place, &byte, sizeof byte);
            break;
        }
        default:
            memcpy(place, &value.bits, sizeof value.bits);
            break;
        }
        break;
    }
}

/* Number of elements of an array in a file. */
TUMIT1R_FN size_t tumit1r_element_count(const struct tumit1r_field *field, const unsigned char *p) {
    return field->form == TUMIT1R_FIXED ? field->count : tumit1r_get_u16(p);
}

/* Number of bytes that a field of the struct needs outside the struct. */
TUMIT1R_FN size_t tumit1r_member_memory(const struct tumit1r_field *from,
                                        const struct tumit1r_event_field *to,
                                        const unsigned char *p) {
    size_t count, item_bytes = tumit1r_member_bytes(to->scalar);
    if (to->form == TUMIT1R_ONE) {
        if (from == NULL || (!tumit1r_is_text(to->scalar) && to->scalar != TUMIT1R_BYTES)) {
            return 0;
        }
        return 48 + (from->scalar == TUMIT1R_INTERNED ? 0 : (size_t)tumit1r_get_u16(p));
    }
    count = from == NULL ? to->count : tumit1r_element_count(from, p);
    return 32 + count * (item_bytes + (to->scalar == TUMIT1R_INTERNED ? 48 : 0));
}

/* Fills a field of the struct. */
TUMIT1R_FN void tumit1r_fill_member(struct tumit1r_cursor *c, const struct tumit1r_field *from,
                                    const struct tumit1r_event_field *to, const unsigned char *p,
                                    char *record) {
    size_t item_bytes = tumit1r_member_bytes(to->scalar), count, i, step;
    const char *empty = "";
    unsigned char *array;
    const void *kept;
    if (to->form == TUMIT1R_ONE) {
        if (from != NULL) {
            tumit1r_store_value(c, from, to, tumit1r_load_value(from->scalar, from->wide, p),
                                record + to->offset);
        } else if (tumit1r_is_text(to->scalar) || to->scalar == TUMIT1R_BYTES) {
            memcpy(record + to->offset, &empty, sizeof empty);
        }
        return;
    }
    count = from == NULL ? to->count : tumit1r_element_count(from, p);
    array = tumit1r_allocate(c, count * item_bytes);
    memset(array, 0, count * item_bytes);
    for (i = 0; from == NULL && to->scalar == TUMIT1R_INTERNED && i < count; i++) {
        memcpy(array + i * item_bytes, &empty, sizeof empty);
    }
    if (from != NULL) {
        step = tumit1r_scalar_bytes(from->scalar, from->wide);
        p += from->form == TUMIT1R_FIXED ? 0 : 2;
        for (i = 0; i < count; i++) {
            tumit1r_store_value(c, from, to,
                                tumit1r_load_value(from->scalar, from->wide, p + i * step),
                                array + i * item_bytes);
        }
    }
    kept = array;
    memcpy(record + to->offset, &kept, sizeof kept);
    if (to->form == TUMIT1R_VARIABLE) {
        memcpy(record + to->count_offset, &count, sizeof count);
    }
}

/* Fills the struct of an event from the cursor's record. */
TUMIT1R_FN bool tumit1r_decode(struct tumit1r_cursor *c, void *record) {
    const struct tumit1r_type *type = c->head.type;
    const struct tumit1r_event_type *event = type->event;
    size_t need = 64;
    uint32_t i;
    for (i = 0; i < event->count; i++) {
        const struct tumit1r_field *from =
            type->map[i] == 0 ? NULL : &type->fields[type->map[i] - 1];
        need += tumit1r_member_memory(from, &event->fields[i],
                                      from == NULL ? NULL
                                                   : c->head.body + c->offsets[type->map[i] - 1]);
        c->head.missing += from == NULL;
    }
    if (!tumit1r_room(&c->memory, &c->memory_room, need, 1)) {
        return false;
    }
    c->memory_used = 0;
    memset(record, 0, event->bytes);
    memcpy(record, &c->head, sizeof c->head);
    for (i = 0; i < event->count; i++) {
        const struct tumit1r_field *from =
            type->map[i] == 0 ? NULL : &type->fields[type->map[i] - 1];
        tumit1r_fill_member(c, from, &event->fields[i],
                            from == NULL ? NULL : c->head.body + c->offsets[type->map[i] - 1],
                            (char *)record);
    }
    return true;
}

/* Reads the next record. `*kind` gets the event of the spec, and `record` its struct. Returns
 * false at the end. */
TUMIT1R_FN bool tumit1r_next(struct tumit1r_reader *reader, const struct tumit1r_spec *spec,
                             uint32_t *kind, void *record) {
    struct tumit1r_cursor *c = tumit1r_next_cursor(reader);
    if (c == NULL) {
        return false;
    }
    *kind = TUMIT1R_DROPPED;
    if (c->head.type != NULL) {
        if (c->head.type->bound_to != spec) {
            tumit1r_bind(c->head.type, spec,
                         (size_t)(c->head.type->id - c->head.type->schema->base));
        }
        *kind = c->head.type->kind;
        if (*kind != TUMIT1R_OTHER && tumit1r_decode(c, record)) {
            return true;
        }
        if (*kind == TUMIT1R_OTHER) {
            c->process->unknown_records++;
        }
        *kind = TUMIT1R_OTHER;
    }
    memcpy(record, &c->head, sizeof c->head);
    return true;
}

/* Whether the file of a record has this field. A field that it does not have is 0. */
TUMIT1R_FN bool tumit1r_has(const struct tumit1r_head *head, const char *field) {
    uint32_t i;
    for (i = 0; head->type != NULL && i < head->type->count; i++) {
        if (strcmp(head->type->fields[i].name, field) == 0) {
            return true;
        }
    }
    return false;
}
