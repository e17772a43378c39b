/* ---- The contents of a file's blocks: its processes, their tables, and the positions of the
 * records ---- */

struct tumit1r_process;

/* A text of the file's tables. Its bytes are unchanged, so they may be invalid UTF-8. */
struct tumit1r_name {
    char *text; /* terminated by a 0; NULL if it is missing in the file */
    uint32_t bytes;
    uint32_t line; /* line of a source position */
};
struct tumit1r_names {
    struct tumit1r_name *by_id;
    size_t count, room;
};
/* The records of one thread. */
struct tumit1r_stream {
    const struct tumit1r_process *process;
    uint32_t number;
    uint64_t tid;
    const char *name; /* name of the thread, as in `tumit dump`; unique in the process */
    const char *label; /* label of the streams of the thread, set by the program; may be empty */
    bool has_tid, named, signal;
    uint64_t dropped; /* dropped records */
    uint64_t missing_blocks;
    uint64_t owner; /* in a sorted file: number of the process */
    bool has_owner;     /* whether a block contains this number */
    const struct tumit1r_block *blocks;
    size_t blocks_count;
    unsigned char *tags;
    size_t tags_bytes, tags_room;
    char *name_text, *label_text;
    bool overwrites;     /* a flight recorder, for `TUMIT_POLICY=overwrite` */
    size_t thread;       /* index of the first stream of its thread in the process */
    bool reused;         /* an earlier thread had the same thread id */
    size_t worker;       /* N of the name `worker N`; 0 for other names */
    char *numbered_name; /* set if other threads of the process have the same name */
};
struct tumit1r_process {
    char *path;
    FILE *file;    /* shared by all processes of a sorted file */
    size_t *users; /* number of these processes */
    uint64_t bytes;
    unsigned char id[16];
    bool has_parent, has_rank, has_ranks, ended;
    bool sorted;     /* one of several processes of a file */
    uint32_t number; /* number of the process in a sorted file */
    struct tumit1r_process **parts; /* the other processes by number, while the file is opened */
    size_t parts_count, parts_room;
    uint64_t pid, rank, ranks, clock_kind, clock_hz;
    char *host, *clock_domain, *command, *writer, *job; /* empty if unknown */
    uint64_t written, dropped; /* as reported by the process at its end */
    struct tumit1r_names strings, sites;
    struct tumit1r_schema **schemas;
    size_t schemas_count, schemas_room;
    const struct tumit1r_type **types; /* by record id */
    size_t types_count, types_room;
    struct tumit1r_stream *streams;
    size_t streams_count, streams_room;
    /* Blocks of records, ordered by stream and sequence. And sync samples, anchors and tags of
     * streams, in the order of the file. */
    struct tumit1r_block *blocks, *others;
    size_t blocks_count, blocks_room, others_count, others_room;
    unsigned char *tags;
    size_t tags_bytes;
    uint64_t damaged_bytes, damaged_pieces;
    /* Problems that the readers of its streams found: */
    uint64_t damaged_records; /* records in blocks that could not be decoded */
    uint64_t unknown_records; /* records of events that the program's spec does not have */
    /* For timestamps and columns: */
    /* ticks per second of its clock; nanoseconds of the first timestamp of the run */
    uint64_t hz, start;
    const struct tumit1r_run *run;
    bool failed; /* out of memory, or the file could not be read */
};

TUMIT1R_FN char *tumit1r_copy_text(const void *bytes, size_t count) {
    char *text = (char *)malloc(count + 1);
    if (text != NULL) {
        memcpy(text, bytes, count);
        text[count] = '\0';
    }
    return text;
}

/* Creates a process without data. NULL when there is no memory. */
TUMIT1R_FN struct tumit1r_process *tumit1r_new_process(const char *path) {
    struct tumit1r_process *p = (struct tumit1r_process *)calloc(1, sizeof *p);
    char **texts[5];
    size_t i;
    if (p == NULL) {
        return NULL;
    }
    texts[0] = &p->host;
    texts[1] = &p->clock_domain;
    texts[2] = &p->command;
    texts[3] = &p->writer;
    texts[4] = &p->job;
    for (i = 0; i < 5; i++) {
        *texts[i] = tumit1r_copy_text("", 0);
        p->failed = p->failed || *texts[i] == NULL;
    }
    p->path = tumit1r_copy_text(path, strlen(path));
    p->failed = p->failed || p->path == NULL;
    return p;
}

