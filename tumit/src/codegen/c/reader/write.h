/* ---- Writing: a process file from records ---- */

enum { TUMIT1R_SPECS = 8 };

struct tumit1r_out_stream {
    uint32_t number;
    bool described;
    uint64_t sequence, dropped, first, last;
    uint32_t records;
    unsigned char *bytes; /* the block that is being filled */
    size_t count, room;
};
/* A string or source position with a number in the file. */
struct tumit1r_out_name {
    char *text;
    size_t bytes;
    uint32_t line, hash;
};
struct tumit1r_out_names {
    struct tumit1r_out_name *by_id; /* by number; the first entry is not used */
    size_t count, room, written;
    uint32_t *slots; /* hash table of numbers */
    size_t slots_count;
};
struct tumit1r_writer {
    FILE *file;
    const struct tumit1r_process *of; /* the copied process */
    uint64_t sequence, written, dropped;
    /* records with the previous timestamp of their stream, because their own was earlier */
    uint64_t backward_records;
    struct tumit1r_out_stream *streams;
    size_t streams_count, streams_room, current;
    struct tumit1r_out_names strings, sites;
    /* specs of new records, and in `bases` their first event ids */
    const struct tumit1r_spec *specs[TUMIT1R_SPECS];
    uint32_t bases[TUMIT1R_SPECS], specs_count, next_base;
    unsigned char *body; /* body of the record that is being written */
    size_t body_bytes, body_room;
    size_t *offsets;
    size_t offsets_room;
    bool failed, ended;
};
/* The description of the process of a new file. */
struct tumit1r_about {
    unsigned char id[16]; /* unique over all processes of all runs */
    const char *host, *clock_domain, *command;
    /* TUMIT1R_CLOCK_USER and the ticks per second of the timestamps */
    uint64_t pid, clock_kind, clock_hz;
    bool has_rank;
    uint64_t rank, ranks;
};

TUMIT1R_FN void tumit1r_out_block(struct tumit1r_writer *w, uint8_t kind,
                                  struct tumit1r_out_stream *stream, uint32_t number,
                                  uint32_t records, const unsigned char *payload, size_t bytes) {
    static const unsigned char zeros[8] = {0};
    unsigned char head[TUMIT1R_HEADER_BYTES];
    size_t padding = (8 - bytes % 8) % 8;
    uint64_t *sequence = stream == NULL ? &w->sequence : &stream->sequence;
    memset(head, 0, sizeof head);
    memcpy(head, TUMIT1R_BLOCK_MAGIC, 8);
    head[12] = kind;
    head[13] = TUMIT1R_CODEC_RAW;
    tumit1r_put(head + 16, number, 4);
    tumit1r_put(head + 20, records, 4);
    tumit1r_put(head + 24, *sequence, 8);
    tumit1r_put(head + 32, bytes, 4);
    tumit1r_put(head + 36, bytes, 4);
    if (stream != NULL) {
        tumit1r_put(head + 40, stream->dropped, 8);
        tumit1r_put(head + 48, stream->first, 8);
        tumit1r_put(head + 56, stream->last, 8);
    }
    tumit1r_put(head + 8, tumit1r_crc(tumit1r_crc(0, head, sizeof head), payload, bytes), 4);
    *sequence += 1;
    w->failed = w->failed || fwrite(head, 1, sizeof head, w->file) != sizeof head ||
                fwrite(payload, 1, bytes, w->file) != bytes ||
                fwrite(zeros, 1, padding, w->file) != padding;
}

/* Writes a block of the process. */
TUMIT1R_FN void tumit1r_out_plain(struct tumit1r_writer *w, uint8_t kind, uint32_t entries,
                                  const unsigned char *payload, size_t bytes) {
    tumit1r_out_block(w, kind, NULL, TUMIT1R_PROCESS_STREAM, entries, payload, bytes);
}

