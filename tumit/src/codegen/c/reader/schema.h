/* ---- The schema of a provider: the layouts of its records (FORMAT.md, "The schema") ---- */

struct tumit1r_enum_value {
    const char *name;
    uint16_t number;
};
struct tumit1r_enum {
    const char *name;
    uint32_t count;
    struct tumit1r_enum_value *values;
};
/* A field with its layout in the file. */
struct tumit1r_field {
    const char *name;
    uint8_t form;   /* TUMIT1R_ONE, TUMIT1R_FIXED, TUMIT1R_VARIABLE */
    uint8_t scalar; /* TUMIT1R_U8 ... TUMIT1R_BYTES */
    bool wide;      /* an enum of two bytes */
    uint32_t count; /* length of a fixed array */
    uint32_t names; /* number of the enum in its schema */
};
struct tumit1r_schema;
struct tumit1r_event_type;
/* A record type of a file. */
struct tumit1r_type {
    const char *name;  /* such as `post` or `iteration.begin` */
    const char *level; /* such as `COM` */
    const struct tumit1r_schema *schema;
    uint16_t id; /* id in records of this file */
    bool located;
    uint32_t count;
    struct tumit1r_field *fields;
    /* The event of the program's spec with this name, after the lookup: */
    const void *bound_to;
    const struct tumit1r_event_type *event;
    uint32_t kind;
    /* per field of the event: 1 + number of the field in the file; 0 if there is none */
    uint32_t *map;
    bool same;     /* the event has exactly these fields */
};
struct tumit1r_schema {
    const char *name; /* name of the trace */
    uint32_t version; /* version of the spec */
    uint16_t base;
    uint32_t levels_count, enums_count, types_count;
    const char **levels;
    struct tumit1r_enum *enums;
    struct tumit1r_type *types;
    unsigned char *bytes; /* as in the file, preceded by the base and the number of ids */
    size_t bytes_count;
    char *texts; /* all names, each terminated by a 0 */
};

/* The input of a decoder. After an error all further values are 0. */
struct tumit1r_input {
    const unsigned char *at, *end;
    char *texts;
    uint64_t version; /* version of the structure */
    bool bad;
};

TUMIT1R_FN uint64_t tumit1r_in(struct tumit1r_input *in, size_t bytes) {
    const unsigned char *p = in->at;
    if (in->bad || (size_t)(in->end - in->at) < bytes) {
        in->bad = true;
        return 0;
    }
    in->at += bytes;
    return tumit1r_get(p, bytes);
}

TUMIT1R_FN bool tumit1r_in_bool(struct tumit1r_input *in) {
    uint64_t value = tumit1r_in(in, 1);
    in->bad = in->bad || value > 1;
    return value == 1;
}

/* Reads a count of items of at least `each` bytes. A count that exceeds the input is an error,
 * so that no count causes an excessive allocation. */
TUMIT1R_FN uint32_t tumit1r_in_count(struct tumit1r_input *in, size_t item_bytes) {
    uint64_t count = tumit1r_in(in, 8);
    if (in->bad || count > (uint64_t)(in->end - in->at) / item_bytes) {
        in->bad = true;
        return 0;
    }
    return (uint32_t)count;
}

TUMIT1R_FN const char *tumit1r_in_text(struct tumit1r_input *in) {
    uint32_t length = tumit1r_in_count(in, 1);
    char *text = in->texts;
    if (in->bad) {
        return "";
    }
    memcpy(text, in->at, length);
    text[length] = '\0';
    in->at += length;
    in->texts += length + 1;
    return text;
}

TUMIT1R_FN void *tumit1r_in_array(struct tumit1r_input *in, uint32_t count, size_t item_bytes) {
    void *items = calloc((size_t)count + 1, item_bytes);
    in->bad = in->bad || items == NULL;
    return items;
}

/* Size in bytes of a scalar in a record. 0 for counted ones. */
TUMIT1R_FN size_t tumit1r_scalar_bytes(uint8_t scalar, bool wide) {
    switch (scalar) {
    case TUMIT1R_U8:
    case TUMIT1R_I8:
    case TUMIT1R_BOOL:
        return 1;
    case TUMIT1R_U16:
    case TUMIT1R_I16:
        return 2;
    case TUMIT1R_ENUM:
        return wide ? 2 : 1;
    case TUMIT1R_U32:
    case TUMIT1R_I32:
    case TUMIT1R_F32:
    case TUMIT1R_INTERNED:
        return 4;
    case TUMIT1R_STRING:
    case TUMIT1R_BYTES:
        return 0;
    default:
        return 8;
    }
}

TUMIT1R_FN void tumit1r_in_field(struct tumit1r_input *in, struct tumit1r_field *field,
                                 uint32_t enums) {
    uint64_t form, scalar;
    field->name = tumit1r_in_text(in);
    form = tumit1r_in(in, 4);
    scalar = tumit1r_in(in, 4);
    in->bad = in->bad || form > TUMIT1R_VARIABLE || scalar > TUMIT1R_BYTES;
    field->form = (uint8_t)(form & 3u);
    field->scalar = (uint8_t)(scalar & 31u);
    if (!in->bad && scalar == TUMIT1R_ENUM) {
        field->names = (uint32_t)tumit1r_in(in, 4);
        field->wide = tumit1r_in_bool(in);
        in->bad = in->bad || field->names >= enums;
    }
    if (form == TUMIT1R_FIXED) {
        field->count = (uint32_t)tumit1r_in(in, 4);
    }
    if (form != TUMIT1R_ONE) {
        size_t item_bytes = tumit1r_scalar_bytes(field->scalar, field->wide);
        in->bad = in->bad || item_bytes == 0 ||
                  field->count > TUMIT1R_MAX_PAYLOAD_BYTES / item_bytes;
    }
}