/* The process with this number of a sorted file. NULL when there is no memory. */
TUMIT1R_FN struct tumit1r_process *tumit1r_process_part(struct tumit1r_process *p,
                                                        uint32_t number) {
    struct tumit1r_process *part;
    if (!tumit1r_room(&p->parts, &p->parts_room, (size_t)number + 1, sizeof *p->parts)) {
        return NULL;
    }
    for (; p->parts_count <= number; p->parts_count++) {
        p->parts[p->parts_count] = NULL;
    }
    if (p->parts[number] == NULL) {
        p->parts[number] = part = tumit1r_new_process(p->path);
        if (part != NULL) {
            part->number = number;
            part->bytes = p->bytes;
            part->file = p->file;
            part->users = p->users;
            *p->users += 1;
        }
    }
    return p->parts[number];
}

/* Moves to the next tagged field of a payload. */
TUMIT1R_FN bool tumit1r_next_tag(const unsigned char **p, const unsigned char *end, uint16_t *tag,
                                const unsigned char **value, size_t *bytes) {
    size_t room = (size_t)(end - *p), length;
    if (room < 6) {
        return false;
    }
    length = tumit1r_get_u32(*p + 2);
    if (length > room - 6) {
        return false;
    }
    *tag = tumit1r_get_u16(*p);
    *value = *p + 6;
    *bytes = length;
    *p += 6 + length;
    return true;
}

/* Removes the fields with this tag from a payload. Returns the remaining size. */
TUMIT1R_FN size_t tumit1r_remove_tag(unsigned char *tags, size_t count, uint16_t tag) {
    const unsigned char *p = tags, *start = tags, *end = tags + count, *value;
    size_t bytes, size = 0;
    uint16_t next_tag;
    while (tumit1r_next_tag(&p, end, &next_tag, &value, &bytes)) {
        if (next_tag != tag) {
            memmove(tags + size, start, (size_t)(p - start));
            size += (size_t)(p - start);
        }
        start = p;
    }
    return size;
}

TUMIT1R_FN uint64_t tumit1r_tag_number(const unsigned char *value, size_t bytes) {
    return bytes == 8 ? tumit1r_get_u64(value) : 0;
}

TUMIT1R_FN void tumit1r_tag_text(struct tumit1r_process *p, char **text, const unsigned char *value,
                                 size_t bytes) {
    char *copy = tumit1r_copy_text(value, bytes);
    p->failed = p->failed || copy == NULL;
    free(*text);
    *text = copy;
}

TUMIT1R_FN void tumit1r_parse_process(struct tumit1r_process *p, const unsigned char *p_tags,
                                      size_t count) {
    const unsigned char *end = p_tags + count, *value;
    uint16_t tag;
    size_t bytes;
    free(p->tags);
    p->tags = (unsigned char *)tumit1r_copy_text(p_tags, count);
    p->tags_bytes = p->tags == NULL ? 0 : count;
    while (tumit1r_next_tag(&p_tags, end, &tag, &value, &bytes)) {
        uint64_t number = tumit1r_tag_number(value, bytes);
        switch (tag) {
        case TUMIT1R_TAG_PROCESS_ID:
            memset(p->id, 0, sizeof p->id);
            if (bytes == sizeof p->id) {
                memcpy(p->id, value, sizeof p->id);
            }
            break;
        case TUMIT1R_TAG_PARENT_ID:
            p->has_parent = bytes == 16;
            break;
        case TUMIT1R_TAG_HOST:
            tumit1r_tag_text(p, &p->host, value, bytes);
            break;
        case TUMIT1R_TAG_PID:
            p->pid = number;
            break;
        case TUMIT1R_TAG_RANK:
            p->has_rank = bytes == 8;
            p->rank = number;
            break;
        case TUMIT1R_TAG_RANKS:
            p->has_ranks = bytes == 8;
            p->ranks = number;
            break;
        case TUMIT1R_TAG_CLOCK_KIND:
            p->clock_kind = number;
            break;
        case TUMIT1R_TAG_CLOCK_HZ:
            p->clock_hz = number;
            break;
        case TUMIT1R_TAG_CLOCK_DOMAIN:
            tumit1r_tag_text(p, &p->clock_domain, value, bytes);
            break;
        case TUMIT1R_TAG_COMMAND:
            tumit1r_tag_text(p, &p->command, value, bytes);
            break;
        case TUMIT1R_TAG_WRITER:
            tumit1r_tag_text(p, &p->writer, value, bytes);
            break;
        case TUMIT1R_TAG_JOB:
            tumit1r_tag_text(p, &p->job, value, bytes);
            break;
        case TUMIT1R_TAG_SORTED:
            p->sorted = number == 1;
            break;
        default:
            break;
        }
    }
    if (p->sorted && p->tags != NULL) {
        /* a copy is a separate file */
        p->tags_bytes = tumit1r_remove_tag(p->tags, p->tags_bytes, TUMIT1R_TAG_SORTED);
    }
}