TUMIT1R_FN uint32_t tumit1r_hash(const char *text, size_t bytes, uint32_t line) {
    uint32_t hash = 2166136261u ^ line;
    size_t i;
    for (i = 0; i < bytes; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

TUMIT1R_FN bool tumit1r_grow_name_table(struct tumit1r_out_names *names) {
    size_t slots = names->slots_count == 0 ? 256 : names->slots_count * 2, i, slot;
    uint32_t *new_slots;
    if (names->count * 2 < names->slots_count) {
        return true;
    }
    new_slots = (uint32_t *)calloc(slots, sizeof *new_slots);
    if (new_slots == NULL) {
        return false;
    }
    for (i = 1; i < names->count; i++) {
        if (names->by_id[i].text != NULL) {
            for (slot = names->by_id[i].hash & (slots - 1); new_slots[slot] != 0;
                 slot = (slot + 1) & (slots - 1)) {}
            new_slots[slot] = (uint32_t)i;
        }
    }
    free(names->slots);
    names->slots = new_slots;
    names->slots_count = slots;
    return true;
}

/* Assigns this number to a name. Number 0 is reserved for the empty text. */
TUMIT1R_FN bool tumit1r_add_name(struct tumit1r_out_names *names, size_t id, const char *text,
                                 size_t bytes, uint32_t line) {
    size_t slot;
    if (!tumit1r_room(&names->by_id, &names->room, id + 1, sizeof *names->by_id)) {
        return false;
    }
    for (; names->count <= id; names->count++) {
        memset(&names->by_id[names->count], 0, sizeof *names->by_id);
    }
    if (text == NULL || id == 0) {
        return true;
    }
    names->by_id[id].text = tumit1r_copy_text(text, bytes);
    names->by_id[id].bytes = bytes;
    names->by_id[id].line = line;
    names->by_id[id].hash = tumit1r_hash(text, bytes, line);
    if (names->by_id[id].text == NULL || !tumit1r_grow_name_table(names)) {
        return false;
    }
    slot = names->by_id[id].hash & (names->slots_count - 1);
    while (names->slots[slot] != 0 && names->slots[slot] != id) {
        slot = (slot + 1) & (names->slots_count - 1);
    }
    names->slots[slot] = (uint32_t)id;
    return true;
}

/* The number of a name. A new name gets a new number. */
TUMIT1R_FN uint32_t tumit1r_intern(struct tumit1r_writer *w, struct tumit1r_out_names *names,
                                   const char *text, size_t bytes, uint32_t line) {
    uint32_t hash = tumit1r_hash(text, bytes, line);
    size_t slot, id;
    if (bytes == 0 && line == 0) {
        return 0;
    }
    if (names->slots_count > 0) {
        for (slot = hash & (names->slots_count - 1); names->slots[slot] != 0;
             slot = (slot + 1) & (names->slots_count - 1)) {
            const struct tumit1r_out_name *name = &names->by_id[names->slots[slot]];
            if (name->hash == hash && name->line == line && name->bytes == bytes &&
                memcmp(name->text, text, bytes) == 0) {
                return names->slots[slot];
            }
        }
    }
    id = names->count == 0 ? 1 : names->count;
    if (!tumit1r_add_name(names, id, text, bytes, line)) {
        w->failed = true;
        return 0;
    }
    return (uint32_t)id;
}

/* Writes the names that are not in the file yet. They precede the records that use them. */
TUMIT1R_FN void tumit1r_out_names(struct tumit1r_writer *w, struct tumit1r_out_names *names,
                                  uint8_t kind) {
    unsigned char *block = NULL;
    size_t room = 0, bytes = 0, head = kind == TUMIT1R_KIND_SITES ? 12 : 8;
    uint32_t entries = 0;
    for (; names->written < names->count; names->written++) {
        const struct tumit1r_out_name *name = &names->by_id[names->written];
        if (name->text == NULL || name->bytes + head > TUMIT1R_MAX_PAYLOAD_BYTES) {
            continue;
        }
        if (bytes > 0 && bytes + head + name->bytes > TUMIT1R_CHUNK) {
            tumit1r_out_plain(w, kind, entries, block, bytes);
            bytes = 0;
            entries = 0;
        }
        if (!tumit1r_room(&block, &room, bytes + head + name->bytes, 1)) {
            w->failed = true;
            break;
        }
        tumit1r_put(block + bytes, names->written, 4);
        if (head == 12) {
            tumit1r_put(block + bytes + 4, name->line, 4);
        }
        tumit1r_put(block + bytes + head - 4, name->bytes, 4);
        memcpy(block + bytes + head, name->text, name->bytes);
        bytes += head + name->bytes;
        entries++;
    }
    if (bytes > 0) {
        tumit1r_out_plain(w, kind, entries, block, bytes);
    }
    free(block);
}

/* Writes the block of a stream, after the names that its records refer to. */
TUMIT1R_FN void tumit1r_seal(struct tumit1r_writer *w, struct tumit1r_out_stream *stream) {
    tumit1r_out_names(w, &w->strings, TUMIT1R_KIND_STRINGS);
    tumit1r_out_names(w, &w->sites, TUMIT1R_KIND_SITES);
    tumit1r_out_block(w, TUMIT1R_KIND_RECORDS, stream, stream->number, stream->records,
                      stream->bytes == NULL ? (const unsigned char *)"" : stream->bytes,
                      stream->count);
    stream->count = 0;
    stream->records = 0;
    stream->first = stream->last;
}

TUMIT1R_FN struct tumit1r_out_stream *tumit1r_out_stream(struct tumit1r_writer *w,
                                                         uint32_t number) {
    size_t i;
    if (w->current < w->streams_count && w->streams[w->current].number == number) {
        return &w->streams[w->current];
    }
    for (i = 0; i < w->streams_count; i++) {
        if (w->streams[i].number == number) {
            w->current = i;
            return &w->streams[i];
        }
    }
    if (!tumit1r_room(&w->streams, &w->streams_room, w->streams_count + 1, sizeof *w->streams)) {
        w->failed = true;
        return NULL;
    }
    memset(&w->streams[i], 0, sizeof w->streams[i]);
    w->streams[i].number = number;
    w->streams_count++;
    w->current = i;
    return &w->streams[i];
}

/* Describes the thread of a stream. `name` may be NULL. Call it before the records of the
 * stream. */
TUMIT1R_FN void tumit1r_describe(struct tumit1r_writer *w, uint32_t stream, uint64_t tid,
                                 const char *name) {
    size_t length = name == NULL ? 0 : strlen(name), bytes = 14;
    unsigned char *tags = (unsigned char *)malloc(14 + 6 + length);
    struct tumit1r_out_stream *out = tumit1r_out_stream(w, stream);
    if (tags == NULL || out == NULL) {
        free(tags);
        w->failed = true;
        return;
    }
    out->described = true;
    tumit1r_put(tags, TUMIT1R_TAG_TID, 2);
    tumit1r_put(tags + 2, 8, 4);
    tumit1r_put(tags + 6, tid, 8);
    if (length > 0) {
        tumit1r_put(tags + 14, TUMIT1R_TAG_THREAD_NAME, 2);
        tumit1r_put(tags + 16, length, 4);
        memcpy(tags + 20, name, length);
        bytes += 6 + length;
    }
    tumit1r_out_block(w, TUMIT1R_KIND_STREAM, NULL, stream, 1, tags, bytes);
    free(tags);
}

TUMIT1R_FN struct tumit1r_writer *tumit1r_begin_file(const char *path, FILE *errors) {
    unsigned char head[TUMIT1R_PREAMBLE_BYTES];
    struct tumit1r_writer *w = (struct tumit1r_writer *)calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    tumit1r_crc_init();
    w->file = fopen(path, "wb");
    if (w->file == NULL) {
        if (errors != NULL) {
            fprintf(errors, "%s: %s\n", path, strerror(errno));
        }
        free(w);
        return NULL;
    }
    w->next_base = 1;
    w->ended = true;
    memset(head, 0, sizeof head);
    memcpy(head, TUMIT1R_FILE_MAGIC, 8);
    tumit1r_put(head + 8, TUMIT1R_FORMAT_VERSION, 2);
    w->failed = fwrite(head, 1, sizeof head, w->file) != sizeof head;
    return w;
}

TUMIT1R_FN void tumit1r_out_tag(unsigned char *tags, size_t *size, uint16_t tag, const void *bytes,
                                size_t count) {
    if (*size + 6 + count <= 4096) {
        tumit1r_put(tags + *size, tag, 2);
        tumit1r_put(tags + *size + 2, count, 4);
        memcpy(tags + *size + 6, bytes, count);
        *size += 6 + count;
    }
}
TUMIT1R_FN void tumit1r_out_number(unsigned char *tags, size_t *size, uint16_t tag,
                                   uint64_t number) {
    unsigned char bytes[8];
    tumit1r_put(bytes, number, 8);
    tumit1r_out_tag(tags, size, tag, bytes, sizeof bytes);
}

/* Begins a process file. Its name must end in `.tmt`, and its folder should be `NAME.tmt`. NULL
 * when it cannot be created. */
TUMIT1R_FN struct tumit1r_writer *tumit1r_create(const char *path,
                                                 const struct tumit1r_about *about, FILE *errors) {
    static const char writer[] = "c " TUMIT1R_WRITER_VERSION;
    struct tumit1r_writer *w = tumit1r_begin_file(path, errors);
    unsigned char tags[4096];
    size_t size = 0;
    if (w == NULL) {
        return NULL;
    }
    tumit1r_out_tag(tags, &size, TUMIT1R_TAG_PROCESS_ID, about->id, sizeof about->id);
    tumit1r_out_tag(tags, &size, TUMIT1R_TAG_WRITER, writer, sizeof writer - 1);
    tumit1r_out_number(tags, &size, TUMIT1R_TAG_PID, about->pid);
    tumit1r_out_number(tags, &size, TUMIT1R_TAG_CLOCK_KIND, about->clock_kind);
    tumit1r_out_number(tags, &size, TUMIT1R_TAG_CLOCK_HZ, about->clock_hz);
    if (about->has_rank) {
        tumit1r_out_number(tags, &size, TUMIT1R_TAG_RANK, about->rank);
        tumit1r_out_number(tags, &size, TUMIT1R_TAG_RANKS, about->ranks);
    }
    if (about->host != NULL) {
        tumit1r_out_tag(tags, &size, TUMIT1R_TAG_HOST, about->host, strlen(about->host));
    }
    if (about->clock_domain != NULL) {
        tumit1r_out_tag(tags, &size, TUMIT1R_TAG_CLOCK_DOMAIN, about->clock_domain,
                        strlen(about->clock_domain));
    }
    if (about->command != NULL) {
        tumit1r_out_tag(tags, &size, TUMIT1R_TAG_COMMAND, about->command, strlen(about->command));
    }
    tumit1r_out_plain(w, TUMIT1R_KIND_PROCESS, 1, tags, size);
    return w;
}

/* Copies names from a process. They keep their numbers. */
TUMIT1R_FN void tumit1r_copy_names(struct tumit1r_writer *w, struct tumit1r_out_names *to,
                                   const struct tumit1r_names *from) {
    size_t i;
    for (i = 0; i < from->count; i++) {
        const struct tumit1r_name *name = &from->by_id[i];
        w->failed = w->failed || !tumit1r_add_name(to, i, name->text, name->bytes, name->line);
    }
}

/* Copies sync samples and clock anchors unchanged. */
TUMIT1R_FN void tumit1r_copy_others(struct tumit1r_writer *w, const struct tumit1r_process *p) {
    unsigned char *stored = NULL, *buffer = NULL;
    size_t stored_room = 0, room = 0, i;
    for (i = 0; i < p->others_count; i++) {
        const struct tumit1r_block *block = &p->others[i];
        const unsigned char *payload;
        if (block->kind == TUMIT1R_KIND_STREAM ||
            !tumit1r_room(&stored, &stored_room, (size_t)block->stored + 1, 1) ||
            tumit1r_read_at(p->file, block->payload, stored, block->stored) != block->stored) {
            continue;
        }
        payload = tumit1r_unpack(block, stored, &buffer, &room);
        if (payload != NULL) {
            tumit1r_out_plain(w, block->kind, block->records, payload, block->raw);
        }
    }
    free(stored);
    free(buffer);
}

/* The path of a separate file for a process in a folder. For a process of a sorted file, the
 * name includes its number. */
TUMIT1R_FN char *tumit1r_copy_path(const struct tumit1r_process *p, const char *folder) {
    const char *slash = strrchr(p->path, '/'), *name = slash == NULL ? p->path : slash + 1,
               *dot = strrchr(name, '.');
    const int stem = (int)(dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name));
    const size_t room = strlen(name) + 24;
    char *file_name, *path = NULL;
    if (!p->sorted) {
        return tumit1r_join(folder, name);
    }
    file_name = (char *)malloc(room);
    if (file_name != NULL) {
        (void)snprintf(file_name, room, "%.*s-%u.tmt", stem, name, (unsigned)p->number);
        path = tumit1r_join(folder, file_name);
        free(file_name);
    }
    return path;
}

/* Begins a copy of a process in `folder`, which is created if necessary. It includes all data
 * except the records, which the caller writes. NULL when it cannot be created. */
TUMIT1R_FN struct tumit1r_writer *tumit1r_copy(const struct tumit1r_process *p, const char *folder,
                                               FILE *errors) {
    char *path = tumit1r_copy_path(p, folder);
    struct tumit1r_writer *w = NULL;
    struct stat target, source;
    size_t i;
    (void)mkdir(folder, 0777);
    if (path != NULL && stat(path, &target) == 0 && stat(p->path, &source) == 0 &&
        target.st_dev == source.st_dev && target.st_ino == source.st_ino) {
        if (errors != NULL) {
            fprintf(errors, "%s: it is being read; write to another folder\n", path);
        }
    } else if (path != NULL) {
        w = tumit1r_begin_file(path, errors);
    }
    free(path);
    if (w == NULL) {
        return NULL;
    }
    w->of = p;
    w->ended = p->ended;
    w->dropped = p->dropped;
    if (p->tags != NULL) {
        tumit1r_out_plain(w, TUMIT1R_KIND_PROCESS, 1, p->tags, p->tags_bytes);
    }
    for (i = 0; i < p->schemas_count; i++) {
        uint32_t end = (uint32_t)p->schemas[i]->base + p->schemas[i]->types_count;
        tumit1r_out_plain(w, TUMIT1R_KIND_SCHEMA, 1, p->schemas[i]->bytes,
                          p->schemas[i]->bytes_count);
        w->next_base = end > w->next_base ? end : w->next_base;
    }
    tumit1r_copy_names(w, &w->strings, &p->strings);
    tumit1r_copy_names(w, &w->sites, &p->sites);
    tumit1r_copy_others(w, p);
    for (i = 0; i < p->streams_count; i++) {
        struct tumit1r_out_stream *stream = tumit1r_out_stream(w, p->streams[i].number);
        if (stream != NULL) {
            stream->described = true;
            if (p->streams[i].tags_bytes > 0 &&
                p->streams[i].tags_bytes <= TUMIT1R_MAX_PAYLOAD_BYTES) {
                tumit1r_out_block(w, TUMIT1R_KIND_STREAM, NULL, stream->number, 1,
                                  p->streams[i].tags, p->streams[i].tags_bytes);
            }
        }
    }
    return w;
}

/* Ends a file. Returns false when some data could not be written. */
TUMIT1R_FN bool tumit1r_finish(struct tumit1r_writer *w) {
    unsigned char tags[64];
    uint64_t dropped = 0;
    size_t i, size = 0;
    bool is_complete;
    for (i = 0; i < w->streams_count; i++) {
        struct tumit1r_out_stream *stream = &w->streams[i];
        struct tumit1r_stream *copied_stream =
            w->of == NULL ? NULL : tumit1r_stream_of(w->of, stream->number);
        bool has_more_drops = copied_stream != NULL && copied_stream->dropped > stream->dropped;
        stream->dropped = has_more_drops ? copied_stream->dropped : stream->dropped;
        dropped += stream->dropped;
        if (stream->count > 0 || has_more_drops) {
            tumit1r_seal(w, stream);
        }
        free(stream->bytes);
    }
    tumit1r_out_names(w, &w->strings, TUMIT1R_KIND_STRINGS);
    tumit1r_out_names(w, &w->sites, TUMIT1R_KIND_SITES);
    if (w->ended) {
        tumit1r_out_number(tags, &size, TUMIT1R_TAG_RECORDS_WRITTEN, w->written);
        tumit1r_out_number(tags, &size, TUMIT1R_TAG_RECORDS_DROPPED,
                           w->dropped > dropped ? w->dropped : dropped);
        tumit1r_out_plain(w, TUMIT1R_KIND_END, 1, tags, size);
    }
    is_complete = fclose(w->file) == 0 && !w->failed;
    for (i = 0; i < w->strings.count; i++) {
        free(w->strings.by_id[i].text);
    }
    for (i = 0; i < w->sites.count; i++) {
        free(w->sites.by_id[i].text);
    }
    free(w->strings.by_id);
    free(w->strings.slots);
    free(w->sites.by_id);
    free(w->sites.slots);
    free(w->streams);
    free(w->body);
    free(w->offsets);
    free(w);
    return is_complete;
}