TUMIT1R_FN void tumit1r_in_enums(struct tumit1r_input *in, struct tumit1r_schema *schema) {
    uint32_t i, k;
    schema->enums_count = tumit1r_in_count(in, 16);
    schema->enums =
        (struct tumit1r_enum *)tumit1r_in_array(in, schema->enums_count, sizeof *schema->enums);
    for (i = 0; i < schema->enums_count && !in->bad; i++) {
        struct tumit1r_enum *item = &schema->enums[i];
        item->name = tumit1r_in_text(in);
        item->count = tumit1r_in_count(in, 8);
        item->values =
            (struct tumit1r_enum_value *)tumit1r_in_array(in, item->count, sizeof *item->values);
        for (k = 0; k < item->count && !in->bad; k++) {
            item->values[k].name = tumit1r_in_text(in);
            /* In the first version, values have the numbers 0, 1, 2 ... */
            item->values[k].number = (uint16_t)(in->version == 1 ? k : tumit1r_in(in, 2));
        }
    }
}

TUMIT1R_FN void tumit1r_in_types(struct tumit1r_input *in, struct tumit1r_schema *schema) {
    uint32_t i, k;
    schema->types_count = tumit1r_in_count(in, 25);
    schema->types =
        (struct tumit1r_type *)tumit1r_in_array(in, schema->types_count, sizeof *schema->types);
    for (i = 0; i < schema->types_count && !in->bad; i++) {
        struct tumit1r_type *type = &schema->types[i];
        uint64_t level;
        type->schema = schema;
        type->id = (uint16_t)(schema->base + i);
        type->name = tumit1r_in_text(in);
        level = tumit1r_in(in, 4);
        in->bad = in->bad || level >= schema->levels_count || tumit1r_in(in, 4) > 2;
        type->level = in->bad ? "" : schema->levels[level];
        type->located = tumit1r_in_bool(in);
        type->count = tumit1r_in_count(in, 16);
        type->fields =
            (struct tumit1r_field *)tumit1r_in_array(in, type->count, sizeof *type->fields);
        for (k = 0; k < type->count && !in->bad; k++) {
            tumit1r_in_field(in, &type->fields[k], schema->enums_count);
        }
    }
}

TUMIT1R_FN void tumit1r_free_schema(struct tumit1r_schema *schema) {
    uint32_t i;
    for (i = 0; schema->enums != NULL && i < schema->enums_count; i++) {
        free(schema->enums[i].values);
    }
    for (i = 0; schema->types != NULL && i < schema->types_count; i++) {
        free(schema->types[i].fields);
        free(schema->types[i].map);
    }
    free(schema->levels);
    free(schema->enums);
    free(schema->types);
    free(schema->bytes);
    free(schema->texts);
    free(schema);
}

/* Decodes the payload of a schema block. NULL when it is damaged, or of a later version. */
TUMIT1R_FN struct tumit1r_schema *tumit1r_decode_schema(const unsigned char *payload,
                                                        size_t bytes) {
    struct tumit1r_schema *schema = (struct tumit1r_schema *)calloc(1, sizeof *schema);
    struct tumit1r_input in;
    uint32_t i;
    uint64_t base, ids;
    if (schema == NULL) {
        return NULL;
    }
    /* each text had a length of eight bytes, so its 0 has room */
    schema->texts = (char *)malloc(bytes + 1);
    schema->bytes = (unsigned char *)malloc(bytes + 1);
    in.at = payload;
    in.end = payload + bytes;
    in.texts = schema->texts;
    in.bad = schema->texts == NULL || schema->bytes == NULL;
    base = tumit1r_in(&in, 4);
    ids = tumit1r_in(&in, 4);
    in.bad = in.bad || base < 1 || base + ids > TUMIT1R_FIRST_RESERVED_ID;
    in.version = tumit1r_in(&in, 4);
    in.bad = in.bad || in.version < 1 || in.version > TUMIT1R_SCHEMA_VERSION;
    if (!in.bad) {
        memcpy(schema->bytes, payload, bytes);
        schema->bytes_count = bytes;
        schema->base = (uint16_t)base;
        schema->name = tumit1r_in_text(&in);
        schema->version = in.version == 1 ? 0 : (uint32_t)tumit1r_in(&in, 4);
        schema->levels_count = tumit1r_in_count(&in, 9);
        schema->levels =
            (const char **)tumit1r_in_array(&in, schema->levels_count, sizeof *schema->levels);
        for (i = 0; i < schema->levels_count && !in.bad; i++) {
            schema->levels[i] = tumit1r_in_text(&in);
            (void)tumit1r_in_bool(&in);
        }
        if (!in.bad) {
            tumit1r_in_enums(&in, schema);
        }
        if (!in.bad) {
            tumit1r_in_types(&in, schema);
        }
        in.bad = in.bad || schema->types_count != ids;
    }
    if (in.bad) {
        tumit1r_free_schema(schema);
        return NULL;
    }
    return schema;
}

/* The name of a number in an enum of a schema. NULL if it has none. */
TUMIT1R_FN const char *tumit1r_enum_name(const struct tumit1r_schema *schema, uint32_t names,
                                         uint64_t number) {
    const struct tumit1r_enum *item = &schema->enums[names];
    uint32_t i;
    if (number < item->count && item->values[number].number == number) {
        return item->values[number].name;
    }
    for (i = 0; i < item->count; i++) {
        if (item->values[i].number == number) {
            return item->values[i].name;
        }
    }
    return NULL;
}