TUMIT1R_FN void tumit1r_parse_end(struct tumit1r_process *p, const unsigned char *at,
                                  size_t count) {
    const unsigned char *end = at + count, *value;
    uint16_t tag;
    size_t bytes;
    p->ended = true;
    while (tumit1r_next_tag(&at, end, &tag, &value, &bytes)) {
        if (tag == TUMIT1R_TAG_RECORDS_WRITTEN) {
            p->written = tumit1r_tag_number(value, bytes);
        } else if (tag == TUMIT1R_TAG_RECORDS_DROPPED) {
            p->dropped = tumit1r_tag_number(value, bytes);
        }
    }
}

/* Reads the entries of a block of strings (`line` is false) or source positions. Ids are
 * assigned without large gaps, so an id far above the size of the file is invalid. */
TUMIT1R_FN void tumit1r_parse_names(struct tumit1r_process *p, struct tumit1r_names *names,
                                    const unsigned char *entry, size_t remaining, bool line) {
    const size_t head = line ? 12 : 8;
    while (remaining >= head) {
        uint32_t id = tumit1r_get_u32(entry);
        size_t bytes = tumit1r_get_u32(entry + head - 4), i;
        struct tumit1r_name *name;
        if (bytes > remaining - head) {
            return;
        }
        if (id <= p->bytes / 2 + 1024) {
            if (id >= names->count) {
                if (!tumit1r_room(&names->by_id, &names->room, (size_t)id + 1,
                                  sizeof *names->by_id)) {
                    p->failed = true;
                    return;
                }
                for (i = names->count; i <= id; i++) {
                    memset(&names->by_id[i], 0, sizeof *names->by_id);
                }
                names->count = (size_t)id + 1;
            }
            name = &names->by_id[id];
            free(name->text);
            name->text = tumit1r_copy_text(entry + head, bytes);
            name->bytes = (uint32_t)bytes;
            name->line = line ? tumit1r_get_u32(entry + 4) : 0;
            p->failed = p->failed || name->text == NULL;
        }
        entry += head + bytes;
        remaining -= head + bytes;
    }
}

TUMIT1R_FN bool tumit1r_add_schema(struct tumit1r_process *p, const unsigned char *payload,
                                   size_t bytes) {
    struct tumit1r_schema *schema = tumit1r_decode_schema(payload, bytes);
    uint32_t i;
    size_t end;
    if (schema == NULL) {
        return false;
    }
    end = (size_t)schema->base + schema->types_count;
    if (!tumit1r_room(&p->schemas, &p->schemas_room, p->schemas_count + 1, sizeof *p->schemas) ||
        !tumit1r_room(&p->types, &p->types_room, end, sizeof *p->types)) {
        p->failed = true;
        tumit1r_free_schema(schema);
        return false;
    }
    for (; p->types_count < end; p->types_count++) {
        p->types[p->types_count] = NULL;
    }
    for (i = 0; i < schema->types_count; i++) {
        if (p->types[schema->base + i] == NULL) {
            p->types[schema->base + i] = &schema->types[i];
        }
    }
    p->schemas[p->schemas_count++] = schema;
    return true;
}

TUMIT1R_FN void tumit1r_store_block(struct tumit1r_process *p, struct tumit1r_block **blocks,
                                    size_t *count, size_t *room,
                                    const struct tumit1r_block *block) {
    if (!tumit1r_room(blocks, room, *count + 1, sizeof *block)) {
        p->failed = true;
        return;
    }
    (*blocks)[*count] = *block;
    *count += 1;
}

/* Reads a block with a valid checksum. Returns false when its content cannot be used. */
TUMIT1R_FN bool tumit1r_add_block(struct tumit1r_process *p, const struct tumit1r_block *block,
                                  const unsigned char *stored) {
    unsigned char *buffer = NULL;
    size_t room = 0;
    const unsigned char *payload;
    bool is_valid = true;
    const uint32_t number = TUMIT1R_PROCESS_STREAM - block->stream;
    if (block->kind == TUMIT1R_KIND_RECORDS) {
        tumit1r_store_block(p, &p->blocks, &p->blocks_count, &p->blocks_room, block);
        return true;
    }
    if (block->kind < TUMIT1R_KIND_PROCESS || block->kind > TUMIT1R_KIND_END) {
        return true;
    }
    if (number != 0 && number < TUMIT1R_MAX_PROCESSES) {
        struct tumit1r_process *part = tumit1r_process_part(p, number);
        p->failed = p->failed || part == NULL;
        p = part == NULL ? p : part;
    }
    payload = tumit1r_unpack(block, stored, &buffer, &room);
    if (payload == NULL) {
        free(buffer);
        return false;
    }
    switch (block->kind) {
    case TUMIT1R_KIND_PROCESS:
        tumit1r_parse_process(p, payload, block->raw);
        break;
    case TUMIT1R_KIND_SCHEMA:
        is_valid = tumit1r_add_schema(p, payload, block->raw);
        break;
    case TUMIT1R_KIND_STRINGS:
        tumit1r_parse_names(p, &p->strings, payload, block->raw, false);
        break;
    case TUMIT1R_KIND_SITES:
        tumit1r_parse_names(p, &p->sites, payload, block->raw, true);
        break;
    case TUMIT1R_KIND_END:
        tumit1r_parse_end(p, payload, block->raw);
        break;
    default:
        tumit1r_store_block(p, &p->others, &p->others_count, &p->others_room, block);
        break;
    }
    free(buffer);
    return is_valid;
}

TUMIT1R_FN void tumit1r_scan(struct tumit1r_process *p, struct tumit1r_window *window) {
    uint64_t offset = TUMIT1R_PREAMBLE_BYTES, damage = 0;
    /* Limits the work that magics without blocks can cause. The rest of the file then counts as
     * damage. */
    uint64_t budget = window->length * 16 + (1u << 26);
    bool is_damaged = false;
    while (offset < window->length && !window->failed) {
        struct tumit1r_block block;
        const unsigned char *payload;
        uint64_t cost;
        if (tumit1r_block_at(window, offset, &block, &payload, &cost)) {
            uint64_t size = (TUMIT1R_HEADER_BYTES + (uint64_t)block.stored + 7) / 8 * 8;
            if (is_damaged) {
                p->damaged_bytes += offset - damage;
                is_damaged = false;
            }
            if (!tumit1r_add_block(p, &block, payload)) {
                p->damaged_bytes += size;
                p->damaged_pieces++;
            }
            offset += size;
            continue;
        }
        if (!is_damaged) {
            is_damaged = true;
            damage = offset;
            p->damaged_pieces++;
        }
        budget = budget > cost ? budget - cost : 0;
        offset = budget == 0 ? window->length : tumit1r_next_magic(window, offset + 1);
    }
    if (is_damaged && tumit1r_only_zeros(window, damage)) {
        p->damaged_pieces--;
    } else if (is_damaged) {
        p->damaged_bytes += window->length - damage;
    }
    p->failed = p->failed || window->failed;
}

TUMIT1R_FN int tumit1r_by_sequence(const void *left, const void *right) {
    const struct tumit1r_block *a = (const struct tumit1r_block *)left,
                               *b = (const struct tumit1r_block *)right;
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    if (a->sequence != b->sequence) {
        return a->sequence < b->sequence ? -1 : 1;
    }
    return a->payload < b->payload ? -1 : 1;
}

